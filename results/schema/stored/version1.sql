PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT;
INSERT INTO schema_migration VALUES(1,'base','d7ec4e090e57a8db','0.1.0 (b255237d4c7f, changed)','2026-11-30T04:39:52.744Z');
CREATE TABLE hardware (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  cpu TEXT,
  cores INTEGER,
  memory_bytes INTEGER,
  gpu TEXT,
  gpus INTEGER,
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;
INSERT INTO hardware VALUES(1,'9f427adbad9b6d6c','Test CPU',2,8589934592,NULL,0,'{"cores":2,"cpu":"Test CPU","gpu":null,"gpus":0,"memory_bytes":8589934592}');
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  torch TEXT,
  cuda TEXT,
  compiler TEXT,
  flags TEXT,
  isa TEXT,
  math_library TEXT,
  threads INTEGER,
  backend TEXT,
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;
INSERT INTO environment VALUES(1,'bbf9074fef53b8b4','2.11.0',NULL,'g++ 12.2.0','-O3','avx2','mkl',1,'gloo','{"backend":"gloo","compiler":"g++ 12.2.0","cuda":null,"flags":"-O3","isa":"avx2","math_library":"mkl","threads":1,"torch":"2.11.0","variables":{"OMP_NUM_THREADS":"1"}}');
CREATE TABLE code (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  version TEXT NOT NULL,
  git_sha TEXT,
  parent_sha TEXT,
  branch TEXT,
  fork_point TEXT,
  diff_hash TEXT,
  committed_at TEXT,
  facts TEXT NOT NULL CHECK (json_valid(facts))
) STRICT;
INSERT INTO code VALUES(1,'e0ade3380045cc07','0.1.0','b255237d4c7fb1b98578f876228ba2d8a8a8283c','0cd1d396cae775bcf07f8b65be0d6a7f2727bfa8','main','b255237d4c7fb1b98578f876228ba2d8a8a8283c','0c6046c0a6047e6061d10ca27c84a9db6ae0526b25629a18b12733f28f99583c','2026-11-30T04:36:31Z','{"build_type":"Release","compiler":"GNU 12.2.0","diff_hash":"0c6046c0a6047e6061d10ca27c84a9db6ae0526b25629a18b12733f28f99583c","flags":" -O3 -DNDEBUG","git_sha":"b255237d4c7fb1b98578f876228ba2d8a8a8283c","version":"0.1.0"}');
CREATE TABLE dataset (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  train_rows INTEGER,
  eval_rows INTEGER,
  train_hash TEXT,
  eval_hash TEXT,
  subset TEXT,
  best_accuracy REAL
) STRICT;
INSERT INTO dataset VALUES(1,'ef3a709f385aa813','sst2',640,4,'aaaaaaaaaaaaaaaa','bbbbbbbbbbbbbbbb','first 640',NULL);
CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  parameters INTEGER,
  trainable INTEGER,
  arch TEXT NOT NULL CHECK (json_valid(arch))
) STRICT;
INSERT INTO model VALUES(1,'b177d314cfe62685','bert-tiny',100000,90000,'{"hidden":64,"layers":2}');
CREATE TABLE codec (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  variant TEXT NOT NULL,
  spec TEXT NOT NULL,
  params TEXT NOT NULL CHECK (json_valid(params)),
  properties TEXT NOT NULL CHECK (json_valid(properties))
) STRICT;
INSERT INTO codec VALUES(1,'b31ca7f41a3609e0','topk','1','corrected','topk(ratio=0.1)','{"text":"topk(ratio=0.1)"}','{"lossless":false}');
INSERT INTO codec VALUES(2,'39331c47dc9285e4','none','1','corrected','none','{"text":"none"}','{"lossless":true}');
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  matrix TEXT NOT NULL,
  first_started_at TEXT NOT NULL,
  last_started_at TEXT NOT NULL,
  UNIQUE (name, hash)
) STRICT;
INSERT INTO sweep VALUES(1,'stored','2e1472b57af294d1','{}','2026-11-30T04:39:52.753Z','2026-11-30T04:39:52.753Z');
CREATE TABLE cell (
  id INTEGER PRIMARY KEY,
  cell_key TEXT NOT NULL UNIQUE,
  group_hash TEXT NOT NULL,
  config TEXT NOT NULL CHECK (json_valid(config)),
  codec TEXT NOT NULL,
  compressor_tp TEXT,
  compressor_tp_backward TEXT,
  hardware TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('measured', 'shaped', 'emulated', 'modelled')),
  device TEXT,
  tp INTEGER,
  pp INTEGER,
  threads INTEGER,
  link TEXT,
  dataset TEXT NOT NULL,
  model TEXT NOT NULL,
  stage TEXT NOT NULL,
  layers TEXT NOT NULL,
  warmup TEXT,
  inference TEXT,
  sum_order TEXT,
  loopback INTEGER,
  overlap TEXT,
  epochs INTEGER,
  max_steps INTEGER,
  train_rows INTEGER,
  eval_rows INTEGER,
  micro_batch INTEGER,
  sequence INTEGER,
  learning_rate REAL,
  learning_rate_warmup REAL,
  weight_decay REAL,
  clip REAL,
  dropout REAL,
  pooling TEXT,
  freeze TEXT,
  added_at TEXT NOT NULL
) STRICT;
INSERT INTO cell VALUES(1,'99c6ed669827d468','27add2cb8f9905d8','{"compressor":{"tp":"topk(ratio=0.1)","tp.backward":"none"},"hardware":{"name":"cpu-tp2","kind":"measured","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"sst2","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":0,"train_rows":0,"eval_rows":0,"micro_batch":32,"sequence":32,"learning_rate":0.0001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','topk(ratio=0.1)','topk(ratio=0.1)','none','cpu-tp2','measured','cpu',2,1,1,'','sst2','bert-tiny','finetune','all','0','both','library',0,'off',1,0,0,0,32,32,0.00010000000000000000479,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-11-30T04:39:52.754Z');
CREATE TABLE cell_codec (
  cell_id INTEGER NOT NULL REFERENCES cell (id),
  site TEXT NOT NULL,
  codec_id INTEGER NOT NULL REFERENCES codec (id),
  PRIMARY KEY (cell_id, site)
) STRICT, WITHOUT ROWID;
INSERT INTO cell_codec VALUES(1,'tp',1);
INSERT INTO cell_codec VALUES(1,'tp.backward',2);
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  cell_id INTEGER NOT NULL REFERENCES cell (id),
  seed INTEGER NOT NULL,
  attempt INTEGER NOT NULL CHECK (attempt >= 1),
  status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'ok', 'failed', 'diverged',
                                         'timeout', 'oom', 'skipped', 'infeasible')),
  reason TEXT NOT NULL DEFAULT '',
  sweep_id INTEGER REFERENCES sweep (id),
  block INTEGER,
  run_order INTEGER,
  host TEXT,
  spool_dir TEXT,
  started_at TEXT,
  ended_at TEXT,
  exit_code INTEGER,
  log_tail TEXT,
  code_id INTEGER REFERENCES code (id),
  environment_id INTEGER REFERENCES environment (id),
  hardware_id INTEGER REFERENCES hardware (id),
  dataset_id INTEGER REFERENCES dataset (id),
  model_id INTEGER REFERENCES model (id),
  init_hash TEXT,
  world INTEGER,
  steps_planned INTEGER,
  steps INTEGER,
  wall_ns INTEGER,
  checksum TEXT,
  ingested_at TEXT,
  UNIQUE (cell_id, seed, attempt)
) STRICT;
INSERT INTO run VALUES(1,1,1,1,'ok','',1,0,0,'box','spools/spools/99c6ed669827d468-1-1','2026-11-30T04:39:52.755Z','2026-11-30T04:39:52.759Z',0,'last line of the log',1,1,1,1,1,'0000000000000011',2,3,3,2000000000,'0123456789abcdef','2026-11-30T04:39:52.758Z');
CREATE TABLE spool_file (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  torn_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;
INSERT INTO spool_file VALUES(1,0,'4c595291e06a4554',3496,0);
INSERT INTO spool_file VALUES(1,1,'ca82904346ca3ae2',2126,0);
CREATE TABLE process (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL CHECK (rank >= 0),
  pid INTEGER,
  host TEXT,
  started_at TEXT,
  status TEXT,
  reason TEXT,
  steps INTEGER,
  wall_ns INTEGER,
  peak_rss_bytes INTEGER,
  codec_state_bytes INTEGER,
  parameter_bytes INTEGER,
  hardware_id INTEGER REFERENCES hardware (id),
  environment_id INTEGER REFERENCES environment (id),
  PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;
INSERT INTO process VALUES(1,0,1000,'box','2026-01-02T03:04:05Z','ok','',3,2000000000,1000000,0,400000,1,1);
INSERT INTO process VALUES(1,1,1001,'box','2026-01-02T03:04:05Z','ok','',3,2000000000,1000001,0,400000,1,1);
CREATE TABLE run_codec (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  site TEXT NOT NULL,
  spec TEXT NOT NULL,
  added_parameters INTEGER,
  added_flops REAL,
  PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;
INSERT INTO run_codec VALUES(1,'tp','topk(ratio=0.1)',0,12.5);
INSERT INTO run_codec VALUES(1,'tp.backward','none',0,0.0);
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  better TEXT NOT NULL CHECK (better IN ('lower', 'higher', 'target')),
  kind TEXT NOT NULL CHECK (kind IN ('time', 'bytes', 'accuracy', 'error', 'memory', 'counter',
                                     'loss')),
  representative TEXT NOT NULL CHECK (representative IN ('last', 'best', 'mean', 'median', 'sum',
                                                         'max')),
  min_effect REAL,
  gate TEXT NOT NULL CHECK (gate IN ('blocking', 'advisory', 'none')),
  description TEXT NOT NULL
) STRICT;
INSERT INTO metric VALUES(1,'step_time','ns','lower','time','median',0.020000000000000000416,'blocking','one training step; over ranks: the slowest rank of each step');
INSERT INTO metric VALUES(2,'forward_time','ns','lower','time','median',0.020000000000000000416,'advisory','forward pass, with its encode, transfer and decode');
INSERT INTO metric VALUES(3,'backward_time','ns','lower','time','median',0.020000000000000000416,'advisory','backward pass, with its encode, transfer and decode');
INSERT INTO metric VALUES(4,'optimizer_time','ns','lower','time','median',0.020000000000000000416,'advisory','clipping and parameter update');
INSERT INTO metric VALUES(5,'encode_time','ns','lower','time','median',0.029999999999999998889,'advisory','encoding of all messages of a step');
INSERT INTO metric VALUES(6,'transfer_time','ns','lower','time','median',0.029999999999999998889,'advisory','collectives of a step, waiting for other ranks included');
INSERT INTO metric VALUES(7,'decode_time','ns','lower','time','median',0.029999999999999998889,'advisory','decoding and summing of all messages of a step');
INSERT INTO metric VALUES(8,'train_loss','1','lower','loss','last',NULL,'none','training loss of a step');
INSERT INTO metric VALUES(9,'learning_rate','1','target','counter','last',NULL,'none','learning rate of a step');
INSERT INTO metric VALUES(10,'gradient_norm','1','target','counter','mean',NULL,'none','global gradient norm before clipping');
INSERT INTO metric VALUES(11,'accuracy','1','higher','accuracy','last',0.005000000000000000104,'advisory','share of rows predicted correctly');
INSERT INTO metric VALUES(12,'f1','1','higher','accuracy','last',0.005000000000000000104,'advisory','F1 of class 1');
INSERT INTO metric VALUES(13,'matthews','1','higher','accuracy','last',0.005000000000000000104,'advisory','Matthews correlation coefficient');
INSERT INTO metric VALUES(14,'pearson','1','higher','accuracy','last',0.005000000000000000104,'advisory','Pearson correlation');
INSERT INTO metric VALUES(15,'spearman','1','higher','accuracy','last',0.005000000000000000104,'advisory','Spearman correlation, ties by mean rank');
INSERT INTO metric VALUES(16,'eval_loss','1','lower','loss','last',NULL,'none','mean loss of an evaluation');
INSERT INTO metric VALUES(17,'message_relative_l2','1','lower','error','mean',0.0,'blocking','relative L2 error of one message of rank 0');
INSERT INTO metric VALUES(18,'message_cosine','1','higher','error','mean',0.0,'advisory','cosine between a message of rank 0 and its decode');
INSERT INTO metric VALUES(19,'sum_relative_l2','1','lower','error','mean',0.0,'blocking','relative L2 error of the sum at a site');
INSERT INTO metric VALUES(20,'sum_cosine','1','higher','error','mean',0.0,'advisory','cosine between the sum at a site and its uncompressed value');
INSERT INTO metric VALUES(21,'payload_bytes_per_step','B','lower','bytes','mean',0.0,'blocking','payload bytes of one rank and training step, all sites');
INSERT INTO metric VALUES(22,'sent_bytes_per_step','B','lower','bytes','mean',0.0,'blocking','wire bytes that one rank sends in a training step, all sites');
INSERT INTO metric VALUES(23,'peak_rss','B','lower','memory','max',0.050000000000000002775,'advisory','largest resident memory of a rank');
INSERT INTO metric VALUES(24,'codec_state','B','lower','memory','max',0.0,'blocking','codec state of a rank');
CREATE TABLE measurement (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  site TEXT NOT NULL DEFAULT '',
  phase TEXT NOT NULL DEFAULT '',
  rank INTEGER NOT NULL DEFAULT -1,
  n INTEGER NOT NULL,
  skipped INTEGER NOT NULL DEFAULT 0,
  nonfinite INTEGER NOT NULL DEFAULT 0,
  min REAL,
  q1 REAL,
  median REAL,
  q3 REAL,
  max REAL,
  mean REAL,
  sd REAL,
  ess REAL,
  ci_low REAL,
  ci_high REAL,
  UNIQUE (run_id, metric_id, site, phase, rank)
) STRICT;
INSERT INTO measurement VALUES(1,1,1,'','train',0,3,0,0,50000000.0,50500000.0,51000000.0,51500000.0,52000000.0,51000000.0,1000000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(2,1,2,'','train',0,3,0,0,20000000.0,20200000.0,20400000.0,20600000.0,20800000.0,20400000.0,400000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(3,1,3,'','train',0,3,0,0,20000000.0,20200000.0,20400000.0,20600000.0,20800000.0,20400000.0,400000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(4,1,4,'','train',0,3,0,0,5000000.0,5050000.0,5100000.0,5150000.0,5200000.0,5100000.0,100000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(5,1,5,'','train',0,3,0,0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(6,1,6,'','train',0,3,0,0,3000000.0,3000000.0,3000000.0,3000000.0,3000000.0,3000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(7,1,7,'','train',0,3,0,0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(8,1,1,'','train',1,3,0,0,52000000.0,52500000.0,53000000.0,53500000.0,54000000.0,53000000.0,1000000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(9,1,2,'','train',1,3,0,0,20800000.0,21000000.0,21200000.0,21400000.0,21600000.0,21200000.0,400000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(10,1,3,'','train',1,3,0,0,20800000.0,21000000.0,21200000.0,21400000.0,21600000.0,21200000.0,400000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(11,1,4,'','train',1,3,0,0,5200000.0,5250000.0,5300000.0,5350000.0,5400000.0,5300000.0,100000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(12,1,5,'','train',1,3,0,0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(13,1,6,'','train',1,3,0,0,3000000.0,3000000.0,3000000.0,3000000.0,3000000.0,3000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(14,1,7,'','train',1,3,0,0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(15,1,1,'','train',-1,3,0,0,52000000.0,52500000.0,53000000.0,53500000.0,54000000.0,53000000.0,1000000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(16,1,2,'','train',-1,3,0,0,20800000.0,21000000.0,21200000.0,21400000.0,21600000.0,21200000.0,400000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(17,1,3,'','train',-1,3,0,0,20800000.0,21000000.0,21200000.0,21400000.0,21600000.0,21200000.0,400000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(18,1,4,'','train',-1,3,0,0,5200000.0,5250000.0,5300000.0,5350000.0,5400000.0,5300000.0,100000.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(19,1,5,'','train',-1,3,0,0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(20,1,6,'','train',-1,3,0,0,3000000.0,3000000.0,3000000.0,3000000.0,3000000.0,3000000.0,0.0,3.0,NULL,NULL);
INSERT INTO measurement VALUES(21,1,7,'','train',-1,3,0,0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,1000000.0,0.0,3.0,NULL,NULL);
CREATE TABLE sample (
  measurement_id INTEGER PRIMARY KEY REFERENCES measurement (id) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  hash TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;
INSERT INTO sample VALUES(1,3,0,'cedb767d348b89fe',X'0000000084d78741000000009651884100000000a8cb8841');
INSERT INTO sample VALUES(2,3,0,'0ab6c81c720329fb',X'00000000d012734100000000787473410000000020d67341');
INSERT INTO sample VALUES(3,3,0,'0ab6c81c720329fb',X'00000000d012734100000000787473410000000020d67341');
INSERT INTO sample VALUES(4,3,0,'601b9eb8c94c4680',X'00000000d012534100000000787453410000000020d65341');
INSERT INTO sample VALUES(5,3,0,'2815be87349cd352',X'0000000080842e410000000080842e410000000080842e41');
INSERT INTO sample VALUES(6,3,0,'f91fe8e892946293',X'0000000060e346410000000060e346410000000060e34641');
INSERT INTO sample VALUES(7,3,0,'2815be87349cd352',X'0000000080842e410000000080842e410000000080842e41');
INSERT INTO sample VALUES(8,3,0,'517c0c95745ab4f5',X'00000000a8cb884100000000ba45894100000000ccbf8941');
INSERT INTO sample VALUES(9,3,0,'cde554ea4e59c8bd',X'0000000020d6734100000000c83774410000000070997441');
INSERT INTO sample VALUES(10,3,0,'cde554ea4e59c8bd',X'0000000020d6734100000000c83774410000000070997441');
INSERT INTO sample VALUES(11,3,0,'19d0cdfd8f64d6ff',X'0000000020d6534100000000c83754410000000070995441');
INSERT INTO sample VALUES(12,3,0,'2815be87349cd352',X'0000000080842e410000000080842e410000000080842e41');
INSERT INTO sample VALUES(13,3,0,'f91fe8e892946293',X'0000000060e346410000000060e346410000000060e34641');
INSERT INTO sample VALUES(14,3,0,'2815be87349cd352',X'0000000080842e410000000080842e410000000080842e41');
INSERT INTO sample VALUES(15,3,0,'517c0c95745ab4f5',X'00000000a8cb884100000000ba45894100000000ccbf8941');
INSERT INTO sample VALUES(16,3,0,'cde554ea4e59c8bd',X'0000000020d6734100000000c83774410000000070997441');
INSERT INTO sample VALUES(17,3,0,'cde554ea4e59c8bd',X'0000000020d6734100000000c83774410000000070997441');
INSERT INTO sample VALUES(18,3,0,'19d0cdfd8f64d6ff',X'0000000020d6534100000000c83754410000000070995441');
INSERT INTO sample VALUES(19,3,0,'2815be87349cd352',X'0000000080842e410000000080842e410000000080842e41');
INSERT INTO sample VALUES(20,3,0,'f91fe8e892946293',X'0000000060e346410000000060e346410000000060e34641');
INSERT INTO sample VALUES(21,3,0,'2815be87349cd352',X'0000000080842e410000000080842e410000000080842e41');
CREATE TABLE series (
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  value REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (metric_id, run_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO series VALUES(1,1,0,52000000.0,0);
INSERT INTO series VALUES(1,1,1,53000000.0,0);
INSERT INTO series VALUES(1,1,2,54000000.0,0);
INSERT INTO series VALUES(8,1,0,1.0,0);
INSERT INTO series VALUES(8,1,1,0.5,0);
INSERT INTO series VALUES(8,1,2,0.33333333333333331482,0);
INSERT INTO series VALUES(9,1,0,0.00010000000000000000479,0);
INSERT INTO series VALUES(9,1,1,0.00010000000000000000479,0);
INSERT INTO series VALUES(9,1,2,0.00010000000000000000479,0);
INSERT INTO series VALUES(10,1,0,0.5,0);
INSERT INTO series VALUES(10,1,1,0.5,0);
INSERT INTO series VALUES(10,1,2,0.5,0);
CREATE TABLE eval (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  epoch INTEGER NOT NULL,
  step INTEGER,
  inference TEXT NOT NULL CHECK (inference IN ('on', 'off')),
  split TEXT NOT NULL,
  rows INTEGER NOT NULL,
  loss REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  time_ns INTEGER,
  UNIQUE (run_id, epoch, inference, split)
) STRICT;
INSERT INTO eval VALUES(1,1,1,3,'on','dev',4,0.5,0,7000000);
INSERT INTO eval VALUES(2,1,1,3,'off','dev',4,0.5,0,7000000);
CREATE TABLE eval_metric (
  eval_id INTEGER NOT NULL REFERENCES eval (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  is_primary INTEGER NOT NULL CHECK (is_primary IN (0, 1)),
  value REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (eval_id, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO eval_metric VALUES(1,11,1,0.75,0);
INSERT INTO eval_metric VALUES(1,12,0,0.69999999999999995559,0);
INSERT INTO eval_metric VALUES(2,11,1,0.76000000000000000888,0);
INSERT INTO eval_metric VALUES(2,12,0,0.70999999999999996447,0);
CREATE TABLE label_set (
  hash TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO label_set VALUES('10e2fed7bd7a251f',4,X'000000000000f03f00000000000000000000000000000000000000000000f03f');
CREATE TABLE prediction (
  eval_id INTEGER PRIMARY KEY REFERENCES eval (id) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  hash TEXT NOT NULL,
  label_hash TEXT NOT NULL REFERENCES label_set (hash),
  data BLOB NOT NULL
) STRICT;
INSERT INTO prediction VALUES(1,4,'08a45e6e00c68330','10e2fed7bd7a251f',X'000000000000f03f0000000000000000000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(2,4,'08a45e6e00c68330','10e2fed7bd7a251f',X'000000000000f03f0000000000000000000000000000f03f000000000000f03f');
CREATE TABLE message_error (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  site INTEGER NOT NULL,
  site_name TEXT NOT NULL,
  message_relative_l2 REAL,
  message_cosine REAL,
  sum_relative_l2 REAL,
  sum_cosine REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (run_id, step, site)
) STRICT, WITHOUT ROWID;
INSERT INTO message_error VALUES(1,0,1,'layer0.attention',0.5,0.5,0.25,0.75,0);
INSERT INTO message_error VALUES(1,10,1,'layer0.attention',0.5,0.5,0.25,0.75,0);
CREATE TABLE traffic (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  site TEXT NOT NULL,
  site_name TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('forward', 'backward')),
  phase TEXT NOT NULL CHECK (phase IN ('train', 'eval')),
  collective TEXT NOT NULL,
  dtype TEXT NOT NULL,
  spec TEXT NOT NULL,
  calls INTEGER NOT NULL,
  raw_bytes INTEGER NOT NULL,
  payload_bytes INTEGER NOT NULL,
  metadata_bytes INTEGER NOT NULL,
  sent_bytes INTEGER NOT NULL,
  handed_bytes INTEGER NOT NULL,
  encode_ns INTEGER NOT NULL,
  transfer_ns INTEGER NOT NULL,
  decode_ns INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank, site, site_name, direction, phase, collective, dtype, spec)
) STRICT, WITHOUT ROWID;
INSERT INTO traffic VALUES(1,0,'tp','layer0.attention','forward','eval','all_reduce','float32','topk(ratio=0.1)',4,524288,524288,0,524288,524288,4000000,12000000,4000000);
INSERT INTO traffic VALUES(1,0,'tp','layer0.attention','forward','train','all_reduce','float32','topk(ratio=0.1)',3,393216,393216,0,393216,393216,3000000,9000000,3000000);
INSERT INTO traffic VALUES(1,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',3,393216,393216,0,393216,393216,3000000,9000000,3000000);
INSERT INTO traffic VALUES(1,1,'tp','layer0.attention','forward','eval','all_reduce','float32','topk(ratio=0.1)',4,524288,524288,0,524288,524288,4000000,12000000,4000000);
INSERT INTO traffic VALUES(1,1,'tp','layer0.attention','forward','train','all_reduce','float32','topk(ratio=0.1)',3,393216,393216,0,393216,393216,3000000,9000000,3000000);
INSERT INTO traffic VALUES(1,1,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',3,393216,393216,0,393216,393216,3000000,9000000,3000000);
CREATE INDEX cell_group ON cell (group_hash);
CREATE INDEX run_status ON run (status);
CREATE INDEX series_run ON series (run_id);
COMMIT;

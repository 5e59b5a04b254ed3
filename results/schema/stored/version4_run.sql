PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT;
INSERT INTO schema_migration VALUES(1,'base','d7ec4e090e57a8db','0.1.0 (8f390f6c4dfb)','2026-12-01T00:16:31.221Z');
INSERT INTO schema_migration VALUES(2,'views','5112667260944e42','0.1.0 (8f390f6c4dfb)','2026-12-01T00:16:31.262Z');
INSERT INTO schema_migration VALUES(3,'error_by_name','9d7bb03cf38edc77','0.1.0 (8f390f6c4dfb)','2026-12-01T00:16:31.263Z');
INSERT INTO schema_migration VALUES(4,'imported','ee80b5e470cca6af','0.1.0 (8f390f6c4dfb)','2026-12-01T00:16:31.263Z');
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
INSERT INTO hardware VALUES(1,'bba240a3e4126de6','Intel(R) Xeon(R) Processor',2,25276063744,NULL,0,'{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","gpu":null,"gpus":0,"memory_bytes":25276063744}');
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
INSERT INTO environment VALUES(1,'68d4dd21894e04a7','2.11.0',NULL,'GNU 12.2.0',' -O3 -DNDEBUG','AVX512','Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications',1,'emulated','{"backend":"emulated","compiler":"GNU 12.2.0","cuda":null,"flags":" -O3 -DNDEBUG","isa":"AVX512","math_library":"Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications","threads":1,"torch":"2.11.0","variables":{"MKL_NUM_THREADS":"1","OMP_NUM_THREADS":"1","TERSOR_PIN":"off"}}');
INSERT INTO environment VALUES(2,'93fdd2ae493621fd','2.11.0',NULL,'GNU 12.2.0',' -O3 -DNDEBUG','AVX512','Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications',1,'gloo','{"backend":"gloo","compiler":"GNU 12.2.0","cuda":null,"flags":" -O3 -DNDEBUG","isa":"AVX512","math_library":"Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel(R) 64 architecture applications","threads":1,"torch":"2.11.0","variables":{"MKL_NUM_THREADS":"1","OMP_NUM_THREADS":"1","TERSOR_PIN":"off"}}');
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
INSERT INTO code VALUES(1,'804480469ec5b70f','0.1.0','8f390f6c4dfb192e3c560184506e855183f080ec','3c1e6147cef82642fb0276cf93abe88383b706b9','main','8f390f6c4dfb192e3c560184506e855183f080ec',NULL,'2026-11-30T17:14:33Z','{"build_type":"Release","compiler":"GNU 12.2.0","diff_hash":null,"flags":" -O3 -DNDEBUG","git_sha":"8f390f6c4dfb192e3c560184506e855183f080ec","version":"0.1.0"}');
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
INSERT INTO dataset VALUES(1,'22c08ffff7c2eff8','synthetic',64,8,'67a46beecc2b5d90','cac3aaae64cfff51','the first N generated rows of train, the first M of dev',0.94999999999999995559);
CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  parameters INTEGER,
  trainable INTEGER,
  arch TEXT NOT NULL CHECK (json_valid(arch))
) STRICT;
INSERT INTO model VALUES(1,'a758aa80be00b71d','bert-tiny',146498,100226,'{"heads":4,"hidden":64,"intermediate":256,"kind":"bert","layer_norm_epsilon":1e-12,"layers":2,"outputs":2,"pooling":"mean","positions":512,"vocabulary":209,"weights":"random"}');
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
INSERT INTO codec VALUES(1,'7c589c26ab001fba','topk','1','corrected','topk','{"group":128,"index":"auto","k":null,"ratio":0.01,"scope":"tensor","variant":"corrected"}','{"bit_exact":true,"contractive":true,"error_bound_of_absmax":1.0,"exchange":["gather"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":false,"state":"none","summable":false,"summable_tolerance":0.0,"token_local":false,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(2,'71983ac883cb0f04','none','1','corrected','none','{}','{"bit_exact":true,"contractive":true,"error_bound_of_absmax":0.0,"exchange":["all-reduce"],"expansive":false,"fixed_size":true,"learned":false,"lossless":true,"nonfinite_spread":"element","rounds":1,"sample_local":true,"state":"none","summable":true,"summable_tolerance":0.00390625,"token_local":true,"tolerance":0.0,"unbiased":true,"unbiased_range":"every value"}');
INSERT INTO codec VALUES(3,'cdcd1fdc0ef56899','topk','1','corrected','topk(ratio=0.1)','{"group":128,"index":"auto","k":null,"ratio":0.1,"scope":"tensor","variant":"corrected"}','{"bit_exact":true,"contractive":true,"error_bound_of_absmax":1.0,"exchange":["gather"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":false,"state":"none","summable":false,"summable_tolerance":0.0,"token_local":false,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(4,'9c7a307e32574342','ef','1','corrected','ef(quantize(bits=4))','{"codec":"quantize(bits=4)"}','{"bit_exact":true,"contractive":false,"error_bound_of_absmax":null,"exchange":["gather"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":false,"state":"site","summable":false,"summable_tolerance":0.0,"token_local":false,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(5,'d8a754c0e2760592','topk','1','corrected','topk(k=6400)','{"group":128,"index":"auto","k":6400,"ratio":0.01,"scope":"tensor","variant":"corrected"}','{"bit_exact":true,"contractive":true,"error_bound_of_absmax":1.0,"exchange":["gather"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":false,"state":"none","summable":false,"summable_tolerance":0.0,"token_local":false,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(6,'4b05b172d288bb2c','hierarchical','1','corrected','hierarchical(cast,ef(topk(ratio=0.05)))','{"inner":"cast","outer":"ef(topk(ratio=0.05))"}','{"bit_exact":true,"contractive":false,"error_bound_of_absmax":null,"exchange":["gather"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":false,"state":"site","summable":false,"summable_tolerance":0.0,"token_local":false,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(7,'74922d04e194b007','gate','1','corrected','gate(cast)','{"codec":"cast","force":false,"min_bytes":65536}','{"bit_exact":true,"contractive":false,"error_bound_of_absmax":0.00390625,"exchange":["all-reduce"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":true,"state":"none","summable":true,"summable_tolerance":0.0078125,"token_local":true,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(8,'a3243cee4158ee15','quantize','1','corrected','quantize','{"bits":8,"group":128,"rounding":"nearest","scale":"absmax","scope":"channel","variant":"corrected"}','{"bit_exact":true,"contractive":false,"error_bound_of_absmax":1.0,"exchange":["gather"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":false,"state":"none","summable":false,"summable_tolerance":0.0,"token_local":false,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  matrix TEXT NOT NULL,
  first_started_at TEXT NOT NULL,
  last_started_at TEXT NOT NULL,
  UNIQUE (name, hash)
) STRICT;
INSERT INTO sweep VALUES(1,'stored','a89e333d9762591f',replace('{\n  "name": "stored",\n  "description": "What stored/version4_run.sql ran",\n  "defaults": {"model": "bert-tiny", "max_steps": 2, "train_rows": 64, "eval_rows": 8, "micro_batch": 8, "sequence": 16,\n               "learning_rate": 1e-3},\n  "matrix": {\n    "compressor": ["none", "topk(ratio=0.1)", "ef(quantize(bits=4))", "T3"],\n    "hardware": ["cpu-emulated-tp2"],\n    "dataset": ["synthetic"],\n    "seed": [1, 2]\n  },\n  "include": [\n    {"compressor": "hierarchical(cast,ef(topk(ratio=0.05)))", "hardware": "cpu-emulated-tp4-nodes2"},\n    {"compressor": {"tp": "gate(cast)", "tp.backward": "quantize"}, "hardware": "cpu-tp2", "warmup": "1"},\n    {"compressor": {"tp": "none", "pp": "topk"}, "hardware": "cpu-tp1"}\n  ]\n}\n','\n',char(10)),'2026-12-01T00:16:31.314Z','2026-12-01T00:16:31.314Z');
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
INSERT INTO cell VALUES(1,'fb303c2b654af6b6','f76c5f792e5842ca','{"compressor":{"pp":"topk","tp":"none","tp.backward":"none"},"hardware":{"name":"cpu-tp1","kind":"measured","device":"cpu","tp":1,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','none; pp = topk','none','none','cpu-tp1','measured','cpu',1,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:31.336Z');
INSERT INTO cell VALUES(2,'3b17c09c848cc929','65128bbff0f196d1','{"compressor":{"tp":"none","tp.backward":"none"},"hardware":{"name":"cpu-emulated-tp2","kind":"emulated","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','none','none','none','cpu-emulated-tp2','emulated','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:31.342Z');
INSERT INTO cell VALUES(3,'40a852899b1cfcbd','65128bbff0f196d1','{"compressor":{"tp":"topk(ratio=0.1)","tp.backward":"none"},"hardware":{"name":"cpu-emulated-tp2","kind":"emulated","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','topk(ratio=0.1)','topk(ratio=0.1)','none','cpu-emulated-tp2','emulated','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:34.630Z');
INSERT INTO cell VALUES(4,'a989916149dac980','65128bbff0f196d1','{"compressor":{"tp":"ef(quantize(bits=4))","tp.backward":"none"},"hardware":{"name":"cpu-emulated-tp2","kind":"emulated","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','ef(quantize(bits=4))','ef(quantize(bits=4))','none','cpu-emulated-tp2','emulated','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:37.694Z');
INSERT INTO cell VALUES(5,'dbbb0bb2bc8dd81d','65128bbff0f196d1','{"compressor":{"tp":"topk(k=6400)","tp.backward":"none"},"hardware":{"name":"cpu-emulated-tp2","kind":"emulated","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','topk(k=6400)','topk(k=6400)','none','cpu-emulated-tp2','emulated','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:40.760Z');
INSERT INTO cell VALUES(6,'a2a42bef5f29e354','ccfe97dcdd2bd874','{"compressor":{"tp":"hierarchical(cast,ef(topk(ratio=0.05)))","tp.backward":"none"},"hardware":{"name":"cpu-emulated-tp4-nodes2","kind":"emulated","device":"cpu","tp":4,"pp":1,"threads":1,"link":"","nodes":2},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','hierarchical(cast,ef(topk(ratio=0.05)))','hierarchical(cast,ef(topk(ratio=0.05)))','none','cpu-emulated-tp4-nodes2','emulated','cpu',4,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:44.434Z');
INSERT INTO cell VALUES(7,'6c5807146fd26e08','fc94ca4ab8d981e8','{"compressor":{"tp":"gate(cast)","tp.backward":"quantize"},"hardware":{"name":"cpu-tp2","kind":"measured","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"1","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":2,"train_rows":64,"eval_rows":8,"micro_batch":8,"sequence":16,"learning_rate":0.001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','gate(cast); tp.backward = quantize','gate(cast)','quantize','cpu-tp2','measured','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','1','both','library',0,'off',1,2,64,8,8,16,0.0010000000000000000208,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:16:48.024Z');
CREATE TABLE cell_codec (
  cell_id INTEGER NOT NULL REFERENCES cell (id),
  site TEXT NOT NULL,
  codec_id INTEGER NOT NULL REFERENCES codec (id),
  PRIMARY KEY (cell_id, site)
) STRICT, WITHOUT ROWID;
INSERT INTO cell_codec VALUES(1,'pp',1);
INSERT INTO cell_codec VALUES(1,'tp',2);
INSERT INTO cell_codec VALUES(1,'tp.backward',2);
INSERT INTO cell_codec VALUES(2,'tp',2);
INSERT INTO cell_codec VALUES(2,'tp.backward',2);
INSERT INTO cell_codec VALUES(3,'tp',3);
INSERT INTO cell_codec VALUES(3,'tp.backward',2);
INSERT INTO cell_codec VALUES(4,'tp',4);
INSERT INTO cell_codec VALUES(4,'tp.backward',2);
INSERT INTO cell_codec VALUES(5,'tp',5);
INSERT INTO cell_codec VALUES(5,'tp.backward',2);
INSERT INTO cell_codec VALUES(6,'tp',6);
INSERT INTO cell_codec VALUES(6,'tp.backward',2);
INSERT INTO cell_codec VALUES(7,'tp',7);
INSERT INTO cell_codec VALUES(7,'tp.backward',8);
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
INSERT INTO run VALUES(1,1,1,1,'infeasible','site ''pp'': there is no pipeline at pp 1',1,NULL,NULL,NULL,NULL,NULL,'2026-12-01T00:16:31.337Z',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO run VALUES(2,2,1,1,'ok','',1,0,0,'box','results.db.runs/3b17c09c848cc929-1-1','2026-12-01T00:16:31.357Z','2026-12-01T00:16:34.610Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6901064515113831,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'b338c323036c81ae',1,2,2,142474305,'ac66d3429c0d3ed3','2026-12-01T00:16:34.583Z');
INSERT INTO run VALUES(3,3,1,1,'ok','',1,0,1,'box','results.db.runs/40a852899b1cfcbd-1-1','2026-12-01T00:16:34.632Z','2026-12-01T00:16:37.662Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6951617002487183,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'b338c323036c81ae',1,2,2,235454398,'a13b0c6c22e2e49e','2026-12-01T00:16:37.619Z');
INSERT INTO run VALUES(4,4,1,1,'ok','',1,0,2,'box','results.db.runs/a989916149dac980-1-1','2026-12-01T00:16:37.702Z','2026-12-01T00:16:40.752Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.690168023109436,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'b338c323036c81ae',1,2,2,318251891,'96dc3be8f681c4b4','2026-12-01T00:16:40.711Z');
INSERT INTO run VALUES(5,5,1,1,'ok','',1,0,3,'box','results.db.runs/dbbb0bb2bc8dd81d-1-1','2026-12-01T00:16:40.786Z','2026-12-01T00:16:44.398Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6901395916938782,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'b338c323036c81ae',1,2,2,324501650,'379100fbfa13e420','2026-12-01T00:16:44.340Z');
INSERT INTO run VALUES(6,6,1,1,'ok','',1,0,4,'box','results.db.runs/a2a42bef5f29e354-1-1','2026-12-01T00:16:44.435Z','2026-12-01T00:16:48.014Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.695454478263855,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'b338c323036c81ae',1,2,2,199020275,'9317398baa9eb52f','2026-12-01T00:16:47.979Z');
INSERT INTO run VALUES(7,7,1,1,'ok','',1,0,5,'box','results.db.runs/6c5807146fd26e08-1-1','2026-12-01T00:16:48.030Z','2026-12-01T00:16:53.422Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6901064515113831,"epoch":0}\n','\n',char(10)),1,2,1,1,1,'b338c323036c81ae',2,2,2,1084618667,'c92503ade77baf27','2026-12-01T00:16:53.392Z');
INSERT INTO run VALUES(8,2,2,1,'ok','',1,1,6,'box','results.db.runs/3b17c09c848cc929-2-1','2026-12-01T00:16:53.462Z','2026-12-01T00:16:56.970Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6992336511611938,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'8343759cc67d8cfe',1,2,2,288502710,'6e311595dba7a84c','2026-12-01T00:16:56.924Z');
INSERT INTO run VALUES(9,3,2,1,'ok','',1,1,7,'box','results.db.runs/40a852899b1cfcbd-2-1','2026-12-01T00:16:56.978Z','2026-12-01T00:17:00.186Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6980574131011963,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'8343759cc67d8cfe',1,2,2,196041079,'0738e97448b14e75','2026-12-01T00:17:00.179Z');
INSERT INTO run VALUES(10,4,2,1,'ok','',1,1,8,'box','results.db.runs/a989916149dac980-2-1','2026-12-01T00:17:00.188Z','2026-12-01T00:17:03.738Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6991901993751526,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'8343759cc67d8cfe',1,2,2,235141953,'97b66b4011d799d9','2026-12-01T00:17:03.687Z');
INSERT INTO run VALUES(11,5,2,1,'ok','',1,1,9,'box','results.db.runs/dbbb0bb2bc8dd81d-2-1','2026-12-01T00:17:03.746Z','2026-12-01T00:17:07.014Z',0,replace('rank 0:\n{"step":2,"steps":2,"loss":0.6991235613822937,"epoch":0}\n','\n',char(10)),1,1,1,1,1,'8343759cc67d8cfe',1,2,2,268376493,'0f2157dcbb0b0ae9','2026-12-01T00:17:06.974Z');
CREATE TABLE spool_file (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  torn_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;
INSERT INTO spool_file VALUES(2,0,'192759f3b05febf9',6196,0);
INSERT INTO spool_file VALUES(3,0,'db402a311b62d5c3',8446,0);
INSERT INTO spool_file VALUES(4,0,'671f98a1cfa192ff',8448,0);
INSERT INTO spool_file VALUES(5,0,'fcbefac40d9832dc',8462,0);
INSERT INTO spool_file VALUES(6,0,'a180251abca6d2ff',14260,0);
INSERT INTO spool_file VALUES(7,0,'0fee2bdc59742772',7592,0);
INSERT INTO spool_file VALUES(7,1,'4661007a99e4cbb9',6235,0);
INSERT INTO spool_file VALUES(8,0,'f8b09a9fc5c3336e',6199,0);
INSERT INTO spool_file VALUES(9,0,'b2593d9d3df4c2ba',8444,0);
INSERT INTO spool_file VALUES(10,0,'8a4280604b3dbe21',8452,0);
INSERT INTO spool_file VALUES(11,0,'0216a0ffc7e04678',8465,0);
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
INSERT INTO process VALUES(2,0,1865,'box','2026-12-01T00:16:33Z','ok','',2,142474305,146190336,0,585992,1,1);
INSERT INTO process VALUES(3,0,1876,'box','2026-12-01T00:16:36Z','ok','',2,235454398,146616320,0,585992,1,1);
INSERT INTO process VALUES(4,0,1887,'box','2026-12-01T00:16:39Z','ok','',2,318251891,147611648,262144,585992,1,1);
INSERT INTO process VALUES(5,0,1960,'box','2026-12-01T00:16:42Z','ok','',2,324501650,146833408,0,585992,1,1);
INSERT INTO process VALUES(6,0,2011,'box','2026-12-01T00:16:46Z','ok','',2,199020275,147906560,262144,585992,1,1);
INSERT INTO process VALUES(7,0,2038,'box','2026-12-01T00:16:50Z','ok','',2,1084618667,146157568,0,387592,1,2);
INSERT INTO process VALUES(7,1,2044,'box','2026-12-01T00:16:50Z','ok','',2,1258563017,145793024,0,387592,1,2);
INSERT INTO process VALUES(8,0,2157,'box','2026-12-01T00:16:55Z','ok','',2,288502710,146305024,0,585992,1,1);
INSERT INTO process VALUES(9,0,2174,'box','2026-12-01T00:16:58Z','ok','',2,196041079,146599936,0,585992,1,1);
INSERT INTO process VALUES(10,0,2191,'box','2026-12-01T00:17:02Z','ok','',2,235141953,147591168,262144,585992,1,1);
INSERT INTO process VALUES(11,0,2209,'box','2026-12-01T00:17:05Z','ok','',2,268376493,147095552,0,585992,1,1);
CREATE TABLE run_codec (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  site TEXT NOT NULL,
  spec TEXT NOT NULL,
  added_parameters INTEGER,
  added_flops REAL,
  PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;
INSERT INTO run_codec VALUES(2,'tp','none',0,0.0);
INSERT INTO run_codec VALUES(2,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(3,'tp','topk(ratio=0.1)',0,0.0);
INSERT INTO run_codec VALUES(3,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(4,'tp','ef(quantize(bits=4))',0,0.0);
INSERT INTO run_codec VALUES(4,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(5,'tp','topk(k=6400)',0,0.0);
INSERT INTO run_codec VALUES(5,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(6,'tp','hierarchical(cast,ef(topk(ratio=0.05)))',0,0.0);
INSERT INTO run_codec VALUES(6,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(7,'tp','gate(cast)',0,0.0);
INSERT INTO run_codec VALUES(7,'tp.backward','quantize',0,0.0);
INSERT INTO run_codec VALUES(8,'tp','none',0,0.0);
INSERT INTO run_codec VALUES(8,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(9,'tp','topk(ratio=0.1)',0,0.0);
INSERT INTO run_codec VALUES(9,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(10,'tp','ef(quantize(bits=4))',0,0.0);
INSERT INTO run_codec VALUES(10,'tp.backward','none',0,0.0);
INSERT INTO run_codec VALUES(11,'tp','topk(k=6400)',0,0.0);
INSERT INTO run_codec VALUES(11,'tp.backward','none',0,0.0);
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
INSERT INTO measurement VALUES(1,2,1,'','train',0,2,0,0,35841185.0,42957513.249999999998,50073841.499999999999,57190169.75,64306498.0,50073841.499999999999,20128015.850897587836,NULL,NULL,NULL);
INSERT INTO measurement VALUES(2,2,2,'','train',0,2,0,0,1306298.0,8230081.2500000000001,15153864.499999999999,22077647.75,29001431.0,15153864.499999999999,19583416.350163333118,NULL,NULL,NULL);
INSERT INTO measurement VALUES(3,2,3,'','train',0,2,0,0,34161376.0,34361874.499999999999,34562373.0,34762871.5,34963370.0,34562373.0,567095.39587092399597,NULL,NULL,NULL);
INSERT INTO measurement VALUES(4,2,4,'','train',0,2,0,0,341697.0,349650.49999999999999,357604.0,365557.49999999999999,373511.0,357604.0,22495.895136668823397,NULL,NULL,NULL);
INSERT INTO measurement VALUES(5,2,5,'','train',0,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(6,2,6,'','train',0,2,0,0,11996.0,12056.5,12117.0,12177.499999999999999,12238.0,12117.0,171.11984104714449017,NULL,NULL,NULL);
INSERT INTO measurement VALUES(7,2,7,'','train',0,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(8,2,1,'','train',-1,2,0,0,35841185.0,42957513.249999999998,50073841.499999999999,57190169.75,64306498.0,50073841.499999999999,20128015.850897587836,NULL,NULL,NULL);
INSERT INTO measurement VALUES(9,2,2,'','train',-1,2,0,0,1306298.0,8230081.2500000000001,15153864.499999999999,22077647.75,29001431.0,15153864.499999999999,19583416.350163333118,NULL,NULL,NULL);
INSERT INTO measurement VALUES(10,2,3,'','train',-1,2,0,0,34161376.0,34361874.499999999999,34562373.0,34762871.5,34963370.0,34562373.0,567095.39587092399597,NULL,NULL,NULL);
INSERT INTO measurement VALUES(11,2,4,'','train',-1,2,0,0,341697.0,349650.49999999999999,357604.0,365557.49999999999999,373511.0,357604.0,22495.895136668823397,NULL,NULL,NULL);
INSERT INTO measurement VALUES(12,2,5,'','train',-1,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(13,2,6,'','train',-1,2,0,0,11996.0,12056.5,12117.0,12177.499999999999999,12238.0,12117.0,171.11984104714449017,NULL,NULL,NULL);
INSERT INTO measurement VALUES(14,2,7,'','train',-1,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(15,3,1,'','train',0,2,0,0,44090307.0,59834659.75,75579012.5,91323365.249999999999,107067718.0,75579012.5,44531754.379672273992,NULL,NULL,NULL);
INSERT INTO measurement VALUES(16,3,2,'','train',0,2,0,0,1417756.0,17781912.0,34146068.0,50510224.0,66874380.0,34146068.0,46284822.703978113832,NULL,NULL,NULL);
INSERT INTO measurement VALUES(17,3,3,'','train',0,2,0,0,39799514.0,40420270.0,41041026.0,41661782.0,42282538.0,41041026.0,1755763.1082489460241,NULL,NULL,NULL);
INSERT INTO measurement VALUES(18,3,4,'','train',0,2,0,0,390013.0,390965.74999999999999,391918.50000000000001,392871.25,393824.0,391918.50000000000001,2694.7839431019324366,NULL,NULL,NULL);
INSERT INTO measurement VALUES(19,3,5,'','train',0,2,0,0,76745.0,91890.500000000000001,107036.0,122181.5,137327.0,107036.0,42837.943017843419513,NULL,NULL,NULL);
INSERT INTO measurement VALUES(20,3,6,'','train',0,2,0,0,15587.0,15905.75,16224.5,16543.25,16862.0,16224.5,901.56114601284809851,NULL,NULL,NULL);
INSERT INTO measurement VALUES(21,3,7,'','train',0,2,0,0,44133.0,51752.0,59371.0,66990.0,74609.0,59371.0,21549.786263441223126,NULL,NULL,NULL);
INSERT INTO measurement VALUES(22,3,1,'','train',-1,2,0,0,44090307.0,59834659.75,75579012.5,91323365.249999999999,107067718.0,75579012.5,44531754.379672273992,NULL,NULL,NULL);
INSERT INTO measurement VALUES(23,3,2,'','train',-1,2,0,0,1417756.0,17781912.0,34146068.0,50510224.0,66874380.0,34146068.0,46284822.703978113832,NULL,NULL,NULL);
INSERT INTO measurement VALUES(24,3,3,'','train',-1,2,0,0,39799514.0,40420270.0,41041026.0,41661782.0,42282538.0,41041026.0,1755763.1082489460241,NULL,NULL,NULL);
INSERT INTO measurement VALUES(25,3,4,'','train',-1,2,0,0,390013.0,390965.74999999999999,391918.50000000000001,392871.25,393824.0,391918.50000000000001,2694.7839431019324366,NULL,NULL,NULL);
INSERT INTO measurement VALUES(26,3,5,'','train',-1,2,0,0,76745.0,91890.500000000000001,107036.0,122181.5,137327.0,107036.0,42837.943017843419513,NULL,NULL,NULL);
INSERT INTO measurement VALUES(27,3,6,'','train',-1,2,0,0,15587.0,15905.75,16224.5,16543.25,16862.0,16224.5,901.56114601284809851,NULL,NULL,NULL);
INSERT INTO measurement VALUES(28,3,7,'','train',-1,2,0,0,44133.0,51752.0,59371.0,66990.0,74609.0,59371.0,21549.786263441223126,NULL,NULL,NULL);
INSERT INTO measurement VALUES(29,4,1,'','train',0,2,0,0,54960118.0,75401202.0,95842286.0,116283370.0,136724454.0,95842286.0,57816116.44481535256,NULL,NULL,NULL);
INSERT INTO measurement VALUES(30,4,2,'','train',0,2,0,0,1925369.0,23605940.499999999999,45286512.0,66967083.500000000001,88647655.0,45286512.0,61321916.510599195956,NULL,NULL,NULL);
INSERT INTO measurement VALUES(31,4,3,'','train',0,2,0,0,3293708.0,15621268.25,27948828.499999999999,40276388.749999999998,52603949.0,27948828.499999999999,34867605.79304292798,NULL,NULL,NULL);
INSERT INTO measurement VALUES(32,4,4,'','train',0,2,0,0,430800.0,11518872.749999999999,22606945.499999999999,33695018.250000000001,44783091.0,22606945.499999999999,31361805.727259080857,NULL,NULL,NULL);
INSERT INTO measurement VALUES(33,4,5,'','train',0,2,0,0,153463.0,171721.5,189980.0,208238.49999999999998,226497.0,189980.0,51642.836657178311727,NULL,NULL,NULL);
INSERT INTO measurement VALUES(34,4,6,'','train',0,2,0,0,16519.0,17218.0,17917.0,18616.0,19315.0,17917.0,1977.0705601975869285,NULL,NULL,NULL);
INSERT INTO measurement VALUES(35,4,7,'','train',0,2,0,0,66044.0,76244.750000000000001,86445.499999999999996,96646.249999999999996,106847.0,86445.499999999999996,28852.077992754697334,NULL,NULL,NULL);
INSERT INTO measurement VALUES(36,4,1,'','train',-1,2,0,0,54960118.0,75401202.0,95842286.0,116283370.0,136724454.0,95842286.0,57816116.44481535256,NULL,NULL,NULL);
INSERT INTO measurement VALUES(37,4,2,'','train',-1,2,0,0,1925369.0,23605940.499999999999,45286512.0,66967083.500000000001,88647655.0,45286512.0,61321916.510599195956,NULL,NULL,NULL);
INSERT INTO measurement VALUES(38,4,3,'','train',-1,2,0,0,3293708.0,15621268.25,27948828.499999999999,40276388.749999999998,52603949.0,27948828.499999999999,34867605.79304292798,NULL,NULL,NULL);
INSERT INTO measurement VALUES(39,4,4,'','train',-1,2,0,0,430800.0,11518872.749999999999,22606945.499999999999,33695018.250000000001,44783091.0,22606945.499999999999,31361805.727259080857,NULL,NULL,NULL);
INSERT INTO measurement VALUES(40,4,5,'','train',-1,2,0,0,153463.0,171721.5,189980.0,208238.49999999999998,226497.0,189980.0,51642.836657178311727,NULL,NULL,NULL);
INSERT INTO measurement VALUES(41,4,6,'','train',-1,2,0,0,16519.0,17218.0,17917.0,18616.0,19315.0,17917.0,1977.0705601975869285,NULL,NULL,NULL);
INSERT INTO measurement VALUES(42,4,7,'','train',-1,2,0,0,66044.0,76244.750000000000001,86445.499999999999996,96646.249999999999996,106847.0,86445.499999999999996,28852.077992754697334,NULL,NULL,NULL);
INSERT INTO measurement VALUES(43,5,1,'','train',0,2,0,0,88475265.0,92370335.250000000001,96265405.499999999999,100160475.75,104055546.0,96265405.499999999999,11016922.34789192304,NULL,NULL,NULL);
INSERT INTO measurement VALUES(44,5,2,'','train',0,2,0,0,1715850.0,4819124.7499999999999,7922399.4999999999997,11025674.25,14128949.0,7922399.4999999999997,8777386.4784399513155,NULL,NULL,NULL);
INSERT INTO measurement VALUES(45,5,3,'','train',0,2,0,0,86364630.0,87144138.249999999997,87923646.500000000002,88703154.749999999998,89482663.0,87923646.500000000002,2204782.278263434302,NULL,NULL,NULL);
INSERT INTO measurement VALUES(46,5,4,'','train',0,2,0,0,394785.0,407072.25000000000002,419359.50000000000001,431646.75000000000001,443934.0,419359.50000000000001,34753.591188537626293,NULL,NULL,NULL);
INSERT INTO measurement VALUES(47,5,5,'','train',0,2,0,0,149027.0,157493.0,165959.0,174425.0,182891.0,165959.0,23945.464038101246843,NULL,NULL,NULL);
INSERT INTO measurement VALUES(48,5,6,'','train',0,2,0,0,44373.0,58782.25,73191.5,87600.749999999999997,102010.0,73191.5,40755.51354724903649,NULL,NULL,NULL);
INSERT INTO measurement VALUES(49,5,7,'','train',0,2,0,0,99882.0,103302.24999999999999,106722.5,110142.74999999999999,113563.0,106722.5,9673.9278734131567034,NULL,NULL,NULL);
INSERT INTO measurement VALUES(50,5,1,'','train',-1,2,0,0,88475265.0,92370335.250000000001,96265405.499999999999,100160475.75,104055546.0,96265405.499999999999,11016922.34789192304,NULL,NULL,NULL);
INSERT INTO measurement VALUES(51,5,2,'','train',-1,2,0,0,1715850.0,4819124.7499999999999,7922399.4999999999997,11025674.25,14128949.0,7922399.4999999999997,8777386.4784399513155,NULL,NULL,NULL);
INSERT INTO measurement VALUES(52,5,3,'','train',-1,2,0,0,86364630.0,87144138.249999999997,87923646.500000000002,88703154.749999999998,89482663.0,87923646.500000000002,2204782.278263434302,NULL,NULL,NULL);
INSERT INTO measurement VALUES(53,5,4,'','train',-1,2,0,0,394785.0,407072.25000000000002,419359.50000000000001,431646.75000000000001,443934.0,419359.50000000000001,34753.591188537626293,NULL,NULL,NULL);
INSERT INTO measurement VALUES(54,5,5,'','train',-1,2,0,0,149027.0,157493.0,165959.0,174425.0,182891.0,165959.0,23945.464038101246843,NULL,NULL,NULL);
INSERT INTO measurement VALUES(55,5,6,'','train',-1,2,0,0,44373.0,58782.25,73191.5,87600.749999999999997,102010.0,73191.5,40755.51354724903649,NULL,NULL,NULL);
INSERT INTO measurement VALUES(56,5,7,'','train',-1,2,0,0,99882.0,103302.24999999999999,106722.5,110142.74999999999999,113563.0,106722.5,9673.9278734131567034,NULL,NULL,NULL);
INSERT INTO measurement VALUES(57,6,1,'','train',0,2,0,0,74075146.0,75030757.499999999999,75986369.0,76941980.5,77897592.0,75986369.0,2702877.4873193940147,NULL,NULL,NULL);
INSERT INTO measurement VALUES(58,6,2,'','train',0,2,0,0,36838824.0,42489613.0,48140402.0,53791191.0,59441980.0,48140402.0,15982844.88381739892,NULL,NULL,NULL);
INSERT INTO measurement VALUES(59,6,3,'','train',0,2,0,0,18083609.0,22776819.749999999999,27470030.5,32163241.249999999999,36856452.0,27470030.5,13274404.587450411171,NULL,NULL,NULL);
INSERT INTO measurement VALUES(60,6,4,'','train',0,2,0,0,372003.0,373969.74999999999999,375936.5,377903.24999999999999,379870.0,375936.5,5562.8090475945691649,NULL,NULL,NULL);
INSERT INTO measurement VALUES(61,6,5,'','train',0,2,0,0,237803.0,254604.75000000000001,271406.5,288208.25,305010.0,271406.5,47522.525443204300245,NULL,NULL,NULL);
INSERT INTO measurement VALUES(62,6,6,'','train',0,2,0,0,89637.0,128140.74999999999999,166644.49999999999999,205148.25,243652.0,166644.49999999999999,108905.05090444612142,NULL,NULL,NULL);
INSERT INTO measurement VALUES(63,6,7,'','train',0,2,0,0,102534.0,106615.0,110696.0,114777.0,118858.0,110696.0,11542.811096089202692,NULL,NULL,NULL);
INSERT INTO measurement VALUES(64,6,1,'','train',-1,2,0,0,74075146.0,75030757.499999999999,75986369.0,76941980.5,77897592.0,75986369.0,2702877.4873193940147,NULL,NULL,NULL);
INSERT INTO measurement VALUES(65,6,2,'','train',-1,2,0,0,36838824.0,42489613.0,48140402.0,53791191.0,59441980.0,48140402.0,15982844.88381739892,NULL,NULL,NULL);
INSERT INTO measurement VALUES(66,6,3,'','train',-1,2,0,0,18083609.0,22776819.749999999999,27470030.5,32163241.249999999999,36856452.0,27470030.5,13274404.587450411171,NULL,NULL,NULL);
INSERT INTO measurement VALUES(67,6,4,'','train',-1,2,0,0,372003.0,373969.74999999999999,375936.5,377903.24999999999999,379870.0,375936.5,5562.8090475945691649,NULL,NULL,NULL);
INSERT INTO measurement VALUES(68,6,5,'','train',-1,2,0,0,237803.0,254604.75000000000001,271406.5,288208.25,305010.0,271406.5,47522.525443204300245,NULL,NULL,NULL);
INSERT INTO measurement VALUES(69,6,6,'','train',-1,2,0,0,89637.0,128140.74999999999999,166644.49999999999999,205148.25,243652.0,166644.49999999999999,108905.05090444612142,NULL,NULL,NULL);
INSERT INTO measurement VALUES(70,6,7,'','train',-1,2,0,0,102534.0,106615.0,110696.0,114777.0,118858.0,110696.0,11542.811096089202692,NULL,NULL,NULL);
INSERT INTO measurement VALUES(71,7,1,'','train',0,1,1,0,18644136.0,18644136.0,18644136.0,18644136.0,18644136.0,18644136.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(72,7,2,'','train',0,1,1,0,9180219.0,9180219.0,9180219.0,9180219.0,9180219.0,9180219.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(73,7,3,'','train',0,1,1,0,9137361.0,9137361.0,9137361.0,9137361.0,9137361.0,9137361.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(74,7,4,'','train',0,1,1,0,326556.0,326556.0,326556.0,326556.0,326556.0,326556.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(75,7,5,'','train',0,1,1,0,119499.0,119499.0,119499.0,119499.0,119499.0,119499.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(76,7,6,'','train',0,1,1,0,15248955.0,15248955.0,15248955.0,15248955.0,15248955.0,15248955.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(77,7,7,'','train',0,1,1,0,33731.0,33731.0,33731.0,33731.0,33731.0,33731.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(78,7,1,'','train',1,1,1,0,21163354.0,21163354.0,21163354.0,21163354.0,21163354.0,21163354.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(79,7,2,'','train',1,1,1,0,14456785.0,14456785.0,14456785.0,14456785.0,14456785.0,14456785.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(80,7,3,'','train',1,1,1,0,6376103.0,6376103.0,6376103.0,6376103.0,6376103.0,6376103.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(81,7,4,'','train',1,1,1,0,330466.0,330466.0,330466.0,330466.0,330466.0,330466.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(82,7,5,'','train',1,1,1,0,100873.0,100873.0,100873.0,100873.0,100873.0,100873.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(83,7,6,'','train',1,1,1,0,17688602.0,17688602.0,17688602.0,17688602.0,17688602.0,17688602.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(84,7,7,'','train',1,1,1,0,29621.0,29621.0,29621.0,29621.0,29621.0,29621.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(85,7,1,'','train',-1,1,1,0,21163354.0,21163354.0,21163354.0,21163354.0,21163354.0,21163354.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(86,7,2,'','train',-1,1,1,0,14456785.0,14456785.0,14456785.0,14456785.0,14456785.0,14456785.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(87,7,3,'','train',-1,1,1,0,6376103.0,6376103.0,6376103.0,6376103.0,6376103.0,6376103.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(88,7,4,'','train',-1,1,1,0,330466.0,330466.0,330466.0,330466.0,330466.0,330466.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(89,7,5,'','train',-1,1,1,0,100873.0,100873.0,100873.0,100873.0,100873.0,100873.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(90,7,6,'','train',-1,1,1,0,17688602.0,17688602.0,17688602.0,17688602.0,17688602.0,17688602.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(91,7,7,'','train',-1,1,1,0,29621.0,29621.0,29621.0,29621.0,29621.0,29621.0,NULL,NULL,NULL,NULL);
INSERT INTO measurement VALUES(92,8,1,'','train',0,2,0,0,36059031.0,55097861.499999999999,74136692.0,93175522.500000000003,112214353.0,74136692.0,53849944.609645068647,NULL,NULL,NULL);
INSERT INTO measurement VALUES(93,8,2,'','train',0,2,0,0,33790479.0,41670190.5,49549902.0,57429613.499999999999,65309325.0,49549902.0,22287189.741774488241,NULL,NULL,NULL);
INSERT INTO measurement VALUES(94,8,3,'','train',0,2,0,0,1884178.0,13046344.0,24208510.0,35370676.0,46532842.0,24208510.0,31571373.085319682956,NULL,NULL,NULL);
INSERT INTO measurement VALUES(95,8,4,'','train',0,2,0,0,372186.0,375233.0,378280.0,381327.0,384374.0,378280.0,8618.2174491016412505,NULL,NULL,NULL);
INSERT INTO measurement VALUES(96,8,5,'','train',0,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(97,8,6,'','train',0,2,0,0,11726.0,12196.0,12666.0,13136.0,13606.0,12666.0,1329.360748630709395,NULL,NULL,NULL);
INSERT INTO measurement VALUES(98,8,7,'','train',0,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(99,8,1,'','train',-1,2,0,0,36059031.0,55097861.499999999999,74136692.0,93175522.500000000003,112214353.0,74136692.0,53849944.609645068647,NULL,NULL,NULL);
INSERT INTO measurement VALUES(100,8,2,'','train',-1,2,0,0,33790479.0,41670190.5,49549902.0,57429613.499999999999,65309325.0,49549902.0,22287189.741774488241,NULL,NULL,NULL);
INSERT INTO measurement VALUES(101,8,3,'','train',-1,2,0,0,1884178.0,13046344.0,24208510.0,35370676.0,46532842.0,24208510.0,31571373.085319682956,NULL,NULL,NULL);
INSERT INTO measurement VALUES(102,8,4,'','train',-1,2,0,0,372186.0,375233.0,378280.0,381327.0,384374.0,378280.0,8618.2174491016412505,NULL,NULL,NULL);
INSERT INTO measurement VALUES(103,8,5,'','train',-1,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(104,8,6,'','train',-1,2,0,0,11726.0,12196.0,12666.0,13136.0,13606.0,12666.0,1329.360748630709395,NULL,NULL,NULL);
INSERT INTO measurement VALUES(105,8,7,'','train',-1,2,0,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,NULL,NULL,NULL);
INSERT INTO measurement VALUES(106,9,1,'','train',0,2,0,0,61277478.0,65259215.249999999999,69240952.5,73222689.75,77204427.0,69240952.5,11262053.641512302682,NULL,NULL,NULL);
INSERT INTO measurement VALUES(107,9,2,'','train',0,2,0,0,26861967.0,27579947.25,28297927.499999999999,29015907.75,29733888.0,28297927.499999999999,2030754.8141320508438,NULL,NULL,NULL);
INSERT INTO measurement VALUES(108,9,3,'','train',0,2,0,0,1806712.0,9157404.7500000000003,16508097.5,23858790.25,31209483.0,16508097.5,20790898.759775165468,NULL,NULL,NULL);
INSERT INTO measurement VALUES(109,9,4,'','train',0,2,0,0,334107.0,12384517.25,24434927.5,36485337.75,48535748.0,24434927.5,34083707.215419515967,NULL,NULL,NULL);
INSERT INTO measurement VALUES(110,9,5,'','train',0,2,0,0,91166.0,102578.49999999999999,113991.0,125403.49999999999999,136816.0,113991.0,32279.424561165895282,NULL,NULL,NULL);
INSERT INTO measurement VALUES(111,9,6,'','train',0,2,0,0,16704.0,16965.25,17226.5,17487.75,17749.0,17226.5,738.92658633994221873,NULL,NULL,NULL);
INSERT INTO measurement VALUES(112,9,7,'','train',0,2,0,0,44444.0,48800.75,53157.499999999999998,57514.25,61871.0,53157.499999999999998,12322.74987573796352,NULL,NULL,NULL);
INSERT INTO measurement VALUES(113,9,1,'','train',-1,2,0,0,61277478.0,65259215.249999999999,69240952.5,73222689.75,77204427.0,69240952.5,11262053.641512302682,NULL,NULL,NULL);
INSERT INTO measurement VALUES(114,9,2,'','train',-1,2,0,0,26861967.0,27579947.25,28297927.499999999999,29015907.75,29733888.0,28297927.499999999999,2030754.8141320508438,NULL,NULL,NULL);
INSERT INTO measurement VALUES(115,9,3,'','train',-1,2,0,0,1806712.0,9157404.7500000000003,16508097.5,23858790.25,31209483.0,16508097.5,20790898.759775165468,NULL,NULL,NULL);
INSERT INTO measurement VALUES(116,9,4,'','train',-1,2,0,0,334107.0,12384517.25,24434927.5,36485337.75,48535748.0,24434927.5,34083707.215419515967,NULL,NULL,NULL);
INSERT INTO measurement VALUES(117,9,5,'','train',-1,2,0,0,91166.0,102578.49999999999999,113991.0,125403.49999999999999,136816.0,113991.0,32279.424561165895282,NULL,NULL,NULL);
INSERT INTO measurement VALUES(118,9,6,'','train',-1,2,0,0,16704.0,16965.25,17226.5,17487.75,17749.0,17226.5,738.92658633994221873,NULL,NULL,NULL);
INSERT INTO measurement VALUES(119,9,7,'','train',-1,2,0,0,44444.0,48800.75,53157.499999999999998,57514.25,61871.0,53157.499999999999998,12322.74987573796352,NULL,NULL,NULL);
INSERT INTO measurement VALUES(120,10,1,'','train',0,2,0,0,44698132.0,54587483.250000000001,64476834.500000000001,74366185.75,84255537.0,64476834.500000000001,27971309.321642640977,NULL,NULL,NULL);
INSERT INTO measurement VALUES(121,10,2,'','train',0,2,0,0,1542977.0,9216084.4999999999996,16889192.0,24562299.499999999999,32235407.0,16889192.0,21702825.384093426168,NULL,NULL,NULL);
INSERT INTO measurement VALUES(122,10,3,'','train',0,2,0,0,42802407.0,45008977.749999999999,47215548.499999999997,49422119.25,51628690.0,47215548.499999999997,6241124.561971544288,NULL,NULL,NULL);
INSERT INTO measurement VALUES(123,10,4,'','train',0,2,0,0,352748.0,362421.0,372094.0,381767.0,391440.0,372094.0,27359.375577669896302,NULL,NULL,NULL);
INSERT INTO measurement VALUES(124,10,5,'','train',0,2,0,0,148368.0,171760.5,195153.0,218545.5,241938.0,195153.0,66163.981515625258909,NULL,NULL,NULL);
INSERT INTO measurement VALUES(125,10,6,'','train',0,2,0,0,14685.0,15692.749999999999999,16700.499999999999999,17708.249999999999999,18716.0,16700.499999999999999,2850.3474349629732387,NULL,NULL,NULL);
INSERT INTO measurement VALUES(126,10,7,'','train',0,2,0,0,63407.0,74895.499999999999999,86384.0,97872.500000000000001,109361.0,86384.0,32494.385022646605648,NULL,NULL,NULL);
INSERT INTO measurement VALUES(127,10,1,'','train',-1,2,0,0,44698132.0,54587483.250000000001,64476834.500000000001,74366185.75,84255537.0,64476834.500000000001,27971309.321642640977,NULL,NULL,NULL);
INSERT INTO measurement VALUES(128,10,2,'','train',-1,2,0,0,1542977.0,9216084.4999999999996,16889192.0,24562299.499999999999,32235407.0,16889192.0,21702825.384093426168,NULL,NULL,NULL);
INSERT INTO measurement VALUES(129,10,3,'','train',-1,2,0,0,42802407.0,45008977.749999999999,47215548.499999999997,49422119.25,51628690.0,47215548.499999999997,6241124.561971544288,NULL,NULL,NULL);
INSERT INTO measurement VALUES(130,10,4,'','train',-1,2,0,0,352748.0,362421.0,372094.0,381767.0,391440.0,372094.0,27359.375577669896302,NULL,NULL,NULL);
INSERT INTO measurement VALUES(131,10,5,'','train',-1,2,0,0,148368.0,171760.5,195153.0,218545.5,241938.0,195153.0,66163.981515625258909,NULL,NULL,NULL);
INSERT INTO measurement VALUES(132,10,6,'','train',-1,2,0,0,14685.0,15692.749999999999999,16700.499999999999999,17708.249999999999999,18716.0,16700.499999999999999,2850.3474349629732387,NULL,NULL,NULL);
INSERT INTO measurement VALUES(133,10,7,'','train',-1,2,0,0,63407.0,74895.499999999999999,86384.0,97872.500000000000001,109361.0,86384.0,32494.385022646605648,NULL,NULL,NULL);
INSERT INTO measurement VALUES(134,11,1,'','train',0,2,0,0,40306085.0,57357356.0,74408627.0,91459898.0,108511169.0,74408627.0,48228277.407798096536,NULL,NULL,NULL);
INSERT INTO measurement VALUES(135,11,2,'','train',0,2,0,0,38025635.0,54838529.0,71651423.0,88464317.0,105277211.0,71651423.0,47554045.435082472862,NULL,NULL,NULL);
INSERT INTO measurement VALUES(136,11,3,'','train',0,2,0,0,1919723.0,2164064.75,2408406.4999999999999,2652748.2499999999999,2897090.0,2408406.4999999999999,691102.83340795245019,NULL,NULL,NULL);
INSERT INTO measurement VALUES(137,11,4,'','train',0,2,0,0,336868.0,342832.74999999999999,348797.49999999999999,354762.24999999999999,360727.0,348797.49999999999999,16870.860692329835728,NULL,NULL,NULL);
INSERT INTO measurement VALUES(138,11,5,'','train',0,2,0,0,138972.0,160173.0,181374.0,202575.0,223776.0,181374.0,59965.483471743973495,NULL,NULL,NULL);
INSERT INTO measurement VALUES(139,11,6,'','train',0,2,0,0,33711.0,51649.249999999999999,69587.499999999999997,87525.75,105464.0,69587.499999999999997,50737.032870478346014,NULL,NULL,NULL);
INSERT INTO measurement VALUES(140,11,7,'','train',0,2,0,0,93327.0,99943.750000000000002,106560.5,113177.24999999999999,119794.0,106560.5,18714.995177664353833,NULL,NULL,NULL);
INSERT INTO measurement VALUES(141,11,1,'','train',-1,2,0,0,40306085.0,57357356.0,74408627.0,91459898.0,108511169.0,74408627.0,48228277.407798096536,NULL,NULL,NULL);
INSERT INTO measurement VALUES(142,11,2,'','train',-1,2,0,0,38025635.0,54838529.0,71651423.0,88464317.0,105277211.0,71651423.0,47554045.435082472862,NULL,NULL,NULL);
INSERT INTO measurement VALUES(143,11,3,'','train',-1,2,0,0,1919723.0,2164064.75,2408406.4999999999999,2652748.2499999999999,2897090.0,2408406.4999999999999,691102.83340795245019,NULL,NULL,NULL);
INSERT INTO measurement VALUES(144,11,4,'','train',-1,2,0,0,336868.0,342832.74999999999999,348797.49999999999999,354762.24999999999999,360727.0,348797.49999999999999,16870.860692329835728,NULL,NULL,NULL);
INSERT INTO measurement VALUES(145,11,5,'','train',-1,2,0,0,138972.0,160173.0,181374.0,202575.0,223776.0,181374.0,59965.483471743973495,NULL,NULL,NULL);
INSERT INTO measurement VALUES(146,11,6,'','train',-1,2,0,0,33711.0,51649.249999999999999,69587.499999999999997,87525.75,105464.0,69587.499999999999997,50737.032870478346014,NULL,NULL,NULL);
INSERT INTO measurement VALUES(147,11,7,'','train',-1,2,0,0,93327.0,99943.750000000000002,106560.5,113177.24999999999999,119794.0,106560.5,18714.995177664353833,NULL,NULL,NULL);
CREATE TABLE sample (
  measurement_id INTEGER PRIMARY KEY REFERENCES measurement (id) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  hash TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;
INSERT INTO sample VALUES(1,2,0,'c61af27ae64cab94',X'00000010eaa98e410000000825178141');
INSERT INTO sample VALUES(2,2,0,'0fece63d0e9aa129',X'000000706da87b4100000000baee3341');
INSERT INTO sample VALUES(3,2,0,'e3eec57955ea6374',X'00000050fdab804100000000174a8041');
INSERT INTO sample VALUES(4,2,0,'243d5a7c3b2d9be4',X'0000000004db1441000000001ccc1641');
INSERT INTO sample VALUES(5,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(6,2,0,'41efff925f6a7315',X'00000000006ec7400000000000e7c740');
INSERT INTO sample VALUES(7,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(8,2,0,'c61af27ae64cab94',X'00000010eaa98e410000000825178141');
INSERT INTO sample VALUES(9,2,0,'0fece63d0e9aa129',X'000000706da87b4100000000baee3341');
INSERT INTO sample VALUES(10,2,0,'e3eec57955ea6374',X'00000050fdab804100000000174a8041');
INSERT INTO sample VALUES(11,2,0,'243d5a7c3b2d9be4',X'0000000004db1441000000001ccc1641');
INSERT INTO sample VALUES(12,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(13,2,0,'41efff925f6a7315',X'00000000006ec7400000000000e7c740');
INSERT INTO sample VALUES(14,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(15,2,0,'60ce4dafebcc89a0',X'00000018e5869941000000181e068541');
INSERT INTO sample VALUES(16,2,0,'b8824465831e0839',X'0000006060e38f41000000001ca23541');
INSERT INTO sample VALUES(17,2,0,'915e718b14017f1e',X'000000d056fa82410000005071298441');
INSERT INTO sample VALUES(18,2,0,'f8db583aa089ed43',X'000000008009184100000000f4cd1741');
INSERT INTO sample VALUES(19,2,0,'751497828182c2b7',X'0000000078c300410000000090bcf240');
INSERT INTO sample VALUES(20,2,0,'0b772d421184aa66',X'000000008071ce40000000008077d040');
INSERT INTO sample VALUES(21,2,0,'0853546dd476b21a',X'000000001037f24000000000a08ce540');
INSERT INTO sample VALUES(22,2,0,'60ce4dafebcc89a0',X'00000018e5869941000000181e068541');
INSERT INTO sample VALUES(23,2,0,'b8824465831e0839',X'0000006060e38f41000000001ca23541');
INSERT INTO sample VALUES(24,2,0,'915e718b14017f1e',X'000000d056fa82410000005071298441');
INSERT INTO sample VALUES(25,2,0,'f8db583aa089ed43',X'000000008009184100000000f4cd1741');
INSERT INTO sample VALUES(26,2,0,'751497828182c2b7',X'0000000078c300410000000090bcf240');
INSERT INTO sample VALUES(27,2,0,'0b772d421184aa66',X'000000008071ce40000000008077d040');
INSERT INTO sample VALUES(28,2,0,'0853546dd476b21a',X'000000001037f24000000000a08ce540');
INSERT INTO sample VALUES(29,2,0,'d26ba7b019a6631a',X'000000cc7f4ca041000000b0ff348a41');
INSERT INTO sample VALUES(30,2,0,'565c79d329ed2242',X'0000009c9f22954100000000f9603d41');
INSERT INTO sample VALUES(31,2,0,'d521163b2853d47f',X'00000000062149410000006861158941');
INSERT INTO sample VALUES(32,2,0,'16d02fa95eec2766',X'00000098af5a854100000000404b1a41');
INSERT INTO sample VALUES(33,2,0,'ae7599caa3b5a9ef',X'0000000008a60b4100000000b8bb0241');
INSERT INTO sample VALUES(34,2,0,'6acd4816524c752b',X'00000000c0dcd24000000000c021d040');
INSERT INTO sample VALUES(35,2,0,'503d703851371fa2',X'00000000f015fa4000000000c01ff040');
INSERT INTO sample VALUES(36,2,0,'d26ba7b019a6631a',X'000000cc7f4ca041000000b0ff348a41');
INSERT INTO sample VALUES(37,2,0,'565c79d329ed2242',X'0000009c9f22954100000000f9603d41');
INSERT INTO sample VALUES(38,2,0,'d521163b2853d47f',X'00000000062149410000006861158941');
INSERT INTO sample VALUES(39,2,0,'16d02fa95eec2766',X'00000098af5a854100000000404b1a41');
INSERT INTO sample VALUES(40,2,0,'ae7599caa3b5a9ef',X'0000000008a60b4100000000b8bb0241');
INSERT INTO sample VALUES(41,2,0,'6acd4816524c752b',X'00000000c0dcd24000000000c021d040');
INSERT INTO sample VALUES(42,2,0,'503d703851371fa2',X'00000000f015fa4000000000c01ff040');
INSERT INTO sample VALUES(43,2,0,'04136c3924e9a741',X'000000e80bcf9841000000041a189541');
INSERT INTO sample VALUES(44,2,0,'728a2bc8cf392b03',X'000000a0e6f26a41000000008a2e3a41');
INSERT INTO sample VALUES(45,2,0,'4bbccfa654b51511',X'0000009c965595410000005847979441');
INSERT INTO sample VALUES(46,2,0,'17f0a7cd3cd6b9e4',X'0000000078181b410000000084181841');
INSERT INTO sample VALUES(47,2,0,'3a83cfdb56f4adf9',X'00000000585306410000000018310241');
INSERT INTO sample VALUES(48,2,0,'8abbc8071d48f14f',X'00000000a0e7f84000000000a0aae540');
INSERT INTO sample VALUES(49,2,0,'9469aa19af65c6b8',X'00000000b0b9fb4000000000a062f840');
INSERT INTO sample VALUES(50,2,0,'04136c3924e9a741',X'000000e80bcf9841000000041a189541');
INSERT INTO sample VALUES(51,2,0,'728a2bc8cf392b03',X'000000a0e6f26a41000000008a2e3a41');
INSERT INTO sample VALUES(52,2,0,'4bbccfa654b51511',X'0000009c965595410000005847979441');
INSERT INTO sample VALUES(53,2,0,'17f0a7cd3cd6b9e4',X'0000000078181b410000000084181841');
INSERT INTO sample VALUES(54,2,0,'3a83cfdb56f4adf9',X'00000000585306410000000018310241');
INSERT INTO sample VALUES(55,2,0,'8abbc8071d48f14f',X'00000000a0e7f84000000000a0aae540');
INSERT INTO sample VALUES(56,2,0,'9469aa19af65c6b8',X'00000000b0b9fb4000000000a062f840');
INSERT INTO sample VALUES(57,2,0,'aafada235c433167',X'000000e07d9292410000002830a99141');
INSERT INTO sample VALUES(58,2,0,'d49aaee79f516985',X'000000e019588c4100000040ed908141');
INSERT INTO sample VALUES(59,2,0,'daec300a1c194b07',X'00000090f13e71410000002014938141');
INSERT INTO sample VALUES(60,2,0,'94203d306ce42b21',X'000000008cb4164100000000782f1741');
INSERT INTO sample VALUES(61,2,0,'3150f60bf9463e79',X'00000000c89d12410000000058070d41');
INSERT INTO sample VALUES(62,2,0,'fc6e39313a006d46',X'0000000020be0d410000000050e2f540');
INSERT INTO sample VALUES(63,2,0,'761f4e271c900a24',X'00000000a004fd40000000006008f940');
INSERT INTO sample VALUES(64,2,0,'aafada235c433167',X'000000e07d9292410000002830a99141');
INSERT INTO sample VALUES(65,2,0,'d49aaee79f516985',X'000000e019588c4100000040ed908141');
INSERT INTO sample VALUES(66,2,0,'daec300a1c194b07',X'00000090f13e71410000002014938141');
INSERT INTO sample VALUES(67,2,0,'94203d306ce42b21',X'000000008cb4164100000000782f1741');
INSERT INTO sample VALUES(68,2,0,'3150f60bf9463e79',X'00000000c89d12410000000058070d41');
INSERT INTO sample VALUES(69,2,0,'fc6e39313a006d46',X'0000000020be0d410000000050e2f540');
INSERT INTO sample VALUES(70,2,0,'761f4e271c900a24',X'00000000a004fd40000000006008f940');
INSERT INTO sample VALUES(71,2,0,'12703435fef00bcf',X'000000e0755da74100000080cac77141');
INSERT INTO sample VALUES(72,2,0,'b8c3f006dbbec0f3',X'000000fc78fea5410000006087826141');
INSERT INTO sample VALUES(73,2,0,'216c8a3404768f32',X'000000c0b9556041000000209a6d6141');
INSERT INTO sample VALUES(74,2,0,'3fb7a7df1dab4176',X'00000000526846410000000070ee1341');
INSERT INTO sample VALUES(75,2,0,'414d27da7cc6be97',X'000000000000000000000000b02cfd40');
INSERT INTO sample VALUES(76,2,0,'996791f18380b4d7',X'000000d43c8ca24100000060c7156d41');
INSERT INTO sample VALUES(77,2,0,'c247a8fc289b0b7c',X'0000000000000000000000006078e040');
INSERT INTO sample VALUES(78,2,0,'1d6f91f69c84cf6c',X'000000bed22fad41000000a0d52e7441');
INSERT INTO sample VALUES(79,2,0,'cf67393d8acac903',X'00000062181eac4100000020fa926b41');
INSERT INTO sample VALUES(80,2,0,'63966a1b7f3c923f',X'00000020a42a6041000000c0a9525841');
INSERT INTO sample VALUES(81,2,0,'a34571f50f044913',X'0000000034201e4100000000882b1441');
INSERT INTO sample VALUES(82,2,0,'c90df9504b69f85b',X'00000000000000000000000090a0f840');
INSERT INTO sample VALUES(83,2,0,'0b58aea45372e3b8',X'00000040251fab41000000a081de7041');
INSERT INTO sample VALUES(84,2,0,'cc7538c1acba29ff',X'00000000000000000000000040eddc40');
INSERT INTO sample VALUES(85,2,0,'1d6f91f69c84cf6c',X'000000bed22fad41000000a0d52e7441');
INSERT INTO sample VALUES(86,2,0,'cf67393d8acac903',X'00000062181eac4100000020fa926b41');
INSERT INTO sample VALUES(87,2,0,'63966a1b7f3c923f',X'00000020a42a6041000000c0a9525841');
INSERT INTO sample VALUES(88,2,0,'a34571f50f044913',X'0000000034201e4100000000882b1441');
INSERT INTO sample VALUES(89,2,0,'c90df9504b69f85b',X'00000000000000000000000090a0f840');
INSERT INTO sample VALUES(90,2,0,'0b58aea45372e3b8',X'00000040251fab41000000a081de7041');
INSERT INTO sample VALUES(91,2,0,'cc7538c1acba29ff',X'00000000000000000000000040eddc40');
INSERT INTO sample VALUES(92,2,0,'060006314733d151',X'0000004405c19a41000000b8bc318141');
INSERT INTO sample VALUES(93,2,0,'a3c9c10d51db261d',X'0000006854248f4100000078d01c8041');
INSERT INTO sample VALUES(94,2,0,'4b6ce8f57077bc6e',X'00000050473086410000000012c03c41');
INSERT INTO sample VALUES(95,2,0,'03e14f058545b1e2',X'0000000068b7164100000000d8751741');
INSERT INTO sample VALUES(96,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(97,2,0,'66b3f91a71094916',X'000000000093ca400000000000e7c640');
INSERT INTO sample VALUES(98,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(99,2,0,'060006314733d151',X'0000004405c19a41000000b8bc318141');
INSERT INTO sample VALUES(100,2,0,'a3c9c10d51db261d',X'0000006854248f4100000078d01c8041');
INSERT INTO sample VALUES(101,2,0,'4b6ce8f57077bc6e',X'00000050473086410000000012c03c41');
INSERT INTO sample VALUES(102,2,0,'03e14f058545b1e2',X'0000000068b7164100000000d8751741');
INSERT INTO sample VALUES(103,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(104,2,0,'66b3f91a71094916',X'000000000093ca400000000000e7c640');
INSERT INTO sample VALUES(105,2,0,'af09f71516247c32',X'00000000000000000000000000000000');
INSERT INTO sample VALUES(106,2,0,'d4b867c1536e0e6f',X'0000003029388d410000002c2f689241');
INSERT INTO sample VALUES(107,2,0,'a397e4c4e9411d9f',X'00000000405b7c41000000f0189e7941');
INSERT INTO sample VALUES(108,2,0,'20d65e0b15179af7',X'000000b080c37d410000000078913b41');
INSERT INTO sample VALUES(109,2,0,'7e305a832d25c04e',X'000000006c64144100000020c6248741');
INSERT INTO sample VALUES(110,2,0,'a344afa9e8765d6c',X'0000000080b3004100000000e041f640');
INSERT INTO sample VALUES(111,2,0,'9bfef55ca1aa9eb8',X'000000000050d040000000004055d140');
INSERT INTO sample VALUES(112,2,0,'bd582d55405249a6',X'00000000e035ee400000000080b3e540');
INSERT INTO sample VALUES(113,2,0,'d4b867c1536e0e6f',X'0000003029388d410000002c2f689241');
INSERT INTO sample VALUES(114,2,0,'a397e4c4e9411d9f',X'00000000405b7c41000000f0189e7941');
INSERT INTO sample VALUES(115,2,0,'20d65e0b15179af7',X'000000b080c37d410000000078913b41');
INSERT INTO sample VALUES(116,2,0,'7e305a832d25c04e',X'000000006c64144100000020c6248741');
INSERT INTO sample VALUES(117,2,0,'a344afa9e8765d6c',X'0000000080b3004100000000e041f640');
INSERT INTO sample VALUES(118,2,0,'9bfef55ca1aa9eb8',X'000000000050d040000000004055d140');
INSERT INTO sample VALUES(119,2,0,'bd582d55405249a6',X'00000000e035ee400000000080b3e540');
INSERT INTO sample VALUES(120,2,0,'aba9f2d78ccaf09c',X'000000c48c169441000000a050508541');
INSERT INTO sample VALUES(121,2,0,'301c501c15fbd1ad',X'000000f0f8bd7e4100000000418b3741');
INSERT INTO sample VALUES(122,2,0,'ec6c2aa30a7e90fa',X'00000090549e884100000038e7688441');
INSERT INTO sample VALUES(123,2,0,'6a875274a37254e8',X'0000000040e4174100000000b0871541');
INSERT INTO sample VALUES(124,2,0,'22026dc9e7689f27',X'0000000090880d4100000000801c0241');
INSERT INTO sample VALUES(125,2,0,'cc9d35e593fcc460',X'000000000047d2400000000080aecc40');
INSERT INTO sample VALUES(126,2,0,'79e53c4348f045d9',X'0000000010b3fa4000000000e0f5ee40');
INSERT INTO sample VALUES(127,2,0,'aba9f2d78ccaf09c',X'000000c48c169441000000a050508541');
INSERT INTO sample VALUES(128,2,0,'301c501c15fbd1ad',X'000000f0f8bd7e4100000000418b3741');
INSERT INTO sample VALUES(129,2,0,'ec6c2aa30a7e90fa',X'00000090549e884100000038e7688441');
INSERT INTO sample VALUES(130,2,0,'6a875274a37254e8',X'0000000040e4174100000000b0871541');
INSERT INTO sample VALUES(131,2,0,'22026dc9e7689f27',X'0000000090880d4100000000801c0241');
INSERT INTO sample VALUES(132,2,0,'cc9d35e593fcc460',X'000000000047d2400000000080aecc40');
INSERT INTO sample VALUES(133,2,0,'79e53c4348f045d9',X'0000000010b3fa4000000000e0f5ee40');
INSERT INTO sample VALUES(134,2,0,'355db9d6acf63af0',X'00000004ffde9941000000282d388341');
INSERT INTO sample VALUES(135,2,0,'6f6f17337c9fdd2f',X'0000006c9c19994100000018cd218241');
INSERT INTO sample VALUES(136,2,0,'cde911b78d1587d5',X'00000000611a464100000000eb4a3d41');
INSERT INTO sample VALUES(137,2,0,'0ebe1beadf4c2bf5',X'00000000908f1441000000005c041641');
INSERT INTO sample VALUES(138,2,0,'190c483f2ffbd3b3',X'0000000000510b4100000000e0f60041');
INSERT INTO sample VALUES(139,2,0,'f6d253b2410bb355',X'0000000080bff94000000000e075e040');
INSERT INTO sample VALUES(140,2,0,'e06806e26b632db6',X'00000000203ffd4000000000f0c8f640');
INSERT INTO sample VALUES(141,2,0,'355db9d6acf63af0',X'00000004ffde9941000000282d388341');
INSERT INTO sample VALUES(142,2,0,'6f6f17337c9fdd2f',X'0000006c9c19994100000018cd218241');
INSERT INTO sample VALUES(143,2,0,'cde911b78d1587d5',X'00000000611a464100000000eb4a3d41');
INSERT INTO sample VALUES(144,2,0,'0ebe1beadf4c2bf5',X'00000000908f1441000000005c041641');
INSERT INTO sample VALUES(145,2,0,'190c483f2ffbd3b3',X'0000000000510b4100000000e0f60041');
INSERT INTO sample VALUES(146,2,0,'f6d253b2410bb355',X'0000000080bff94000000000e075e040');
INSERT INTO sample VALUES(147,2,0,'e06806e26b632db6',X'00000000203ffd4000000000f0c8f640');
CREATE TABLE series (
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  value REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (metric_id, run_id, step)
) STRICT, WITHOUT ROWID;
INSERT INTO series VALUES(1,2,0,64306498.0,0);
INSERT INTO series VALUES(1,2,1,35841185.0,0);
INSERT INTO series VALUES(1,3,0,107067718.0,0);
INSERT INTO series VALUES(1,3,1,44090307.0,0);
INSERT INTO series VALUES(1,4,0,136724454.0,0);
INSERT INTO series VALUES(1,4,1,54960118.0,0);
INSERT INTO series VALUES(1,5,0,104055546.0,0);
INSERT INTO series VALUES(1,5,1,88475265.0,0);
INSERT INTO series VALUES(1,6,0,77897592.0,0);
INSERT INTO series VALUES(1,6,1,74075146.0,0);
INSERT INTO series VALUES(1,7,0,244836703.0,0);
INSERT INTO series VALUES(1,7,1,21163354.0,0);
INSERT INTO series VALUES(1,8,0,112214353.0,0);
INSERT INTO series VALUES(1,8,1,36059031.0,0);
INSERT INTO series VALUES(1,9,0,61277478.0,0);
INSERT INTO series VALUES(1,9,1,77204427.0,0);
INSERT INTO series VALUES(1,10,0,84255537.0,0);
INSERT INTO series VALUES(1,10,1,44698132.0,0);
INSERT INTO series VALUES(1,11,0,108511169.0,0);
INSERT INTO series VALUES(1,11,1,40306085.0,0);
INSERT INTO series VALUES(8,2,0,0.72747123241424560546,0);
INSERT INTO series VALUES(8,2,1,0.69010645151138305664,0);
INSERT INTO series VALUES(8,3,0,0.72797846794128417968,0);
INSERT INTO series VALUES(8,3,1,0.69516170024871826171,0);
INSERT INTO series VALUES(8,4,0,0.72751730680465698242,0);
INSERT INTO series VALUES(8,4,1,0.69016802310943603515,0);
INSERT INTO series VALUES(8,5,0,0.72742801904678344726,0);
INSERT INTO series VALUES(8,5,1,0.69013959169387817382,0);
INSERT INTO series VALUES(8,6,0,0.72844779491424560546,0);
INSERT INTO series VALUES(8,6,1,0.69545447826385498046,0);
INSERT INTO series VALUES(8,7,0,0.72747123241424560546,0);
INSERT INTO series VALUES(8,7,1,0.69010645151138305664,0);
INSERT INTO series VALUES(8,8,0,0.70079970359802246093,0);
INSERT INTO series VALUES(8,8,1,0.69923365116119384765,0);
INSERT INTO series VALUES(8,9,0,0.70145881175994873046,0);
INSERT INTO series VALUES(8,9,1,0.69805741310119628906,0);
INSERT INTO series VALUES(8,10,0,0.7007719278335571289,0);
INSERT INTO series VALUES(8,10,1,0.69919019937515258789,0);
INSERT INTO series VALUES(8,11,0,0.70072019100189208984,0);
INSERT INTO series VALUES(8,11,1,0.69912356138229370117,0);
INSERT INTO series VALUES(9,2,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,2,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,3,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,3,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,4,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,4,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,5,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,5,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,6,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,6,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,7,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,7,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,8,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,8,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,9,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,9,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,10,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,10,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(9,11,0,0.0010000000000000000208,0);
INSERT INTO series VALUES(9,11,1,0.0005000000000000000104,0);
INSERT INTO series VALUES(10,2,0,2.1451129160494013525,0);
INSERT INTO series VALUES(10,2,1,0.73086792861639171547,0);
INSERT INTO series VALUES(10,3,0,2.1483939080322023151,0);
INSERT INTO series VALUES(10,3,1,0.78300113245706415288,0);
INSERT INTO series VALUES(10,4,0,2.1451781912074974201,0);
INSERT INTO series VALUES(10,4,1,0.73082919548320690594,0);
INSERT INTO series VALUES(10,5,0,2.1453206689042740862,0);
INSERT INTO series VALUES(10,5,1,0.73208562734821480688,0);
INSERT INTO series VALUES(10,6,0,2.1513748937953827145,0);
INSERT INTO series VALUES(10,6,1,0.79105230273348547953,0);
INSERT INTO series VALUES(10,7,0,2.1451129160494013525,0);
INSERT INTO series VALUES(10,7,1,0.73085396071221131464,0);
INSERT INTO series VALUES(10,8,0,0.7503452618954716824,0);
INSERT INTO series VALUES(10,8,1,0.33093342674543996251,0);
INSERT INTO series VALUES(10,9,0,0.75983250961362580611,0);
INSERT INTO series VALUES(10,9,1,0.31021959026602086151,0);
INSERT INTO series VALUES(10,10,0,0.75059331892749359127,0);
INSERT INTO series VALUES(10,10,1,0.33016975070604176467,0);
INSERT INTO series VALUES(10,11,0,0.75010364611982982552,0);
INSERT INTO series VALUES(10,11,1,0.3303310881346465111,0);
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
INSERT INTO eval VALUES(1,2,1,2,'on','dev',8,0.691814422607421875,0,1047249);
INSERT INTO eval VALUES(2,2,1,2,'off','dev',8,0.691814422607421875,0,525244);
INSERT INTO eval VALUES(3,3,1,2,'on','dev',8,0.69063073396682739257,0,11149368);
INSERT INTO eval VALUES(4,3,1,2,'off','dev',8,0.69182860851287841796,0,609653);
INSERT INTO eval VALUES(5,4,1,2,'on','dev',8,0.69181358814239501953,0,1320923);
INSERT INTO eval VALUES(6,4,1,2,'off','dev',8,0.69181460142135620117,0,650016);
INSERT INTO eval VALUES(7,5,1,2,'on','dev',8,0.69179135560989379882,0,1176543);
INSERT INTO eval VALUES(8,5,1,2,'off','dev',8,0.69181412458419799804,0,79859350);
INSERT INTO eval VALUES(9,6,1,2,'on','dev',8,0.69040018320083618164,0,1185089);
INSERT INTO eval VALUES(10,6,1,2,'off','dev',8,0.6918277740478515625,0,753791);
INSERT INTO eval VALUES(11,7,1,2,'on','dev',8,0.691814422607421875,0,7423525);
INSERT INTO eval VALUES(12,7,1,2,'off','dev',8,0.691814422607421875,0,46284778);
INSERT INTO eval VALUES(13,8,1,2,'on','dev',8,0.6964467167854309082,0,809529);
INSERT INTO eval VALUES(14,8,1,2,'off','dev',8,0.6964467167854309082,0,49286612);
INSERT INTO eval VALUES(15,9,1,2,'on','dev',8,0.69516068696975708007,0,1279138);
INSERT INTO eval VALUES(16,9,1,2,'off','dev',8,0.69646161794662475585,0,548518);
INSERT INTO eval VALUES(17,10,1,2,'on','dev',8,0.69651746749877929687,0,917033);
INSERT INTO eval VALUES(18,10,1,2,'off','dev',8,0.69644904136657714843,0,59717334);
INSERT INTO eval VALUES(19,11,1,2,'on','dev',8,0.69635123014450073242,0,1431597);
INSERT INTO eval VALUES(20,11,1,2,'off','dev',8,0.69643676280975341796,0,567706);
CREATE TABLE eval_metric (
  eval_id INTEGER NOT NULL REFERENCES eval (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  is_primary INTEGER NOT NULL CHECK (is_primary IN (0, 1)),
  value REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (eval_id, metric_id)
) STRICT, WITHOUT ROWID;
INSERT INTO eval_metric VALUES(1,11,1,0.5,0);
INSERT INTO eval_metric VALUES(2,11,1,0.5,0);
INSERT INTO eval_metric VALUES(3,11,1,0.5,0);
INSERT INTO eval_metric VALUES(4,11,1,0.5,0);
INSERT INTO eval_metric VALUES(5,11,1,0.5,0);
INSERT INTO eval_metric VALUES(6,11,1,0.5,0);
INSERT INTO eval_metric VALUES(7,11,1,0.5,0);
INSERT INTO eval_metric VALUES(8,11,1,0.5,0);
INSERT INTO eval_metric VALUES(9,11,1,0.625,0);
INSERT INTO eval_metric VALUES(10,11,1,0.5,0);
INSERT INTO eval_metric VALUES(11,11,1,0.5,0);
INSERT INTO eval_metric VALUES(12,11,1,0.5,0);
INSERT INTO eval_metric VALUES(13,11,1,0.5,0);
INSERT INTO eval_metric VALUES(14,11,1,0.5,0);
INSERT INTO eval_metric VALUES(15,11,1,0.5,0);
INSERT INTO eval_metric VALUES(16,11,1,0.5,0);
INSERT INTO eval_metric VALUES(17,11,1,0.5,0);
INSERT INTO eval_metric VALUES(18,11,1,0.5,0);
INSERT INTO eval_metric VALUES(19,11,1,0.5,0);
INSERT INTO eval_metric VALUES(20,11,1,0.5,0);
CREATE TABLE label_set (
  hash TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO label_set VALUES('85b4f1077c58cef2',8,X'000000000000f03f000000000000f03f000000000000000000000000000000000000000000000000000000000000f03f0000000000000000000000000000f03f');
CREATE TABLE prediction (
  eval_id INTEGER PRIMARY KEY REFERENCES eval (id) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  hash TEXT NOT NULL,
  label_hash TEXT NOT NULL REFERENCES label_set (hash),
  data BLOB NOT NULL
) STRICT;
INSERT INTO prediction VALUES(1,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(2,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(3,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(4,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(5,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(6,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(7,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(8,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(9,8,'fbacfc1e13896bb5','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f0000000000000000000000000000f03f');
INSERT INTO prediction VALUES(10,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(11,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(12,8,'895ecd4e16021841','85b4f1077c58cef2',X'000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f000000000000f03f');
INSERT INTO prediction VALUES(13,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(14,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(15,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(16,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(17,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(18,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(19,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO prediction VALUES(20,8,'257b09a147b82a19','85b4f1077c58cef2',X'00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
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
INSERT INTO traffic VALUES(2,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4251,0);
INSERT INTO traffic VALUES(2,0,'tp','layer0.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3073,0);
INSERT INTO traffic VALUES(2,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2789,0);
INSERT INTO traffic VALUES(2,0,'tp','layer0.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2894,0);
INSERT INTO traffic VALUES(2,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2810,0);
INSERT INTO traffic VALUES(2,0,'tp','layer1.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2772,0);
INSERT INTO traffic VALUES(2,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2819,0);
INSERT INTO traffic VALUES(2,0,'tp','layer1.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3037,0);
INSERT INTO traffic VALUES(2,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2995,0);
INSERT INTO traffic VALUES(2,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3038,0);
INSERT INTO traffic VALUES(2,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3556,0);
INSERT INTO traffic VALUES(2,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2869,0);
INSERT INTO traffic VALUES(3,0,'tp','layer0.attention','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,27025,2762,7562);
INSERT INTO traffic VALUES(3,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1793,0);
INSERT INTO traffic VALUES(3,0,'tp','layer0.attention','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,106110,8232,29256);
INSERT INTO traffic VALUES(3,0,'tp','layer0.mlp','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,15682,1369,3607);
INSERT INTO traffic VALUES(3,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1609,0);
INSERT INTO traffic VALUES(3,0,'tp','layer0.mlp','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,32429,3195,24949);
INSERT INTO traffic VALUES(3,0,'tp','layer1.attention','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,16240,1475,2863);
INSERT INTO traffic VALUES(3,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1582,0);
INSERT INTO traffic VALUES(3,0,'tp','layer1.attention','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,29560,3227,29909);
INSERT INTO traffic VALUES(3,0,'tp','layer1.mlp','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,17876,1580,2733);
INSERT INTO traffic VALUES(3,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1576,0);
INSERT INTO traffic VALUES(3,0,'tp','layer1.mlp','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,45973,5112,34628);
INSERT INTO traffic VALUES(3,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3062,0);
INSERT INTO traffic VALUES(3,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3266,0);
INSERT INTO traffic VALUES(3,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3229,0);
INSERT INTO traffic VALUES(3,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3126,0);
INSERT INTO traffic VALUES(4,0,'tp','layer0.attention','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,24014,4060,14037);
INSERT INTO traffic VALUES(4,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1547,0);
INSERT INTO traffic VALUES(4,0,'tp','layer0.attention','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,186653,9124,42245);
INSERT INTO traffic VALUES(4,0,'tp','layer0.mlp','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,6591,1311,8258);
INSERT INTO traffic VALUES(4,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1464,0);
INSERT INTO traffic VALUES(4,0,'tp','layer0.mlp','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,61333,4815,50134);
INSERT INTO traffic VALUES(4,0,'tp','layer1.attention','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,8648,1318,9842);
INSERT INTO traffic VALUES(4,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1557,0);
INSERT INTO traffic VALUES(4,0,'tp','layer1.attention','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,76413,3884,47405);
INSERT INTO traffic VALUES(4,0,'tp','layer1.mlp','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,6312,1104,8115);
INSERT INTO traffic VALUES(4,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1571,0);
INSERT INTO traffic VALUES(4,0,'tp','layer1.mlp','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,55561,3594,33107);
INSERT INTO traffic VALUES(4,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3302,0);
INSERT INTO traffic VALUES(4,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3182,0);
INSERT INTO traffic VALUES(4,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3500,0);
INSERT INTO traffic VALUES(4,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4433,0);
INSERT INTO traffic VALUES(5,0,'tp','layer0.attention','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,44288,8386,19564);
INSERT INTO traffic VALUES(5,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1577,0);
INSERT INTO traffic VALUES(5,0,'tp','layer0.attention','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,124928,38078,47759);
INSERT INTO traffic VALUES(5,0,'tp','layer0.mlp','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,33998,6153,18026);
INSERT INTO traffic VALUES(5,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1519,0);
INSERT INTO traffic VALUES(5,0,'tp','layer0.mlp','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,62683,28331,55415);
INSERT INTO traffic VALUES(5,0,'tp','layer1.attention','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,34279,7186,15432);
INSERT INTO traffic VALUES(5,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1473,0);
INSERT INTO traffic VALUES(5,0,'tp','layer1.attention','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,78394,26634,49915);
INSERT INTO traffic VALUES(5,0,'tp','layer1.mlp','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,32399,5551,16761);
INSERT INTO traffic VALUES(5,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1483,0);
INSERT INTO traffic VALUES(5,0,'tp','layer1.mlp','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,65913,40491,60356);
INSERT INTO traffic VALUES(5,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3042,0);
INSERT INTO traffic VALUES(5,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3161,0);
INSERT INTO traffic VALUES(5,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3663,0);
INSERT INTO traffic VALUES(5,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2983,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,49152,32768,0,4176,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','eval','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,32768,16384,0,16384,16384,13883,9670,10719);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','eval','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,32768,0,32768,32768,0,162,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','eval','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,1961,321,1961,1961,22183,2009,13518);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','train','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,65536,32768,0,32768,32768,76837,72890,15267);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','train','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,65536,0,65536,65536,0,280,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.attention','forward','train','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,3922,642,3922,3922,132730,5088,42544);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,49152,32768,0,4107,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','eval','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,32768,16384,0,16384,16384,9400,8569,8082);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','eval','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,32768,0,32768,32768,0,41,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','eval','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,1961,321,1961,1961,14020,937,9670);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','train','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,65536,32768,0,32768,32768,24439,22293,11314);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','train','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,65536,0,65536,65536,0,519,0);
INSERT INTO traffic VALUES(6,0,'tp','layer0.mlp','forward','train','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,3922,642,3922,3922,63570,3737,37487);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,49152,32768,0,4116,0);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','eval','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,32768,16384,0,16384,16384,9087,8334,7582);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','eval','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,32768,0,32768,32768,0,50,0);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','eval','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,1961,321,1961,1961,14065,1566,6793);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','train','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,65536,32768,0,32768,32768,26552,85224,10602);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','train','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,65536,0,65536,65536,0,92,0);
INSERT INTO traffic VALUES(6,0,'tp','layer1.attention','forward','train','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,3922,642,3922,3922,101455,11454,49188);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,49152,32768,0,4129,0);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','eval','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,32768,16384,0,16384,16384,10153,7796,8752);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','eval','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,32768,0,32768,32768,0,42,0);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','eval','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',1,0,1961,321,1961,1961,16109,644,8364);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','train','node.all_reduce','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,65536,32768,0,32768,32768,23099,89129,8751);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','train','node.broadcast','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,65536,0,65536,65536,0,103,0);
INSERT INTO traffic VALUES(6,0,'tp','layer1.mlp','forward','train','nodes.all_gather','float32','hierarchical(cast,ef(topk(ratio=0.05)))',2,0,3922,642,3922,3922,94131,2765,46239);
INSERT INTO traffic VALUES(6,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,98304,65536,0,8471,0);
INSERT INTO traffic VALUES(6,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,98304,65536,0,11038,0);
INSERT INTO traffic VALUES(6,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,98304,65536,0,9997,0);
INSERT INTO traffic VALUES(6,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,98304,65536,0,10209,0);
INSERT INTO traffic VALUES(7,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3773039,0);
INSERT INTO traffic VALUES(7,0,'tp','layer0.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,63433642,0);
INSERT INTO traffic VALUES(7,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,21651924,0);
INSERT INTO traffic VALUES(7,0,'tp','layer0.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,70111477,0);
INSERT INTO traffic VALUES(7,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,20961077,0);
INSERT INTO traffic VALUES(7,0,'tp','layer1.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,19848625,0);
INSERT INTO traffic VALUES(7,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,5349096,0);
INSERT INTO traffic VALUES(7,0,'tp','layer1.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3927927,0);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer0.attention','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,9032,186559,5017);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,2773502,0);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer0.mlp','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,7418,679759,7105);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,475168,0);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer1.attention','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,9143,275081,6644);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,273614,0);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer1.mlp','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,93906,6256918,14965);
INSERT INTO traffic VALUES(7,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,2596933,0);
INSERT INTO traffic VALUES(7,1,'tp','layer0.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3794617,0);
INSERT INTO traffic VALUES(7,1,'tp','layer0.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,114372948,0);
INSERT INTO traffic VALUES(7,1,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,21241128,0);
INSERT INTO traffic VALUES(7,1,'tp','layer0.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,96027616,0);
INSERT INTO traffic VALUES(7,1,'tp','layer1.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,21339727,0);
INSERT INTO traffic VALUES(7,1,'tp','layer1.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,17425308,0);
INSERT INTO traffic VALUES(7,1,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4822482,0);
INSERT INTO traffic VALUES(7,1,'tp','layer1.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,6882176,0);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer0.attention','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,6389,191635,4813);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,265273,0);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer0.mlp','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,9292,233514,6191);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,2758252,0);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer1.attention','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,11126,699012,7536);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,270230,0);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer1.mlp','backward','train','all_gather','float32','quantize',1,32768,8320,128,8320,8320,74066,3508357,11081);
INSERT INTO traffic VALUES(7,1,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,2567273,0);
INSERT INTO traffic VALUES(8,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3631,0);
INSERT INTO traffic VALUES(8,0,'tp','layer0.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2932,0);
INSERT INTO traffic VALUES(8,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2797,0);
INSERT INTO traffic VALUES(8,0,'tp','layer0.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2938,0);
INSERT INTO traffic VALUES(8,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2978,0);
INSERT INTO traffic VALUES(8,0,'tp','layer1.attention','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2859,0);
INSERT INTO traffic VALUES(8,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2806,0);
INSERT INTO traffic VALUES(8,0,'tp','layer1.mlp','forward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2734,0);
INSERT INTO traffic VALUES(8,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3005,0);
INSERT INTO traffic VALUES(8,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2882,0);
INSERT INTO traffic VALUES(8,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3003,0);
INSERT INTO traffic VALUES(8,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4979,0);
INSERT INTO traffic VALUES(9,0,'tp','layer0.attention','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,27647,2796,7996);
INSERT INTO traffic VALUES(9,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1473,0);
INSERT INTO traffic VALUES(9,0,'tp','layer0.attention','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,116279,6765,25566);
INSERT INTO traffic VALUES(9,0,'tp','layer0.mlp','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,18333,1378,4106);
INSERT INTO traffic VALUES(9,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1400,0);
INSERT INTO traffic VALUES(9,0,'tp','layer0.mlp','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,36743,4089,19893);
INSERT INTO traffic VALUES(9,0,'tp','layer1.attention','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,16144,1471,2900);
INSERT INTO traffic VALUES(9,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1390,0);
INSERT INTO traffic VALUES(9,0,'tp','layer1.attention','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,42657,5179,32204);
INSERT INTO traffic VALUES(9,0,'tp','layer1.mlp','forward','eval','all_gather','float32','topk(ratio=0.1)',1,32768,3815,539,3815,3815,15698,1429,2378);
INSERT INTO traffic VALUES(9,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1402,0);
INSERT INTO traffic VALUES(9,0,'tp','layer1.mlp','forward','train','all_gather','float32','topk(ratio=0.1)',2,65536,7630,1078,7630,7630,32303,4199,28652);
INSERT INTO traffic VALUES(9,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3176,0);
INSERT INTO traffic VALUES(9,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3201,0);
INSERT INTO traffic VALUES(9,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3262,0);
INSERT INTO traffic VALUES(9,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4582,0);
INSERT INTO traffic VALUES(10,0,'tp','layer0.attention','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,17517,2808,11660);
INSERT INTO traffic VALUES(10,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1456,0);
INSERT INTO traffic VALUES(10,0,'tp','layer0.attention','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,189308,7802,44928);
INSERT INTO traffic VALUES(10,0,'tp','layer0.mlp','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,6764,1105,8469);
INSERT INTO traffic VALUES(10,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1443,0);
INSERT INTO traffic VALUES(10,0,'tp','layer0.mlp','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,66750,5029,46134);
INSERT INTO traffic VALUES(10,0,'tp','layer1.attention','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,6830,1121,7924);
INSERT INTO traffic VALUES(10,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1565,0);
INSERT INTO traffic VALUES(10,0,'tp','layer1.attention','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,77783,4221,48441);
INSERT INTO traffic VALUES(10,0,'tp','layer1.mlp','forward','eval','all_gather','float32','ef(quantize(bits=4))',1,32768,4224,128,4224,4224,6690,1559,8117);
INSERT INTO traffic VALUES(10,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1557,0);
INSERT INTO traffic VALUES(10,0,'tp','layer1.mlp','forward','train','all_gather','float32','ef(quantize(bits=4))',2,65536,8448,256,8448,8448,56465,3533,33265);
INSERT INTO traffic VALUES(10,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3323,0);
INSERT INTO traffic VALUES(10,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3192,0);
INSERT INTO traffic VALUES(10,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,3337,0);
INSERT INTO traffic VALUES(10,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2964,0);
INSERT INTO traffic VALUES(11,0,'tp','layer0.attention','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,43092,7886,17232);
INSERT INTO traffic VALUES(11,0,'tp','layer0.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1736,0);
INSERT INTO traffic VALUES(11,0,'tp','layer0.attention','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,134218,34146,51271);
INSERT INTO traffic VALUES(11,0,'tp','layer0.mlp','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,33926,5931,16227);
INSERT INTO traffic VALUES(11,0,'tp','layer0.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1555,0);
INSERT INTO traffic VALUES(11,0,'tp','layer0.mlp','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,71565,29130,61207);
INSERT INTO traffic VALUES(11,0,'tp','layer1.attention','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,34562,6482,14818);
INSERT INTO traffic VALUES(11,0,'tp','layer1.attention','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1395,0);
INSERT INTO traffic VALUES(11,0,'tp','layer1.attention','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,84403,30416,45838);
INSERT INTO traffic VALUES(11,0,'tp','layer1.mlp','forward','eval','all_gather','float32','topk(k=6400)',1,32768,26624,1024,26624,26624,34188,6324,14913);
INSERT INTO traffic VALUES(11,0,'tp','layer1.mlp','forward','eval','all_reduce','float32','none',1,32768,32768,0,32768,32768,0,1408,0);
INSERT INTO traffic VALUES(11,0,'tp','layer1.mlp','forward','train','all_gather','float32','topk(k=6400)',2,65536,53248,2048,53248,53248,72562,30525,54805);
INSERT INTO traffic VALUES(11,0,'tp.backward','layer0.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2860,0);
INSERT INTO traffic VALUES(11,0,'tp.backward','layer0.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,2970,0);
INSERT INTO traffic VALUES(11,0,'tp.backward','layer1.attention','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4428,0);
INSERT INTO traffic VALUES(11,0,'tp.backward','layer1.mlp','backward','train','all_reduce','float32','none',2,65536,65536,0,65536,65536,0,4700,0);
CREATE TABLE student_t (
  df INTEGER PRIMARY KEY,
  t975 REAL NOT NULL
) STRICT;
INSERT INTO student_t VALUES(1,12.706205000000000638);
INSERT INTO student_t VALUES(2,4.3026530000000002829);
INSERT INTO student_t VALUES(3,3.182446000000000108);
INSERT INTO student_t VALUES(4,2.7764449999999998297);
INSERT INTO student_t VALUES(5,2.5705819999999999225);
INSERT INTO student_t VALUES(6,2.4469120000000001979);
INSERT INTO student_t VALUES(7,2.3646240000000000591);
INSERT INTO student_t VALUES(8,2.3060040000000001647);
INSERT INTO student_t VALUES(9,2.2621570000000001954);
INSERT INTO student_t VALUES(10,2.2281390000000000917);
INSERT INTO student_t VALUES(11,2.2009850000000001912);
INSERT INTO student_t VALUES(12,2.1788129999999998887);
INSERT INTO student_t VALUES(13,2.1603690000000002058);
INSERT INTO student_t VALUES(14,2.144786999999999999);
INSERT INTO student_t VALUES(15,2.1314500000000000667);
INSERT INTO student_t VALUES(16,2.1199050000000001503);
INSERT INTO student_t VALUES(17,2.1098159999999999136);
INSERT INTO student_t VALUES(18,2.1009220000000001782);
INSERT INTO student_t VALUES(19,2.0930240000000002176);
INSERT INTO student_t VALUES(20,2.0859630000000000116);
INSERT INTO student_t VALUES(21,2.0796139999999998515);
INSERT INTO student_t VALUES(22,2.0738729999999998554);
INSERT INTO student_t VALUES(23,2.0686580000000001078);
INSERT INTO student_t VALUES(24,2.0638990000000001501);
INSERT INTO student_t VALUES(25,2.0595390000000000085);
INSERT INTO student_t VALUES(26,2.0555289999999999395);
INSERT INTO student_t VALUES(27,2.0518309999999999604);
INSERT INTO student_t VALUES(28,2.0484070000000000888);
INSERT INTO student_t VALUES(29,2.0452300000000001034);
INSERT INTO student_t VALUES(30,2.0422720000000000872);
INSERT INTO student_t VALUES(40,2.0210750000000001769);
INSERT INTO student_t VALUES(60,2.0002979999999999094);
INSERT INTO student_t VALUES(120,1.9799299999999999677);
INSERT INTO student_t VALUES(1000000,1.959966000000000097);
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
  PRIMARY KEY (run_id, step, site, site_name)
) STRICT, WITHOUT ROWID;
INSERT INTO message_error VALUES(3,0,0,'layer0.attention',0.70677048093908823034,0.70744292156549348771,0.7458836848059535729,0.66612838379952621359,0);
INSERT INTO message_error VALUES(3,0,1,'layer0.mlp',0.7421814301478463216,0.67019901875763121523,0.7427966934462491011,0.66951744349771613595,0);
INSERT INTO message_error VALUES(3,0,2,'layer1.attention',0.7683232121907828116,0.64006206074788141169,0.76580775679488621854,0.64313496387901181172,0);
INSERT INTO message_error VALUES(3,0,3,'layer1.mlp',0.74583455292054434693,0.66613123306883403884,0.76125950253665519706,0.6496116478663300775,0);
INSERT INTO message_error VALUES(4,0,0,'layer0.attention',NULL,NULL,0.06374793836736199204,0.99804506705337070471,1);
INSERT INTO message_error VALUES(4,0,1,'layer0.mlp',NULL,NULL,0.092677261024286125556,0.99569708578105919904,1);
INSERT INTO message_error VALUES(4,0,2,'layer1.attention',NULL,NULL,0.064077977851914186269,0.99800035442428147725,1);
INSERT INTO message_error VALUES(4,0,3,'layer1.mlp',NULL,NULL,0.098917700864608798516,0.9951142517574389501,1);
INSERT INTO message_error VALUES(5,0,0,'layer0.attention',0.086539822225721416137,0.99624839230441819548,0.087967080530710742292,0.99612411158452240922,0);
INSERT INTO message_error VALUES(5,0,1,'layer0.mlp',0.071866298734389058577,0.99741427456509679227,0.071557493641138419926,0.99743653765777307018,0);
INSERT INTO message_error VALUES(5,0,2,'layer1.attention',0.079035339512456323496,0.99687181478269970558,0.07358642797348272091,0.99730340730343747246,0);
INSERT INTO message_error VALUES(5,0,3,'layer1.mlp',0.071779187984688061496,0.99742054729800821988,0.079447599184628098223,0.99683909122739999819,0);
INSERT INTO message_error VALUES(6,0,0,'layer0.attention',NULL,NULL,0.83706280323935033926,0.54718400003346290283,1);
INSERT INTO message_error VALUES(6,0,1,'layer0.mlp',NULL,NULL,0.83611741574493414486,0.54882008923445668724,1);
INSERT INTO message_error VALUES(6,0,2,'layer1.attention',NULL,NULL,0.86335068491124833389,0.50463377688847099733,1);
INSERT INTO message_error VALUES(6,0,3,'layer1.mlp',NULL,NULL,0.85749562053837524722,0.51609610136630756915,1);
INSERT INTO message_error VALUES(9,0,0,'layer0.attention',0.79002687483807187973,0.61307221192415883859,0.78609761159721369683,0.61830724611649934274,0);
INSERT INTO message_error VALUES(9,0,1,'layer0.mlp',0.74551958221026881634,0.66648372263771338275,0.75234517749152662879,0.65878333661315002789,0);
INSERT INTO message_error VALUES(9,0,2,'layer1.attention',0.73399937863055053632,0.67915013963773918082,0.78237391311374704372,0.62582057692075465649,0);
INSERT INTO message_error VALUES(9,0,3,'layer1.mlp',0.74894505171651404307,0.66263210721284981907,0.75316914883192809249,0.65782970189081735323,0);
INSERT INTO message_error VALUES(10,0,0,'layer0.attention',NULL,NULL,0.063286642895379732753,0.99802745904751055672,1);
INSERT INTO message_error VALUES(10,0,1,'layer0.mlp',NULL,NULL,0.093051140062125684004,0.99566290004080748587,1);
INSERT INTO message_error VALUES(10,0,2,'layer1.attention',NULL,NULL,0.064728180595477177727,0.99803501268818894942,1);
INSERT INTO message_error VALUES(10,0,3,'layer1.mlp',NULL,NULL,0.093119725696549637827,0.99566218996872468682,1);
INSERT INTO message_error VALUES(11,0,0,'layer0.attention',0.08068381166452098796,0.99673974664166098413,0.074472165960066283307,0.99722758333361027904,0);
INSERT INTO message_error VALUES(11,0,1,'layer0.mlp',0.071379237955590951747,0.99744924902918230547,0.075646072597832944572,0.99713495612840463699,0);
INSERT INTO message_error VALUES(11,0,2,'layer1.attention',0.080720665751844569713,0.99673676270145517008,0.081612562411674152706,0.99666749901392592825,0);
INSERT INTO message_error VALUES(11,0,3,'layer1.mlp',0.075831137286141908626,0.99712067404998161457,0.073239992606375439732,0.99731451837655826775,0);
CREATE TABLE imported_file (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('gpu-check', 'google-benchmark')),
  name TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  is_synthetic INTEGER NOT NULL CHECK (is_synthetic IN (0, 1)),
  measured_at TEXT,
  imported_at TEXT NOT NULL,
  program TEXT,
  hardware_id INTEGER REFERENCES hardware (id),
  environment_id INTEGER REFERENCES environment (id),
  context TEXT NOT NULL CHECK (json_valid(context)),
  text TEXT NOT NULL
) STRICT;
CREATE TABLE imported_case (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES imported_file (id) ON DELETE CASCADE,
  place INTEGER NOT NULL CHECK (place >= 0),
  name TEXT NOT NULL,
  operation TEXT NOT NULL,
  spec TEXT,
  dtype TEXT,
  samples INTEGER,
  tokens INTEGER,
  hidden INTEGER,
  device TEXT,
  ranks INTEGER,
  mode TEXT,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'skipped')),
  reason TEXT NOT NULL DEFAULT '',
  is_equal INTEGER CHECK (is_equal IN (0, 1)),
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  UNIQUE (file_id, place)
) STRICT;
CREATE TABLE imported_value (
  case_id INTEGER NOT NULL REFERENCES imported_case (id) ON DELETE CASCADE,
  quantity TEXT NOT NULL,
  unit TEXT NOT NULL,
  n INTEGER NOT NULL,
  min REAL,
  q1 REAL,
  median REAL,
  q3 REAL,
  max REAL,
  mean REAL,
  sd REAL,
  ci_low REAL,
  ci_high REAL,
  PRIMARY KEY (case_id, quantity)
) STRICT, WITHOUT ROWID;
CREATE INDEX cell_group ON cell (group_hash);
CREATE INDEX run_status ON run (status);
CREATE INDEX series_run ON series (run_id);
CREATE VIEW v_run AS
SELECT r.id AS run_id, c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers,
  CASE WHEN r.seed < 0 THEN printf('%u', r.seed) ELSE r.seed END AS seed,
  r.attempt, r.status, r.reason, r.steps, r.steps_planned, r.wall_ns / 1e9 AS wall_s,
  r.started_at, r.ended_at, r.host, r.exit_code, r.checksum, r.init_hash, r.world,
  s.name AS sweep, r.block, r.run_order, k.git_sha, k.diff_hash, r.spool_dir,
  r.code_id, r.environment_id, r.hardware_id, r.dataset_id, r.model_id,
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM run r
JOIN cell c ON c.id = r.cell_id
LEFT JOIN sweep s ON s.id = r.sweep_id
LEFT JOIN code k ON k.id = r.code_id;
CREATE VIEW v_deciding AS
SELECT run_id, cell_id, seed, attempt, status, attempts FROM (
  SELECT id AS run_id, cell_id, seed, attempt, status,
    row_number() OVER (PARTITION BY cell_id, seed ORDER BY status = 'ok' DESC, attempt DESC) AS
      place,
    count(*) OVER (PARTITION BY cell_id, seed) AS attempts
  FROM run)
WHERE place = 1;
CREATE VIEW v_latest AS
SELECT v.*, d.attempts FROM v_run v JOIN v_deciding d ON d.run_id = v.run_id;
CREATE VIEW v_incomplete AS
SELECT v.run_id, v.codec, v.hardware, v.kind, v.dataset, v.model, v.stage, v.layers, v.seed,
  v.status, v.reason, d.attempts, v.exit_code, v.started_at, v.ended_at, r.log_tail, v.cell_key,
  v.group_hash, v.cell_id
FROM v_deciding d
JOIN v_run v ON v.run_id = d.run_id
JOIN run r ON r.id = d.run_id
WHERE d.status <> 'ok';
CREATE VIEW v_cell_status AS
SELECT cell_id, count(*) AS seeds, sum(status = 'ok') AS ok, sum(status = 'diverged') AS diverged,
  sum(status NOT IN ('ok', 'diverged')) AS other
FROM v_deciding GROUP BY cell_id;
CREATE VIEW v_run_accuracy AS
WITH value AS (
  SELECT e.run_id, e.inference, e.split, e.epoch, e.rows, e.loss, m.name AS metric, m.better,
    x.is_primary, x.value,
    row_number() OVER (PARTITION BY e.run_id, e.inference, e.split, m.id ORDER BY e.epoch DESC)
      AS age
  FROM eval e JOIN eval_metric x ON x.eval_id = e.id JOIN metric m ON m.id = x.metric_id)
SELECT run_id, inference, split, metric, max(is_primary) AS is_primary, max(epoch) AS epochs,
  max(CASE WHEN age = 1 THEN rows END) AS rows,
  max(CASE WHEN age = 1 THEN value END) AS last_value,
  CASE WHEN better = 'lower' THEN min(value) ELSE max(value) END AS best_value,
  max(CASE WHEN age = 1 THEN loss END) AS last_loss
FROM value GROUP BY run_id, inference, split, metric, better;
CREATE VIEW v_run_traffic AS
SELECT t.run_id, r.cell_id, count(DISTINCT t.rank) AS ranks, r.steps,
  1.0 * sum(t.raw_bytes) / count(DISTINCT t.rank) / r.steps AS raw_bytes_per_step,
  1.0 * sum(t.payload_bytes) / count(DISTINCT t.rank) / r.steps AS payload_bytes_per_step,
  1.0 * sum(t.metadata_bytes) / count(DISTINCT t.rank) / r.steps AS metadata_bytes_per_step,
  1.0 * sum(t.sent_bytes) / count(DISTINCT t.rank) / r.steps AS sent_bytes_per_step
FROM traffic t JOIN run r ON r.id = t.run_id
WHERE t.phase = 'train' AND r.steps > 0
GROUP BY t.run_id;
CREATE VIEW v_run_value AS
SELECT d.run_id, d.cell_id, d.seed, x.metric, x.variant, x.value
FROM v_deciding d JOIN (
  SELECT m.run_id, k.name AS metric, 'median over steps' AS variant, m.median AS value
  FROM measurement m JOIN metric k ON k.id = m.metric_id WHERE m.rank = -1
  UNION ALL
  SELECT run_id, metric, 'last epoch, inference ' || inference, last_value
  FROM v_run_accuracy
  UNION ALL
  SELECT run_id, metric, 'best epoch, inference ' || inference, best_value
  FROM v_run_accuracy
  UNION ALL
  SELECT run_id, 'payload_bytes_per_step', 'mean over steps and ranks', payload_bytes_per_step
  FROM v_run_traffic
  UNION ALL
  SELECT run_id, 'sent_bytes_per_step', 'mean over steps and ranks', sent_bytes_per_step
  FROM v_run_traffic
  UNION ALL
  SELECT run_id, 'message_relative_l2', 'mean over samples', avg(message_relative_l2)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'message_cosine', 'mean over samples', avg(message_cosine)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'sum_relative_l2', 'mean over samples', avg(sum_relative_l2)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'sum_cosine', 'mean over samples', avg(sum_cosine)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'peak_rss', 'largest rank', max(peak_rss_bytes) FROM process GROUP BY run_id
  UNION ALL
  SELECT run_id, 'codec_state', 'largest rank', max(codec_state_bytes) FROM process GROUP BY run_id
) x ON x.run_id = d.run_id
WHERE d.status = 'ok' AND x.value IS NOT NULL;
CREATE VIEW v_by_config AS
WITH mean AS (
  SELECT cell_id, metric, variant, count(*) AS n, avg(value) AS mean, min(value) AS min,
    max(value) AS max
  FROM v_run_value GROUP BY cell_id, metric, variant),
spread AS (
  SELECT m.cell_id, m.metric, m.variant, m.n, m.mean, m.min, m.max,
    CASE WHEN m.n > 1 THEN sqrt(sum((v.value - m.mean) * (v.value - m.mean)) / (m.n - 1)) END AS sd
  FROM mean m
  JOIN v_run_value v ON v.cell_id = m.cell_id AND v.metric = m.metric AND v.variant = m.variant
  GROUP BY m.cell_id, m.metric, m.variant),
interval AS (
  SELECT s.*, s.sd / sqrt(s.n) *
    (SELECT t975 FROM student_t WHERE df <= s.n - 1 ORDER BY df DESC LIMIT 1) AS half
  FROM spread s)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, i.metric, i.variant,
  k.unit, k.better, i.n, i.mean, i.sd, i.mean - i.half AS ci_low,
  i.mean + i.half AS ci_high, i.min, i.max,
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM interval i JOIN cell c ON c.id = i.cell_id JOIN metric k ON k.name = i.metric;
CREATE VIEW v_accuracy AS
WITH run_value AS (
  SELECT d.cell_id, a.inference, a.split, a.metric, a.is_primary, a.epochs, a.rows, a.last_value,
    a.best_value, a.last_loss
  FROM v_deciding d JOIN v_run_accuracy a ON a.run_id = d.run_id
  WHERE d.status = 'ok' AND a.last_value IS NOT NULL),
mean AS (
  SELECT cell_id, inference, split, metric, max(is_primary) AS is_primary, max(epochs) AS epochs,
    max(rows) AS rows, count(*) AS n, avg(last_value) AS mean, avg(best_value) AS best_mean,
    avg(last_loss) AS loss_mean
  FROM run_value GROUP BY cell_id, inference, split, metric),
spread AS (
  SELECT m.*,
    CASE WHEN m.n > 1 THEN
      sqrt(sum((v.last_value - m.mean) * (v.last_value - m.mean)) / (m.n - 1)) END AS sd,
    CASE WHEN m.n > 1 THEN
      sqrt(sum((v.best_value - m.best_mean) * (v.best_value - m.best_mean)) / (m.n - 1)) END
      AS best_sd
  FROM mean m JOIN run_value v ON v.cell_id = m.cell_id AND v.inference = m.inference
    AND v.split = m.split AND v.metric = m.metric
  GROUP BY m.cell_id, m.inference, m.split, m.metric),
interval AS (
  SELECT s.*, s.sd / sqrt(s.n) *
    (SELECT t975 FROM student_t WHERE df <= s.n - 1 ORDER BY df DESC LIMIT 1) AS half
  FROM spread s)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, i.metric, i.is_primary,
  i.inference, i.split, i.mean, i.sd, i.n,
  i.mean - i.half AS ci_low, i.mean + i.half AS ci_high, i.best_mean, i.best_sd, i.epochs AS epoch,
  i.rows, i.loss_mean, z.diverged AS diverged_n, z.other AS not_ok_n,
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM interval i JOIN cell c ON c.id = i.cell_id JOIN v_cell_status z ON z.cell_id = c.id;
CREATE VIEW v_speed AS
WITH run_value AS (
  SELECT d.cell_id, d.run_id,
    max(CASE WHEN k.name = 'step_time' THEN m.median END) / 1e6 AS step_ms,
    max(CASE WHEN k.name = 'step_time' THEN m.n END) AS steps,
    max(CASE WHEN k.name = 'forward_time' THEN m.median END) / 1e6 AS forward_ms,
    max(CASE WHEN k.name = 'backward_time' THEN m.median END) / 1e6 AS backward_ms,
    max(CASE WHEN k.name = 'optimizer_time' THEN m.median END) / 1e6 AS optimizer_ms,
    max(CASE WHEN k.name = 'encode_time' THEN m.median END) / 1e6 AS encode_ms,
    max(CASE WHEN k.name = 'transfer_time' THEN m.median END) / 1e6 AS transfer_ms,
    max(CASE WHEN k.name = 'decode_time' THEN m.median END) / 1e6 AS decode_ms
  FROM v_deciding d JOIN measurement m ON m.run_id = d.run_id JOIN metric k ON k.id = m.metric_id
  WHERE d.status = 'ok' AND m.rank = -1
  GROUP BY d.run_id),
mean AS (
  SELECT cell_id, count(*) AS n, avg(step_ms) AS step_ms, min(steps) AS steps,
    avg(forward_ms) AS forward_ms, avg(backward_ms) AS backward_ms,
    avg(optimizer_ms) AS optimizer_ms, avg(encode_ms) AS encode_ms, avg(transfer_ms) AS transfer_ms,
    avg(decode_ms) AS decode_ms
  FROM run_value WHERE step_ms IS NOT NULL GROUP BY cell_id),
spread AS (
  SELECT m.*, CASE WHEN m.n > 1 THEN
      sqrt(sum((v.step_ms - m.step_ms) * (v.step_ms - m.step_ms)) / (m.n - 1)) END AS step_ms_sd
  FROM mean m JOIN run_value v ON v.cell_id = m.cell_id WHERE v.step_ms IS NOT NULL
  GROUP BY m.cell_id),
interval AS (
  SELECT s.*, s.step_ms_sd / sqrt(s.n) *
    (SELECT t975 FROM student_t WHERE df <= s.n - 1 ORDER BY df DESC LIMIT 1) AS half
  FROM spread s)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, i.step_ms AS
  step_ms_mean, i.step_ms_sd, i.n, i.step_ms - i.half AS step_ms_ci_low,
  i.step_ms + i.half AS step_ms_ci_high, i.steps, i.forward_ms AS forward_ms_mean,
  i.backward_ms AS backward_ms_mean, i.optimizer_ms AS optimizer_ms_mean,
  i.encode_ms AS encode_ms_mean, i.transfer_ms AS transfer_ms_mean, i.decode_ms AS decode_ms_mean,
  CASE WHEN c.kind IN ('measured', 'shaped') THEN c.micro_batch / i.step_ms * 1e3 END
    AS samples_per_second,
  CASE WHEN c.kind IN ('measured', 'shaped') THEN c.micro_batch * c.sequence / i.step_ms * 1e3 END
    AS tokens_per_second,
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM interval i JOIN cell c ON c.id = i.cell_id;
CREATE VIEW v_traffic AS
WITH run_value AS (
  SELECT d.cell_id, d.run_id, t.phase, t.direction, t.site, t.collective, t.dtype, t.spec,
    1.0 * sum(t.calls) / count(DISTINCT t.rank) AS calls_per_rank,
    1.0 * sum(t.raw_bytes) / sum(t.calls) AS raw,
    1.0 * sum(t.payload_bytes) / sum(t.calls) AS payload,
    1.0 * sum(t.metadata_bytes) / sum(t.calls) AS metadata,
    1.0 * sum(t.sent_bytes) / sum(t.calls) AS sent,
    1.0 * sum(t.encode_ns) / sum(t.calls) / 1e3 AS encode_us,
    1.0 * sum(t.transfer_ns) / sum(t.calls) / 1e3 AS transfer_us,
    1.0 * sum(t.decode_ns) / sum(t.calls) / 1e3 AS decode_us,
    CASE WHEN t.phase = 'train' AND r.steps > 0
      THEN 1.0 * sum(t.sent_bytes) / count(DISTINCT t.rank) / r.steps END AS sent_per_step
  FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN traffic t ON t.run_id = d.run_id
  WHERE d.status = 'ok' AND t.calls > 0
  GROUP BY d.run_id, t.phase, t.direction, t.site, t.collective, t.dtype, t.spec),
mean AS (
  SELECT cell_id, phase, direction, site, collective, dtype, spec, count(*) AS n,
    avg(calls_per_rank) AS calls_per_rank, avg(raw) AS raw, avg(payload) AS payload,
    avg(metadata) AS metadata, avg(sent) AS sent, avg(encode_us) AS encode_us,
    avg(transfer_us) AS transfer_us, avg(decode_us) AS decode_us,
    avg(sent_per_step) AS sent_per_step
  FROM run_value GROUP BY cell_id, phase, direction, site, collective, dtype, spec),
spread AS (
  SELECT m.*,
    CASE WHEN m.n > 1 THEN sqrt(sum((v.payload - m.payload) * (v.payload - m.payload)) / (m.n - 1))
      END AS payload_sd,
    CASE WHEN m.n > 1 THEN
      sqrt(sum((v.transfer_us - m.transfer_us) * (v.transfer_us - m.transfer_us)) / (m.n - 1)) END
      AS transfer_sd
  FROM mean m JOIN run_value v ON v.cell_id = m.cell_id AND v.phase = m.phase
    AND v.direction = m.direction AND v.site = m.site AND v.collective = m.collective
    AND v.dtype = m.dtype AND v.spec = m.spec
  GROUP BY m.cell_id, m.phase, m.direction, m.site, m.collective, m.dtype, m.spec)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, s.phase, s.direction,
  s.site, s.collective, s.dtype, s.spec, s.n, s.calls_per_rank,
  s.raw AS raw_bytes_per_call_mean, s.payload AS payload_bytes_per_call_mean,
  s.payload_sd AS payload_bytes_per_call_sd, s.metadata AS metadata_bytes_per_call_mean,
  s.sent AS sent_bytes_per_call_mean, s.raw / s.payload AS ratio,
  s.sent_per_step AS sent_bytes_per_step_mean, s.encode_us AS encode_us_per_call_mean,
  s.transfer_us AS transfer_us_per_call_mean, s.transfer_sd AS transfer_us_per_call_sd,
  s.decode_us AS decode_us_per_call_mean,
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM spread s JOIN cell c ON c.id = s.cell_id;
CREATE VIEW v_pareto AS
WITH point AS (
  SELECT c.id AS cell_id, c.group_hash, a.metric, m.better, a.inference, a.mean AS quality,
    CASE WHEN m.better = 'lower' THEN -a.mean ELSE a.mean END AS score, a.n,
    CASE WHEN c.kind IN ('measured', 'shaped') THEN s.step_ms_mean END AS step_ms,
    b.mean AS sent_bytes_per_step
  FROM cell c
  JOIN v_accuracy a ON a.cell_id = c.id AND a.is_primary = 1
    AND (a.inference = 'on' OR c.inference = 'off')
  JOIN metric m ON m.name = a.metric
  LEFT JOIN v_speed s ON s.cell_id = c.id
  LEFT JOIN v_by_config b ON b.cell_id = c.id AND b.metric = 'sent_bytes_per_step')
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, p.metric, p.inference,
  p.quality AS quality_mean, p.n, p.step_ms AS step_ms_mean,
  p.sent_bytes_per_step,
  NOT EXISTS (
    SELECT 1 FROM point o WHERE o.group_hash = p.group_hash AND o.metric = p.metric
      AND o.cell_id <> p.cell_id
      AND o.score >= p.score AND coalesce(o.step_ms <= p.step_ms, 1)
      AND coalesce(o.sent_bytes_per_step <= p.sent_bytes_per_step, 1)
      AND (o.score > p.score OR o.step_ms < p.step_ms
           OR o.sent_bytes_per_step < p.sent_bytes_per_step)) AS on_front,
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM point p JOIN cell c ON c.id = p.cell_id;
CREATE VIEW v_env_diff AS
WITH fact AS (
  SELECT c.group_hash, d.run_id, 'environment' AS part, substr(j.fullkey, 3) AS fact, j.atom AS
    value
  FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN cell c ON c.id = d.cell_id
    JOIN environment e ON e.id = r.environment_id, json_tree(e.facts) j WHERE j.atom IS NOT NULL
  UNION ALL
  SELECT c.group_hash, d.run_id, 'hardware', substr(j.fullkey, 3), j.atom
  FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN cell c ON c.id = d.cell_id
    JOIN hardware h ON h.id = r.hardware_id, json_tree(h.facts) j WHERE j.atom IS NOT NULL
  UNION ALL
  SELECT c.group_hash, d.run_id, 'code', substr(j.fullkey, 3), j.atom
  FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN cell c ON c.id = d.cell_id
    JOIN code k ON k.id = r.code_id, json_tree(k.facts) j WHERE j.atom IS NOT NULL),
differing AS (
  SELECT group_hash, part, fact FROM fact GROUP BY group_hash, part, fact
  HAVING count(DISTINCT value) > 1)
SELECT f.group_hash, f.part, f.fact, f.value, count(*) AS runs, min(f.run_id) AS first_run_id
FROM fact f JOIN differing x
  ON x.group_hash = f.group_hash AND x.part = f.part AND x.fact = f.fact
GROUP BY f.group_hash, f.part, f.fact, f.value;
CREATE INDEX imported_case_spec ON imported_case (spec, operation);
CREATE VIEW v_imported AS
SELECT f.name AS file, f.kind, f.is_synthetic, f.measured_at, h.cpu, h.gpu, c.place, c.name,
  c.operation, c.spec, c.dtype, c.samples, c.tokens, c.hidden, c.device, c.ranks, c.mode, c.status,
  c.reason, c.is_equal, v.quantity, v.unit, v.n, v.median, v.mean, v.ci_low, v.ci_high,
  f.id AS file_id, c.id AS case_id
FROM imported_file f
JOIN imported_case c ON c.file_id = f.id
LEFT JOIN imported_value v ON v.case_id = c.id
LEFT JOIN hardware h ON h.id = f.hardware_id;
COMMIT;

PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE schema_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT;
INSERT INTO schema_migration VALUES(1,'base','d7ec4e090e57a8db','0.1.0 (8f390f6c4dfb)','2026-12-01T00:07:28.426Z');
INSERT INTO schema_migration VALUES(2,'views','5112667260944e42','0.1.0 (8f390f6c4dfb)','2026-12-01T00:07:28.428Z');
INSERT INTO schema_migration VALUES(3,'error_by_name','9d7bb03cf38edc77','0.1.0 (8f390f6c4dfb)','2026-12-01T00:07:28.428Z');
INSERT INTO schema_migration VALUES(4,'imported','ee80b5e470cca6af','0.1.0 (8f390f6c4dfb)','2026-12-01T00:07:28.428Z');
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
INSERT INTO hardware VALUES(1,'2e1472b57af294d1',NULL,NULL,NULL,NULL,NULL,'{}');
INSERT INTO hardware VALUES(2,'bba240a3e4126de6','Intel(R) Xeon(R) Processor',2,25276063744,NULL,0,'{"cores":2,"cpu":"Intel(R) Xeon(R) Processor","gpu":null,"gpus":0,"memory_bytes":25276063744}');
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
INSERT INTO environment VALUES(1,'2e1472b57af294d1',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{}');
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
INSERT INTO dataset VALUES(1,'62a639f17c674e43','synthetic',8192,1000,'3b6741b9e49b027f','f64a2405e739d112','the first N generated rows of train, the first M of dev',0.94999999999999995559);
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
INSERT INTO codec VALUES(1,'ca23f9e627a3d739','cast','1','corrected','cast','{"format":"bf16"}','{"bit_exact":true,"contractive":false,"error_bound_of_absmax":0.00390625,"exchange":["all-reduce"],"expansive":false,"fixed_size":true,"learned":false,"lossless":false,"nonfinite_spread":"element","rounds":1,"sample_local":true,"state":"none","summable":true,"summable_tolerance":0.0078125,"token_local":true,"tolerance":0.0,"unbiased":false,"unbiased_range":""}');
INSERT INTO codec VALUES(2,'71983ac883cb0f04','none','1','corrected','none','{}','{"bit_exact":true,"contractive":true,"error_bound_of_absmax":0.0,"exchange":["all-reduce"],"expansive":false,"fixed_size":true,"learned":false,"lossless":true,"nonfinite_spread":"element","rounds":1,"sample_local":true,"state":"none","summable":true,"summable_tolerance":0.00390625,"token_local":true,"tolerance":0.0,"unbiased":true,"unbiased_range":"every value"}');
CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  matrix TEXT NOT NULL,
  first_started_at TEXT NOT NULL,
  last_started_at TEXT NOT NULL,
  UNIQUE (name, hash)
) STRICT;
INSERT INTO sweep VALUES(1,'m','c3e368fa00bf2265',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [1,2,3,4,5,6,7]}}\n','\n',char(10)),'2026-12-01T00:07:28.490Z','2026-12-01T00:07:28.490Z');
INSERT INTO sweep VALUES(2,'m','0c91815897138cac',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [8]}}\n','\n',char(10)),'2026-12-01T00:07:32.871Z','2026-12-01T00:07:32.871Z');
INSERT INTO sweep VALUES(3,'m','b4afd8c3ee318d18',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [9]}}\n','\n',char(10)),'2026-12-01T00:07:37.807Z','2026-12-01T00:07:37.807Z');
INSERT INTO sweep VALUES(4,'m','4b32961fe6b52128',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [10]}}\n','\n',char(10)),'2026-12-01T00:07:39.539Z','2026-12-01T00:07:39.539Z');
INSERT INTO sweep VALUES(5,'m','c340ac7cc839ada0',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [11]}}\n','\n',char(10)),'2026-12-01T00:07:42.209Z','2026-12-01T00:07:42.209Z');
INSERT INTO sweep VALUES(6,'m','3b97076ea916dd75',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [12]}}\n','\n',char(10)),'2026-12-01T00:07:43.692Z','2026-12-01T00:07:43.692Z');
INSERT INTO sweep VALUES(7,'m','f7b66d2867a86d28',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [13,14]}}\n','\n',char(10)),'2026-12-01T00:07:46.142Z','2026-12-01T00:07:46.142Z');
INSERT INTO sweep VALUES(8,'m','88b9411908302a6d',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["three"], "seed": [15]}}\n','\n',char(10)),'2026-12-01T00:07:46.420Z','2026-12-01T00:07:46.420Z');
INSERT INTO sweep VALUES(9,'m','20deaaa67086b473',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [16]}}\n','\n',char(10)),'2026-12-01T00:07:46.678Z','2026-12-01T00:07:46.678Z');
INSERT INTO sweep VALUES(10,'m','c4fb344aaee4eacc',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [17]}}\n','\n',char(10)),'2026-12-01T00:07:46.976Z','2026-12-01T00:07:46.976Z');
INSERT INTO sweep VALUES(11,'m','5006fd82a7ab1b4a',replace('{"name": "m", "defaults": {"epochs": 1000}, "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [18]}}\n','\n',char(10)),'2026-12-01T00:08:05.434Z','2026-12-01T00:08:05.434Z');
INSERT INTO sweep VALUES(12,'m','95e45ba84d7356ea',replace('{"name": "m", "matrix": {"compressor": "cast", "hardware": ["cpu-tp2"], "seed": [19]}}\n','\n',char(10)),'2026-12-01T00:08:24.199Z','2026-12-01T00:08:24.199Z');
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
INSERT INTO cell VALUES(1,'05484e8da1fe8c9b','93d6579f08a5b844','{"compressor":{"tp":"cast","tp.backward":"none"},"hardware":{"name":"cpu-tp2","kind":"measured","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":0,"train_rows":0,"eval_rows":0,"micro_batch":32,"sequence":32,"learning_rate":0.0001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','cast','cast','none','cpu-tp2','measured','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,0,0,0,32,32,0.00010000000000000000479,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:07:28.504Z');
INSERT INTO cell VALUES(2,'c2ffceac44cdcbb1','ec6b742c9c0ad866','{"compressor":{"tp":"cast","tp.backward":"none"},"hardware":{"name":"three","kind":"measured","device":"cpu","tp":3,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1,"max_steps":0,"train_rows":0,"eval_rows":0,"micro_batch":32,"sequence":32,"learning_rate":0.0001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','cast','cast','none','three','measured','cpu',3,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1,0,0,0,32,32,0.00010000000000000000479,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:07:46.452Z');
INSERT INTO cell VALUES(3,'931cb08d392ef940','91db5ab3a8ca7321','{"compressor":{"tp":"cast","tp.backward":"none"},"hardware":{"name":"cpu-tp2","kind":"measured","device":"cpu","tp":2,"pp":1,"threads":1,"link":""},"dataset":"synthetic","model":"bert-tiny","stage":"finetune","layers":"all","warmup":"0","inference":"both","sum_order":"library","loopback":false,"overlap":"off","epochs":1000,"max_steps":0,"train_rows":0,"eval_rows":0,"micro_batch":32,"sequence":32,"learning_rate":0.0001,"learning_rate_warmup":0.065,"weight_decay":0.01,"clip":1.0,"dropout":0.0,"pooling":"mean","freeze":"embeddings"}','cast','cast','none','cpu-tp2','measured','cpu',2,1,1,'','synthetic','bert-tiny','finetune','all','0','both','library',0,'off',1000,0,0,0,32,32,0.00010000000000000000479,0.06500000000000000222,0.010000000000000000208,1.0,0.0,'mean','embeddings','2026-12-01T00:08:05.552Z');
CREATE TABLE cell_codec (
  cell_id INTEGER NOT NULL REFERENCES cell (id),
  site TEXT NOT NULL,
  codec_id INTEGER NOT NULL REFERENCES codec (id),
  PRIMARY KEY (cell_id, site)
) STRICT, WITHOUT ROWID;
INSERT INTO cell_codec VALUES(1,'tp',1);
INSERT INTO cell_codec VALUES(1,'tp.backward',2);
INSERT INTO cell_codec VALUES(2,'tp',1);
INSERT INTO cell_codec VALUES(2,'tp.backward',2);
INSERT INTO cell_codec VALUES(3,'tp',1);
INSERT INTO cell_codec VALUES(3,'tp.backward',2);
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
INSERT INTO run VALUES(1,1,1,1,'failed','rank 1: killed by signal 6 (Aborted)',1,0,0,'box','results.db.runs/05484e8da1fe8c9b-1-1','2026-12-01T00:07:28.582Z','2026-12-01T00:07:31.748Z',134,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:31.739Z');
INSERT INTO run VALUES(2,1,2,1,'diverged','rank 0: loss is not finite at step 2',1,1,1,'box','results.db.runs/05484e8da1fe8c9b-2-1','2026-12-01T00:07:31.818Z','2026-12-01T00:07:31.989Z',3,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:31.939Z');
INSERT INTO run VALUES(3,1,3,1,'oom','rank 0: no memory for 1 GiB',1,2,2,'box','results.db.runs/05484e8da1fe8c9b-3-1','2026-12-01T00:07:32.066Z','2026-12-01T00:07:32.214Z',4,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:32.179Z');
INSERT INTO run VALUES(4,1,4,1,'failed','rank 0 exited with 0, but its spool has no end record',1,3,3,'box','results.db.runs/05484e8da1fe8c9b-4-1','2026-12-01T00:07:32.215Z','2026-12-01T00:07:32.245Z',0,'',1,1,1,NULL,NULL,NULL,2,3,3,NULL,NULL,'2026-12-01T00:07:32.235Z');
INSERT INTO run VALUES(5,1,5,1,'failed','/runs/results.db.runs/05484e8da1fe8c9b-5-1/rank1.jsonl:5:18: not JSON: syntax error while parsing object key - invalid literal; last read: ''"step", o''; expected string literal',1,4,4,'box','results.db.runs/05484e8da1fe8c9b-5-1','2026-12-01T00:07:32.250Z','2026-12-01T00:07:32.289Z',0,'',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO run VALUES(6,1,6,1,'failed','rank 0: weights.safetensors: tensor x is missing',1,5,5,'box','results.db.runs/05484e8da1fe8c9b-6-1','2026-12-01T00:07:32.300Z','2026-12-01T00:07:32.390Z',1,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:32.387Z');
INSERT INTO run VALUES(7,1,7,1,'ok','',1,6,6,'box','results.db.runs/05484e8da1fe8c9b-7-1','2026-12-01T00:07:32.402Z','2026-12-01T00:07:32.590Z',0,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:32.556Z');
INSERT INTO run VALUES(8,1,8,1,'failed','rank 1: killed by signal 9 (Killed)',2,0,0,'box','results.db.runs/05484e8da1fe8c9b-8-1','2026-12-01T00:07:32.973Z','2026-12-01T00:07:37.506Z',137,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:37.488Z');
INSERT INTO run VALUES(9,1,9,1,'failed','interrupted by SIGINT at step 67',3,0,0,'box','results.db.runs/05484e8da1fe8c9b-9-1','2026-12-01T00:07:37.900Z','2026-12-01T00:07:39.289Z',130,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:39.241Z');
INSERT INTO run VALUES(10,1,10,1,'failed','interrupted: the harness died during the run',4,0,0,'box','results.db.runs/05484e8da1fe8c9b-10-1','2026-12-01T00:07:39.591Z','2026-12-01T00:07:42.302Z',-1,'',1,1,1,NULL,NULL,NULL,2,3,39,NULL,NULL,'2026-12-01T00:07:42.275Z');
INSERT INTO run VALUES(11,1,11,1,'timeout','--timeout: stopped after 1.0 s at step 53',5,0,0,'box','results.db.runs/05484e8da1fe8c9b-11-1','2026-12-01T00:07:42.331Z','2026-12-01T00:07:43.481Z',130,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:43.452Z');
INSERT INTO run VALUES(12,1,12,1,'timeout','--stall: no rank wrote anything for 1.0 s at step 0',6,0,0,'box','results.db.runs/05484e8da1fe8c9b-12-1','2026-12-01T00:07:43.744Z','2026-12-01T00:07:45.977Z',130,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:45.955Z');
INSERT INTO run VALUES(13,1,13,1,'failed','rank 0: weights.safetensors: tensor x is missing',7,0,0,'box','results.db.runs/05484e8da1fe8c9b-13-1','2026-12-01T00:07:46.205Z','2026-12-01T00:07:46.303Z',1,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:46.283Z');
INSERT INTO run VALUES(14,1,14,1,'skipped','--fail-fast: not started after cast  synthetic  cpu-tp2  seed 13',7,NULL,NULL,NULL,NULL,NULL,'2026-12-01T00:07:46.306Z',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO run VALUES(15,2,15,1,'infeasible','tp 3 does not divide the 4 heads of bert-tiny',8,NULL,NULL,NULL,NULL,NULL,'2026-12-01T00:07:46.466Z',NULL,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO run VALUES(16,1,16,1,'failed','/runs/noworker: cannot be started: exec: Exec format error',9,0,0,'box','results.db.runs/05484e8da1fe8c9b-16-1','2026-12-01T00:07:46.719Z','2026-12-01T00:07:46.808Z',127,'',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO run VALUES(17,1,17,1,'failed','rank 1: interrupted',10,0,0,'box','results.db.runs/05484e8da1fe8c9b-17-1','2026-12-01T00:07:47.037Z','2026-12-01T00:07:51.674Z',130,'',1,1,1,NULL,NULL,NULL,2,3,3,2000000000,'0123456789abcdef','2026-12-01T00:07:51.593Z');
INSERT INTO run VALUES(18,3,18,1,'failed','rank 0: all-reduce failed: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 4000ms for recv operation to complete',11,0,0,'box','results.db.runs/931cb08d392ef940-18-1','2026-12-01T00:08:05.562Z','2026-12-01T00:08:23.950Z',1,'',1,2,2,1,1,'f448c3bee0af9634',2,256000,1,6990798040,NULL,'2026-12-01T00:08:23.903Z');
INSERT INTO run VALUES(19,1,19,1,'running','',12,0,0,'box','results.db.runs/05484e8da1fe8c9b-19-1','2026-12-01T00:08:24.284Z',NULL,NULL,'',1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE spool_file (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  rank INTEGER NOT NULL,
  hash TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  torn_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, rank)
) STRICT, WITHOUT ROWID;
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
INSERT INTO process VALUES(1,0,28394,'box','2026-01-01T00:00:00Z','failed','interrupted',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(1,1,28395,'box','2026-01-01T00:00:00Z',NULL,NULL,1,NULL,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(2,0,28404,'box','2026-01-01T00:00:00Z','diverged','loss is not finite at step 2',3,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(2,1,28405,'box','2026-01-01T00:00:00Z','diverged','loss is not finite at step 2',3,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(3,0,28407,'box','2026-01-01T00:00:00Z','oom','no memory for 1 GiB',3,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(3,1,28408,'box','2026-01-01T00:00:00Z','oom','no memory for 1 GiB',3,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(4,0,28409,'box','2026-01-01T00:00:00Z',NULL,NULL,3,NULL,1000,0,100,1,1);
INSERT INTO process VALUES(4,1,28410,'box','2026-01-01T00:00:00Z',NULL,NULL,3,NULL,1000,0,100,1,1);
INSERT INTO process VALUES(6,0,28414,'box','2026-01-01T00:00:00Z','failed','weights.safetensors: tensor x is missing',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(6,1,28418,'box','2026-01-01T00:00:00Z','failed','weights.safetensors: tensor x is missing',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(7,0,28419,'box','2026-01-01T00:00:00Z','ok','',3,2000000000,1000,0,100,1,1);
INSERT INTO process VALUES(7,1,28420,'box','2026-01-01T00:00:00Z','ok','',3,2000000000,1000,0,100,1,1);
INSERT INTO process VALUES(8,0,28424,'box','2026-01-01T00:00:00Z','failed','interrupted',226,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(8,1,28425,'box','2026-01-01T00:00:00Z',NULL,NULL,51,NULL,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(9,0,28442,'box','2026-01-01T00:00:00Z','failed','interrupted',68,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(9,1,28443,'box','2026-01-01T00:00:00Z','failed','interrupted',106,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(10,0,28446,'box','2026-01-01T00:00:00Z',NULL,NULL,39,NULL,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(10,1,28447,'box','2026-01-01T00:00:00Z',NULL,NULL,48,NULL,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(11,0,28455,'box','2026-01-01T00:00:00Z','failed','interrupted',54,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(11,1,28456,'box','2026-01-01T00:00:00Z','failed','interrupted',92,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(12,0,28458,'box','2026-01-01T00:00:00Z','failed','interrupted',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(12,1,28459,'box','2026-01-01T00:00:00Z','failed','interrupted',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(13,0,28470,'box','2026-01-01T00:00:00Z','failed','weights.safetensors: tensor x is missing',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(13,1,28471,'box','2026-01-01T00:00:00Z','failed','weights.safetensors: tensor x is missing',0,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(17,0,28480,'box','2026-01-01T00:00:00Z','failed','interrupted',270,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(17,1,28481,'box','2026-01-01T00:00:00Z','failed','interrupted',74,2000000000,NULL,NULL,NULL,1,1);
INSERT INTO process VALUES(18,0,28571,'box','2026-12-01T00:08:08Z','failed','all-reduce failed: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 4000ms for recv operation to complete',1,6990798040,NULL,NULL,NULL,2,2);
INSERT INTO process VALUES(18,1,28573,'box','2026-12-01T00:08:08Z',NULL,NULL,1,NULL,NULL,NULL,NULL,2,2);
CREATE TABLE run_codec (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  site TEXT NOT NULL,
  spec TEXT NOT NULL,
  added_parameters INTEGER,
  added_flops REAL,
  PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;
INSERT INTO run_codec VALUES(18,'tp','cast',0,0.0);
INSERT INTO run_codec VALUES(18,'tp.backward','none',0,0.0);
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
CREATE TABLE sample (
  measurement_id INTEGER PRIMARY KEY REFERENCES measurement (id) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  first_step INTEGER NOT NULL,
  hash TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE TABLE series (
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  value REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (metric_id, run_id, step)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE eval_metric (
  eval_id INTEGER NOT NULL REFERENCES eval (id) ON DELETE CASCADE,
  metric_id INTEGER NOT NULL REFERENCES metric (id),
  is_primary INTEGER NOT NULL CHECK (is_primary IN (0, 1)),
  value REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (eval_id, metric_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE label_set (
  hash TEXT PRIMARY KEY,
  count INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE prediction (
  eval_id INTEGER PRIMARY KEY REFERENCES eval (id) ON DELETE CASCADE,
  count INTEGER NOT NULL,
  hash TEXT NOT NULL,
  label_hash TEXT NOT NULL REFERENCES label_set (hash),
  data BLOB NOT NULL
) STRICT;
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
CREATE INDEX imported_case_spec ON imported_case (spec, operation);
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

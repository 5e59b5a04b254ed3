-- Facts (hashed, one row each), the way sweep -> cell -> run, and what a run recorded.
-- docs/results-schema.md explains every column and unit. Times are integer nanoseconds, sizes
-- bytes; a value that was not finite is NULL with nonfinite = 1.

CREATE TABLE schema_migration (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  applied_at TEXT NOT NULL
) STRICT;

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

CREATE TABLE model (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  parameters INTEGER,
  trainable INTEGER,
  arch TEXT NOT NULL CHECK (json_valid(arch))
) STRICT;

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

CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  matrix TEXT NOT NULL,
  first_started_at TEXT NOT NULL,
  last_started_at TEXT NOT NULL,
  UNIQUE (name, hash)
) STRICT;

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
CREATE INDEX cell_group ON cell (group_hash);

CREATE TABLE cell_codec (
  cell_id INTEGER NOT NULL REFERENCES cell (id),
  site TEXT NOT NULL,
  codec_id INTEGER NOT NULL REFERENCES codec (id),
  PRIMARY KEY (cell_id, site)
) STRICT, WITHOUT ROWID;

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
CREATE INDEX run_status ON run (status);

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

CREATE TABLE run_codec (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  site TEXT NOT NULL,
  spec TEXT NOT NULL,
  added_parameters INTEGER,
  added_flops REAL,
  PRIMARY KEY (run_id, site)
) STRICT, WITHOUT ROWID;

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

INSERT INTO metric (name, unit, better, kind, representative, min_effect, gate, description) VALUES
  ('step_time', 'ns', 'lower', 'time', 'median', 0.02, 'blocking',
   'one training step; over ranks: the slowest rank of each step'),
  ('forward_time', 'ns', 'lower', 'time', 'median', 0.02, 'advisory',
   'forward pass, with its encode, transfer and decode'),
  ('backward_time', 'ns', 'lower', 'time', 'median', 0.02, 'advisory',
   'backward pass, with its encode, transfer and decode'),
  ('optimizer_time', 'ns', 'lower', 'time', 'median', 0.02, 'advisory',
   'clipping and parameter update'),
  ('encode_time', 'ns', 'lower', 'time', 'median', 0.03, 'advisory',
   'encoding of all messages of a step'),
  ('transfer_time', 'ns', 'lower', 'time', 'median', 0.03, 'advisory',
   'collectives of a step, waiting for other ranks included'),
  ('decode_time', 'ns', 'lower', 'time', 'median', 0.03, 'advisory',
   'decoding and summing of all messages of a step'),
  ('train_loss', '1', 'lower', 'loss', 'last', NULL, 'none', 'training loss of a step'),
  ('learning_rate', '1', 'target', 'counter', 'last', NULL, 'none', 'learning rate of a step'),
  ('gradient_norm', '1', 'target', 'counter', 'mean', NULL, 'none',
   'global gradient norm before clipping'),
  ('accuracy', '1', 'higher', 'accuracy', 'last', 0.005, 'advisory',
   'share of rows predicted correctly'),
  ('f1', '1', 'higher', 'accuracy', 'last', 0.005, 'advisory', 'F1 of class 1'),
  ('matthews', '1', 'higher', 'accuracy', 'last', 0.005, 'advisory',
   'Matthews correlation coefficient'),
  ('pearson', '1', 'higher', 'accuracy', 'last', 0.005, 'advisory', 'Pearson correlation'),
  ('spearman', '1', 'higher', 'accuracy', 'last', 0.005, 'advisory',
   'Spearman correlation, ties by mean rank'),
  ('eval_loss', '1', 'lower', 'loss', 'last', NULL, 'none', 'mean loss of an evaluation'),
  ('message_relative_l2', '1', 'lower', 'error', 'mean', 0, 'blocking',
   'relative L2 error of one message of rank 0'),
  ('message_cosine', '1', 'higher', 'error', 'mean', 0, 'advisory',
   'cosine between a message of rank 0 and its decode'),
  ('sum_relative_l2', '1', 'lower', 'error', 'mean', 0, 'blocking',
   'relative L2 error of the sum at a site'),
  ('sum_cosine', '1', 'higher', 'error', 'mean', 0, 'advisory',
   'cosine between the sum at a site and its uncompressed value'),
  ('payload_bytes_per_step', 'B', 'lower', 'bytes', 'mean', 0, 'blocking',
   'payload bytes of one rank and training step, all sites'),
  ('sent_bytes_per_step', 'B', 'lower', 'bytes', 'mean', 0, 'blocking',
   'wire bytes that one rank sends in a training step, all sites'),
  ('peak_rss', 'B', 'lower', 'memory', 'max', 0.05, 'advisory',
   'largest resident memory of a rank'),
  ('codec_state', 'B', 'lower', 'memory', 'max', 0, 'blocking', 'codec state of a rank');

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
CREATE INDEX series_run ON series (run_id);

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

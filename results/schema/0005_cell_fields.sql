-- The fields of a cell become columns that SQLite computes from `config`. cell_columns.cpp adds one
-- for each line of protocol/cell_fields.def, after this step and whenever a line is new, and makes
-- the view v_cell_field of those that end most views. rekey.cpp gives the cells the keys that
-- tersor looks for from this version on.

DROP VIEW v_latest;
DROP VIEW v_incomplete;
DROP VIEW v_run;
DROP VIEW v_by_config;
DROP VIEW v_accuracy;
DROP VIEW v_speed;
DROP VIEW v_traffic;
DROP VIEW v_pareto;

ALTER TABLE cell DROP COLUMN compressor_tp;
ALTER TABLE cell DROP COLUMN compressor_tp_backward;
ALTER TABLE cell DROP COLUMN hardware;
ALTER TABLE cell DROP COLUMN kind;
ALTER TABLE cell DROP COLUMN device;
ALTER TABLE cell DROP COLUMN tp;
ALTER TABLE cell DROP COLUMN pp;
ALTER TABLE cell DROP COLUMN threads;
ALTER TABLE cell DROP COLUMN link;
ALTER TABLE cell DROP COLUMN dataset;
ALTER TABLE cell DROP COLUMN model;
ALTER TABLE cell DROP COLUMN stage;
ALTER TABLE cell DROP COLUMN layers;
ALTER TABLE cell DROP COLUMN warmup;
ALTER TABLE cell DROP COLUMN inference;
ALTER TABLE cell DROP COLUMN sum_order;
ALTER TABLE cell DROP COLUMN loopback;
ALTER TABLE cell DROP COLUMN overlap;
ALTER TABLE cell DROP COLUMN epochs;
ALTER TABLE cell DROP COLUMN max_steps;
ALTER TABLE cell DROP COLUMN train_rows;
ALTER TABLE cell DROP COLUMN eval_rows;
ALTER TABLE cell DROP COLUMN micro_batch;
ALTER TABLE cell DROP COLUMN sequence;
ALTER TABLE cell DROP COLUMN learning_rate;
ALTER TABLE cell DROP COLUMN learning_rate_warmup;
ALTER TABLE cell DROP COLUMN weight_decay;
ALTER TABLE cell DROP COLUMN clip;
ALTER TABLE cell DROP COLUMN dropout;
ALTER TABLE cell DROP COLUMN pooling;
ALTER TABLE cell DROP COLUMN freeze;
-- Spools and the folders of runs name the key that their cell had when they were written.
ALTER TABLE cell ADD COLUMN former_key TEXT;

CREATE VIEW v_run AS
SELECT r.id AS run_id, c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers,
  CASE WHEN r.seed < 0 THEN printf('%u', r.seed) ELSE r.seed END AS seed,
  r.attempt, r.status, r.reason, r.steps, r.steps_planned, r.wall_ns / 1e9 AS wall_s,
  r.started_at, r.ended_at, r.host, r.exit_code, r.checksum, r.init_hash, r.world,
  s.name AS sweep, r.block, r.run_order, k.git_sha, k.diff_hash, r.spool_dir,
  r.code_id, r.environment_id, r.hardware_id, r.dataset_id, r.model_id,
  x.*
FROM run r
JOIN cell c ON c.id = r.cell_id
JOIN v_cell_field x ON x.cell_id = c.id
LEFT JOIN sweep s ON s.id = r.sweep_id
LEFT JOIN code k ON k.id = r.code_id;

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

-- Mean over seeds of every metric; sd, interval (95 %, Student's t) need n >= 2.
CREATE VIEW v_by_config AS
WITH mean AS (
  SELECT cell_id, metric, variant, count(*) AS n, avg(value) AS mean, min(value) AS min,
    max(value) AS max
  FROM v_run_value GROUP BY cell_id, metric, variant),
deviation AS (
  SELECT m.cell_id, m.metric, m.variant, m.n, m.mean, m.min, m.max,
    CASE WHEN m.n > 1 THEN sqrt(sum((v.value - m.mean) * (v.value - m.mean)) / (m.n - 1)) END AS sd
  FROM mean m
  JOIN v_run_value v ON v.cell_id = m.cell_id AND v.metric = m.metric AND v.variant = m.variant
  GROUP BY m.cell_id, m.metric, m.variant),
interval AS (
  SELECT s.*, s.sd / sqrt(s.n) *
    (SELECT t975 FROM student_t WHERE df <= s.n - 1 ORDER BY df DESC LIMIT 1) AS half
  FROM deviation s)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, i.metric, i.variant,
  k.unit, k.better, i.n, i.mean, i.sd, i.mean - i.half AS ci_low,
  i.mean + i.half AS ci_high, i.min, i.max,
  x.*
FROM interval i JOIN cell c ON c.id = i.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id
  JOIN metric k ON k.name = i.metric;

-- Quality: the last epoch decides, the best one (chosen on the same rows) stands beside it.
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
deviation AS (
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
  FROM deviation s)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, i.metric, i.is_primary,
  i.inference, i.split, i.mean, i.sd, i.n,
  i.mean - i.half AS ci_low, i.mean + i.half AS ci_high, i.best_mean, i.best_sd, i.epochs AS epoch,
  i.rows, i.loss_mean, z.diverged AS diverged_n, z.other AS not_ok_n,
  x.*
FROM interval i JOIN cell c ON c.id = i.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id
  JOIN v_cell_status z ON z.cell_id = c.id;

-- Time: the median over steps of the slowest rank of each step, then mean over seeds. A cell whose
-- kind is emulated or modelled has no throughput.
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
deviation AS (
  SELECT m.*, CASE WHEN m.n > 1 THEN
      sqrt(sum((v.step_ms - m.step_ms) * (v.step_ms - m.step_ms)) / (m.n - 1)) END AS step_ms_sd
  FROM mean m JOIN run_value v ON v.cell_id = m.cell_id WHERE v.step_ms IS NOT NULL
  GROUP BY m.cell_id),
interval AS (
  SELECT s.*, s.step_ms_sd / sqrt(s.n) *
    (SELECT t975 FROM student_t WHERE df <= s.n - 1 ORDER BY df DESC LIMIT 1) AS half
  FROM deviation s)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, i.step_ms AS
  step_ms_mean, i.step_ms_sd, i.n, i.step_ms - i.half AS step_ms_ci_low,
  i.step_ms + i.half AS step_ms_ci_high, i.steps, i.forward_ms AS forward_ms_mean,
  i.backward_ms AS backward_ms_mean, i.optimizer_ms AS optimizer_ms_mean,
  i.encode_ms AS encode_ms_mean, i.transfer_ms AS transfer_ms_mean, i.decode_ms AS decode_ms_mean,
  CASE WHEN c.kind IN ('measured', 'shaped') THEN c.micro_batch / i.step_ms * 1e3 END
    AS samples_per_second,
  CASE WHEN c.kind IN ('measured', 'shaped') THEN c.micro_batch * c.sequence / i.step_ms * 1e3 END
    AS tokens_per_second,
  x.*
FROM interval i JOIN cell c ON c.id = i.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id;

-- Messages by site, direction, phase, collective and spec: one rank's mean per call; mean and
-- deviation over seeds.
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
deviation AS (
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
  x.*
FROM deviation s JOIN cell c ON c.id = s.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id;

-- Quality against time against bytes, inside a group (everything but the codec and the seed): a row
-- is on the front where no other of its group is at least as good in all three and better in one.
-- Times count for kinds measured and shaped only.
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
  x.*
FROM point p JOIN cell c ON c.id = p.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id;

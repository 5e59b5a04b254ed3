-- Views over the base tables; docs/results-schema.md explains their columns. An aggregate groups by
-- cell, which is everything but the seed, and takes each cell and seed's deciding run where it is
-- ok.

-- 0.975 quantile of Student's t; a df between two rows takes the smaller one (wider interval).
CREATE TABLE student_t (
  df INTEGER PRIMARY KEY,
  t975 REAL NOT NULL
) STRICT;
INSERT INTO student_t (df, t975) VALUES
  (1, 12.706205), (2, 4.302653), (3, 3.182446), (4, 2.776445), (5, 2.570582), (6, 2.446912), (7,
  2.364624), (8, 2.306004), (9, 2.262157), (10, 2.228139), (11, 2.200985), (12, 2.178813), (13,
  2.160369), (14, 2.144787), (15, 2.131450), (16, 2.119905), (17, 2.109816), (18, 2.100922),
  (19, 2.093024), (20, 2.085963), (21, 2.079614), (22, 2.073873), (23, 2.068658), (24,
  2.063899), (25, 2.059539), (26, 2.055529), (27, 2.051831), (28, 2.048407), (29, 2.045230),
  (30, 2.042272), (40, 2.021075), (60, 2.000298), (120, 1.979930), (1000000, 1.959966);

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

-- The run that decides for a cell and seed: the last ok one if any, else the last attempt.
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

-- How the seeds of a cell ended.
CREATE VIEW v_cell_status AS
SELECT cell_id, count(*) AS seeds, sum(status = 'ok') AS ok, sum(status = 'diverged') AS diverged,
  sum(status NOT IN ('ok', 'diverged')) AS other
FROM v_deciding GROUP BY cell_id;

-- Last and best epoch of every metric of every evaluation series of a run.
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

-- Bytes of one rank in one training step, all sites; mean over ranks.
CREATE VIEW v_run_traffic AS
SELECT t.run_id, r.cell_id, count(DISTINCT t.rank) AS ranks, r.steps,
  1.0 * sum(t.raw_bytes) / count(DISTINCT t.rank) / r.steps AS raw_bytes_per_step,
  1.0 * sum(t.payload_bytes) / count(DISTINCT t.rank) / r.steps AS payload_bytes_per_step,
  1.0 * sum(t.metadata_bytes) / count(DISTINCT t.rank) / r.steps AS metadata_bytes_per_step,
  1.0 * sum(t.sent_bytes) / count(DISTINCT t.rank) / r.steps AS sent_bytes_per_step
FROM traffic t JOIN run r ON r.id = t.run_id
WHERE t.phase = 'train' AND r.steps > 0
GROUP BY t.run_id;

-- One number per ok run, metric and variant: what v_by_config averages.
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

-- Mean over seeds of every metric; sd, interval (95 %, Student's t) need n >= 2.
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
  c.warmup, c.device, c.tp, c.pp, c.threads, c.link, c.sum_order, c.loopback, c.overlap,
  c.epochs, c.max_steps, c.train_rows, c.eval_rows, c.micro_batch, c.sequence, c.learning_rate,
  c.learning_rate_warmup, c.weight_decay, c.clip, c.dropout, c.pooling, c.freeze, c.cell_key,
  c.group_hash, c.id AS cell_id
FROM point p JOIN cell c ON c.id = p.cell_id;

-- Facts in which the deciding runs of one group differ: what is not the same beside the codec.
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

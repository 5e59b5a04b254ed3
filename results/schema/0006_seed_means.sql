-- Averages over seeds in one place, v_seed_mean, which v_by_config, v_accuracy, v_speed and the
-- report's tables read; means by evaluation split; what a codec adds to the job is a metric too.
-- Quantiles of Student's t are the program's (student_t_quantile is its function), for every df up
-- to 1,000.
DELETE FROM student_t;
INSERT INTO student_t (df, t975)
WITH RECURSIVE count(df) AS (SELECT 1 UNION ALL SELECT df + 1 FROM count WHERE df < 1000)
SELECT df, student_t_quantile(0.975, df) FROM count;

INSERT INTO metric (name, unit, better, kind, representative, min_effect, gate, description) VALUES
  ('added_parameters', '1', 'lower', 'counter', 'sum', NULL, 'none',
   'parameters that the model would not have without its codecs'),
  ('added_flops', 'FLOP', 'lower', 'counter', 'sum', NULL, 'none',
   'operations of codecs in one forward pass of a micro-batch');

DROP VIEW v_run_value;
-- One number per ok run, metric, variant and evaluation split ('': not of an evaluation).
CREATE VIEW v_run_value AS
SELECT d.run_id, d.cell_id, d.seed, x.metric, x.variant, x.split, x.value
FROM v_deciding d JOIN (
  SELECT m.run_id, k.name AS metric, 'median over steps' AS variant, '' AS split, m.median AS value
  FROM measurement m JOIN metric k ON k.id = m.metric_id WHERE m.rank = -1
  UNION ALL
  SELECT run_id, metric, 'last epoch, inference ' || inference, split, last_value
  FROM v_run_accuracy
  UNION ALL
  SELECT run_id, metric, 'best epoch, inference ' || inference, split, best_value
  FROM v_run_accuracy
  UNION ALL
  SELECT run_id, 'payload_bytes_per_step', 'mean over steps and ranks', '', payload_bytes_per_step
  FROM v_run_traffic
  UNION ALL
  SELECT run_id, 'sent_bytes_per_step', 'mean over steps and ranks', '', sent_bytes_per_step
  FROM v_run_traffic
  UNION ALL
  SELECT run_id, 'message_relative_l2', 'mean over samples', '', avg(message_relative_l2)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'message_cosine', 'mean over samples', '', avg(message_cosine)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'sum_relative_l2', 'mean over samples', '', avg(sum_relative_l2)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'sum_cosine', 'mean over samples', '', avg(sum_cosine)
  FROM message_error GROUP BY run_id
  UNION ALL
  SELECT run_id, 'peak_rss', 'largest rank', '', max(peak_rss_bytes) FROM process GROUP BY run_id
  UNION ALL
  SELECT run_id, 'codec_state', 'largest rank', '', max(codec_state_bytes)
  FROM process GROUP BY run_id
  UNION ALL
  SELECT run_id, 'added_parameters', 'sum over sites', '', sum(added_parameters)
  FROM run_codec GROUP BY run_id
  UNION ALL
  SELECT run_id, 'added_flops', 'sum over sites', '', sum(added_flops)
  FROM run_codec GROUP BY run_id
) x ON x.run_id = d.run_id
WHERE d.status = 'ok' AND x.value IS NOT NULL;

-- The averages over seeds, the one place that computes them for values of a run: every metric of a
-- cell, over its deciding ok runs. sd and the interval (95 %, Student's t) need n >= 2.
CREATE VIEW v_seed_mean AS
WITH deviation AS (
  SELECT cell_id, metric, variant, split, count(*) AS n, mean, min(value) AS min,
    max(value) AS max,
    CASE WHEN count(*) > 1 THEN sqrt(sum((value - mean) * (value - mean)) / (count(*) - 1)) END
      AS sd
  FROM (
    SELECT *, avg(value) OVER (PARTITION BY cell_id, metric, variant, split) AS mean
    FROM v_run_value)
  GROUP BY cell_id, metric, variant, split),
half AS (
  SELECT *, sd / sqrt(n) *
    (SELECT t975 FROM student_t WHERE df <= n - 1 ORDER BY df DESC LIMIT 1) AS half
  FROM deviation)
SELECT cell_id, metric, variant, split, n, mean, sd, mean - half AS ci_low, mean + half AS ci_high,
  min, max
FROM half;

DROP VIEW v_by_config;
CREATE VIEW v_by_config AS
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, s.metric, s.variant,
  s.split, k.unit, k.better, s.n, s.mean, s.sd, s.ci_low, s.ci_high, s.min, s.max,
  x.*
FROM v_seed_mean s JOIN cell c ON c.id = s.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id
  JOIN metric k ON k.name = s.metric;

-- Quality: the last epoch decides; the best one, chosen on the same rows, is shown beside it.
DROP VIEW v_accuracy;
CREATE VIEW v_accuracy AS
WITH series AS (
  SELECT d.cell_id, a.inference, a.split, a.metric, max(a.is_primary) AS is_primary,
    max(a.epochs) AS epoch, max(a.rows) AS rows, avg(a.last_loss) AS loss_mean
  FROM v_deciding d JOIN v_run_accuracy a ON a.run_id = d.run_id
  WHERE d.status = 'ok' AND a.last_value IS NOT NULL
  GROUP BY d.cell_id, a.inference, a.split, a.metric),
mean AS (SELECT * FROM v_seed_mean WHERE variant GLOB '* epoch, inference *')
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, s.metric, s.is_primary,
  s.inference, s.split, l.mean, l.sd, l.n, l.ci_low, l.ci_high, b.mean AS best_mean,
  b.sd AS best_sd, s.epoch, s.rows, s.loss_mean, z.diverged AS diverged_n, z.other AS not_ok_n,
  x.*
FROM series s
JOIN mean l ON l.cell_id = s.cell_id AND l.metric = s.metric AND l.split = s.split
  AND l.variant = 'last epoch, inference ' || s.inference
JOIN mean b ON b.cell_id = s.cell_id AND b.metric = s.metric AND b.split = s.split
  AND b.variant = 'best epoch, inference ' || s.inference
JOIN cell c ON c.id = s.cell_id
JOIN v_cell_field x ON x.cell_id = s.cell_id
JOIN v_cell_status z ON z.cell_id = s.cell_id;

-- Time: the median over steps of the slowest rank of each step, then mean over seeds. A cell whose
-- kind is emulated or modelled has no throughput.
DROP VIEW v_speed;
CREATE VIEW v_speed AS
WITH part AS (
  SELECT cell_id,
    max(CASE WHEN metric = 'step_time' THEN n END) AS n,
    max(CASE WHEN metric = 'step_time' THEN mean END) / 1e6 AS step_ms,
    max(CASE WHEN metric = 'step_time' THEN sd END) / 1e6 AS step_ms_sd,
    max(CASE WHEN metric = 'step_time' THEN ci_low END) / 1e6 AS step_ms_ci_low,
    max(CASE WHEN metric = 'step_time' THEN ci_high END) / 1e6 AS step_ms_ci_high,
    max(CASE WHEN metric = 'forward_time' THEN mean END) / 1e6 AS forward_ms,
    max(CASE WHEN metric = 'backward_time' THEN mean END) / 1e6 AS backward_ms,
    max(CASE WHEN metric = 'optimizer_time' THEN mean END) / 1e6 AS optimizer_ms,
    max(CASE WHEN metric = 'encode_time' THEN mean END) / 1e6 AS encode_ms,
    max(CASE WHEN metric = 'transfer_time' THEN mean END) / 1e6 AS transfer_ms,
    max(CASE WHEN metric = 'decode_time' THEN mean END) / 1e6 AS decode_ms
  FROM v_seed_mean WHERE variant = 'median over steps' GROUP BY cell_id),
shortest AS (
  SELECT d.cell_id, min(m.n) AS steps
  FROM v_deciding d JOIN measurement m ON m.run_id = d.run_id AND m.rank = -1
    JOIN metric k ON k.id = m.metric_id AND k.name = 'step_time'
  WHERE d.status = 'ok' GROUP BY d.cell_id)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers,
  p.step_ms AS step_ms_mean, p.step_ms_sd, p.n, p.step_ms_ci_low, p.step_ms_ci_high, s.steps,
  p.forward_ms AS forward_ms_mean, p.backward_ms AS backward_ms_mean,
  p.optimizer_ms AS optimizer_ms_mean, p.encode_ms AS encode_ms_mean,
  p.transfer_ms AS transfer_ms_mean, p.decode_ms AS decode_ms_mean,
  CASE WHEN c.kind IN ('measured', 'shaped') THEN c.micro_batch / p.step_ms * 1e3 END
    AS samples_per_second,
  CASE WHEN c.kind IN ('measured', 'shaped') THEN c.micro_batch * c.sequence / p.step_ms * 1e3 END
    AS tokens_per_second,
  x.*
FROM part p JOIN shortest s ON s.cell_id = p.cell_id JOIN cell c ON c.id = p.cell_id
  JOIN v_cell_field x ON x.cell_id = c.id
WHERE p.step_ms IS NOT NULL;

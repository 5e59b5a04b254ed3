-- Seeds on which a metric has no value are counted beside those that have one; a metric that is
-- undefined on every seed has a row too.
DROP VIEW v_accuracy;
CREATE VIEW v_accuracy AS
WITH series AS (
  SELECT d.cell_id, a.inference, a.split, a.metric, max(a.is_primary) AS is_primary,
    max(a.epochs) AS epoch, max(a.rows) AS rows, avg(a.last_loss) AS loss_mean,
    sum(a.last_value IS NULL) AS undefined_n
  FROM v_deciding d JOIN v_run_accuracy a ON a.run_id = d.run_id
  WHERE d.status = 'ok'
  GROUP BY d.cell_id, a.inference, a.split, a.metric),
mean AS (SELECT * FROM v_seed_mean WHERE variant GLOB '* epoch, inference *')
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, s.metric, s.is_primary,
  s.inference, s.split, l.mean, l.sd, coalesce(l.n, 0) AS n, s.undefined_n, l.ci_low, l.ci_high,
  b.mean AS best_mean, b.sd AS best_sd, s.epoch, s.rows, s.loss_mean, z.diverged AS diverged_n,
  z.other AS not_ok_n,
  x.*
FROM series s
LEFT JOIN mean l ON l.cell_id = s.cell_id AND l.metric = s.metric AND l.split = s.split
  AND l.variant = 'last epoch, inference ' || s.inference
LEFT JOIN mean b ON b.cell_id = s.cell_id AND b.metric = s.metric AND b.split = s.split
  AND b.variant = 'best epoch, inference ' || s.inference
JOIN cell c ON c.id = s.cell_id
JOIN v_cell_field x ON x.cell_id = s.cell_id
JOIN v_cell_status z ON z.cell_id = s.cell_id;

DROP VIEW v_pareto;
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
  JOIN v_accuracy a ON a.cell_id = c.id AND a.is_primary = 1 AND a.mean IS NOT NULL
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

-- Every cell, with each metric of its last epoch (mean over ok seeds where it is defined), or
-- without values and with the reason.
WITH series AS (
  SELECT d.cell_id, a.inference, a.split, a.metric, max(a.is_primary) AS is_primary,
    sum(a.last_value IS NULL) AS undefined_n
  FROM v_deciding d JOIN v_run_accuracy a ON a.run_id = d.run_id
  WHERE d.status = 'ok' GROUP BY d.cell_id, a.inference, a.split, a.metric)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, s.metric, s.is_primary,
  s.inference, s.split, a.mean, a.sd, a.n, a.ci_low, a.ci_high, a.best_mean, a.best_sd, a.epoch,
  a.rows, a.loss_mean, coalesce(z.seeds, 0) AS seeds, coalesce(z.ok, 0) AS ok_n,
  coalesce(z.diverged, 0) AS diverged_n, s.undefined_n,
  (SELECT i.status || CASE WHEN i.reason <> '' THEN ': ' || i.reason ELSE '' END
   FROM v_incomplete i WHERE i.cell_id = c.id ORDER BY i.run_id DESC LIMIT 1) AS not_ok_reason,
  c.cell_key, c.group_hash, c.id AS cell_id
FROM cell c LEFT JOIN series s ON s.cell_id = c.id
  LEFT JOIN v_accuracy a ON a.cell_id = s.cell_id AND a.inference = s.inference
    AND a.split = s.split AND a.metric = s.metric
  LEFT JOIN v_cell_status z ON z.cell_id = c.id
ORDER BY c.group_hash, c.id, s.inference DESC, s.is_primary DESC, s.metric, s.split

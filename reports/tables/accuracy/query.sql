-- Every cell, with each metric of its last epoch (mean over ok seeds where it is defined), or
-- without values and with the reason.
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, a.metric, a.is_primary,
  a.inference, a.split, a.mean, a.sd, a.n, a.ci_low, a.ci_high, a.best_mean, a.best_sd, a.epoch,
  a.rows, a.loss_mean, coalesce(z.seeds, 0) AS seeds, coalesce(z.ok, 0) AS ok_n,
  coalesce(z.diverged, 0) AS diverged_n, a.undefined_n,
  (SELECT i.status || CASE WHEN i.reason <> '' THEN ': ' || i.reason ELSE '' END
   FROM v_incomplete i WHERE i.cell_id = c.id ORDER BY i.run_id DESC LIMIT 1) AS not_ok_reason,
  c.cell_key, c.group_hash, c.id AS cell_id
FROM cell c LEFT JOIN v_accuracy a ON a.cell_id = c.id
  LEFT JOIN v_cell_status z ON z.cell_id = c.id
ORDER BY c.group_hash, c.id, a.inference DESC, a.is_primary DESC, a.metric, a.split

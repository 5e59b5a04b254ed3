-- Every cell with its step time (mean over ok seeds of the median step), or without values and
-- with the reason. Kinds emulated and modelled have no throughput.
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers, s.step_ms_mean,
  s.step_ms_sd, s.n, s.step_ms_ci_low, s.step_ms_ci_high, s.steps, s.samples_per_second,
  s.tokens_per_second,
  (SELECT avg((m.q3 - m.q1) / m.median) FROM v_deciding d JOIN measurement m ON m.run_id = d.run_id
     JOIN metric k ON k.id = m.metric_id
   WHERE d.cell_id = c.id AND d.status = 'ok' AND k.name = 'step_time' AND m.rank = -1)
    AS relative_iqr,
  coalesce(z.seeds, 0) AS seeds,
  (SELECT i.status || CASE WHEN i.reason <> '' THEN ': ' || i.reason ELSE '' END
   FROM v_incomplete i WHERE i.cell_id = c.id ORDER BY i.run_id DESC LIMIT 1) AS not_ok_reason,
  c.cell_key, c.group_hash, c.id AS cell_id
FROM cell c LEFT JOIN v_speed s ON s.cell_id = c.id LEFT JOIN v_cell_status z ON z.cell_id = c.id
WHERE c.kind IN ('measured', 'shaped')
ORDER BY c.group_hash, c.id

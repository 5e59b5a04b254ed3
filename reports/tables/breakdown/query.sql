-- Mean over steps of each part of a step, of every deciding ok run that was timed for real; the
-- slowest rank of each step gives the parts.
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.id AS cell_id, v.seed, d.run_id,
  k.name AS metric, m.mean / 1e6 AS mean_ms, m.median / 1e6 AS median_ms
FROM v_deciding d JOIN cell c ON c.id = d.cell_id JOIN v_run v ON v.run_id = d.run_id
  JOIN measurement m ON m.run_id = d.run_id JOIN metric k ON k.id = m.metric_id
WHERE d.status = 'ok' AND m.rank = -1 AND k.kind = 'time' AND c.kind IN ('measured', 'shaped')
ORDER BY c.group_hash, c.id, v.seed, k.id

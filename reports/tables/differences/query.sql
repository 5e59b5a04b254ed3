-- Primary metric of the last epoch of every deciding ok run, to be paired by seed;
-- NULL where it is undefined.
SELECT c.group_hash, c.codec, c.id AS cell_id, v.seed, d.run_id, a.metric, a.inference,
  a.last_value AS value
FROM v_deciding d JOIN cell c ON c.id = d.cell_id JOIN v_run v ON v.run_id = d.run_id
  JOIN v_run_accuracy a ON a.run_id = d.run_id AND a.is_primary = 1
WHERE d.status = 'ok'
ORDER BY c.group_hash, c.id, v.seed

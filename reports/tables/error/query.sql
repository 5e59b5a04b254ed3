-- Compression error of every deciding ok run, mean over its samples: one message of rank 0, and the
-- sum at the site.
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.id AS cell_id, v.seed, d.run_id,
  CASE WHEN e.site_name LIKE '%.backward' THEN 'backward' ELSE 'forward' END AS direction,
  count(*) AS samples, sum(e.nonfinite) AS nonfinite_n,
  avg(e.message_relative_l2) AS message_relative_l2, avg(e.message_cosine) AS message_cosine,
  avg(e.sum_relative_l2) AS sum_relative_l2, avg(e.sum_cosine) AS sum_cosine
FROM v_deciding d JOIN cell c ON c.id = d.cell_id JOIN v_run v ON v.run_id = d.run_id
  JOIN message_error e ON e.run_id = d.run_id
WHERE d.status = 'ok'
GROUP BY d.run_id, direction
ORDER BY c.group_hash, c.id, v.seed, direction DESC

-- What a codec adds to the job, by cell: parameters and FLOPs that the model would not have without
-- it, state that it keeps, and the memory of the largest rank; means over seeds.
WITH added AS (
  SELECT cell_id,
    max(CASE WHEN metric = 'added_parameters' THEN mean END) AS added_parameters,
    max(CASE WHEN metric = 'added_flops' THEN mean END) AS added_flops,
    max(CASE WHEN metric = 'codec_state' THEN mean END) AS codec_state_bytes,
    max(CASE WHEN metric = 'peak_rss' THEN mean END) AS peak_rss_bytes
  FROM v_seed_mean WHERE variant IN ('sum over sites', 'largest rank') GROUP BY cell_id),
model_size AS (
  SELECT d.cell_id, max(m.parameters) AS parameters
  FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN model m ON m.id = r.model_id
  WHERE d.status = 'ok' GROUP BY d.cell_id)
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.id AS cell_id, z.ok AS n,
  a.added_parameters, a.added_flops, a.codec_state_bytes, a.peak_rss_bytes,
  p.parameters AS model_parameters
FROM cell c JOIN v_cell_status z ON z.cell_id = c.id AND z.ok > 0
  LEFT JOIN added a ON a.cell_id = c.id LEFT JOIN model_size p ON p.cell_id = c.id
ORDER BY c.group_hash, c.id

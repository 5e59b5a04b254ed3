-- What a codec adds to the job, by cell: parameters and FLOPs that the model would not have without
-- it, state that it keeps, and the memory of the largest rank.
SELECT c.codec, c.hardware, c.kind, c.dataset, c.model, c.id AS cell_id, count(*) AS n,
  avg(x.added_parameters) AS added_parameters, avg(x.added_flops) AS added_flops,
  avg(p.codec_state_bytes) AS codec_state_bytes, avg(p.peak_rss_bytes) AS peak_rss_bytes,
  max(m.parameters) AS model_parameters
FROM v_deciding d JOIN cell c ON c.id = d.cell_id JOIN run r ON r.id = d.run_id
  LEFT JOIN model m ON m.id = r.model_id
  LEFT JOIN (SELECT run_id, sum(added_parameters) AS added_parameters,
               sum(added_flops) AS added_flops FROM run_codec GROUP BY run_id) x
    ON x.run_id = d.run_id
  LEFT JOIN (SELECT run_id, max(codec_state_bytes) AS codec_state_bytes,
               max(peak_rss_bytes) AS peak_rss_bytes FROM process GROUP BY run_id) p
    ON p.run_id = d.run_id
WHERE d.status = 'ok'
GROUP BY c.id ORDER BY c.group_hash, c.id

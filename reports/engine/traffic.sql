-- Training messages of every deciding ok run: bytes of one rank and step, mean over ranks.
SELECT c.group_hash, c.codec, c.id AS cell_id, d.run_id, coalesce(c.tp, 1) AS tp, t.site,
  t.site_name, t.direction, t.collective, t.dtype, t.spec,
  1.0 * sum(t.raw_bytes) / count(DISTINCT t.rank) / r.steps AS raw_bytes,
  1.0 * sum(t.payload_bytes) / count(DISTINCT t.rank) / r.steps AS payload_bytes,
  1.0 * sum(t.metadata_bytes) / count(DISTINCT t.rank) / r.steps AS metadata_bytes,
  1.0 * sum(t.sent_bytes) / count(DISTINCT t.rank) / r.steps AS sent_bytes,
  -- By the codec; NULL where those of some message are not known.
  iif(count(t.sent_bytes_p2) = count(*),
    1.0 * sum(t.sent_bytes_p2) / count(DISTINCT t.rank) / r.steps, NULL) AS sent_bytes_p2,
  iif(count(t.sent_bytes_p4) = count(*),
    1.0 * sum(t.sent_bytes_p4) / count(DISTINCT t.rank) / r.steps, NULL) AS sent_bytes_p4,
  iif(count(t.sent_bytes_p8) = count(*),
    1.0 * sum(t.sent_bytes_p8) / count(DISTINCT t.rank) / r.steps, NULL) AS sent_bytes_p8
FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN cell c ON c.id = d.cell_id
  JOIN traffic t ON t.run_id = d.run_id
WHERE d.status = 'ok' AND t.phase = 'train' AND r.steps > 0
GROUP BY d.run_id, t.site, t.site_name, t.direction, t.collective, t.dtype, t.spec
ORDER BY c.id, d.run_id

-- Last predictions, compression on, of the runs of one group: little-endian binary64 arrays.
SELECT d.run_id, p.data AS predictions, l.data AS labels, p.label_hash
FROM v_deciding d JOIN cell c ON c.id = d.cell_id JOIN eval e ON e.run_id = d.run_id
  JOIN prediction p ON p.eval_id = e.id JOIN label_set l ON l.hash = p.label_hash
WHERE d.status = 'ok' AND e.inference = 'on' AND c.group_hash = ?1
  AND e.epoch = (SELECT max(o.epoch) FROM eval o
                 WHERE o.run_id = e.run_id AND o.inference = 'on' AND o.split = e.split)

-- Share of the most frequent label among the rows that each cell is evaluated on, where labels are
-- classes (float64 in row order).
WITH RECURSIVE
  position(hash, row, count) AS (
    SELECT hash, 0, count FROM label_set WHERE count > 0
    UNION ALL SELECT hash, row + 1, count FROM position WHERE row + 1 < count),
  label(hash, rows, count) AS (
    SELECT p.hash, count(*), p.count FROM position p JOIN label_set l ON l.hash = p.hash
    GROUP BY p.hash, substr(l.data, 8 * p.row + 1, 8)),
  majority(hash, share) AS (SELECT hash, 1.0 * max(rows) / count FROM label GROUP BY hash)
SELECT DISTINCT r.cell_id, m.share, e.rows FROM majority m JOIN prediction p ON p.label_hash = m.hash
JOIN eval e ON e.id = p.eval_id JOIN run r ON r.id = e.run_id JOIN eval_metric v ON v.eval_id = e.id AND v.is_primary
JOIN metric n ON n.id = v.metric_id AND n.name = 'accuracy'
ORDER BY r.cell_id

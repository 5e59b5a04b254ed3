-- What the primary metric of each cell can be compared with: rows evaluated, and among their labels
-- (float64 in row order) the share of the most frequent one and that of class 1.
WITH RECURSIVE
  position(hash, row, count) AS (
    SELECT hash, 0, count FROM label_set WHERE count > 0 AND length(data) = 8 * count
    UNION ALL SELECT hash, row + 1, count FROM position WHERE row + 1 < count),
  label(hash, value, rows, count) AS (
    SELECT p.hash, substr(l.data, 8 * p.row + 1, 8) AS value, count(*), p.count
    FROM position p JOIN label_set l ON l.hash = p.hash GROUP BY p.hash, value),
  share(hash, majority, positive) AS (
    SELECT hash, 1.0 * max(rows) / count,
      1.0 * sum(CASE WHEN value = x'000000000000F03F' THEN rows ELSE 0 END) / count
    FROM label GROUP BY hash)
SELECT DISTINCT r.cell_id, n.name AS metric, s.majority, s.positive, e.rows
FROM share s JOIN prediction p ON p.label_hash = s.hash JOIN eval e ON e.id = p.eval_id
  JOIN run r ON r.id = e.run_id JOIN eval_metric v ON v.eval_id = e.id AND v.is_primary
  JOIN metric n ON n.id = v.metric_id
ORDER BY r.cell_id

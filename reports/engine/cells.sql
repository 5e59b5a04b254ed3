-- Every cell with the axes that group and name it, and how its seeds ended.
SELECT c.id AS cell_id, c.group_hash, c.codec, c.dataset, c.hardware, c.kind, c.model, c.stage,
  coalesce(c.tp, 1) AS tp, c.config,
  coalesce(z.seeds, 0) AS seeds, coalesce(z.ok, 0) AS ok, coalesce(z.diverged, 0) AS diverged,
  (SELECT i.status || CASE WHEN i.reason <> '' THEN ': ' || i.reason ELSE '' END
   FROM v_incomplete i WHERE i.cell_id = c.id ORDER BY i.run_id DESC LIMIT 1) AS reason
FROM cell c LEFT JOIN v_cell_status z ON z.cell_id = c.id
ORDER BY c.id

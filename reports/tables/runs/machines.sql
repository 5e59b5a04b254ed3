-- Machines and environments of the deciding runs.
SELECT coalesce(h.cpu, 'unknown processor') AS cpu, h.cores, h.memory_bytes, h.gpu, h.gpus, e.torch,
  e.compiler, e.flags, e.isa, e.math_library, e.backend, e.cuda, count(*) AS runs
FROM v_deciding d JOIN run r ON r.id = d.run_id LEFT JOIN hardware h ON h.id = r.hardware_id
  LEFT JOIN environment e ON e.id = r.environment_id
WHERE r.environment_id IS NOT NULL
GROUP BY r.hardware_id, r.environment_id ORDER BY count(*) DESC, min(r.id)

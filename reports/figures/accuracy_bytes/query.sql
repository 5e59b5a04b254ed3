-- Primary metric of every cell, compression on at inference (off where that was not evaluated).
SELECT a.group_hash, a.cell_id, a.codec, a.metric, a.inference, a.mean, a.sd, a.n
FROM v_accuracy a
WHERE a.is_primary = 1 AND a.mean IS NOT NULL
ORDER BY a.cell_id, a.inference DESC

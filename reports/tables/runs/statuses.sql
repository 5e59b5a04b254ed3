SELECT status, count(*) AS runs FROM v_deciding GROUP BY status ORDER BY count(*) DESC, status

SELECT (SELECT count(*) FROM cell) AS cells, count(*) AS runs, coalesce(sum(status = 'ok'), 0) AS ok
FROM v_deciding

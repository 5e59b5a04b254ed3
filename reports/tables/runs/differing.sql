-- Facts beside the codec in which the runs of one group differ.
SELECT group_hash, part, fact, group_concat(value || ' (' || runs || ' runs)', ', ') AS found
FROM (SELECT * FROM v_env_diff ORDER BY group_hash, part, fact, value)
GROUP BY group_hash, part, fact ORDER BY group_hash, part, fact

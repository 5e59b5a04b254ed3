-- What the deciding runs were made with.
SELECT k.version, k.git_sha, k.diff_hash, count(*) AS runs
FROM v_deciding d JOIN run r ON r.id = d.run_id JOIN code k ON k.id = r.code_id
GROUP BY k.version, k.git_sha, k.diff_hash ORDER BY max(r.id) DESC

-- Every run with its status, cause and reason.
SELECT run_id, codec, hardware, kind, dataset, model, stage, layers, seed, attempt, status, cause,
  reason, steps, steps_planned, wall_s, started_at, ended_at, host, exit_code, checksum, init_hash, sweep,
  git_sha, cell_key
FROM v_run ORDER BY run_id

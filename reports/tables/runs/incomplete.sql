-- What did not end well, by the deciding run of each cell and seed.
SELECT codec, hardware, dataset, seed, status, cause, reason, attempts FROM v_incomplete ORDER BY run_id

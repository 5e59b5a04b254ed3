-- Why a run or a rank ended as it did, for programs to decide by. What older versions stored is told
-- from status, exit status and the words of the reason, here for the last time; where those do not
-- tell, the cause is 'unknown'.
ALTER TABLE run ADD COLUMN cause TEXT NOT NULL DEFAULT 'none' CHECK (cause IN (
  'none', 'interrupted', 'lost_peer', 'stalled', 'time_limit', 'out_of_memory_host',
  'out_of_memory_device', 'refused', 'non_finite', 'fail_fast', 'killed', 'system', 'defect',
  'unknown'));
UPDATE run SET cause = CASE
  WHEN status IN ('planned', 'running', 'ok') THEN 'none'
  WHEN status = 'diverged' THEN 'non_finite'
  WHEN status = 'oom' THEN 'out_of_memory_host'
  WHEN status = 'skipped' THEN 'fail_fast'
  WHEN status = 'infeasible' THEN 'refused'
  WHEN status = 'timeout' THEN iif(reason GLOB '--stall:*', 'stalled', 'time_limit')
  WHEN reason GLOB 'interrupted*' OR reason GLOB 'rank [0-9]*: interrupted' THEN 'interrupted'
  WHEN reason GLOB 'rank [0-9]*: killed by signal*' THEN
    -- SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS are the program's own doing.
    iif(exit_code - 128 IN (4, 5, 6, 7, 8, 11, 31), 'defect', 'killed')
  WHEN reason GLOB 'rank [0-9]*: all-reduce failed: *' OR
    reason GLOB 'rank [0-9]*: all-gather failed: *' OR
    reason GLOB 'rank [0-9]*: all-to-all failed: *' OR
    reason GLOB 'rank [0-9]*: broadcast failed: *' OR
    reason GLOB 'rank [0-9]*: barrier failed: *' OR
    reason GLOB 'rank [0-9]*: meeting of rank *' THEN 'lost_peer'
  WHEN exit_code = 127 THEN 'system'
  WHEN exit_code = 0 THEN 'defect' -- ranks exited with 0, but their spools say otherwise
  ELSE 'unknown' END;

ALTER TABLE process ADD COLUMN cause TEXT CHECK (cause IN (
  'none', 'interrupted', 'lost_peer', 'stalled', 'time_limit', 'out_of_memory_host',
  'out_of_memory_device', 'refused', 'non_finite', 'fail_fast', 'killed', 'system', 'defect',
  'unknown'));
UPDATE process SET cause = CASE
  WHEN status = 'ok' THEN 'none'
  WHEN status = 'diverged' THEN 'non_finite'
  WHEN status = 'oom' THEN 'out_of_memory_host'
  WHEN reason = 'interrupted' THEN 'interrupted'
  WHEN reason GLOB 'all-reduce failed: *' OR reason GLOB 'all-gather failed: *' OR
    reason GLOB 'all-to-all failed: *' OR reason GLOB 'broadcast failed: *' OR
    reason GLOB 'barrier failed: *' OR reason GLOB 'meeting of rank *' THEN 'lost_peer'
  WHEN status IS NOT NULL THEN 'unknown' END;

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT r.id AS run_id, c.codec, c.hardware, c.kind, c.dataset, c.model, c.stage, c.layers,
  CASE WHEN r.seed < 0 THEN printf('%u', r.seed) ELSE r.seed END AS seed,
  r.attempt, r.status, r.cause, r.reason, r.steps, r.steps_planned, r.wall_ns / 1e9 AS wall_s,
  r.started_at, r.ended_at, r.host, r.exit_code, r.checksum, r.init_hash, r.world,
  s.name AS sweep, r.block, r.run_order, k.git_sha, k.diff_hash, r.spool_dir,
  r.code_id, r.environment_id, r.hardware_id, r.dataset_id, r.model_id,
  x.*
FROM run r
JOIN cell c ON c.id = r.cell_id
JOIN v_cell_field x ON x.cell_id = c.id
LEFT JOIN sweep s ON s.id = r.sweep_id
LEFT JOIN code k ON k.id = r.code_id;

DROP VIEW v_incomplete;
CREATE VIEW v_incomplete AS
SELECT v.run_id, v.codec, v.hardware, v.kind, v.dataset, v.model, v.stage, v.layers, v.seed,
  v.status, v.cause, v.reason, d.attempts, v.exit_code, v.started_at, v.ended_at, r.log_tail,
  v.cell_key, v.group_hash, v.cell_id
FROM v_deciding d
JOIN v_run v ON v.run_id = d.run_id
JOIN run r ON r.id = d.run_id
WHERE d.status <> 'ok';

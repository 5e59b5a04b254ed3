-- Measurements of codecs alone, read from files of other programs (tersor import): one row a file
-- with its whole text, one a case, one a quantity of a case.
CREATE TABLE imported_file (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('gpu-check', 'google-benchmark')),
  name TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  is_synthetic INTEGER NOT NULL CHECK (is_synthetic IN (0, 1)),
  measured_at TEXT,
  imported_at TEXT NOT NULL,
  program TEXT,
  hardware_id INTEGER REFERENCES hardware (id),
  environment_id INTEGER REFERENCES environment (id),
  context TEXT NOT NULL CHECK (json_valid(context)),
  text TEXT NOT NULL
) STRICT;

CREATE TABLE imported_case (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES imported_file (id) ON DELETE CASCADE,
  place INTEGER NOT NULL CHECK (place >= 0),
  name TEXT NOT NULL,
  operation TEXT NOT NULL,
  spec TEXT,
  dtype TEXT,
  samples INTEGER,
  tokens INTEGER,
  hidden INTEGER,
  device TEXT,
  ranks INTEGER,
  mode TEXT,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed', 'skipped')),
  reason TEXT NOT NULL DEFAULT '',
  is_equal INTEGER CHECK (is_equal IN (0, 1)),
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  UNIQUE (file_id, place)
) STRICT;
CREATE INDEX imported_case_spec ON imported_case (spec, operation);

CREATE TABLE imported_value (
  case_id INTEGER NOT NULL REFERENCES imported_case (id) ON DELETE CASCADE,
  quantity TEXT NOT NULL,
  unit TEXT NOT NULL,
  n INTEGER NOT NULL,
  min REAL,
  q1 REAL,
  median REAL,
  q3 REAL,
  max REAL,
  mean REAL,
  sd REAL,
  ci_low REAL,
  ci_high REAL,
  PRIMARY KEY (case_id, quantity)
) STRICT, WITHOUT ROWID;

CREATE VIEW v_imported AS
SELECT f.name AS file, f.kind, f.is_synthetic, f.measured_at, h.cpu, h.gpu, c.place, c.name,
  c.operation, c.spec, c.dtype, c.samples, c.tokens, c.hidden, c.device, c.ranks, c.mode, c.status,
  c.reason, c.is_equal, v.quantity, v.unit, v.n, v.median, v.mean, v.ci_low, v.ci_high,
  f.id AS file_id, c.id AS case_id
FROM imported_file f
JOIN imported_case c ON c.file_id = f.id
LEFT JOIN imported_value v ON v.case_id = c.id
LEFT JOIN hardware h ON h.id = f.hardware_id;

-- A site id stands for a place; its activations and its gradients have names of their own, and both
-- may be sampled at one step.
CREATE TEMP TABLE kept_error AS SELECT * FROM message_error;
DROP TABLE message_error;
CREATE TABLE message_error (
  run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  site INTEGER NOT NULL,
  site_name TEXT NOT NULL,
  message_relative_l2 REAL,
  message_cosine REAL,
  sum_relative_l2 REAL,
  sum_cosine REAL,
  nonfinite INTEGER NOT NULL DEFAULT 0 CHECK (nonfinite IN (0, 1)),
  PRIMARY KEY (run_id, step, site, site_name)
) STRICT, WITHOUT ROWID;
INSERT INTO message_error (run_id, step, site, site_name, message_relative_l2, message_cosine,
  sum_relative_l2, sum_cosine, nonfinite)
SELECT run_id, step, site, site_name, message_relative_l2, message_cosine, sum_relative_l2,
  sum_cosine, nonfinite FROM kept_error;
DROP TABLE kept_error;

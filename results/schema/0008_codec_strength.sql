-- What a codec declares for tables: the parameter that says how strongly it compresses, and whether
-- ratios are quoted against it. For codecs that are stored already: by the names of the parameters
-- that codecs had until then; `k` is given instead of `ratio`.
ALTER TABLE codec ADD COLUMN strength TEXT;
ALTER TABLE codec ADD COLUMN stronger TEXT CHECK (stronger IN ('lower', 'higher'));
ALTER TABLE codec ADD COLUMN is_reference INTEGER NOT NULL DEFAULT 0
  CHECK (is_reference IN (0, 1));
UPDATE codec SET
  strength = CASE
    WHEN json_type(params, '$.k') = 'integer' THEN 'k'
    WHEN json_type(params, '$.bits') = 'integer' THEN 'bits'
    WHEN json_type(params, '$.ratio') IN ('integer', 'real') THEN 'ratio'
    WHEN json_type(params, '$.format') = 'text' THEN 'format'
    WHEN json_type(params, '$.dim') = 'integer' THEN 'dim'
    WHEN json_type(params, '$.rank') = 'integer' THEN 'rank' END,
  is_reference = spec IN ('cast', 'cast(format=bf16)')
WHERE json_valid(params);
UPDATE codec SET stronger = 'lower' WHERE strength <> 'format';

-- Intervals of the median are made from 10 values on (results/stats/stats.hpp).
UPDATE measurement SET ci_low = NULL, ci_high = NULL WHERE n < 10;
UPDATE imported_value SET ci_low = NULL, ci_high = NULL WHERE n < 10;

-- Specs with all their parameters; the newest version of a codec last.
SELECT spec, params FROM codec ORDER BY id

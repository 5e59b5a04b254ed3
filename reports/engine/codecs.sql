-- Specs with all their parameters and what they declare for tables; the newest version of a codec
-- last.
SELECT id, name, spec, params, strength, is_reference FROM codec ORDER BY id

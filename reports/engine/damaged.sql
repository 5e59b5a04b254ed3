-- JSON text that the report or a view that it uses would read, and that is none.
SELECT 'cell' AS place, id, 'config' AS name FROM cell
  WHERE NOT json_valid(config) OR json_type(config) <> 'object'
UNION ALL SELECT 'codec', id, 'params' FROM codec
  WHERE NOT json_valid(params) OR json_type(params) <> 'object'
UNION ALL SELECT 'environment', id, 'facts' FROM environment WHERE NOT json_valid(facts)
UNION ALL SELECT 'hardware', id, 'facts' FROM hardware WHERE NOT json_valid(facts)
UNION ALL SELECT 'code', id, 'facts' FROM code WHERE NOT json_valid(facts)
LIMIT 1

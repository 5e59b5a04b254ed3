-- Best accuracy that is possible on a generated data set, where it is known.
SELECT DISTINCT name, best_accuracy FROM dataset WHERE best_accuracy IS NOT NULL ORDER BY name

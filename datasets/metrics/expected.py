# SPDX-License-Identifier: Apache-2.0
"""Writes expected.json: metrics of random and degenerate lists by scikit-learn and scipy.

pip install scikit-learn scipy && python3 datasets/metrics/expected.py
"""
import json
import math
import pathlib
import warnings

import numpy
import scipy.stats
import sklearn.metrics

warnings.simplefilter("ignore")
rng = numpy.random.default_rng(20240601)


def plain(value):
    return None if math.isnan(value) else float(value)


def classes(predictions, labels):
    return {
        "predictions": [int(v) for v in predictions],
        "labels": [int(v) for v in labels],
        "accuracy": plain(sklearn.metrics.accuracy_score(labels, predictions)),
        "f1": plain(sklearn.metrics.f1_score(labels, predictions, labels=[1], average=None,
                                             zero_division=0)[0]),
        "matthews": plain(sklearn.metrics.matthews_corrcoef(labels, predictions)),
    }


def scores(predictions, labels):
    return {
        "predictions": [float(v) for v in predictions],
        "labels": [float(v) for v in labels],
        "pearson": plain(scipy.stats.pearsonr(predictions, labels).statistic),
        "spearman": plain(scipy.stats.spearmanr(predictions, labels).statistic),
    }


cases = []
for rows, kinds in [(1, 2), (2, 2), (7, 2), (40, 2), (333, 2), (60, 3), (200, 5)]:
    labels = rng.integers(0, kinds, rows)
    cases.append(classes(numpy.where(rng.random(rows) < 0.6, labels,
                                     rng.integers(0, kinds, rows)), labels))
for predictions, labels in [([0, 0, 0], [0, 1, 0]), ([1, 1, 1], [0, 1, 0]), ([0, 1, 0], [0, 0, 0]),
                            ([0, 0], [0, 0]), ([1, 1], [1, 1]), ([1, 0], [0, 1])]:
    cases.append(classes(predictions, labels))
for rows in [2, 3, 10, 250]:
    labels = numpy.round(rng.random(rows) * 5, 1)
    cases.append(scores(labels + rng.normal(0, 1, rows), labels))
    cases.append(scores(rng.integers(0, 4, rows), numpy.round(rng.random(rows) * 3)))
for predictions, labels in [([2.0] * 4, [1.0, 2.0, 3.0, 4.0]), ([1.0, 2.0, 3.0], [5.0] * 3),
                            ([1.0, 2.0, 2.0, 3.0], [1.0, 3.0, 3.0, 9.0]),
                            ([1e8, 1e8 + 1, 1e8 + 3], [3.0, 1.0, 2.0]),
                            ([1e-200, 2e-200, 4e-200], [1.0, 3.0, 2.0]),
                            ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]:
    cases.append(scores(predictions, labels))

target = pathlib.Path(__file__).with_name("expected.json")
target.write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")

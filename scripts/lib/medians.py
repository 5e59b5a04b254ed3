# SPDX-License-Identifier: Apache-2.0
"""common/statistics.hpp for Python: the median and its 95 % interval."""
import math

NORMAL_975 = 1.959963984540054


def quantile(values, p):
    """By linear interpolation; `values` is ascending."""
    rank = p * (len(values) - 1)
    below = math.floor(rank)
    above = min(below + 1, len(values) - 1)
    return values[below] + (rank - below) * (values[above] - values[below])


def median_interval(values):
    """(median, low, high)."""
    values = sorted(values)
    half = NORMAL_975 / 2 / math.sqrt(len(values))
    return quantile(values, 0.5), quantile(values, max(0.0, 0.5 - half)), quantile(values, min(1.0, 0.5 + half))

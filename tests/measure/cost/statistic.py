# SPDX-License-Identifier: MIT
"""Medians, and how sure they are: the machine has other work, so no figure stands alone."""

import math
import statistics

DOUBT = 0.05
ROUNDS_SURE = 4  # fewer values decide nothing


def confidence(values):
    """The interval that holds the true median with 95 % confidence; of fewer than six values, from least to most.

    How many values lie below the true median is binomial with p = 1/2, whatever they are distributed like (sign test).
    """
    ordered = sorted(values)
    count = len(ordered)
    cut, tail = 0, 1 / 2**count
    while 2 * tail <= DOUBT:
        cut += 1
        tail += math.comb(count, cut) / 2**count
    first = max(cut - 1, 0)
    return ordered[first], ordered[count - 1 - first]


class Estimate:
    def __init__(self, values):
        values = list(values)
        self.median = statistics.median(values)
        self.low, self.high = confidence(values)
        self.count = len(values)

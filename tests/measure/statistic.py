# SPDX-License-Identifier: MIT
"""Medians, and how sure they are: the machine has other work, so no figure stands alone."""

import math
import statistics

import rows

DOUBT = 0.05
ROUNDS_SURE = 6  # of fewer values no interval holds the median with that confidence
ROUNDS_MOST = 1_000_000


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

    def is_sure(self):
        return self.count >= ROUNDS_SURE

    def at_most(self, limit):
        """The verdict, as rows.add() has it."""
        if self.is_sure() and self.high <= limit:
            return rows.judge(True)
        if self.is_sure() and self.low > limit:
            return rows.judge(False)
        return rows.undecided(self.rounds_needed(limit))

    def at_least(self, limit):
        if self.is_sure() and self.low >= limit:
            return rows.judge(True)
        if self.is_sure() and self.high < limit:
            return rows.judge(False)
        return rows.undecided(self.rounds_needed(limit))

    def rounds_needed(self, limit):
        """Until the interval, which narrows with the root of their number, has the limit outside."""
        away = abs(self.median - limit)
        side = self.high - self.median if self.median < limit else self.median - self.low
        if away * math.sqrt(ROUNDS_MOST) <= side * math.sqrt(self.count):
            return ROUNDS_MOST
        return max(ROUNDS_SURE, math.ceil(self.count * (side / away) ** 2))

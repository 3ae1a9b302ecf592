# SPDX-License-Identifier: MIT
"""Axes: the position of a value or a time on them, from 0 to 1, and their labels."""

import functools
import math
import time

STEPS = (1, 2, 5)
FINER = (1, 1.5, 2, 3, 4, 6, 8)
FINEST = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
LEAST = 1e-30       # the smallest range of an axis
MOST = 5            # labels of a value axis, approximately
MOMENTS, LONG = 7, 5    # labels of a time axis; the second of those with seconds, which are longer
MINUTE, HOUR, DAY = 60, 3600, 86400
# The offsets of all time zones are multiples of 15 minutes.
QUARTER = 900
APART = (1, 2, 5, 10, 15, 30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, QUARTER, 2 * QUARTER, HOUR, 2 * HOUR, 3 * HOUR, 4 * HOUR,
         6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 56 * DAY)
# The format of a label, by the distance of labels in seconds.
SHAPES = ((2 * DAY, "%-d %b"), (DAY, "%a"), (MINUTE, "%H:%M"), (0, "%H:%M:%S"))


def _linear_step(top, unit):
    """1, 2 or 5 times a power of 10; for bytes a power of 2."""
    if unit.base == 1024 and top >= 4:
        return 2 ** math.ceil(math.log2(top / MOST))
    power = 10 ** math.floor(math.log10(top / MOST))
    step = next(step * power for step in (*STEPS, 10) if step * power * MOST >= top * 0.999999)
    return max(1, step) if unit.whole else step


class Linear:
    """From 0, or a negative value, to just above the highest value."""

    def __init__(self, low, high, unit, top=0):
        low, high = min(low, 0), top or high
        if not LEAST < high - low:
            high = low + max(1, abs(low))
        step = _linear_step(high - low, unit)
        self.low = math.floor(low / step) * step
        self.high = top or max(high * 1.05, self.low + step)
        self.labels = [self.low + step * n for n in range(math.floor((self.high - self.low) / step * 1.000001) + 1)]

    def position(self, value):
        return min(1, max(0, (value - self.low) / (self.high - self.low)))


class Logarithmic:
    """For positive values; others are at the bottom."""

    def __init__(self, low, high):
        self.low = math.log10(low) - 0.05
        self.high = max(math.log10(high) + 0.05, self.low + 0.4)
        # As many labels as there is room for.
        choice = ((1, FINEST), (1, FINER), (1, STEPS), (1, (1, 3)), (1, (1,)), (2, (1,)), (3, (1,)), (9, (1,)))
        self.labels = next(labels for stride, steps in choice if len(labels := self._labels(stride, steps)) <= MOST)

    def _labels(self, stride, steps):
        powers = range(math.floor(self.low / stride) * stride, math.ceil(self.high) + 1, stride)
        labels = [step * 10.0 ** power for power in powers for step in steps]
        return [label for label in labels if self.low <= math.log10(label) <= self.high]

    def position(self, value):
        return min(1, max(0, (math.log10(value) - self.low) / (self.high - self.low))) if value > 0 else 0


def of_values(values, unit, log, top):
    positive = [value for value in values if value > 0]
    if log and positive:
        return Logarithmic(min(positive), max(positive))
    return Linear(min(values, default=0), max(values, default=0), unit, top)


def _local(moment):
    return moment + time.localtime(moment).tm_gmtoff


class Time:
    def __init__(self, start, end):
        self.start, self.end = start, end
        self.moments = self._choose()
        self.labels = [(self.position(moment), text) for moment, text in self.moments]
        self.columns = functools.cache(self._columns)

    def position(self, moment):
        return (moment - self.start) / (self.end - self.start)

    def _columns(self, grid, width):
        """The x coordinates of a grid's times."""
        return [round(width * self.position(moment)) for moment in grid.times()]

    def _choose(self):
        """(moment, text) of labels, at full hours or days of local time."""
        apart = next((apart for apart in APART
                      if self.end - self.start <= apart * (MOMENTS if apart >= MINUTE else LONG)), APART[-1])
        fine = math.gcd(apart, QUARTER)
        begin = math.ceil(self.start / fine) * fine
        shape = next(shape for least, shape in SHAPES if apart >= least)
        return [(moment, time.strftime(shape, time.localtime(moment))) for moment in range(begin, self.end + 1, fine)
                if _local(moment) % apart == 0]


# All charts of a span have the same time axis.
time_axis = functools.cache(Time)

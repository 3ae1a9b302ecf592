# SPDX-License-Identifier: MIT
"""A curve: the values of one series in one span of time."""

import dataclasses
import functools
import math
import statistics

GREY = "#8C959F"    # of curves that share one colour
CURRENT = 2         # intervals after which a value is no longer current


def known(values):
    # NaN is not equal to itself, which is quicker to see than by a call for each value.
    return [value for value in values if value == value]


def is_zero(values):
    """Whether no value is known but 0."""
    return not any(value > 0 or value < 0 for value in values)


def add(columns):
    """Adds columns value by value; unknown only where all are unknown."""
    return functools.reduce(_add_two, map(list, columns), [])


def _add_two(left, right):
    return [(a + b if b == b else a) if a == a else b for a, b in zip(left, right)] if left else right


@dataclasses.dataclass(frozen=True)
class Curve:
    label: str
    draw: str
    color: str
    grid: object
    values: list
    most: float     # the highest reading, which may exceed the mean of each step
    percentile: bool = False    # percentiles must not be averaged
    end: float = math.inf       # of the span, perhaps before that of the grid
    lag: float = 0      # seconds from the last value of anything to it
    covered: float = 0  # the part of the span in which any service of the host has a value

    def last(self):
        return next((value for value in reversed(self.values) if not math.isnan(value)), math.nan)

    def age(self):
        """Seconds from its last value to its end, as exactly as the grid tells."""
        times = self.grid.times()
        last = next((moment for moment, value in zip(reversed(times), reversed(self.values)) if not math.isnan(value)), -math.inf)
        return max(min(self.end, times[-1]) - last, self.lag)

    def is_current(self):
        return self.age() - self.lag <= CURRENT * self.grid.step

    def average(self, adds=False):
        """adds: see Unit"""
        values = known(self.values)
        count = max(len(values), self.covered * len(self.values)) if adds else len(values)
        return sum(values) / count if values else math.nan

    def median(self):
        """The median over time, which stands for the average of percentiles."""
        values = known(self.values)
        return statistics.median(values) if values else math.nan

    def maximum(self):
        return self.most

    def weight(self):
        """The average; unknown values count as 0."""
        return sum(known(self.values)) / len(self.values) if self.values else 0

    def on(self, grid):
        """The curve at the times of another grid."""
        if grid == self.grid:
            return self
        indices = [self.grid.index(moment) for moment in grid.times()]
        values = [self.values[position] if 0 <= position < len(self.values) else math.nan for position in indices]
        return dataclasses.replace(self, grid=grid, values=values)


def total(curves, label, draw, color):
    """The sum of curves. Its maximum is unknown unless there is only one: the maximum of a sum is not the sum of maxima."""
    if len(curves) == 1:
        return dataclasses.replace(curves[0], label=label, draw=draw, color=color)
    grid = max((curve.grid for curve in curves), key=lambda grid: grid.step)
    values = add([curve.on(grid).values for curve in curves])
    return Curve(label, draw, color, grid, values, max(known(values), default=math.nan), end=curves[0].end, lag=curves[0].lag,
                 covered=curves[0].covered)


def largest(curves, colors):
    """The largest curves, as many as there are colours, each with another one. The others of a stack become one curve, and other
    ones the rest of the chart, the largest first."""
    ranked = sorted((curve for curve in curves if curve.draw != "figures"), key=Curve.weight, reverse=True)
    least = ranked[len(colors):]
    left_out = set(map(id, least))
    shown = _distinct([curve for curve in curves if id(curve) not in left_out], colors)
    if least and least[0].draw == "stack":
        return shown + [total(least, f"{len(least)} others", "stack", GREY)]
    return shown + [dataclasses.replace(curve, draw="rest") for curve in least if any(known(curve.values))]


def _distinct(curves, colors):
    """Each keeps its colour unless one before it has the same."""
    used = {curve.color for curve in curves}
    free, taken, found = (color for color in colors if color not in used), set(), []
    for curve in curves:
        is_twice = curve.color in taken and curve.draw != "figures"
        found.append(dataclasses.replace(curve, color=next(free)) if is_twice else curve)
        taken.add(curve.color)
    return found

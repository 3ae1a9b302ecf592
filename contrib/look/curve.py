# SPDX-License-Identifier: MIT
"""A curve: what one series had in one span of time."""

import dataclasses
import math


def known(values):
    return [value for value in values if not math.isnan(value)]


def add(columns):
    """Value by value, where at least one is known."""
    return [sum(some) if (some := known(values)) else math.nan for values in zip(*columns)]


@dataclasses.dataclass(frozen=True)
class Curve:
    label: str
    draw: str
    color: str
    grid: object
    values: list
    highest: list   # within each step

    def last(self):
        return next((value for value in reversed(self.values) if not math.isnan(value)), math.nan)

    def average(self):
        values = known(self.values)
        return sum(values) / len(values) if values else math.nan

    def maximum(self):
        return max(known(self.highest), default=math.nan)

    def weight(self):
        """The average, with 0 where nothing is known."""
        return sum(known(self.values)) / len(self.values) if self.values else 0

    def is_known(self):
        return bool(known(self.values))

    def on(self, grid):
        """The same curve at the times of another grid."""
        if grid == self.grid:
            return self
        places = [self.grid.index(moment) for moment in grid.times()]

        def pick(values):
            return [values[place] if 0 <= place < len(values) else math.nan for place in places]

        return dataclasses.replace(self, grid=grid, values=pick(self.values), highest=pick(self.highest))


def total(curves, label, draw, color):
    """The sum of curves. The highest sum is not the sum of the highest, unless it is of one."""
    grid = max((curve.grid for curve in curves), key=lambda grid: grid.step)
    curves = [curve.on(grid) for curve in curves]
    values = add([curve.values for curve in curves])
    return Curve(label, draw, color, grid, values, curves[0].highest if len(curves) == 1 else values)

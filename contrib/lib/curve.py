# SPDX-License-Identifier: MIT
"""A curve: what one series had in one span of time."""

import dataclasses
import math
import statistics

GREY = "#8C959F"    # of what is not told apart


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
    most: float     # of all readings, which may be more than the mean of any step
    percentile: bool = False    # which no average makes sense of

    def last(self):
        return next((value for value in reversed(self.values) if not math.isnan(value)), math.nan)

    def average(self):
        values = known(self.values)
        return sum(values) / len(values) if values else math.nan

    def median(self):
        """Of percentiles over time: half of the readings had less."""
        values = known(self.values)
        return statistics.median(values) if values else math.nan

    def maximum(self):
        return self.most

    def weight(self):
        """The average, with 0 where nothing is known."""
        return sum(known(self.values)) / len(self.values) if self.values else 0

    def on(self, grid):
        """The same curve at the times of another grid."""
        if grid == self.grid:
            return self
        places = [self.grid.index(moment) for moment in grid.times()]
        values = [self.values[place] if 0 <= place < len(self.values) else math.nan for place in places]
        return dataclasses.replace(self, grid=grid, values=values)


def total(curves, label, draw, color):
    """The sum of curves. The highest sum is not the sum of the highest, unless it is of one."""
    if len(curves) == 1:
        return dataclasses.replace(curves[0], label=label, draw=draw, color=color)
    grid = max((curve.grid for curve in curves), key=lambda grid: grid.step)
    values = add([curve.on(grid).values for curve in curves])
    return Curve(label, draw, color, grid, values, max(known(values), default=math.nan))


def largest(curves, colors):
    """Those that have most, as many as there are colours; the others of a stack are one."""
    if len(curves) <= len(colors):
        return curves
    least = sorted(curves, key=Curve.weight)[:len(curves) - len(colors)]
    kept = [dataclasses.replace(curve, color=color) for curve, color
            in zip((curve for curve in curves if curve not in least), colors)]
    rest = total(least, f"{len(least)} others", least[0].draw, GREY)
    if rest.draw != "stack":
        # Which are no parts of anything.
        rest = dataclasses.replace(rest, draw="figures", values=[math.nan] * rest.grid.count, most=math.nan)
    return kept + [rest]

# SPDX-License-Identifier: MIT
"""A whole and its parts: the layers of its chart, and the largest part."""

import dataclasses
import math
import time

from curve import CURRENT, add, is_zero, known
from unit import NBSP, UNKNOWN, Unit, age


class Dated(float):
    """A value with its time, in seconds since 1970, and its interval in seconds, as far as that is known."""

    def __new__(cls, value, moment, interval=math.nan):
        dated = super().__new__(cls, value)
        dated.moment, dated.interval = moment, interval
        return dated


@dataclasses.dataclass(frozen=True)
class Basis:
    """Of how many samples the parts are, how old they are in seconds, and whether they are current."""
    samples: float
    age: float = math.nan
    is_current: bool = True

    @classmethod
    def of_value(cls, value):
        """None if the value is unknown."""
        if not math.isfinite(value):
            return None
        if not isinstance(value, Dated):
            return cls(value)
        passed = max(time.time() - value.moment, 0)
        return cls(value, passed, not passed > CURRENT * value.interval)

    @classmethod
    def of_curves(cls, curves):
        """None if none of the curves is that of the samples."""
        return next((cls(curve.last(), curve.age(), curve.is_current()) for curve in curves if curve.draw == "samples"), None)

    def __str__(self):
        return f"of{NBSP}{self.samples:.0f}{NBSP}samples" + (f", {age(self.age)}{NBSP}ago" if math.isfinite(self.age) else "")

    def short(self):
        return f"of{NBSP}{self.samples:.0f}" + (f",{NBSP}{age(self.age)}" if math.isfinite(self.age) else "")


class Part(float):
    """A part in percent of the whole, with its name and, if known, its Basis."""
    basis = None

    def __new__(cls, percent, label):
        part = super().__new__(cls, percent)
        part.label = label
        return part

    def percent(self):
        return (f"{self:.0f}" if self >= 0.5 or self == 0 else "<1") + NBSP + "%"

    def __str__(self):
        return f"{self.label}{NBSP}{self.percent()}"


@dataclasses.dataclass(frozen=True)
class PartUnit(Unit):
    """The unit of a column whose figures are written with the part's name."""

    def write(self, value):
        return UNKNOWN if math.isnan(value) else f"{value} ({value.basis})" if value.basis else str(value)

    def short(self, value):
        return f"{value}{NBSP}{value.basis.short()}" if not math.isnan(value) and value.basis else self.write(value)


@dataclasses.dataclass(frozen=True)
class ShareUnit(Unit):
    """The unit of a column of shares."""

    def write(self, value):
        return UNKNOWN if math.isnan(value) else Part(value, "").percent()

    short = write


def largest_first(values):
    """Sorts parts by size. values: (series or curve, value) of each layer. Empty without a whole or if there are only caps."""
    found = [(layer, value) for layer, value in values if not math.isnan(value)]
    whole = sum(value for _, value in found)
    if not whole > 0 or all(layer.draw == "cap" for layer, _ in found):
        return []
    return sorted((Part(100 * value / whole, layer.label) for layer, value in found), reverse=True)


def layers(curves):
    """The layers of a chart, from the bottom: the curves that are not zero, or all if each is. A cap is a layer only where
    others are known."""
    stack = [curve for curve in curves if curve.draw == "stack"]
    if not stack:
        return []
    others = add([curve.values for curve in stack])
    shown = [curve if curve.draw == "stack" else _under_others(curve, others) for curve in curves]
    return [curve for curve in shown if not is_zero(curve.values)] or shown


def divided(layers, name, shares, colors):
    """Divides the layer of this name in proportion to the shares. The largest, as many as there are colours, become layers.
    What remains of the layer are the other shares, and times without shares."""
    index = next((index for index, layer in enumerate(layers) if layer.label == name), None)
    if index is None or not shares:
        return layers
    whole = layers[index]
    columns = {share.label: [0 if math.isnan(value) else value for value in share.on(whole.grid).values]
               for share in sorted(shares, key=lambda share: -share.weight())}
    sums = [sum(values) for values in zip(*columns.values())]
    left, found = list(whole.values), []
    for (label, values), color in zip(columns.items(), colors):
        values = [part * value / total if total > 0 else math.nan for part, value, total in zip(whole.values, values, sums)]
        left = [remaining if math.isnan(value) else remaining - value for remaining, value in zip(left, values)]
        found.append(_layer(whole, f"{name} {label}", color, values))
    # Rounding leaves a tiny remainder where there is none.
    left = [0 * remaining if remaining < 1e-9 * part else remaining for remaining, part in zip(left, whole.values)]
    found.append(_layer(whole, name, whole.color, left))
    return layers[:index] + [layer for layer in found if not is_zero(layer.values)] + layers[index + 1:]


def _layer(whole, label, color, values):
    return dataclasses.replace(whole, label=label, color=color, values=values, most=max(known(values), default=math.nan))


def _under_others(cap, others):
    values = [math.nan if math.isnan(other) else value for value, other in zip(cap.values, others)]
    return dataclasses.replace(cap, draw="stack", values=values)

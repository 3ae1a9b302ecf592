# SPDX-License-Identifier: MIT
"""A whole by its parts: what a picture of them shows, and which is the largest."""

import dataclasses
import math

from curve import add, known
from unit import NBSP, UNKNOWN, Unit


class Part(float):
    """Percent of the whole."""

    def __new__(cls, percent, label):
        part = super().__new__(cls, percent)
        part.label = label
        return part

    def percent(self):
        return (f"{self:.0f}" if self >= 0.5 else "<1") + NBSP + "%"

    def __str__(self):
        return f"{self.label}{NBSP}{self.percent()}"


@dataclasses.dataclass(frozen=True)
class PartUnit(Unit):
    """Of a column: the part's name goes with its figure."""

    def write(self, value):
        return UNKNOWN if math.isnan(value) else str(value)

    short = write


def largest_first(values):
    """values: (series or curve, value) of each layer. Nothing without a whole, or where there are caps alone."""
    found = [(layer, value) for layer, value in values if not math.isnan(value)]
    whole = sum(value for _, value in found)
    if not whole > 0 or all(layer.draw == "cap" for layer, _ in found):
        return []
    return sorted((Part(100 * value / whole, layer.label) for layer, value in found), reverse=True)


def in_words(parts):
    """mostly disk, 83 %"""
    if not parts:
        return ""
    if parts[0] >= 50:
        return f"mostly {parts[0].label}, {parts[0].percent()}"
    return ", ".join(map(str, parts[:2]))


def layers(curves):
    """What a picture shows of them, from below: those that are not zero; all, if each is. A cap is a layer where others
    are known, and nothing by itself."""
    stack = [curve for curve in curves if curve.draw == "stack"]
    if not stack:
        return []
    others = add([curve.values for curve in stack])
    shown = [curve if curve.draw == "stack" else _under_others(curve, others) for curve in curves]
    return [curve for curve in shown if any(known(curve.values))] or shown


def _under_others(cap, others):
    values = [math.nan if math.isnan(other) else value for value, other in zip(cap.values, others)]
    return dataclasses.replace(cap, draw="stack", values=values)

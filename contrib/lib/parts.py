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
        return (f"{self:.0f}" if self >= 0.5 or self == 0 else "<1") + NBSP + "%"

    def __str__(self):
        return f"{self.label}{NBSP}{self.percent()}"


@dataclasses.dataclass(frozen=True)
class PartUnit(Unit):
    """Of a column: the part's name goes with its figure."""

    def write(self, value):
        return UNKNOWN if math.isnan(value) else str(value)

    short = write


@dataclasses.dataclass(frozen=True)
class ShareUnit(Unit):
    """Of a column, too."""

    def write(self, value):
        return UNKNOWN if math.isnan(value) else Part(value, "").percent()

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


def divided(layers, name, shares, colors):
    """The layer of this name by who it is for, in proportion to the shares: those that are largest, as many as there are
    colours, have layers of their own; of the others, and where there are no shares, it stays as it is."""
    place = next((place for place, layer in enumerate(layers) if layer.label == name), None)
    if place is None or not shares:
        return layers
    whole = layers[place]
    columns = {share.label: [0 if math.isnan(value) else value for value in share.on(whole.grid).values]
               for share in sorted(shares, key=lambda share: -share.weight())}
    sums = [sum(values) for values in zip(*columns.values())]
    left, found = list(whole.values), []
    for (label, values), color in zip(columns.items(), colors):
        values = [part * value / total if total > 0 else math.nan for part, value, total in zip(whole.values, values, sums)]
        left = [rest if math.isnan(value) else rest - value for rest, value in zip(left, values)]
        found.append(_layer(whole, f"{name} {label}", color, values))
    # What is left of a division is not nothing, but next to it.
    left = [0 * rest if rest < 1e-9 * part else rest for rest, part in zip(left, whole.values)]
    found.append(_layer(whole, name, whole.color, left))
    return layers[:place] + [layer for layer in found if any(known(layer.values))] + layers[place + 1:]


def _layer(whole, label, color, values):
    return dataclasses.replace(whole, label=label, color=color, values=values, most=max(known(values), default=math.nan))


def _under_others(cap, others):
    values = [math.nan if math.isnan(other) else value for value, other in zip(cap.values, others)]
    return dataclasses.replace(cap, draw="stack", values=values)

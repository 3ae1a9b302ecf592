# SPDX-License-Identifier: MIT
"""A chart: curves as an SVG that scales to any width and has the page's colours; labels and legend are text."""

import json
import math

import axis
import parts
from curve import add, known
from definitions import GREY
from explain import explanation
from text import escape
from unit import UNKNOWN

WIDTH, HEIGHT = 1000, 250   # of the drawing's coordinates, which scale
ABOVE = 4   # times the sum of the parts: the highest value on the axis; a line above it is cut off


class Chart:
    def __init__(self, graph, curves, span, link="", caption="", below=""):
        """link: function from a curve's label to the address of its page; caption: HTML in place of title and unit; below: HTML
        under the legend"""
        self.graph, self.link, self.caption, self.below = graph, link, caption, below
        self.curves = [curve for curve in curves if curve.draw != "samples"]
        self.basis = parts.Basis.of_curves(curves)
        self.leads = False      # it is the first and widest of its page
        self.time = axis.time_axis(span.start, span.end)
        self.drawn = [curve for curve in self.curves if curve.draw != "figures"]
        self.stacks = self._stack()
        self.shares = parts.largest_first((curve, curve.average(graph.unit.adds)) for curve in self.drawn
                                          if graph.parts and curve.draw == "stack")
        self.axis = axis.of_values(self._values(), graph.unit, graph.log, graph.top)

    def share_axis(self, other):
        """Gives both charts one value axis."""
        self.axis = other.axis = axis.of_values(self._values() + other._values(), self.graph.unit, self.graph.log, self.graph.top)

    def is_zero(self):
        return not any(any(known([curve.most, *curve.values])) for curve in self.curves)

    def _stack(self):
        """Computes the lower edge of each stacked curve."""
        stacked = [curve for curve in self.drawn if curve.draw == "stack"]
        if not stacked:
            return {}
        grid = max((curve.grid for curve in stacked), key=lambda grid: grid.step)
        columns = [curve.on(grid).values for curve in stacked]
        # An unknown value counts as 0 for the curves above it. There is a gap only where all curves of a stack are unknown.
        below, stacks = [value * 0 for value in add(columns)], {}
        for curve, values in zip(stacked, columns):
            top = [a if math.isnan(b) else a + b for a, b in zip(below, values)]
            stacks[id(curve)] = grid, below, top
            below = top
        return stacks

    def _values(self):
        """The values that the axis has to cover."""
        values = [value for curve in self.drawn for value in known(self._tops(curve))]
        stacked = [value for _, _, tops in self.stacks.values() for value in known(tops)]
        return [min(value, ABOVE * max(stacked)) for value in values] if self.graph.parts and any(stacked) else values

    def _tops(self, curve):
        return self.stacks[id(curve)][2] if id(curve) in self.stacks else curve.values

    # --- drawing ---

    def _y(self, value):
        return round(HEIGHT * (1 - self.axis.position(value)))

    def _pieces(self, grid, values):
        """[[(x, y), ...], ...]: the pieces of a curve between gaps."""
        pieces = [[]]
        for x, value in zip(self.time.columns(grid, WIDTH), values):
            if not math.isnan(value):
                pieces[-1].append((x, self._y(value)))
            elif pieces[-1]:
                pieces.append([])
        return [piece for piece in pieces if piece]

    def _path(self, curve, kind, text, paint):
        words = f' class="{kind}"' if kind else ""
        return f'<path{words} data-of="{self.curves.index(curve)}" d="{text}" style="{paint}:{curve.color}"/>' if text else ""

    def _dots(self, curve, pieces):
        """Single readings between gaps, drawn as dots."""
        return self._path(curve, "dots", "".join(path(piece) for piece in pieces if len(piece) == 1), "stroke")

    def _line(self, curve):
        pieces = self._pieces(curve.grid, curve.values)
        text = "".join(path(piece) for piece in pieces if len(piece) > 1)
        return self._path(curve, curve.draw if curve.draw != "line" else "", text, "stroke") + self._dots(curve, pieces)

    def _area(self, curve):
        grid, below, above = self.stacks.get(id(curve)) or (curve.grid, [0.0] * curve.grid.count, curve.values)
        known = [math.nan if math.isnan(a) else b for a, b in zip(above, below)]
        pieces = self._pieces(grid, above)
        text = "".join(path(upper + lower[::-1]) + "z" for upper, lower in zip(pieces, self._pieces(grid, known))
                       if len(upper) > 1)
        return self._path(curve, "area", text, "fill") + self._dots(curve, pieces)

    def _drawing(self):
        grid = "".join(f"M0 {self._y(value)}h{WIDTH}" for value in self.axis.labels)
        grid += "".join(f"M{round(WIDTH * position)} 0v{HEIGHT}" for position, _ in self.time.labels)
        # The first curve of a stack is at the bottom. Lines are drawn over areas.
        areas = [self._area(curve) for curve in self.drawn if curve.draw in ("area", "stack")]
        lines = [self._line(curve) for curve in self.drawn if curve.draw in ("line", "dashes", "dotted")]
        return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
                f'aria-label="{escape(self.graph.title)}"><path class="grid" d="{grid}"/>'
                + "".join(areas + lines) + "</svg>")

    def _labels(self):
        for value in self.axis.labels:
            position = 100 * self.axis.position(value)
            yield f'<span class="y" style="bottom:{position:.1f}%">{self.graph.unit.tick(value)}</span>'
        for position, text in self.time.labels:
            yield f'<span class="x" style="left:{100 * position:.1f}%">{text}</span>'

    def _legend(self):
        write = self.graph.unit.write
        for position, curve in enumerate(self.curves):
            label = escape(curve.label).replace("_", "_<wbr>")     # where a long label may be wrapped
            address = self.link(curve) if self.link and curve.color != GREY else ""
            label = f'<a href="{address}">{label}</a>' if address else label
            box = f'<i class="{curve.draw}" style="--color:{curve.color}"></i>' if curve in self.drawn else ""
            average = UNKNOWN if curve.percentile else write(curve.average(self.graph.unit.adds))
            last = UNKNOWN if self.graph.parts and not curve.is_current() else write(curve.last())
            yield (f'<tr data-of="{position}"><th>{box}{label}</th><td>{last}</td><td>{average}</td>'
                   f"<td>{self._share(curve) if self.graph.parts else write(curve.maximum())}</td></tr>")

    def _data(self):
        """The values that chart.js shows for the time under the pointer, with one digit more than other figures."""
        curves = [{"first": curve.grid.first, "step": curve.grid.step,
                   "values": [None if math.isnan(value) else float(f"{value:.4g}") for value in curve.values]}
                  for curve in self.curves]
        text = json.dumps({"unit": self.graph.unit.json(), "curves": curves}, separators=(",", ":"))
        return f'<script type="application/json">{text.replace("<", chr(92) + "u003c")}</script>'

    def _share(self, curve):
        """The share of a part in the span."""
        return next((part.percent() for part in self.shares if part.label == curve.label), "")

    def _class(self):
        words = ["parts"] * self.graph.parts + ["leads"] * self.leads
        return f' class="{" ".join(words)}"' if words else ""

    def _help(self):
        """The explanation behind a question mark, for a chart without a caption."""
        text = "" if self.caption else explanation(self.graph, {curve.label for curve in self.curves})
        if not text:
            return ""
        return f'<details class="help"><summary aria-label="What this is">?</summary><p>{escape(text)}</p></details>'

    def _caption(self):
        unit = f" <small>{escape(self.graph.unit.name)}</small>" if self.graph.unit.name else ""
        said = f" <strong>{escape(parts.in_words(self.shares))}</strong>" if self.shares else ""
        said += f" <small>({escape(str(self.basis))})</small>" if self.shares and self.basis else ""
        return f"<figcaption>{self.caption or escape(self.graph.title) + unit}{self._help()}{said}</figcaption>"

    def html(self):
        # The legend has the order of the stack, from the top.
        rows = list(self._legend())[::-1] if self.graph.parts else list(self._legend())
        third = "share" if self.graph.parts else "maximum"
        return (f'<figure{self._class()}>{self._caption()}\n'
                f'<div class="plot">{self._drawing()}{"".join(self._labels())}</div>\n'
                f'<table class="legend"><tr><th></th><th>last</th><th>average</th><th>{third}</th></tr>\n'
                + "\n".join(rows) + f"</table>{self.below}{self._data()}</figure>\n")


def path(points):
    """An SVG path in relative coordinates, which are shorter."""
    (x, y), text = points[0], [f"M{points[0][0]} {points[0][1]}l"]
    if len(points) == 1:
        return text[0] + "0 0"
    for right, down in points[1:]:
        text.append(f"{right - x} {down - y} ")
        x, y = right, down
    return "".join(text).rstrip()

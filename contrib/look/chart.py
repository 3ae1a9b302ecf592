# SPDX-License-Identifier: MIT
"""A chart: curves as a drawing that takes any width and the page's colours, its labels and its legend as text."""

import math

import axis
import parts
from curve import add, known
from definitions import GREY
from text import escape

WIDTH, HEIGHT = 1000, 250   # steps of the drawing, whatever size it is shown in
ABOVE = 4   # times as high as its parts is a picture at most: a line further up leaves it


class Chart:
    def __init__(self, graph, curves, span, link="", caption=""):
        """link: the address of a page about a curve, by its label; caption: in place of title and unit, as HTML"""
        self.graph, self.curves, self.link, self.caption = graph, curves, link, caption
        self.leads = False      # its page, and is wider than others
        self.time = axis.time_axis(span.start, span.end)
        self.drawn = [curve for curve in curves if curve.draw != "figures"]
        self.stacks = self._stack()
        self.shares = parts.largest_first((curve, curve.average()) for curve in self.drawn
                                          if graph.parts and curve.draw == "stack")
        self.axis = axis.of_values(self._values(), graph.unit, graph.log, graph.top)

    def is_zero(self):
        return not any(any(known([curve.most, *curve.values])) for curve in self.curves)

    def _stack(self):
        """Below each stacked curve, what is under it."""
        stacked = [curve for curve in self.drawn if curve.draw == "stack"]
        if not stacked:
            return {}
        grid = max((curve.grid for curve in stacked), key=lambda grid: grid.step)
        columns = [curve.on(grid).values for curve in stacked]
        # Unknown within a stack is nothing to see, and no gap in what is above; unknown in all of it is a gap.
        below, stacks = [value * 0 for value in add(columns)], {}
        for curve, values in zip(stacked, columns):
            top = [a if math.isnan(b) else a + b for a, b in zip(below, values)]
            stacks[id(curve)] = grid, below, top
            below = top
        return stacks

    def _values(self):
        """What the axis is made for."""
        values = [value for curve in self.drawn for value in known(self._tops(curve))]
        stacked = [value for _, _, tops in self.stacks.values() for value in known(tops)]
        return [min(value, ABOVE * max(stacked)) for value in values] if self.graph.parts and any(stacked) else values

    def _tops(self, curve):
        return self.stacks[id(curve)][2] if id(curve) in self.stacks else curve.values

    # --- drawing ---

    def _y(self, value):
        return round(HEIGHT * (1 - self.axis.place(value)))

    def _pieces(self, grid, values):
        """[[(x, y), ...], ...]: a curve from one gap to the next."""
        pieces = [[]]
        for x, value in zip(self.time.columns(grid, WIDTH), values):
            if not math.isnan(value):
                pieces[-1].append((x, self._y(value)))
            elif pieces[-1]:
                pieces.append([])
        return [piece for piece in pieces if piece]

    def _line(self, curve):
        dashes = ' class="dashes"' if curve.draw == "dashes" else ""
        text = "".join(path(piece) for piece in self._pieces(curve.grid, curve.values))
        return f'<path{dashes} d="{text}" style="stroke:{curve.color}"/>'

    def _area(self, curve):
        grid, below, above = self.stacks.get(id(curve)) or (curve.grid, [0.0] * curve.grid.count, curve.values)
        known = [math.nan if math.isnan(a) else b for a, b in zip(above, below)]
        text = "".join(path(upper + lower[::-1]) + "z" for upper, lower
                       in zip(self._pieces(grid, above), self._pieces(grid, known)))
        return f'<path class="area" d="{text}" style="fill:{curve.color}"/>'

    def _drawing(self):
        grid = "".join(f"M0 {self._y(value)}h{WIDTH}" for value in self.axis.labels)
        grid += "".join(f"M{round(WIDTH * place)} 0v{HEIGHT}" for place, _ in self.time.labels)
        # What is stacked first is at the bottom, and lines are over areas.
        areas = [self._area(curve) for curve in self.drawn if curve.draw in ("area", "stack")]
        lines = [self._line(curve) for curve in self.drawn if curve.draw in ("line", "dashes")]
        return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none" role="img" '
                f'aria-label="{escape(self.graph.title)}"><path class="grid" d="{grid}"/>'
                + "".join(areas + lines) + "</svg>")

    def _labels(self):
        for value in self.axis.labels:
            place = 100 * self.axis.place(value)
            yield f'<span class="y" style="bottom:{place:.1f}%">{self.graph.unit.tick(value)}</span>'
        for place, text in self.time.labels:
            yield f'<span class="x" style="left:{100 * place:.1f}%">{text}</span>'

    def _legend(self):
        write = self.graph.unit.write
        for curve in self.curves:
            label = escape(curve.label)
            address = self.link(curve) if self.link and curve.color != GREY else ""
            label = f'<a href="{address}">{label}</a>' if address else label
            box = f'<i class="{curve.draw}" style="--color:{curve.color}"></i>' if curve in self.drawn else ""
            yield (f"<tr><th>{box}{label}</th><td>{write(curve.last())}</td><td>{write(curve.average())}</td>"
                   f"<td>{self._share(curve) if self.graph.parts else write(curve.maximum())}</td></tr>")

    def _share(self, curve):
        """Of a part, in the span."""
        return next((part.percent() for part in self.shares if part.label == curve.label), "")

    def _class(self):
        words = ["parts"] * self.graph.parts + ["leads"] * self.leads
        return f' class="{" ".join(words)}"' if words else ""

    def _caption(self):
        unit = f" <small>{escape(self.graph.unit.name)}</small>" if self.graph.unit.name else ""
        said = f" <strong>{escape(parts.in_words(self.shares))}</strong>" if self.shares else ""
        return f"<figcaption>{self.caption or escape(self.graph.title) + unit}{said}</figcaption>"

    def html(self):
        # What is uppermost in a stack is uppermost in its legend.
        rows = list(self._legend())[::-1] if self.graph.parts else list(self._legend())
        third = "share" if self.graph.parts else "maximum"
        return (f'<figure{self._class()}>{self._caption()}\n'
                f'<div class="plot">{self._drawing()}{"".join(self._labels())}</div>\n'
                f'<table class="legend"><tr><th></th><th>last</th><th>average</th><th>{third}</th></tr>\n'
                + "\n".join(rows) + "</table></figure>\n")


def path(points):
    """Short: the first point, then the way to each next."""
    (x, y), text = points[0], [f"M{points[0][0]} {points[0][1]}l"]
    if len(points) == 1:
        return text[0] + "0 0"
    for right, down in points[1:]:
        text.append(f"{right - x} {down - y} ")
        x, y = right, down
    return "".join(text).rstrip()

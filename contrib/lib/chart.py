# SPDX-License-Identifier: MIT
"""A chart as data: what chart.js draws."""

import json

from curve import GREY
from explain import explanation
from meaning import doc_of
from text import printable


def numbers(values):
    """Values with four digits as JSON; unknown ones are null, and are left out at the end."""
    return "[" + ("%.4g," * len(values) % tuple(values)).replace("nan", "null").rstrip("nul,") + "]"


def compose(members, **texts):
    """A JSON object. texts: members that are JSON already"""
    return json.dumps(members, separators=(",", ":"))[:-1] + "".join(f',"{name}":{text}' for name, text in texts.items()) + "}"


def array(texts):
    """A JSON array of JSON texts."""
    return "[" + ",".join(texts) + "]"


class Chart:
    def __init__(self, graph, curves, links=None, link="", others=(), leads=False):
        """links: label of a curve -> address of its page; link: the address of what the chart is of; others: (label, address)
        of what has no curve; leads: it is the first and widest of its page"""
        self.graph, self.links, self.link, self.leads = graph, links or {}, link, leads
        self.curves = [curve for curve in curves if curve.draw not in ("samples", "rest")]
        self.others = [*others, *((f"{curve.label} {self._figure(curve)}", "") for curve in curves if curve.draw == "rest")]
        self.samples = next((curve for curve in curves if curve.draw == "samples"), None)

    def _figure(self, curve):
        unit = self.graph.unit
        return unit.write(curve.median() if curve.percentile else curve.average(unit.adds))

    def _curve(self, curve, grid):
        link = self.links.get(curve.label, "") if curve.color != GREY else ""
        members = {"label": printable(curve.label), "draw": curve.draw, "color": curve.color, "percentile": curve.percentile,
                   "link": link,
                   "highest": float(f"{curve.most:.4g}") if curve.most == curve.most else None}
        return compose(members, values=numbers(curve.on(grid).values))

    def json(self, grid):
        """grid: that of all charts of the file"""
        graph = self.graph
        members = {"title": printable(graph.title), "unit": graph.unit.json(), "log": graph.log, "top": graph.top,
                   "parts": graph.parts, "more": graph.more, "leads": self.leads, "help": explanation(graph, {curve.label for curve in self.curves}),
                   "doc": doc_of(graph), "link": self.link, "others": [{"label": printable(label), "link": link} for label, link in self.others]}
        return compose(members, curves=array(self._curve(curve, grid) for curve in self.curves),
                       samples=numbers(self.samples.on(grid).values) if self.samples else "null")

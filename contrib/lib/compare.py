# SPDX-License-Identifier: MIT
"""Compares two services, or one service at two times: each graph twice, side by side, with one value axis."""

import collections
import json

import page
from chart import Chart
from definitions import GRAPHS
from text import escape

FILE = "compare.html"
Side = collections.namedtuple("Side", "title service span")


def times(service, span, before):
    """The two sides of a comparison of times. before: the end of the earlier time"""
    earlier = span._replace(start=before - (span.end - span.start), end=before)
    service.read([earlier])
    return [Side(f"{page.stamp(one.start, one)} to {page.stamp(one.end, one)}", service, one) for one in (earlier, span)]


def services(two, span):
    several = len({service.host for service in two}) > 1
    return [Side(f"{service.title} on {service.host}" if several else service.title, service, span) for service in two]


def pair(graph, sides):
    """Both charts of a graph; empty if neither side has values."""
    curves = [side.service.picture(graph, side.span) for side in sides]
    charts = [Chart(graph, many, side.span, caption=f"{escape(graph.title)} <small>{escape(side.title)}</small>")
              for many, side in zip(curves, sides)]
    if all(chart.is_zero() for chart in charts):
        return ""
    charts[0].share_axis(charts[1])
    shown = [chart.html() if many else f'<p class="soft">{escape(side.title)} has no value of this.</p>\n'
             for chart, many, side in zip(charts, curves, sides)]
    return f'<div class="pair"><div>{shown[0]}</div><div class="beside">{shown[1]}</div></div>\n'


def write(output, sides):
    """output: a Folder"""
    parts = ""
    for title, graphs in GRAPHS.items():
        pairs = "".join(pair(graph, sides) for graph in graphs)
        parts += f"<h2>{escape(title)}</h2>\n{pairs}" if pairs else ""
    head, tail = (escape(side.title) for side in sides)
    times_of = escape(json.dumps(page.time_of(sides[1].span)))
    named = f"{escape(sides[0].service.title)}: " if sides[0].service is sides[1].service else ""
    title = f"{named}{head} and {tail}"
    span = sides[0].span._replace(name="span", title="")
    output.write(FILE, page.document(
        f"Compare {title}", f'<header><p><a href="index.html">All services</a></p>\n<h1>{title}</h1></header>\n', [span],
        [f'<div class="pairs" data-time="{times_of}">{parts or "<p>No value on either side.</p>"}</div>']))

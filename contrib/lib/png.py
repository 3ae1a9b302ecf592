# SPDX-License-Identifier: MIT
"""Graphs of services as PNG files for mails and tickets, drawn by rrdtool: the curves of the pages with their figures."""

import collections
import dataclasses
import re
import time

import rrd
from curve import add, is_zero, known
from definitions import GRAPHS
from text import printable
from unit import UNKNOWN

FOLDER = "png"
SIZE = ("--width=720", "--height=220")
DASHES = {"dashes": ":dashes=5,4", "dotted": ":dashes=1,3"}
# Tints of one colour, the lowest percentile first.
RAMP = ("#9CC9E6", "#66AAD6", "#338CC6", "#0072B2", "#00588A", "#003F63", "#002A42")
UNDRAWN = ("figures", "samples", "rest")
LABEL, TITLE = 48, 98   # letters that there is room for
ABOVE = 4   # times the sum of the parts: the end of the axis below a line far above it


def named(span, graphs):
    """(file name, graph) of each. Several with one title are numbered."""
    counts = collections.Counter()
    for graph in graphs:
        name = re.sub(r"[^a-z0-9]+", "-", f"{span.name} {graph.title}".lower()).strip("-")
        counts[name] += 1
        yield name + (f"-{counts[name]}" if counts[name] > 1 else "") + ".png", graph


def shortened(text, most):
    return text if len(text) <= most else text[:most - 1] + "…"


def _text(text):
    return printable(text).replace("\\", "\\\\").replace(":", "\\:")


def _color(color):
    if color.startswith("ramp:"):
        return RAMP[round(float(color[5:]) * (len(RAMP) - 1))]
    return color if color.startswith("#") else "#000000"


# --- curves -------------------------------------------------------------------------------------

def picture(service, graph, span):
    """The curves that are drawn, as on the service's page, but with no part divided; empty if all are zero."""
    curves = [curve for curve in service.picture(dataclasses.replace(graph, shares=()), span) if curve.draw not in UNDRAWN]
    return curves if any(not is_zero(curve.values) for curve in curves) else []


def sources(service, graph, span, curves):
    """(series, file) of which each curve is the sum: of one, or of all others of a stack."""
    found = {curve.label: (series, file) for series, file, curve in service.drawn(graph.series + graph.above, span)}
    others = [one for label, one in found.items() if label not in {curve.label for curve in curves}]
    return [[found[curve.label]] if curve.label in found else others for curve in curves]


def _expression(service, number, of):
    """The elements that define curve `number` as the sum of these (series, file)."""
    names = [f"d{number}x{index}" for index in range(len(of))]
    yield from (rrd.define(name, service.path(file), series.source) for name, (series, file) in zip(names, of))
    scaled = [f"{name},{series.scale:g},*" for name, (series, _) in zip(names, of)]
    yield f"CDEF:c{number}=" + ",".join(scaled) + ",ADDNAN" * (len(of) - 1)


def _drawn(draw, number, color, label, is_first):
    if draw in ("stack", "area"):
        return f"AREA:c{number}{color}:{label}" + (":STACK" if draw == "stack" and not is_first else "")
    return f"LINE1.5:c{number}{color}:{label}" + DASHES.get(draw, "")


def _legend(curve, graph, width):
    """A line with the figures that the pages have."""
    write = graph.unit.write
    average = UNKNOWN if curve.percentile else write(curve.average(graph.unit.adds))
    figures = (("last", write(curve.last())), ("average", average), ("maximum", write(curve.maximum())))
    label = shortened(curve.label, LABEL).ljust(width)
    return _text(label + "".join(f"  {name} {figure:>9}" for name, figure in figures)) + "\\l"


def elements(service, graph, span, curves):
    """The arguments for rrdtool graph."""
    said, width = [], min(LABEL, max(len(curve.label) for curve in curves))
    for number, (curve, of) in enumerate(zip(curves, sources(service, graph, span, curves))):
        said += _expression(service, number, of)
        said.append(_drawn(curve.draw, number, _color(curve.color), _legend(curve, graph, width), number == 0))
    return said


# --- the picture --------------------------------------------------------------------------------

def _axis(graph, curves):
    values = [value for curve in curves for value in known(curve.values)]
    if graph.log:
        return ["--logarithmic", "--units=si", f"--lower-limit={min((one for one in values if one > 0), default=1) / 2:g}"]
    stack = known(add([curve.values for curve in curves if curve.draw == "stack"])) if graph.parts else []
    top = graph.top or ABOVE * max(stack, default=0)
    is_fixed = graph.top or 0 < top < max(values)
    return ["--lower-limit=0"] + (["--rigid", f"--upper-limit={top:g}"] if is_fixed else [])


def _title(service, graph, span):
    """What, where and when; names that are too long are cut."""
    begin, end = time.localtime(span.start), time.localtime(span.end)
    until = time.strftime("%T" if begin[:3] == end[:3] else "%F %T", end)
    when = f": {graph.title}, {time.strftime('%F %T', begin)} to {until} {end.tm_zone}"
    names = service.title, service.host
    room = TITLE - len(when) - len(" on ")
    most = TITLE if len("".join(names)) <= room else max(10, room // 2)
    return printable(" on ".join(shortened(name, most) for name in names) + when)


def draw(service, graph, span):
    """The bytes of a PNG; None if there is nothing to show."""
    curves = picture(service, graph, span)
    if not curves:
        return None
    return rrd.image(f"--start={span.start}", f"--end={span.end}", f"--title={_title(service, graph, span)}", *SIZE,
                     f"--vertical-label={graph.unit.name}", f"--base={graph.unit.base}", *_axis(graph, curves),
                     *elements(service, graph, span, curves))


def write(output, service, spans):
    """output: a Folder. Returns how many were drawn."""
    count = 0
    with output.folder(FOLDER) as top, top.folder(service.host) as host, host.folder(service.name) as directory:
        graphs = [*(graph for section in GRAPHS.values() for graph in section), *service.others]
        for span in filter(service.is_in, spans):
            for name, graph in named(span, graphs):
                if image := draw(service, graph, span):
                    directory.write(name, image)
                    count += 1
    return count

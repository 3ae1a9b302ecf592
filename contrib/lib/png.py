# SPDX-License-Identifier: MIT
"""Graphs of services as PNG files for mails and tickets, drawn by rrdtool."""

import re

import rrd
from curve import is_zero, known
from definitions import GRAPHS
from text import printable

FOLDER = "png"
SIZE = ("--width=720", "--height=220")
FORMAT = "%7.2lf%s"
DASHES = {"dashes": ":dashes=5,4", "dotted": ":dashes=1,3"}
# Tints of one colour, the lowest percentile first. Pages mix these tints with their background instead.
RAMP = ("#9CC9E6", "#66AAD6", "#338CC6", "#0072B2", "#00588A", "#003F63", "#002A42")


def file_name(span, graph):
    return re.sub(r"[^a-z0-9]+", "-", f"{span.name} {graph.title}".lower()).strip("-") + ".png"


def _text(text):
    return printable(text).replace("\\", "\\\\").replace(":", "\\:")


def _colors(curves):
    ramp = iter(RAMP)
    return [curve.color if curve.color.startswith("#") else next(ramp, RAMP[-1]) if "color-mix" in curve.color else "#000000"
            for curve in curves]


def _drawn(draw, at, color, label, is_first):
    if draw in ("stack", "cap"):
        return f"AREA:c{at}{color}:{label}" + ("" if is_first else ":STACK")
    if draw == "area":
        return f"AREA:c{at}{color}:{label}"
    return f"LINE1.5:c{at}{color}:{label}" + DASHES.get(draw, "")


def drawn(service, graph, span):
    """(series, file, curve) of each curve; empty if all are zero in this time."""
    found = [(series, file, curve) for series, file, curve in service.drawn(graph.series, span) if curve.draw != "figures"]
    found += service.drawn(graph.above, span)[:1] if found else []
    return found if any(not is_zero(curve.values) for _, _, curve in found) else []


def elements(service, found):
    """The arguments for rrdtool graph."""
    said, width = [], max(len(curve.label) for _, _, curve in found)
    for at, ((series, file, curve), color) in enumerate(zip(found, _colors([curve for _, _, curve in found]))):
        said.append(rrd.define(f"d{at}", service.path(file), series.source))
        said.append(f"CDEF:c{at}=d{at},{series.scale:g},*")
        said.append(_drawn(series.draw, at, color, _text(curve.label.ljust(width)), at == 0))
        said += [f"GPRINT:c{at}:LAST:last {FORMAT}", f"GPRINT:c{at}:MAX:maximum {FORMAT}\\l"]
    return said


def draw(service, graph, span):
    """The bytes of a PNG; None if there is nothing to show."""
    found = drawn(service, graph, span)
    if not found:
        return None
    least = min((value for _, _, curve in found for value in known(curve.values) if value > 0), default=1)
    options = [f"--start={span.start}", f"--end={span.end}", f"--title={printable(service.title)}: {graph.title}",
               f"--vertical-label={graph.unit.name}", f"--base={graph.unit.base}", *SIZE]
    options += ["--logarithmic", "--units=si", f"--lower-limit={least / 2:g}"] if graph.log else ["--lower-limit=0"]
    return rrd.image(*options, *elements(service, found))


def write(output, service, spans):
    """output: a Folder. Returns how many were drawn."""
    count = 0
    with output.folder(FOLDER) as top, top.folder(service.host) as host, host.folder(service.name) as directory:
        for span in spans:
            for graph in [graph for section in GRAPHS.values() for graph in section] if service.is_in(span) else []:
                image = draw(service, graph, span)
                if image:
                    directory.write(file_name(span, graph), image)
                    count += 1
    return count

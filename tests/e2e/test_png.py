#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Graphs as PNG files: their names, curves and figures, and what rrdtool says of them."""

import collections
import math
import os
import sys

from e2e import TOP, Check
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import host  # noqa: E402
import png  # noqa: E402
import span  # noqa: E402
from definitions import GRAPHS, REQUEST_TIME  # noqa: E402

END, SPAN = 1700000000, 600
NAME, HOST = 'x<b>:&\\"' + 100 * "w", 80 * "h"
UPSTREAMS = next(graph for graph in GRAPHS["Upstreams"] if graph.title == "Requests at upstreams")
RESPONSE = next(graph for graph in GRAPHS["Requests"] if graph.title == "Response time")


def read_service(directory):
    tree = Tree(directory, END, SPAN)
    for number in range(1, 10):
        tree.file(HOST, NAME, f"gauge-requests_in_progress-upstream-10.0.0.{number}:80", number)
    for part, seconds in (("disk", 0.01), ("lock", 0), ("cpu", 0.03)):
        tree.file(HOST, NAME, f"latency-in_{part}", seconds)
    tree.file(HOST, NAME, "latency-response-percentile-95", 2)
    tree.file(HOST, NAME, "latency-response-percentile-50", 0.02)
    tree.file(HOST, NAME, "gauge-of_another:" + 90 * "y", lambda moment: math.nan if moment < END - SPAN / 2 else 5)
    service, = host.find(directory, None, None)[HOST]
    whole = span.only(END - SPAN, END)
    service.read([whole])
    service.covered = {whole: 1}
    return service, whole


def test_names(check):
    of = span.last("hour", END)
    graphs = [graph for section in GRAPHS.values() for graph in section]
    counts = collections.Counter(name for name, _ in png.named(of, graphs))
    check.equal("names of two graphs", [name for name, count in counts.items() if count > 1], [])
    check.true("of a title and a span", "hour-where-a-request-s-time-goes.png" in counts, len(counts))


def test_curves(check, service, whole):
    said = png.elements(service, UPSTREAMS, whole, png.picture(service, UPSTREAMS, whole))
    defined = [one for one in said if one.startswith("CDEF:")]
    check.equal("seven upstreams and the others", (len(defined), defined[-1]), (8, "CDEF:c7=d7x0,1,*,d7x1,1,*,ADDNAN"))
    areas = [one for one in said if one.startswith("AREA:")]
    check.equal("a stack", [area.endswith(":STACK") for area in areas], [False] + [True] * 7)
    check.equal("with figures", " ".join(areas[0].partition("#")[2].split()[1:]).replace("\u00a0", " ").removesuffix("\\l"),
                "last 3 average 3 maximum 3")
    said = png.elements(service, REQUEST_TIME, whole, png.picture(service, REQUEST_TIME, whole))
    drawn = [one.split(":")[2].split()[0] for one in said if one.startswith(("AREA:", "LINE"))]
    check.equal("parts that are not zero, and the line", drawn, ["CPU", "disk", "response"])
    check.equal("the axis of parts ends below the line", png._axis(REQUEST_TIME, png.picture(service, REQUEST_TIME, whole)),
                ["--lower-limit=0", "--rigid", "--upper-limit=0.16"])
    colors = [one.color for one in png.picture(service, RESPONSE, whole)]
    check.equal("percentiles", [png._color(color) for color in colors], [png.RAMP[0], png.RAMP[-1]])


def test_pictures(check, service, whole):
    title = png._title(service, REQUEST_TIME, whole)
    check.true("the title has room", len(title) <= png.TITLE and "… on hh" in title and "2023-11-14 22:" in title, title)
    for graph in (REQUEST_TIME, RESPONSE, UPSTREAMS, *service.others):
        image = png.draw(service, graph, whole)
        check.equal(f"{graph.title} is a PNG", image[:8], b"\x89PNG\r\n\x1a\n")


with Check() as checks:
    os.environ["TZ"] = "UTC"
    test_names(checks)
    for test in (test_curves, test_pictures):
        test(checks, *read_service(os.path.join(checks.dir, test.__name__)))

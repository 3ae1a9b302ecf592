# SPDX-License-Identifier: MIT
"""Pages that show what the queries of the dashboards have returned, by the charts of ebpf-graph: a page each, with a chart for
each panel. A table is a chart with a curve for each row.

Results: {(title of the row, title of the panel): for each target [(label, {moment in s: value}), ...]}.
"""

import base64
import json
import math
import os
import sys
import time
import types

from e2e import TOP

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import page  # noqa: E402
import parts  # noqa: E402
from chart import Chart, array, compose  # noqa: E402
from curve import Curve, known, largest  # noqa: E402
from definitions import PALETTE, Graph  # noqa: E402
from folder import open_folder  # noqa: E402
from rrd import Grid  # noqa: E402

SPAN = "span"       # the only one of the pages
WIDTHS = 1400, 390  # pixels
COMBINED = {"sum": sum, "max": max, "min": min}
PIECE = 2400        # pixels of a picture's height, at most
OVERLAP = 120       # that the bar at the top of a page may hide
# Draws all charts, also those far from what can be seen; returns the height of the page.
DRAWN = """\
new Promise(done => {
  document.querySelectorAll("figure").forEach(({chart}) => chart && (chart.isNear = true, chart.draw()));
  setTimeout(() => done(document.documentElement.scrollHeight), 500);
})
"""


def values_on(grid, points):
    return [points.get(moment, math.nan) for moment in grid.times()]


def curves_of_target(one, replies, grid, first):
    """one: the definitions.Series that says how the target is drawn; first: how many curves there are before"""
    for number, (label, points) in enumerate(replies):
        values = values_on(grid, points)
        color = "" if one.color == "text" else one.color
        yield Curve(label, one.draw, color or PALETTE[(first + number) % len(PALETTE)], grid, values,
                    max(known(values), default=math.nan), "percentile" in one.file)


def rows_of_table(panel, replies, grid):
    """A curve for each row: the values of all targets, combined."""
    found = {}
    for label, points in (one for many in replies for one in many):
        for moment, value in points.items():
            found.setdefault(label, {}).setdefault(moment, []).append(value)
    combine = COMBINED[panel.how()]
    for number, (label, points) in enumerate(sorted(found.items())):
        values = values_on(grid, {moment: combine(many) for moment, many in points.items()})
        yield Curve(label, "line", PALETTE[number % len(PALETTE)], grid, values, max(known(values), default=math.nan))


def curves_of_panel(panel, replies, grid):
    if panel.kind == "table":
        return list(rows_of_table(panel, replies, grid))
    curves = []
    for one, many in zip(panel.series, replies):
        curves += curves_of_target(one, many, grid, len(curves))
    stacked = [curve for curve in curves if curve.draw in ("stack", "cap")]
    lines = [curve for curve in curves if curve.draw not in ("stack", "cap")]
    return parts.layers(stacked) + lines if panel.parts else stacked + lines


def chart_of(panel, replies, grid):
    graph = Graph(panel.title, panel.unit, panel.series, log=panel.log, top=panel.top, parts=panel.parts, help=panel.help)
    curves = curves_of_panel(panel, replies, grid)
    return Chart(graph, curves if panel.parts else largest(curves, PALETTE))


def sections(dashboard, results, grid):
    """(title of a row, charts) of the rows with values."""
    for title, panels in dashboard.rows:
        charts = [chart_of(one, results[title, one.title], grid) for one in panels if any(results.get((title, one.title), ()))]
        if charts:
            yield title, charts


def data_of(host, dashboard, results, grid):
    """The data of a page as JSON. host: the name under which the pages are shown"""
    found = [compose({"title": title}, charts=array(chart.json(grid) for chart in charts))
             for title, charts in sections(dashboard, results, grid)]
    head = {"host": host, "service": dashboard.uid, "level": SPAN, "grid": dict(vars(grid)), "newest": grid.times()[-1],
            "covered": 1, "flames": {}}
    return compose(head, sections=array(found))


def about(host, dashboards, grid):
    """about.js as JSON: one host, with a service for each dashboard."""
    start, end = grid.first - grid.step, grid.times()[-1]
    service = {"levels": [SPAN], "device": False, "process_of": ""}
    level = {"name": SPAN, "spans": [SPAN], "start": start, "end": end, "first": start, "step": grid.step, "drawn": end}
    return json.dumps({
        "key": "", "title": "Dashboards", "notes": [], "offset": time.localtime(end).tm_gmtoff, "drawn": end,
        "spans": [{"name": SPAN, "title": "", "seconds": end - start, "level": SPAN}], "shown": SPAN, "levels": [level],
        "hosts": [{"name": host, "triage": False,
                   "services": [{"name": one.uid, "title": one.title, **service} for one in dashboards]}]})


def write(path, store, found, grid):
    """Writes the pages of one store. found: [(dashboard, results), ...]. Returns {dashboard's uid: path of its page}."""
    dashboards = [dashboard for dashboard, _ in found]
    with open_folder(path) as output:
        shown = [types.SimpleNamespace(name=one.uid, title=one.title) for one in dashboards]
        page.write_shells(output, "Dashboards", {store: shown}, ())
        page.write_shared(output)
        output.write("about.js", page.script("about", about(store, dashboards, grid)))
        with output.folder(page.DATA) as top, top.folder(store) as folder, folder.folder(SPAN) as directory:
            for dashboard, results in found:
                directory.write(dashboard.uid + ".js", page.script("data", data_of(store, dashboard, results, grid)))
    return {one.uid: os.path.join(path, page.SHEETS, store, one.uid + ".html") for one in dashboards}


def make_grid(moments):
    """moments: whole seconds with one distance"""
    return Grid(moments[0], moments[1] - moments[0], len(moments))


def shoot(browser, path, width, picture):
    """The page as PNG files, from its top. picture: the path of a file without `.png`. Returns the paths."""
    browser.open("file://" + path, width)
    browser.until("document.querySelector('figure canvas') !== null")
    height, pictures = browser.run(DRAWN), []
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=min(height, PIECE), deviceScaleFactor=1,
                 mobile=False)
    for number, top in enumerate(range(0, max(1, browser.run(DRAWN) - OVERLAP), PIECE - OVERLAP)):
        browser.run(f"new Promise(done => (scrollTo(0, {top}), setTimeout(done, 300)))")
        pictures.append(f"{picture}-{number}.png")
        with open(pictures[-1], "wb") as file:
            file.write(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
    return pictures

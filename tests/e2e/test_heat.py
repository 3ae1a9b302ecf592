#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Heat maps: how bucket files become histograms with bounds and rows."""

import json
import math
import os
import shutil
import sys

from browser import browse
from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import heat  # noqa: E402
from chart import Chart  # noqa: E402
from definitions import GRAPHS, OTHERS, Graph  # noqa: E402
from rrd import Grid  # noqa: E402
from text import printable  # noqa: E402
from unit import BYTES, RATE, SECONDS  # noqa: E402

GRID = Grid(10, 10, 2)
HOSTILE = "latency-</script><b>-5e\n\x1b[2J\udce9"


def maps(rates, grid=GRID):
    """rates: file -> values of each step"""
    return heat.maps(grid, {(file, "value"): (values, max(values)) for file, values in rates.items()})


def names(histogram, *bounds):
    return [f"bucket-{histogram}-{low}_{high}" for low, high in zip(bounds, bounds[1:])]


def test_names(check):
    """As the plugin and ebpf-bpftrace make them."""
    for file, want in (
            ("bucket-latency-response-0.001024_0.002048", ("latency-response", 0.001024, 0.002048)),
            ("bucket-latency-response-1.024e-06_2.048e-06", ("latency-response", 1.024e-06, 2.048e-06)),
            ("bucket-latency-response-549.756_inf", ("latency-response", 549.756, math.inf)),
            ("bucket-latency-syscall-a-0_16-1_2", ("latency-syscall-a-0_16", 1, 2)),
            ("bucket-usecs--inf_-5", ("usecs", -math.inf, -5)), ("bucket-usecs--5_0", ("usecs", -5, 0)),
            ("bucket-usecs-1e+06_2e+06", ("usecs", 1e6, 2e6)), ("bucket-zero-0_0", ("zero", 0, 0)),
            (f"bucket-{HOSTILE}-0_16", (HOSTILE, 0, 16)), ("bucket-latency-cut-0.001024_0.0", None),
            ("bucket-latency-cut-0.001024", None), ("bucket-0_16", None), ("bucket", None), ("ps_rss", None),
            ("bucket-a-nan_nan", None), ("bucket-a-²_³", None)):
        check.equal(f"name {file!r}", heat.split(file), want)


def test_kinds(check):
    for histogram, want in (
            ("latency-response", ("Response time", SECONDS, "Requests", "")),
            ("latency-service-5xx", ("Service time by class", SECONDS, "Requests", "5xx")),
            ("latency-service", ("Service time, to the last send", SECONDS, "Requests", "")),
            ("bytes-disk_request-read", ("Size of a request", BYTES, "Disks", "read")),
            ("latency-of_another", ("latency-of_another", SECONDS, OTHERS, ""))):
        kind = heat.kind_of(histogram)
        check.equal(histogram, (kind.title, kind.unit, kind.section, heat.name.varying(kind.file, histogram)), want)
    check.equal("histograms of probes without a section", [kind.file for kind in heat.KINDS if kind.section not in GRAPHS], [])
    check.true("there are some", len(heat.KINDS) > 10, len(heat.KINDS))


def test_rows(check):
    """In the order of the bounds; zeros at the ends are left out, a missing file is a gap, a cut name is left out."""
    bounds = names("latency-response", "0", "1e-06", "2e-06", "4e-06", "8e-06", "1.6e-05", "inf")
    rates = dict(zip(bounds, ([0, 0], [3, math.nan], [0, 0], [1, 1], [0, 2], [0, 0])))
    one, = maps(rates | {"bucket-latency-response-4e-06_6e-06": [9, 9], "ps_rss": [1, 1]})
    check.equal("bounds", [bucket[:2] for bucket in one.buckets], [(1e-6, 2e-6), (2e-6, 4e-6), (4e-6, 8e-6), (8e-6, 1.6e-5)])
    del rates[bounds[2]]
    one, = maps(rates)
    shown = json.loads(one.json(GRID))
    check.equal("bounds with a gap", shown["heat"]["bounds"], [1e-6, 2e-6, 4e-6, 8e-6, 1.6e-5])
    check.equal("rows", shown["heat"]["rows"], [[3], [], [1, 1], [0, 2]])
    check.equal("no curves", (shown["curves"], shown["unit"]["name"], shown["heat"]["unit"]["symbol"]), ([], "per second", "s"))
    check.equal("only zeros", maps(dict.fromkeys(bounds, [0, 0])), [])
    shown = json.loads(maps({"bucket-usecs--inf_0": [1, 1], "bucket-usecs-0_inf": [1, 1]})[0].json(GRID))
    one, = maps(dict.fromkeys(names("zero", 0, 0, 1, 2), [1, 1]))
    check.equal("one for zeros only", [bucket[:2] for bucket in one.buckets], [(0, 0), (0, 1), (1, 2)])
    check.equal("without an end", shown["heat"]["bounds"], [None, 0, None])


def test_keys(check):
    """Of many keys those with most events."""
    rates = {file: [number, number] for number in range(1, 30) for file in names(f"latency-syscall-{number}", 0, 1, 2)}
    check.equal("of 29", [one.key for one in maps(rates)], [str(number) for number in range(29, 29 - heat.KEYS_MAX, -1)])
    one, = maps({f"bucket-{HOSTILE}-0_16": [1, 1]})
    check.equal("a hostile name is text", json.loads(one.json(GRID))["title"], f"{printable(HOSTILE)}: heat map")


def test_among(check):
    found = maps({file: [1, 1] for name in ("latency-response", "latency-service-5xx", "usecs") for file in names(name, 0, 1)})
    charts = [Chart(Graph(title, RATE, (heat.Series("x"),)), []) for title in ("Requests", "Response time", "Traffic")]
    check.equal("among those of its section", [one.graph.title for one in heat.among(charts, "Requests", found)],
                ["Requests", "Response time", "Response time: heat map", "Traffic", "Service time by class, 5xx: heat map"])
    check.equal("of others", [one.graph.title for one in heat.among([], OTHERS, found)], ["usecs: heat map"])


DRAW = """<!DOCTYPE html><meta charset="utf-8"><style>body, p { margin: 0 } .canvas { width: 400px; height: 117px }
canvas { display: block; width: 400px; height: 117px }</style>
<body><figure><div class="plot" role="img"><div class="canvas"></div></div><table></table></figure>%s<script>
const plot = document.querySelector(".plot"), element = plot.firstChild, table = document.querySelector("table");
const level = new Level({grid: {first: 1000, step: 10, count: 4}}, {levels: []});
const map = new HeatMap(element, %s, level, 58, table), context = map.canvas.getContext("2d");
map.setView(990, 1030);
map.redraw();
/* Of the middles of the cells, the lowest row first. */
const x = column => map.left + (400 - map.left - RIGHT) * (column + 0.5) / 4, y = row => 100 * (1 - (row + 0.5) / 4);
const dark = (column, row) => {
  const [red,,, alpha] = context.getImageData(x(column), y(row), 1, 1).data;
  return alpha && 255 - red;
};
const point = (column, row) => {
  const box = map.canvas.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x(column), clientY: box.top + y(row)}));
  map.show(990 + 10 * (column + 0.5));
  return map.text.textContent;
};
const seen = {label: plot.ariaLabel, dark: [0, 1, 2, 3].map(row => [0, 1, 2, 3].map(column => dark(column, row))),
  cells: [point(0, 0), point(0, 3), point(3, 1)], scale: map.scale.textContent,
  rows: [...table.rows].map(row => row.textContent)};
plot.dispatchEvent(new PointerEvent("pointerleave"));
map.show(995);
seen.keyboard = map.text.textContent;
map.setView(1000, 1010);
map.redraw();
seen.zoomed = [0, 1, 2, 3].map(row => dark(2, row) > 0);
map.remove();
seen.left = document.querySelectorAll("canvas, .heated").length;
</script>"""
SCRIPTS = "dom.js", "units.js", "colors.js", "time.js", "curve.js", "plot.js", "heat.js"
SEEN = "const look = page => page.defaultView.eval('seen');"


def test_drawn(check):
    """In a browser. Two values of a row are unknown, and a row has none."""
    if not shutil.which("chromium"):
        return check.left_out("the picture", "no chromium")
    rates = dict(zip(names("latency-</script>", 0, 0.001, 0.002), ([3, 0, 1, math.nan], [1, 1000, 0, math.nan])))
    rates |= dict(zip(names("latency-</script>", 0.004, 0.008), ([0, 2, 0, math.nan],)))
    grid = Grid(1000, 10, 4)
    one, = maps(rates, grid)
    text = one.json(grid).replace("<", "\\u003c")
    scripts = "".join(f'<script src="file://{TOP}/contrib/lib/{name}"></script>' for name in SCRIPTS)
    with open(os.path.join(check.dir, "heat.html"), "w", encoding="utf-8") as page:
        page.write(DRAW % (scripts, text))
    seen, = browse(check.dir, SEEN, [f"file://{page.name}"], (600,))
    seen = json.loads(json.dumps(seen).replace("\\u00a0", " "))
    dark = seen["dark"]
    check.equal("cells with a colour", [[value > 0 for value in row] for row in dark],
                [[True, False, True, False], [True, True, False, False], [False] * 4, [False, True, False, False]])
    check.true("the more, the darker", dark[1][1] > dark[0][0] > dark[1][0] == dark[0][2] > 0, dark)
    check.equal("what is pointed at", seen["cells"], ["00:16:35: 0 s to 1 ms: 3 per second, 75 % of all",
                                                      "00:16:35: 4 ms to 8 ms: 0 per second, 0 % of all", "00:17:05: no values"])
    check.equal("by the keyboard: the most at that time", seen["keyboard"], seen["cells"][0])
    check.equal("for those who hear", seen["label"],
                "latency-</script>: heat map. Most: 1 ms to 2 ms: 334 per second, 99 % of all")
    check.equal("rows of the table", seen["rows"][1:3], ["1970-01-01 00:16:4031–0", "1970-01-01 00:16:5001 k–2"])
    check.equal("the scale", seen["scale"], "1101001 kper second")
    check.equal("of the second column alone", seen["zoomed"], [False, True, False, True])
    check.equal("nothing is left", seen["left"], 0)


with Check() as checks:
    for test in (test_names, test_kinds, test_rows, test_keys, test_among, test_drawn):
        test(checks)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The dashboards as files: all that has a graph in ebpf-graph has a panel, each panel says what it shows, and Grafana can lay
them out. test_dashboards.py runs their queries."""

import collections
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

from e2e import TOP, Check

LIB = os.path.join(TOP, "contrib", "lib")
TOOL = os.path.join(TOP, "contrib", "ebpf-dashboards")
sys.path.insert(0, LIB)
sys.dont_write_bytecode = True
import series  # noqa: E402
import unit  # noqa: E402
from dashboards import DASHBOARDS  # noqa: E402
from definitions import GRAPHS, OVERVIEW, UNDRAWN  # noqa: E402
from grafana import dashboard_json, reference, unit_id  # noqa: E402
from layers import LAYERS  # noqa: E402
from name import PLUGIN  # noqa: E402
from queries import EACH, SERVICE, STORES  # noqa: E402

WIDTH = 24
TITLES = {one.uid: one.title for one in DASHBOARDS}
# Every way in which the catalogue counts a series.
NOVEL = """
import series
series.PROBES += (("Novel", "novel", (
    ("derive-novel", "integer", True, "bytes", (("value", "Novel bytes"),), ("service",)),
    ("gauge-novel-*", "integer", False, "seconds", (("value", "Novel of a device"),), ("device", "enum")),
    ("latency-novel", "histogram", False, "seconds", (("value", "Novel latency"),), ("service", "probe")))),)
from dashboards import DASHBOARDS
for dashboard in DASHBOARDS:
    for title, panels in dashboard.rows:
        for one in panels:
            if "novel" in one.targets[0].file:
                print(dashboard.uid, title, one.title, one.unit.name, one.targets[0].subject, sep="|")
"""


def panels_of(uid):
    return [one for dashboard in DASHBOARDS if dashboard.uid == uid for _, panels in dashboard.rows for one in panels]


def queried(uid, fits=lambda subject: True):
    """(file, data source) of all that a dashboard asks for, of subjects that fit."""
    return {(target.file, target.source) for one in panels_of(uid) for target in one.targets if fits(target.subject)}


def test_graphs(check):
    """Each graph of ebpf-graph is a panel, with all its series."""
    everywhere = set().union(*map(queried, TITLES))
    missing = [(graph.title, one.file) for graphs in GRAPHS.values() for graph in graphs for one in graph.series
               if (one.file, one.source) not in everywhere]
    check.equal("series of graphs that no panel has", missing, [])
    titles = {one.title.partition(",")[0] for uid in TITLES for one in panels_of(uid)}
    check.equal("graphs without a panel", [graph.title for graphs in (*GRAPHS.values(), OVERVIEW) for graph in graphs
                                           if graph.title.partition(",")[0] not in titles], [])
    overview = queried("ebpf-machine", EACH.__eq__)
    check.equal("of the overview", [one.file for graph in OVERVIEW for one in graph.series
                                    if (one.file, one.source) not in overview], [])
    check.equal("of the ranks", [rank.title for layer in LAYERS for rank in layer.ranks for one in rank.column.series
                                 if (one.file, one.source) not in overview], [])
    check.equal("of the plugin", queried("ebpf-plugin", PLUGIN.__eq__),
                {(one.file, one.source) for graph in GRAPHS["The plugin"] for one in graph.series})


def is_queried(file, kind, source, found):
    """Whether one of these is of this entry of the catalogue."""
    return any(its_source == source and (one == file or kind != "integer" and fnmatch.fnmatch(one, file + "-*"))
               for one, its_source in found)


def test_whole_catalogue(check):
    """Each series is on the dashboard of what it is counted for."""
    each = queried("ebpf-machine", EACH.__eq__)
    of = {"service": queried("ebpf-service", SERVICE.__eq__), "probe": queried("ebpf-machine", EACH.__ne__), "device": each,
          "cpu": each, "enum": queried("ebpf-machine")}
    missing = [(row, file, source) for _, _, many in series.PROBES for file, kind, _, _, sources, rows in many
               for row in rows if row in of and not (row == "enum" and "service" in rows)
               and not any(fnmatch.fnmatch(file, pattern) for pattern in UNDRAWN)
               for source, _ in sources if not is_queried(file, kind, source, of[row])]
    check.equal("without a panel", missing, [])


def test_novel(check):
    """A series that is new in the catalogue has a panel, without another word."""
    printed = subprocess.run([sys.executable, "-B", "-c", NOVEL], cwd=LIB, capture_output=True, text=True, check=True).stdout
    check.equal("panels", printed.splitlines(), [
        "ebpf-service|Novel|Novel bytes|bytes per second|$service", "ebpf-service|Novel|Novel latency|seconds|$service",
        "ebpf-machine|Novel|Novel of a device|seconds|*", "ebpf-machine|Novel|Novel latency|seconds|novel"])


def drawn_rows(found):
    """The panels that are seen at the same time: those of the open rows, and those of each collapsed row."""
    collapsed = [one["panels"] for one in found["panels"] if one["type"] == "row" and one["collapsed"]]
    return [found["panels"], *collapsed]


def overlapping(panels):
    """The positions that two panels have."""
    count = collections.Counter((x, y) for one in panels for at in [one["gridPos"]]
                                for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"]))
    return [position for position, times in count.items() if times > 1]


def test_layout(check, name, found):
    seen = drawn_rows(found)
    every = [one for panels in seen for one in panels]
    check.equal(f"{name}: ids", len({one["id"] for one in every}), len(every))
    check.equal(f"{name}: positions of two panels", [overlapping(panels) for panels in seen if overlapping(panels)], [])
    beyond = [one["title"] for one in every if one["gridPos"]["x"] + one["gridPos"]["w"] > WIDTH]
    check.equal(f"{name}: beyond the page", beyond, [])
    rows = [one["title"] for one in every if one["type"] == "row"]
    check.equal(f"{name}: rows of one title", len(set(rows)), len(rows))
    check.equal(f"{name}: panels outside rows", found["panels"][0]["type"], "row")


def test_panels(check, name, found):
    """Each panel is complete."""
    panels = [one for row in drawn_rows(found) for one in row if one["type"] != "row"]
    check.equal(f"{name}: without a unit, help or queries", [one["title"] for one in panels if not (
        one["fieldConfig"]["defaults"]["unit"] and one["description"] and one["targets"])], [])
    twice = [one["title"] for one in panels if len({query["refId"] for query in one["targets"]}) < len(one["targets"])]
    check.equal(f"{name}: queries of one name", twice, [])
    unknown = [one["title"] for one in panels for override in one["fieldConfig"]["overrides"]
               if override["matcher"]["id"] == "byFrameRefID"
               and override["matcher"]["options"] not in [query["refId"] for query in one["targets"]]]
    check.equal(f"{name}: overrides of nothing", unknown, [])


def test_links(check, name, found, uids):
    """Links lead to dashboards that exist, of the same store, and give them variables that they have."""
    links = [(uid, re.findall(r"var-(\w+)=", given)) for uid, given in re.findall(r'"/d/([^?"]+)([^"]*)"', json.dumps(found))]
    check.true(f"{name}: it has links", links)
    check.equal(f"{name}: links to nothing", sorted({uid for uid, _ in links} - uids.keys()), [])
    check.equal(f"{name}: variables that are not there",
                [(uid, one) for uid, given in links for one in given if one not in uids[uid]], [])
    known = {one["name"] for one in found["templating"]["list"]}
    used = set(re.findall(r"\$\{?(datasource|host|service)\b", json.dumps(found)))
    check.equal(f"{name}: variables", used, known)


def test_titles(check):
    for dashboard in DASHBOARDS:
        for title, panels in dashboard.rows:
            count = collections.Counter(one.title for one in panels)
            twice = [one for one, times in count.items() if times > 1]
            check.equal(f"{dashboard.uid}, {title}: panels of one title", twice, [])


def test_json(check):
    for store in STORES:
        made = {one["uid"]: one for dashboard in DASHBOARDS for one in [dashboard_json(dashboard, store, TITLES)]}
        uids = {uid: {one["name"] for one in found["templating"]["list"]} for uid, found in made.items()}
        check.equal(f"{store.name}: dashboards", list(made), [f"{uid}-{store.datasource}" for uid in TITLES])
        for name, found in made.items():
            test_layout(check, name, found)
            test_panels(check, name, found)
            test_links(check, name, found, uids)


def one_panel(uid, title):
    """The JSON of a panel at the first store."""
    dashboard = next(one for one in DASHBOARDS if one.uid == uid)
    rows = drawn_rows(dashboard_json(dashboard, STORES[0], TITLES))
    return next(one for panels in rows for one in panels if one["title"] == title)


def override_of(panel, index):
    """{property: value} of a query's curves."""
    found = [one["properties"] for one in panel["fieldConfig"]["overrides"] if one["matcher"]["options"] == reference(index)]
    return {one["id"]: one["value"] for properties in found for one in properties}


def test_styles(check):
    """Curves look like those of ebpf-graph."""
    stack = one_panel("ebpf-service", "Where a request's time goes")
    layers = len(GRAPHS["Requests"][0].series)
    check.equal("layers are stacked", stack["fieldConfig"]["defaults"]["custom"]["stacking"]["mode"], "normal")
    check.equal("a layer's colour", override_of(stack, 2), {"color": {"mode": "fixed", "fixedColor": "#0072B2"}})
    above = override_of(stack, layers)
    check.equal("the line above", (above["custom.stacking"]["mode"], above["color"]["fixedColor"]), ("none", "text"))
    slack = one_panel("ebpf-service", "Slack")["fieldConfig"]["defaults"]
    check.equal("of slack", (slack["min"], slack["max"]), (0, 100))
    response = one_panel("ebpf-service", "Response time")
    check.equal("logarithmic", response["fieldConfig"]["defaults"]["custom"]["scaleDistribution"], {"type": "log", "log": 10})
    sizes = one_panel("ebpf-service", "Bytes received per connection")
    scale = sizes["fieldConfig"]["defaults"]["custom"]["scaleDistribution"]
    check.equal("logarithmic, of bytes", scale, {"type": "log", "log": 2})
    check.equal("dashes", override_of(response, 0)["custom.lineStyle"]["fill"], "dash")
    memory = one_panel("ebpf-service", "Memory")
    check.equal("not drawn", override_of(memory, 3)["custom.hideFrom"]["viz"], True)
    lowest = one_panel("ebpf-fleet", "Services by slack, lowest first")
    steps = {one["id"]: one["options"] for one in lowest["transformations"]}
    check.equal("the lowest first", steps["sortBy"]["sort"], [{"field": "percent", "desc": False}])


def test_grafana_units(check):
    for one, want in ((unit.SECONDS, "s"), (unit.BYTES, "bytes"), (unit.BYTE_RATE, "binBps"), (unit.SHARE, "percent"),
                      (unit.CPU, "percent"), (unit.RATE, "count:/s"), (unit.THREADS, "short"), (unit.NUMBER, "none"),
                      (unit.SQUARES, "sci"), (unit.Unit("hertz"), "hertz"), (unit.Unit("percent of all CPUs"), "percent")):
        check.equal(one.name, unit_id(one), want)
    check.equal("names of queries", [reference(index) for index in (0, 25, 26, 52)], ["A", "Z", "AA", "BA"])


def test_tool(check):
    """The files, which do not depend on the process that writes them."""
    folder = os.path.join(check.dir, "written")
    done = subprocess.run([sys.executable, TOOL, folder], capture_output=True, text=True, check=True)
    written = sorted(path for path in glob.glob(os.path.join(folder, "**"), recursive=True) if os.path.isfile(path))
    check.equal("what it prints", sorted(done.stdout.splitlines()), written)
    different = []
    for store in STORES:
        for dashboard in DASHBOARDS:
            path = os.path.join(folder, "grafana", store.datasource, dashboard.uid.removeprefix("ebpf-") + ".json")
            with open(path, encoding="utf-8") as file:
                different += [path] if json.load(file) != dashboard_json(dashboard, store, TITLES) else []
    check.equal("files that differ", different, [])
    others = [os.path.relpath(path, folder) for path in written if "/grafana/" not in path]
    check.equal("dashboards", len(written) - len(others), len(STORES) * len(DASHBOARDS))
    check.equal("other files", others, ["collection3/Ebpf.pm", "collection3/collection.conf", "graphite/alerts.txt",
                                        "influxdb/alerts.txt", "prometheus/ebpf-alertmanager.yml", "prometheus/ebpf-rules.yml"])


with Check() as checks:
    for test in (test_graphs, test_whole_catalogue, test_novel, test_titles, test_json, test_styles, test_grafana_units,
                 test_tool):
        test(checks)

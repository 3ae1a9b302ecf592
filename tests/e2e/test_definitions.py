#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The graphs of ebpf-graph: which curves they have, and which part of docs/meaning.md is about them."""

import fnmatch
import json
import math
import os
import re
import sys

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import definitions  # noqa: E402
import meaning  # noqa: E402
import samples  # noqa: E402
import unit  # noqa: E402
from chart import Chart  # noqa: E402
from curve import Curve, largest  # noqa: E402
from definitions import GRAPHS, ORANGE, RED, Graph, Series  # noqa: E402
from explain import explanation  # noqa: E402
from rrd import Grid  # noqa: E402

NAN = math.nan


def curve(label, values, draw="line"):
    return Curve(label, draw, "#000", Grid(0, 1, len(values)), values, max(values))


def test_largest(check):
    """Each with a colour of its own; the others are the rest of the chart, or one curve of a stack."""
    many = [curve(str(number), [number, NAN]) for number in (0, 1, 9, 2, 8, 3)] + [curve("all", [99, 99], "figures")]
    shown = largest(many, ("#000", "#AAA", "#BBB"))
    check.equal("drawn", [(one.label, one.color) for one in shown if one.draw == "line"],
                [("9", "#000"), ("8", "#AAA"), ("3", "#BBB")])
    check.equal("not drawn", [(one.label, one.draw) for one in shown if one.draw != "line"],
                [("all", "figures"), ("2", "rest"), ("1", "rest")])
    chart = json.loads(Chart(Graph("", unit.SECONDS, ()), shown).json(shown[0].grid))
    check.equal("in words", [(one["label"].replace(unit.NBSP, " "), one["link"]) for one in chart["others"]],
                [("2 2 s", ""), ("1 1 s", "")])
    check.equal("curves", [one["label"] for one in chart["curves"]], ["9", "8", "3", "all"])
    stacked = largest([curve(str(number), [number, number], "stack") for number in range(5)], ("#000", "#AAA"))
    check.equal("of a stack", [(one.label, one.values) for one in stacked],
                [("3", [3, 3]), ("4", [4, 4]), ("3 others", [3, 3])])


def of_class(graph, name):
    """The one series of a graph that is of a class of responses."""
    file = graph.series[-1].file.replace("*", name)
    one, = (one for one in graph.series if one.key(file) is not None)
    return one


def test_classes(check):
    """Errors are not flattened by successes, and have the same colours everywhere."""
    graphs = [graph for graph in GRAPHS["Requests"] if " by class" in graph.title]
    check.equal("graphs by class", len(graphs), 3)
    for graph in graphs:
        check.equal(f"{graph.title}: lines", [of_class(graph, name).draw for name in ("5xx", "4xx", "error")], ["line"] * 3)
        check.equal(f"{graph.title}: colours", [of_class(graph, name).color for name in ("5xx", "4xx")], [RED, ORANGE])
    check.equal("share of successes", {of_class(graphs[0], name).draw for name in ("2xx", "3xx", "ok")}, {"figures"})
    logarithmic = [graph for section in GRAPHS.values() for graph in section if graph.log]
    above_zero = unit.SECONDS, unit.BYTES, unit.SQUARES
    check.equal("though values may be 0", [graph.title for graph in logarithmic if graph.unit not in above_zero], [])


def test_self(check):
    """All that the manual lists of the plugin's own series has a graph."""
    with open(os.path.join(TOP, "docs", "collectd-ebpf-metrics.pod"), encoding="utf-8") as file:
        text = file.read().partition("=head1 SELF-MONITORING")[2]
    listed = re.findall(r"^  ([a-z_]+-[a-z_]\S*)", text, re.M)
    drawn = [one.file for graph in GRAPHS["The plugin"] for one in graph.series]
    check.true("some are listed", len(listed) > 20, len(listed))
    check.equal("not drawn", [file for file in (re.sub("PROBE.*", "request-program", name) for name in listed)
                              if not any(fnmatch.fnmatch(file, pattern) for pattern in drawn)], [])


def test_help(check):
    """Each graph says what it shows."""
    graphs = [*(graph for section in GRAPHS.values() for graph in section), *definitions.OVERVIEW]
    without = [graph.title for graph in graphs if not explanation(graph, {one.label for one in graph.series})]
    check.equal("graphs without an explanation", without, [])


def test_meaning(check):
    page = meaning.read()
    text = re.sub(r"<code>.*?</code>|<pre>.*?</pre>", "", page.html, flags=re.S)
    check.equal("Markdown that is left", re.findall(r"`|\]\(|^\||^#|\*\*", text, re.M), [])
    ids = re.findall(r' id="([^"]*)"', page.html)
    check.equal("ids of two", [one for one in ids if ids.count(one) > 1], [])
    parts = {f"part-{name}" for name in definitions.PARTS} - {"part-send"}
    check.equal("parts without a row", sorted(parts - set(ids)), [])
    check.equal("links to nothing", [one for one in re.findall(r'href="#([^"]*)"', page.html) if one not in ids], [])
    found = {graph.title: meaning.doc_of(graph) for section in GRAPHS.values() for graph in section}
    check.equal("links of graphs to nothing", [one for one in found.values() if one and one.partition("#")[2] not in ids], [])
    for title, want in (("Where a request's time goes", "the-parts-of-a-requests-time"), ("Slack", "percent-slack"),
                        ("Oldest request", "gauge-requests_oldest"), ("Run-queue wait", "part-runqueue"),
                        ("Response time", "latency-response-percentile-99"), ("Requests at upstreams", "part-upstream")):
        check.equal(title, found[title], f"{meaning.PAGE}#{want}")
    check.equal("of what it does not name", meaning.doc_of(Graph("", unit.RATE, (Series("x-</a>"),))), "")


def test_missing(check):
    """Without the document there are no links."""
    meaning.read.cache_clear()
    meaning._id_of.cache_clear()
    samples.document = lambda name: "/nonexistent"
    check.equal("address", meaning.doc_of(definitions.REQUEST_TIME), "")
    check.equal("page", meaning.read(), None)


with Check() as checks:
    for test in (test_largest, test_classes, test_self, test_help, test_meaning, test_missing):
        test(checks)

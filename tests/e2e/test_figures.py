#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The parts of ebpf-graph and ebpf-top that need no collectd: figures, values as JSON, packets as collectd has sent them."""

import fnmatch
import json
import math
import os
import struct
import sys

from e2e import TOP, Check, read_types

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import detail  # noqa: E402
import live  # noqa: E402
import network  # noqa: E402
import parts  # noqa: E402
import series  # noqa: E402
import table  # noqa: E402
import unit  # noqa: E402
import unixsock  # noqa: E402
import views  # noqa: E402
from chart import numbers  # noqa: E402
from columns import COLUMNS  # noqa: E402
from curve import Curve  # noqa: E402
from definitions import GRAPHS, PARTS, REQUEST_TIME, THREAD_TIME, UNDRAWN, described, is_drawn, tails, unit_of  # noqa: E402
from rrd import Grid  # noqa: E402

PACKETS = os.path.join(TOP, "tests", "e2e", "packets")
NAN = math.nan


def test_units(check):
    for what, value, want in (
            (unit.SECONDS, 0.0123, "12.3 ms"), (unit.SECONDS, 1.5e-6, "1.50 µs"), (unit.SECONDS, 0, "0 s"),
            (unit.SECONDS, 0.9999, "1.00 s"), (unit.SECONDS, 3e-11, "0.03 ns"), (unit.SECONDS, -0.002, "-2 ms"),
            (unit.BYTES, 1023.4, "1023 B"), (unit.BYTES, 1023.6, "1.00 KiB"), (unit.BYTES, 3 * 2 ** 20, "3 MiB"),
            (unit.RATE, 999.4, "999"), (unit.RATE, 999.6, "1.00 k"), (unit.RATE, 99.96, "100"), (unit.RATE, NAN, "–"),
            (unit.RATE, 1e16, "10 P"), (unit.RATE, 0.004, "<0.01"), (unit.RATE, 0.005, "0.01"), (unit.RATE, 0, "0"),
            (unit.SQUARES, 4e-9, "4×10⁻⁹ s²"), (unit.SQUARES, 0.000123, "1.2×10⁻⁴ s²"), (unit.SQUARES, 1e-6, "10⁻⁶ s²"), (unit.SQUARES, 1.25, "1.25 s²"),
            (unit.SQUARES, 0, "0 s²"), (unit.NUMBER, 25.04, "25.0")):
        check.equal(f"{value} {what.name}", what.write(value).replace(unit.NBSP, " "), want)
    check.equal("short", unit.BYTE_RATE.short(2.5 * 2 ** 20), "2.50Mi")
    check.equal("short", unit.SECONDS.short(250e-6), "250µs")


def test_keys(check):
    """As many as fit, from the most important one on."""
    check.equal("keys at 40 columns", views.key_line(40), "? help  q quit  / filter")
    check.equal("keys that do not fit", [width for width in range(1, 200) if len(views.key_line(width)) > width], [])
    check.equal("keys without an explanation", [key for key, _ in views.KEYS if key not in views.MEANINGS], [])
    check.true("all keys, where there is room", views.key_line(140).endswith(views.KEYS[-1][1]), views.key_line(140))


def test_detail(check):
    """All that is known of one service, whatever its name and those of others are."""
    strange = "a\x1b[2Jb"
    values = {("total_requests", "value"): 12.0, ("gauge-requests_waiting", "value"): 3.0, ("ps_rss", "value"): 3.0 * 2 ** 20,
              ("latency-response-percentile-99", "value"): 0.25, ("latency-in_socket", "value"): 0.03,
              ("latency-in_disk", "value"): 0.01, (f"total_requests-upstream-{strange}", "value"): 5.0}
    rows = live.rows({("h", strange): values, ("h", strange + "-12-34"): {("ps_cputime", "user"): 1e4}})
    row = next(one for one in rows if one.name == strange)
    said = detail.lines(row, rows, 100)
    text = "\n".join(line for _, line in said)
    for part in ("waiting 3", "3\xa0MiB", "response", "250ms", "Upstreams", "Processes", "[12]"):
        check.contains("one service", text, part)
    parts_said = [line.split()[:3] for _, line in said if line.startswith(("socket", "disk"))]
    check.equal("its parts, the largest first", parts_said, [["socket", "75", "%"], ["disk", "25", "%"]])
    check.equal("what a terminal would obey", [line for _, line in said if not line.replace("\xa0", " ").isprintable()], [])
    check.true("the line about a machine", live.summary(rows).startswith("h  12") and "3\xa0MiB" in live.summary(rows), live.summary(rows))


def test_numbers(check):
    for values, want in (((), "[]"), ((NAN, NAN), "[]"), ((NAN, 0, NAN, -1.5, NAN), "[null,0,null,-1.5]"),
                         ((123456, 0.000123456, 1e-30, 1e29), "[1.235e+05,0.0001235,1e-30,1e+29]")):
        check.equal(f"{values} as JSON", numbers(values), want)
        json.loads(numbers(values))


def test_rows(check):
    def row(service, cpu):
        return live.Row("h", service, service, {("ps_cputime", "user"): cpu * 1e4, ("ps_cputime", "syst"): NAN})

    many = [row("idle", 0), live.Row("h", "none", "none", {("ps_rss", "value"): 1}), row("busy", 80), row("half", 40)]
    cpu = next(column for column in COLUMNS if column.name == "cpu")
    check.equal("by CPU", [one.name for one in live.sort(many, cpu)], ["busy", "half", "idle", "none"])
    check.equal("reversed", [one.name for one in live.sort(many, cpu, True)], ["idle", "half", "busy", "none"])
    check.equal("by name", [one.name for one in live.sort(many, None)], ["busy", "half", "idle", "none"])
    lines = [(one.name, one.figures) for one in many]
    check.equal("headings", table.lines(lines, marked=cpu)[0].split(), ["service", "▾CPU%", "memory"])
    check.equal("narrow", table.lines(lines, width=20)[0].split(), ["service", "CPU%"])
    check.equal("a long name", table.lines([("host/" + 30 * "x" + "end", many[0].figures)], width=80)[1].split()[0],
                "host/xx…xxxxxend")
    check.equal("what a terminal would obey", table.lines([("a\x1b[2J\0\udce9", many[0].figures)])[1].split()[0],
                "a�[2J��")
    memory = next(column for column in COLUMNS if column.name == "memory")
    check.equal("narrow, sorted by what is last", table.lines(lines, marked=memory, width=20)[0].split(),
                ["service", "▾memory"])
    slack = next(column for column in COLUMNS if column.name == "slack")
    check.equal("slack", slack.of({("percent-slack", "value"): 30.0}), 30.0)
    check.true("no slack", math.isnan(slack.of({("percent-slack", "value"): NAN})))


def curve(label, values, draw="stack"):
    """At the moments 0, 1, ..."""
    return Curve(label, draw, "#000", Grid(0, 1, len(values)), values, max(values))


def test_parts(check):
    """Three of ten, and a cap, which the second moment has alone."""
    many = [curve("disk", [6, NAN, 3]), curve("lock", [2, NAN, NAN]), curve("none", [0, NAN, 0]),
            curve("send", [NAN, 7, 1], "cap")]
    shown = parts.layers(many)
    check.equal("layers", [one.label for one in shown], ["disk", "lock", "send"])
    check.equal("where they are known", [[not math.isnan(value) for value in one.values] for one in shown],
                [[True, False, True], [True, False, False], [False, False, True]])
    check.equal("a cap alone", parts.layers(many[3:]), [])
    check.equal("zero throughout: all of it, to say so", [one.label for one in parts.layers(many[2:3])], ["none"])
    for values, want in (((6, 3, 1), "disk 60 %"), ((3, 4, 3), "lock 40 %"), ((1, 0, 0), "disk 100 %"),
                         ((0.1, 0.004, NAN), "disk 96 %"), ((0, 0, 1), "send 100 %"), ((0, 0, 0), ""), ((NAN, NAN, 1), "")):
        found = parts.largest_first(zip((many[0], many[1], many[3]), values))
        check.equal(f"the largest of {values}", "".join(map(str, found[:1])).replace(unit.NBSP, " "), want)
    small, = parts.largest_first(zip(many, (1, 0.001)))[1:]
    check.equal("little is not nothing", str(small).replace(unit.NBSP, " "), "lock <1 %")


def test_divided(check):
    """A part by its upstreams: the two largest, and the rest."""
    many = [curve("cpu", [1, 1, 1]), curve("upstream", [8, 8, NAN])]
    shares = [curve("b", [1, 0, 1]), curve("a", [2, NAN, 2]), curve("c", [1, 0, 0])]
    check.equal("no such part", parts.divided(many[:1], "upstream", shares, "XY"), many[:1])
    check.equal("no shares", parts.divided(many, "upstream", [], "XY"), many)
    shown = parts.divided(many, "upstream", shares, "XY")
    check.equal("layers", [one.label for one in shown], ["cpu", "upstream a", "upstream b", "upstream"])
    check.equal("colours", [one.color for one in shown[1:]], ["X", "Y", "#000"])
    check.equal("in the first moment", [one.values[0] for one in shown], [1, 4, 2, 2])
    check.equal("where there are no shares", [one.values[1] for one in (shown[0], shown[-1])], [1, 8])
    shown = parts.divided(many, "upstream", shares[:2], "XY")
    check.equal("of two alone, in the first moment", [round(one.values[0], 6) for one in shown], [1, 5.333333, 2.666667, 0])


def test_largest_part(check):
    column = next(column for column in COLUMNS if column.name == "why")
    values = {("latency-in_disk", "value"): 0.003, ("latency-in_cpu", "value"): 0.001, ("gauge-send_wait", "value"): NAN}
    for more, want in (({}, "disk 75 %"), ({("gauge-send_wait", "value"): 0.016}, "send buffer 80 %")):
        check.equal("of now", column.unit.short(column.of(values | more)).replace(unit.NBSP, " "), want)
    check.equal("as JSON", column.json(column.of(values)), {"why": "disk", "why_percent": 75, "why_samples": None, "why_age": None})
    check.equal("unknown", column.json(column.of({("gauge-send_wait", "value"): 0.016})), dict.fromkeys(("why", "why_percent", "why_samples", "why_age")))
    many = [curve("disk", [3, 5]), curve("CPU", [1, 1])]
    check.equal("of a span", str(column.evaluate(many)).replace(unit.NBSP, " "), "disk 80 %")
    check.true("of one without", math.isnan(column.evaluate([])))


def test_colors(check):
    """No two parts have one, and a part has the same in all pictures."""
    check.equal("colours of the parts", len({color for _, color in PARTS.values()}), len(PARTS))
    colors = {}
    for one in REQUEST_TIME.series + THREAD_TIME.series:
        colors.setdefault(one.label, set()).add(one.color)
    check.equal("colours of each", {len(some) for some in colors.values()}, {1})


def test_hosts(check):
    def titles(*hosts):
        return [title for title, _ in live.lines([live.Row(host, "web-7-100", "web", {}) for host in hosts])]

    check.equal("one host", titles("a.example.com", "a.example.com"), ["web[7]"] * 2)
    for hosts, want in ((("a.x.example.com", "b.example.com"), ("a.x", "b")), (("a", "a.example"), ("a", "a.example")),
                        (("10.0.0.1", "10.0.0.2"), ("10.0.0.1", "10.0.0.2")), (("x.com", "x.com.com"), ("x", "x.com"))):
        check.equal(f"of {hosts}", titles(*hosts), [f"{host}/web[7]" for host in want])


def test_processes(check):
    """Only where its service is: on another host the same name may be a service's."""
    some = {("ps_rss", "value"): 1.0}
    many = live.of_services(live.rows({
        ("a", "app-1-2"): some, ("a", "web-7-100"): some, ("a", "web"): some, ("b", "app"): some, ("b", "app-1-2"): some,
        ("b", "self"): some}))
    check.equal("titles", [title for title, _ in live.lines(many)],
                ["a/app-1-2", "a/web[7]", "a/web", "b/app", "b/app[1]"])
    check.equal("parents", [row.parent for row in many], ["app-1-2", "web", "web", "app", "app"])


def packet(name):
    with open(os.path.join(PACKETS, name), "rb") as file:
        return file.read()


def test_packets(check):
    """Recorded from collectd 5.12: two readings, 2 s apart."""
    cache = network.Cache()
    for moment, name in ((100.0, "first"), (102.0, "second")):
        for reading in network.readings(packet(name)):
            cache.store(reading, moment)
    services = cache.services(103.0)
    check.equal("services", sorted(services), [("recorded", "demo-server")])
    values = services["recorded", "demo-server"]
    check.equal("a gauge", values["ps_rss", "value"], 9940992.0)
    check.within("a counter's rate", values["total_requests", "value"], 549.497, 549.498)
    check.within("of the second data source", values["ps_cputime", "syst"], 262674, 262675)
    check.equal("nothing is kept that no column needs", [file for file, _ in values if not live.is_wanted(file)], [])
    check.equal("after three intervals", cache.services(109.0), {})
    check.equal("and then nothing is kept of them", (cache.counts, cache.single), ({}, set()))
    strange = live.Row("h", "s", "s", {("ps_rss", "value"): math.inf}).json()
    check.equal("what JSON has no number for", strange["memory"], None)
    for text in ("127.0.0.1:65536", "127.0.0.1:x", ":²"):
        try:
            check.true(f"a port of {text} is refused", not network.resolve(text))
        except live.Trouble as trouble:
            check.contains(f"a port of {text} is refused", str(trouble), "a port is")


def test_hostile(check):
    """Whatever is cut off or changed, is a reading or is Malformed, and nothing else."""
    whole = packet("second")
    outcomes = set()
    for position in range(len(whole)):
        for changed in (whole[:position], whole[:position] + bytes([whole[position] ^ 0xFF]) + whole[position + 1:]):
            try:
                outcomes.add(type(next(iter([*network.readings(changed), None]))).__name__)
            except (network.Malformed, network.Closed) as error:
                outcomes.add(type(error).__name__)
    allowed = {"Malformed", "Reading", "NoneType", "Closed"}
    check.true("outcomes", {"Malformed", "Reading"} <= outcomes <= allowed, outcomes)
    for name in ("signed", "encrypted"):
        try:
            list(network.readings(packet(name)))
            check.true(f"{name} is refused", False)
        except network.Closed:
            check.true(f"{name} is refused", True)
    check.true("a counter that fell has no rate", math.isnan(network.rate((1, 50), (2, 40))))
    check.true("nor one read twice at a time", math.isnan(network.rate((1, 50), (1, 60))))
    part = struct.pack(">HHH", network.VALUES, 6, 0)
    check.equal("a part without values", [reading.values for reading in network.readings(part)], [()])


def test_sources(check):
    """What stands in for types.db agrees with it."""
    types = read_types()
    for kind in {file.partition("-")[0] for file in live.WANTED}:
        want = tuple(source for source, _ in types[kind])
        check.equal(f"data sources of {kind}", network.SOURCES.get(kind, ("value",)), want)


def test_names(check):
    for identifier, want in (
            ("h/ebpf-web/ps_rss", ("h", "web", "ps_rss")),
            ("h/ebpf-a b-c/total_requests", ("h", "a b-c", "total_requests")),
            ("h/ebpf-web/ps_vm", None), ("h/cpu-0/ps_rss", None), ("nonsense", None)):
        check.equal(identifier, unixsock.split(identifier), want)
    check.equal("quoted", unixsock.quote('a"b\\c'), '"a\\"b\\\\c"')
    check.true("no number", math.isnan(unixsock.parse("value=NaN")[1]))


def test_described(check):
    """Every series of the probes has a picture or needs none, and in the unit that its tag says."""
    shown = {(one.file, one.source): (graph, one) for section in GRAPHS.values() for graph in section for one in graph.series}
    # Shown as another: time as a share of a CPU, and numbers of two things in one picture.
    other = {"ps_cputime": unit.CPU, "ps_count": unit.NUMBER}
    for _, _, many in series.PROBES:
        for file, kind, counted, word, sources, _ in many:
            suffixes = {"integer": ("",), "histogram": ("-average", "-percentile-*"), "moments": ("-average", "-cv")}[kind]
            found = [shown[file + suffix, name] for suffix in suffixes for name, _ in sources if (file + suffix, name) in shown]
            check.true(f"{file} is drawn", found or any(fnmatch.fnmatch(file, pattern) for pattern in UNDRAWN))
            want = other.get(file) or unit_of(word, counted)[0]
            for graph, one in found:
                if not one.file.endswith("-cv"):
                    check.equal(f"{one.file} {one.source}: unit", graph.unit.symbol or graph.unit.name, want.symbol or want.name)


def test_undescribed(check):
    """Series that no definition names, as a new probe has them."""
    graph = described("duration-new-*", "histogram", False, "seconds", (("seconds", "New"),))
    check.equal("by key", [(one.file, one.source, one.label) for one in graph.series], [("duration-new-*-average", "seconds", "*")])
    graph, = tails("duration-new-*", "histogram", False, "seconds", (("seconds", "New"),))
    check.equal("and its tail", (graph.title, [(one.file, one.source, one.label) for one in graph.series]),
                ("New, 99th percentile", [("duration-new-*-percentile-99", "seconds", "*")]))
    check.equal("a histogram of its own has one picture", tails("latency-new", "histogram", False, "seconds", ()), ())
    graph = described("latency-new", "histogram", False, "seconds", (("value", "New"),))
    check.equal("percentiles", [one.file for one in graph.series], ["latency-new-average", "latency-new-percentile-*"])
    graph = described("io_ops-new", "integer", True, "calls", (("read", "Read"), ("write", "Write")))
    check.equal("data sources", [(one.source, one.label) for one in graph.series], [("read", "Read"), ("write", "Write")])
    check.equal("of a counter, unit", graph.unit, unit.RATE)
    graph = described("total_time_in_ms-new", "integer", True, "milliseconds", (("value", "Time"),))
    check.equal("of a time that is counted", (graph.unit, graph.series[0].scale), (unit.SHARE, 0.1))
    check.true("is not drawn yet", not is_drawn("gauge-new", "moments", {"gauge-newer-average"}))


with Check() as checks:
    for test in (test_units, test_keys, test_detail, test_numbers, test_rows, test_parts, test_divided, test_largest_part, test_colors,
                 test_hosts, test_processes, test_packets, test_hostile, test_sources, test_names, test_described, test_undescribed):
        test(checks)

# SPDX-License-Identifier: MIT
"""The dashboards: which panels they have and what each asks of a store. All follows from the graphs of definitions.py, the ranks
of layers.py and the catalogue of series.py: a new series gets a panel on the dashboard of what it is counted for."""

import collections
import dataclasses
import fnmatch
import functools
import re

import definitions
import series
import unit
from definitions import GRAPHS, OVERVIEW, SLACK, SUCCESSES, TAIL, THREAD_TIME, UPSTREAM_ERRORS, Graph, Series
from explain import explanation
from layers import LAYERS
from name import PLUGIN
from targets import EACH, SERVICE, Target

PLUGIN_SECTION = "The plugin"
STATISTIC = re.compile(r"-(?:average|cv|frequency|samples|variance|percentile-.*)$")
BY_SERVICE, BY_HOST, BY_BOTH = ("service",), ("host",), ("host", "service")


@dataclasses.dataclass(frozen=True)
class Panel:
    title: str
    unit: unit.Unit
    targets: tuple          # of Target
    kind: str = "lines"     # lines, stack (the series that are drawn as stack or cap; the others are lines above), or table
    help: str = ""
    series: tuple = ()      # of definitions.Series, one for each target: how it is drawn
    log: bool = False       # a logarithmic axis
    top: float = 0          # the end of the axis; 0: by the values
    parts: bool = False     # a stack of the parts of a whole
    lowest: bool = False    # of a table: the lowest value is the first row

    def by(self):
        """The columns of a table before that of the values."""
        return self.targets[0].by

    def how(self):
        """What a table shows of the values of several targets: sum, max or min."""
        return self.targets[0].how


@dataclasses.dataclass(frozen=True)
class Dashboard:
    uid: str
    title: str
    description: str
    variables: tuple        # names
    rows: tuple             # ((title, (Panel, ...)), ...)
    opened: int             # so many rows are open, the others are collapsed
    many: bool = False      # several values of a variable, or all, can be chosen
    links: tuple = ()       # uids


def fits(entry, kind, file):
    """Whether this entry of the catalogue has the series. file: TYPE[-INSTANCE], perhaps with a `*`"""
    stem = file if kind == "integer" else STATISTIC.sub("", file)
    return (kind == "integer" or stem != file) and fnmatch.fnmatch(stem, entry)


@functools.cache
def catalogued(file):
    """(probe, title, rows) of the entry of the catalogue that describes this series most exactly; None if there is none."""
    found = [(entry, (probe, sources[0][1], rows)) for _, probe, many in series.PROBES
             for entry, kind, _, _, sources, rows in many if fits(entry, kind, file)]
    return max(found, key=lambda one: (one[0] == file, "*" not in one[0], len(one[0])))[1] if found else None


def is_of_services(one):
    described = catalogued(one.file)
    return not described or "service" in described[2]


def machine_subject(one):
    """The subject of the machine's own series: a probe, or EACH for devices and CPUs; None if only services have the series."""
    described = catalogued(one.file)
    if not described:
        return None
    probe, _, rows = described
    if "probe" in rows or rows in (("enum",), ("string",)):
        return probe
    return None if "service" in rows else EACH


def target_of(one, subject, label="", **options):
    """The Target of a definitions.Series."""
    return Target(one.file, one.source, subject, label or one.label, one.scale, only=one.only, without=one.without, **options)


def helped(graph):
    return explanation(graph, {one.label for one in graph.series})


def panel(graph, targets, drawn):
    """A graph as a panel. drawn: a definitions.Series for each target"""
    kind = "stack" if graph.is_stacked() else "lines"
    return Panel(graph.title, graph.unit, tuple(targets), kind, helped(graph), tuple(drawn), graph.log, graph.top, graph.parts)


def above(graph):
    """The lines above a stack: the first percentile of each latency. The first line is solid."""
    first = {one.file.partition("-percentile-")[0]: one for one in reversed(graph.above)}
    lines = [one for one in graph.above if one in first.values()]
    return [dataclasses.replace(one, draw="line" if one is lines[0] else "dashes") for one in lines]


def of_service(graph):
    """The panel of the chosen service; None if services have none of the series."""
    drawn = [one for one in graph.series if is_of_services(one)]
    if not drawn:
        return None
    graph = dataclasses.replace(graph, series=tuple(drawn))
    drawn += above(graph) + list(graph.samples)
    return panel(graph, [target_of(one, SERVICE) for one in drawn], drawn)


def machine_label(one, subject, alone):
    """The label of a curve. alone: there is one series for each device"""
    if subject != EACH or "*" in one.label:
        return one.label
    first, rest = one.label[:1], one.label[1:]
    return "*" if alone else f"* {first.lower() if rest[:1].islower() else first}{rest}"


def of_machine(graph):
    """The panel of the machine, its devices or its CPUs; None if only services have the series."""
    drawn = [one for one in graph.series if machine_subject(one)]
    if not drawn:
        return None
    graph = dataclasses.replace(graph, series=tuple(drawn))
    subjects = [(one, machine_subject(one)) for one in drawn]
    return panel(graph, [target_of(one, subject, machine_label(one, subject, len(drawn) == 1)) for one, subject in subjects], drawn)


def title_in_catalogue(one):
    return (catalogued(one.file) or ("", one.file, ()))[1]


def of_services(graph):
    """The panel of all services of the chosen host: a curve for each series of each."""
    def label(one):
        if "*" not in one.label:
            return "*" if len(graph.series) == 1 else f"* {one.label}"
        return "*" if one is graph.series[0] else f"* {title_in_catalogue(one).lower()}"
    return panel(graph, [target_of(one, EACH, label(one)) for one in graph.series],
                 [dataclasses.replace(one, color="") for one in graph.series])


def table(graph, by, how="sum", lowest=False):
    """A table of services or hosts, sorted by the sum of the graph's series, or by their largest or smallest."""
    targets = tuple(target_of(one, EACH, "*", by=by, how=how) for one in graph.series)
    return Panel(graph.title, graph.unit, targets, "table", helped(graph), graph.series, lowest=lowest)


def unique(panels):
    """Tells panels of the same title apart, by their unit or by what the catalogue calls their series."""
    count = collections.Counter(one.title for one in panels)
    named = []
    for one in panels:
        alike = [other for other in panels if other.title == one.title]
        suffix = one.unit.name if len({other.unit for other in alike}) == len(alike) else title_in_catalogue(one.targets[0]).lower()
        named.append(dataclasses.replace(one, title=f"{one.title}, {suffix}") if count[one.title] > 1 else one)
    return tuple(named)


def row(title, panels):
    return title, unique([one for one in panels if one])


def sections(of):
    """A row for each section of GRAPHS that has panels. of: makes a panel of a graph, or None"""
    rows = (row(title, map(of, graphs)) for title, graphs in GRAPHS.items() if title != PLUGIN_SECTION)
    return tuple(one for one in rows if one[1])


def graph_with(file):
    """The first graph that has a series of this name."""
    return next(graph for graphs in GRAPHS.values() for graph in graphs if any(one.file == file for one in graph.series))


def named(title, graph, *drawn):
    """The graph under another title and with other series."""
    return dataclasses.replace(graph, title=title, series=drawn)


def worst_services():
    shares = Series("percent-response-*", without=SUCCESSES)
    yield table(named("Services by threads that wait", THREAD_TIME, *THREAD_TIME.series), BY_BOTH)
    yield table(named("Services by share of responses that are errors", graph_with(shares.file), shares), BY_BOTH)
    yield table(named("Services by errors of their upstreams", graph_with(UPSTREAM_ERRORS.file), UPSTREAM_ERRORS), BY_BOTH)
    yield table(named("Services by slack, lowest first", graph_with(SLACK.file), SLACK), BY_BOTH, "min", True)
    yield table(named("Services by 99th percentile of response time", graph_with("latency-response-percentile-*"), *TAIL), BY_BOTH, "max")


def busiest_hosts():
    for graph in OVERVIEW:
        if graph.is_stacked():
            yield table(dataclasses.replace(graph, title=graph.title.replace("service", "host")), BY_HOST)


def to_blame():
    """For each layer of the triage the services that use most of it."""
    for layer in LAYERS:
        for rank in (*layer.ranks, *layer.also):
            if rank.title:
                yield table(Graph(rank.title, rank.column.unit, rank.column.series), BY_SERVICE)


def fleet():
    return row("Services", worst_services()), row("Hosts", busiest_hosts())


def machine():
    return row("Who is to blame", to_blame()), row("Services", map(of_services, OVERVIEW)), *sections(of_machine)


def plugin():
    return (row(PLUGIN_SECTION, (panel(graph, [target_of(one, PLUGIN) for one in graph.series], graph.series)
                                 for graph in GRAPHS[PLUGIN_SECTION])),)


FLEET, SERVICE_UID, MACHINE, PLUGIN_UID = "ebpf-fleet", "ebpf-service", "ebpf-machine", "ebpf-plugin"


def dashboards():
    return (
        Dashboard(FLEET, "eBPF: fleet", "The services and hosts that need attention, worst first.", ("host",), fleet(), 2,
                  many=True, links=(MACHINE, PLUGIN_UID)),
        Dashboard(SERVICE_UID, "eBPF: service", "One service of one host: its requests, what they wait for, and what it uses.",
                  ("host", "service"), sections(of_service), 4, links=(FLEET, MACHINE, PLUGIN_UID)),
        Dashboard(MACHINE, "eBPF: machine", "One host: which services use most of it, and its disks, network and CPUs.",
                  ("host",), machine(), 2, links=(FLEET, PLUGIN_UID)),
        Dashboard(PLUGIN_UID, "eBPF: the plugin", "collectd's ebpf plugin on one host: its cost, what it refused, and its hooks.",
                  ("host",), plugin(), 1, links=(FLEET, MACHINE)),
    )


DASHBOARDS = dashboards()

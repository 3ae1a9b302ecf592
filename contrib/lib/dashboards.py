# SPDX-License-Identifier: MIT
"""The dashboards: which panels they have and what each asks of a store. All follows from the graphs of definitions.py, the
ranks of layers.py and the catalogue of series.py: a new series gets a panel on the dashboard of what it is counted for."""

import collections
import dataclasses

import series
import unit
from definitions import GRAPHS, OVERVIEW, SLACK, SUCCESSES, TAIL, THREAD_TIME, UPSTREAM_ERRORS, Graph, Series
from explain import explanation
from layers import LAYERS
from name import PLUGIN
from query import EACH, ENTRIES, SERVICE, Target, entry

PLUGIN_SECTION = "The plugin"
HOST = ("host",)
KINDS = {"enum": "kind"}    # what a series is counted for, where the catalogue's word is not an operator's
CATALOGUE = {file: sources[0][1] for _, _, many in series.PROBES for file, _, _, _, sources, _ in many}
BY_SERVICE, BY_HOST, BY_BOTH = ("service",), HOST, ("host", "service")


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
    links: tuple = ()       # ((uid of another, names of the variables that it gets), ...)


def counted_for(one):
    """(probe, what the rows of the series are of, as in the catalogue)"""
    return ENTRIES.get(entry(one.file), ("", ("service",)))


def is_of_services(one):
    return "service" in counted_for(one)[1]


def machine_subject(one):
    """The subject of the machine's own series: a probe, or EACH for devices and CPUs; None if only services have the series."""
    probe, rows = counted_for(one)
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


def service_panel(graph):
    """The panel of the chosen service; None if services have none of the series."""
    drawn = [one for one in graph.series if is_of_services(one)]
    if not drawn:
        return None
    graph = dataclasses.replace(graph, series=tuple(drawn))
    drawn += above(graph) + list(graph.samples)
    return panel(graph, [target_of(one, SERVICE) for one in drawn], drawn)


def machine_label(one, subject, alone):
    """The label of a curve, without a capital within it. alone: there is one series for each device"""
    if subject != EACH or "*" in one.label:
        return one.label
    if alone:
        return "*"
    # But not that of an abbreviation.
    return "* " + (one.label[0].lower() + one.label[1:] if one.label[1:2].islower() else one.label)


def machine_panel(graph):
    """The panel of the machine, its devices or its CPUs; None if only services have the series."""
    drawn = [one for one in graph.series if machine_subject(one)]
    if not drawn:
        return None
    graph = dataclasses.replace(graph, series=tuple(drawn))
    alone = len(drawn) == 1
    return panel(graph, [target_of(one, subject, machine_label(one, subject, alone))
                         for one in drawn for subject in [machine_subject(one)]], drawn)


def title_in_catalogue(one):
    """What the catalogue calls a series, as within a sentence."""
    return CATALOGUE.get(entry(one.file), one.file).lower()


def overview_panel(graph):
    """The panel of all services of the chosen host: a curve for each series of each."""
    def label(one):
        if "*" not in one.label:
            return "*" if len(graph.series) == 1 else f"* {one.label}"
        return "*" if one is graph.series[0] else f"* {title_in_catalogue(one)}"
    return panel(graph, [target_of(one, EACH, label(one)) for one in graph.series],
                 [dataclasses.replace(one, color="") for one in graph.series])


def ranking(graph, by, how="sum", lowest=False):
    """A table of services or hosts, sorted by the sum of the graph's series, or by their largest or smallest."""
    targets = tuple(target_of(one, EACH, "*", by=by, how=how) for one in graph.series)
    return Panel(graph.title, graph.unit, targets, "table", helped(graph), graph.series, lowest=lowest)


def counted_by(one):
    """What a panel has a curve for each of, in words; empty if that is no more than the service."""
    target = one.targets[0]
    return "by " + KINDS.get(kind := counted_for(target)[1][1], kind) if "*" in target.file and not target.by else ""


WAYS = (lambda one: "", lambda one: one.unit.name, counted_by, lambda one: title_in_catalogue(one.targets[0]),
        lambda one: one.targets[0].file)


def distinguished(one, alike):
    """A panel with what tells it apart in its title. alike: all panels of its title"""
    way = next(way for way in WAYS if len(set(map(way, alike))) == len(alike))
    return dataclasses.replace(one, title=", ".join(filter(None, (one.title, way(one)))))


def unique(panels):
    """Tells panels of the same title apart."""
    alike = collections.defaultdict(list)
    for one in panels:
        alike[one.title].append(one)
    return tuple(distinguished(one, alike[one.title]) for one in panels)


def panel_row(title, panels):
    return title, unique([one for one in panels if one])


def section_rows(of):
    """A row for each section of GRAPHS that has panels. of: makes a panel of a graph, or None"""
    rows = (panel_row(title, map(of, graphs)) for title, graphs in GRAPHS.items() if title != PLUGIN_SECTION)
    return tuple(one for one in rows if one[1])


def graph_with(file):
    """The first graph that has a series of this name."""
    return next(graph for graphs in GRAPHS.values() for graph in graphs if any(one.file == file for one in graph.series))


def retitled(title, graph, *drawn):
    """The graph with another title and other series."""
    return dataclasses.replace(graph, title=title, series=drawn)


def worst_services():
    shares = Series("percent-response-*", without=SUCCESSES)
    yield ranking(retitled("Services by threads that wait", THREAD_TIME, *THREAD_TIME.series), BY_BOTH)
    yield ranking(retitled("Services by share of responses that are errors", graph_with(shares.file), shares), BY_BOTH)
    yield ranking(retitled("Services by errors of their upstreams", graph_with(UPSTREAM_ERRORS.file), UPSTREAM_ERRORS), BY_BOTH)
    yield ranking(retitled("Services by slack, lowest first", graph_with(SLACK.file), SLACK), BY_BOTH, "min", True)
    response = graph_with("latency-response-percentile-*")
    yield ranking(retitled("Services by 99th percentile of response time", response, *TAIL), BY_BOTH, "max")


def busiest_hosts():
    for graph in OVERVIEW:
        if graph.is_stacked():
            yield ranking(dataclasses.replace(graph, title=graph.title.replace("service", "host")), BY_HOST)


def to_blame():
    """For each layer of the triage the services that use most of it."""
    for layer in LAYERS:
        for rank in (*layer.ranks, *layer.also):
            if rank.title:
                yield ranking(Graph(rank.title, rank.column.unit, rank.column.series), BY_SERVICE)


def fleet_rows():
    return panel_row("Services", worst_services()), panel_row("Hosts", busiest_hosts())


def machine_rows():
    of_services = panel_row("Services", map(overview_panel, OVERVIEW))
    return panel_row("Who is to blame", to_blame()), of_services, *section_rows(machine_panel)


def plugin_rows():
    return (panel_row(PLUGIN_SECTION, (panel(graph, [target_of(one, PLUGIN) for one in graph.series], graph.series)
                                 for graph in GRAPHS[PLUGIN_SECTION])),)


FLEET, SERVICE_UID, MACHINE, PLUGIN_UID = "ebpf-fleet", "ebpf-service", "ebpf-machine", "ebpf-plugin"


def dashboards():
    return (
        Dashboard(FLEET, "eBPF: fleet", "The services and hosts that need attention, worst first.", HOST, fleet_rows(), 2,
                  many=True, links=((MACHINE, ()), (PLUGIN_UID, ()))),
        Dashboard(SERVICE_UID, "eBPF: service", "One service of one host: its requests, what they wait for, and what it uses.",
                  BY_BOTH, section_rows(service_panel), 4, links=((FLEET, ()), (MACHINE, HOST), (PLUGIN_UID, HOST))),
        Dashboard(MACHINE, "eBPF: machine", "One host: which services use most of it, and its disks, network and CPUs.",
                  HOST, machine_rows(), 2, links=((FLEET, ()), (PLUGIN_UID, HOST))),
        Dashboard(PLUGIN_UID, "eBPF: the plugin", "The ebpf plugin of one host: its cost, what it refused, and its hooks.",
                  HOST, plugin_rows(), 1, links=((FLEET, ()), (MACHINE, HOST))),
    )


DASHBOARDS = dashboards()

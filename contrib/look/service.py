# SPDX-License-Identifier: MIT
"""A service that is stored, found by the names of its files."""

import fnmatch
import functools
import math
import os
import re
import sys

import name
import rrd
from columns import COLUMNS
from curve import Curve, known, total
from definitions import GRAPHS, PALETTE, UNDRAWN, Graph, Series
from unit import Unit

SERIES = tuple(dict.fromkeys(
    [series for graphs in GRAPHS.values() for graph in graphs for series in graph.series]
    + [series for column in COLUMNS for series in column.series]))


def complain(what):
    print(f"ebpf-graph: {what}", file=sys.stderr)


def is_rrd(path):
    with open(path, "rb") as file:
        return file.read(4) == b"RRD\0"


def natural(text):
    """Numbers in a text by their size: p50 p95 p99.9."""
    return [(0, float(part)) if number else (1, part)
            for number, part in ((re.fullmatch(r"\d+(\.\d+)?", part), part)
                                 for part in re.split(r"(\d+(?:\.\d+)?)", text)) if part]


class Service:
    """The RRD files of one plugin instance of one host, and what they had in spans of time."""

    def __init__(self, host, own_name, directory):
        self.host, self.name, self.directory = host, own_name, directory
        self.updated = 0
        self.read_spans = {}    # span -> (grid, {(file, data source, consolidation): values})

    @functools.cached_property
    def files(self):
        found = []
        for file in sorted(os.listdir(self.directory), key=natural):
            path = os.path.join(self.directory, file)
            if file.endswith(".rrd") and os.path.isfile(path):
                if is_rrd(path):
                    found.append(file[:-4])
                else:
                    complain(f"{path} is no RRD file; skipping it")
        return found

    def path(self, file):
        return os.path.join(self.directory, file + ".rrd")

    def find_update(self):
        """When a value came last, by the file that was written last."""
        newest = max(map(self.path, self.files), key=os.path.getmtime)
        try:
            self.updated = rrd.last_update(newest)
        except rrd.Refused as error:
            complain(f"{error}; skipping the service")

    def match(self, series):
        """(file, what stands for the `*`) of each file that is this series."""
        if "*" not in series.file:
            return [(series.file, "")] if series.file in self.files else []
        before, _, after = series.file.partition("*")
        return [(file, file[len(before):len(file) - len(after)])
                for file in fnmatch.filter(self.files, series.file)]

    @functools.cached_property
    def others(self):
        """A graph for each collectd type that no definition knows."""
        known = {file for series in SERIES for file, _ in self.match(series)}
        types = {}
        for file in self.files:
            if file not in known and not any(fnmatch.fnmatch(file, pattern) for pattern in UNDRAWN):
                kind, _, instance = file.partition("-")
                for source in rrd.sources(self.path(file)):
                    label = instance if source == "value" else f"{instance} {source}".strip()
                    types.setdefault(kind, []).append(Series(file, source, label or kind))
        return tuple(Graph(kind, Unit(""), tuple(series)) for kind, series in types.items())

    def read(self, span):
        """All that is drawn, in one request."""
        try:
            series = SERIES + tuple(series for graph in self.others for series in graph.series)
            keys = list(dict.fromkeys((file, one.source, consolidation) for one in series for file, _ in self.match(one)
                                      for consolidation in ("AVERAGE", "MAX")))
            if keys:
                grid, columns = rrd.read([(self.path(file), *rest) for file, *rest in keys], span.start, span.end)
                self.read_spans[span] = grid, dict(zip(keys, columns))
        except rrd.Refused as error:
            complain(f"{self.name}: {error}; skipping it")

    def curves(self, graph, span):
        """One for each series that has a value."""
        if span not in self.read_spans:
            return []
        grid, columns = self.read_spans[span]
        found = []
        for series in graph.series:
            for file, varying in self.match(series):
                color = series.color or PALETTE[len(found) % len(PALETTE)]
                values, highest = ([value * series.scale for value in columns[file, series.source, consolidation]]
                                   for consolidation in ("AVERAGE", "MAX"))
                found.append(Curve(series.label.replace("*", varying), series.draw, color, grid, values, highest))
        return [curve for curve in found if curve.is_known()]

    def sum(self, graph, span, color, first=False):
        """All series of the graph as one curve under the service's name, or the first of them; None without any."""
        curves = self.curves(graph, span)
        return total(curves[:1] if first else curves, self.title, graph.series[0].draw, color) if curves else None

    def figures(self, span):
        """What the table says; NaN where nothing is known."""
        sums = [self.sum(column, span, "", column.first) for column in COLUMNS]
        return [getattr(curve, column.figure)() if curve else math.nan for curve, column in zip(sums, COLUMNS)]

    def is_in(self, span):
        _, columns = self.read_spans.get(span, (None, {}))
        return any(known(values) for values in columns.values())

    @property
    def parent(self):
        return name.parent(self.name)

    @property
    def is_process(self):
        return self.name != self.parent

    @property
    def is_plugin(self):
        return self.name == name.PLUGIN

    @property
    def title(self):
        return name.title(self.name)

    def weight(self, graph, spans):
        """Its part in an overview, at most over the spans."""
        curves = [self.sum(graph, span, "", not graph.is_stacked()) for span in spans]
        return max((curve.weight() for curve in curves if curve), default=0)

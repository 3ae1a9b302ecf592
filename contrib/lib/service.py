# SPDX-License-Identifier: MIT
"""A service in the tree of RRD files, found by the names of its files."""

import array
import fnmatch
import functools
import math
import os
import re

import layers
import name
import parts
import rrd
from columns import COLUMNS
from curve import Curve, is_zero, known, largest, total
from definitions import BUCKETS, GRAPHS, PALETTE, UNDRAWN, UPSTREAM_COLORS, Graph, Series
from span import Sample
from unit import Unit

DRAWN = tuple(dict.fromkeys(series for graphs in GRAPHS.values() for graph in graphs for series in graph.series))
SERIES = tuple(dict.fromkeys(
    [series for graphs in GRAPHS.values() for graph in graphs for series in graph.series + graph.above]
    + [series for column in COLUMNS for series in column.series]))
PERCENTILE = "-percentile-"
READ = tuple(dict.fromkeys(SERIES + layers.SERIES)) + (BUCKETS,)


def written(path):
    """The time of a file's last write; 0 if the file has been removed meanwhile."""
    try:
        return os.path.getmtime(path)
    except FileNotFoundError:
        return 0


def natural(text):
    """A sort key that compares numbers in a text by value: p50 p95 p99.9."""
    return [(0, float(part)) if number else (1, part)
            for number, part in ((re.fullmatch(r"\d+(\.\d+)?", part), part)
                                 for part in re.split(r"(\d+(?:\.\d+)?)", text)) if part]


def is_ramp(series):
    """Whether a series is a set of percentiles, which get tints of one colour."""
    return series.file.endswith(PERCENTILE + "*")


def ramp_of(files):
    """A colour for each file: tints of one colour from 0 to 1, with more contrast for higher percentiles."""
    return {file: f"ramp:{index / (len(files) - 1) if files[1:] else 0.5:.2f}" for index, file in enumerate(files)}


class Service:
    """The RRD files of a plugin instance on a host, and their values in spans of time."""

    def __init__(self, host, own_name, parent, directory):
        """parent: the service of a process, or own_name"""
        self.host, self.name, self.parent, self.directory = host, own_name, parent, directory
        self.keys = []          # see _keys()
        self.matches = {}       # see _matches()
        self.updated = 0        # the last update
        self.newest = math.inf  # the last update of any service of the host
        self.covered = {}       # span -> the part of it in which any service of the host has a value
        self.refused = []       # (path, reason) of files that rrdtool refused
        self.read_spans = {}    # span -> (grid, {(file, data source): (averages, highest of all)})

    @functools.cached_property
    def files(self):
        return [file[:-4] for file in sorted(os.listdir(self.directory), key=natural) if file.endswith(".rrd")]

    @functools.cached_property
    def written(self):
        """The time of the last write of any file."""
        return max((written(self.path(file)) for file in self.files), default=0)

    def path(self, file):
        return os.path.join(self.directory, file + ".rrd")

    def _ask(self, function, file, *arguments):
        """Calls `question` for a file. If rrdtool refuses, returns None and ignores the file from then on."""
        try:
            return function(*arguments)
        except rrd.Refused as error:
            self.refused.append((self.path(file), str(error)))
            self.files.remove(file)
            self.matches.clear()
            self.keys = []
            return None

    def _find_update(self):
        """The last update, from the file that was written last; 0 if no file can be read."""
        for path in sorted(map(self.path, self.files), key=written, reverse=True):
            updated = self._ask(rrd.last_update, os.path.basename(path)[:-4], path)
            if updated is not None:
                return updated
        return 0

    def read(self, spans):
        """Reads the values in these spans."""
        self.updated = self.updated or self._find_update()
        for span in spans:
            if self.updated > span.start:
                self._read(span)

    def narrow(self, span, level):
        """Gives a span its part of the values of a level."""
        if span == level or level not in self.read_spans:
            return
        grid, found = self.read_spans[level]
        begin = max(0, grid.index(span.start) + 1)
        part = {key: (averages[begin:], max(some)) for key, (averages, _) in found.items() if (some := known(averages[begin:]))}
        if part:
            self.read_spans[span] = rrd.Grid(grid.first + begin * grid.step, grid.step, grid.count - begin), part

    def sample(self):
        """A file that shows since when there are values; None if none can be read."""
        for file in list(self.files):
            sources = self._ask(rrd.sources, file, self.path(file))
            if sources:
                return Sample(self.path(file), sources[0])
        return None

    def match(self, series):
        """(file, text for the `*`) of each file of this series."""
        if "*" not in series.file:
            return [(series.file, "")] if series.file in self.files else []
        return [(file, label) for file in self.files if (label := series.key(file)) is not None]

    @functools.cached_property
    def others(self):
        """A graph for each collectd type without a definition."""
        drawn = {file for series in SERIES for file, _ in self.match(series)}
        types = {}
        for file in list(self.files):
            if file not in drawn and not any(fnmatch.fnmatch(file, pattern) for pattern in UNDRAWN):
                kind, _, instance = file.partition("-")
                for source in self._ask(rrd.sources, file, self.path(file)) or ():
                    label = instance if source == "value" else f"{instance} {source}".strip()
                    types.setdefault(kind, []).append(Series(file, source, label or kind))
        return tuple(Graph(kind, Unit(""), tuple(series)) for kind, series in types.items())

    def _keys(self):
        """(file, data source) of all values that are drawn or written."""
        if not self.keys:
            series = READ + tuple(series for graph in self.others for series in graph.series)
            self.keys = list(dict.fromkeys((file, one.source) for one in series for file, _ in self.match(one)))
        return self.keys

    @functools.cached_property
    def _drawn_keys(self):
        series = DRAWN + tuple(series for graph in self.others for series in graph.series)
        return {(file, one.source) for one in series for file, _ in self.match(one)}

    def _columns(self, keys, span):
        """(grid, averages, highest readings) of all keys, in two requests."""
        wanted = [(self.path(file), source) for file, source in keys]
        grid, averages = rrd.read([(*one, "AVERAGE") for one in wanted], span.start, span.end)
        return grid, averages, rrd.highest(wanted, span.start, span.end)

    def _read(self, span):
        try:
            grid, averages, highest = self._columns(self._keys(), span)
        except rrd.Refused:
            # A broken file must not affect the others.
            keys = self._keys()
            for file in dict(keys):
                self._ask(self._columns, file, [key for key in keys if key[0] == file], span)
            grid, averages, highest = self._columns(self._keys(), span)
        # Series without values are dropped.
        found = {key: (values, most) for key, values, most in zip(self._keys(), averages, highest)
                 if any(value == value for value in values)}
        if found:
            self.read_spans[span] = grid, found

    def curves(self, many, span):
        """A curve for each series with values; its colour is the same in all spans."""
        return [curve for _, _, curve in self.drawn(many, span)]

    def _matches(self, many):
        """(series, file, text for the `*`, colour) of each file of these series. They are the same in all spans."""
        known_many, found = self.matches.get(id(many), (None, ()))
        if known_many is many:
            return found
        matches = [(series, *match) for series in many for match in self.match(series)]
        ramp = ramp_of([file for series, file, _ in matches if is_ramp(series)])
        found = [(series, file, varying, ramp.get(file) or PALETTE[index % len(PALETTE)])
                 for index, (series, file, varying) in enumerate(matches)]
        self.matches[id(many)] = many, found
        return found

    def drawn(self, many, span):
        """Like curves(), as (series, file, curve)."""
        grid, columns = self.read_spans.get(span, (None, {}))
        ends = span.end, max(0, span.end - self.newest), self.covered.get(span, 0)
        return [(series, file, self._curve(series, varying, color, grid, *columns[file, series.source], *ends))
                for series, file, varying, color in self._matches(many) if (file, series.source) in columns]

    def picture(self, graph, span):
        """The curves of a graph of this service."""
        curves = self.curves(graph.series, span)
        if graph.is_keyed() or graph in self.others:
            curves = largest(curves, PALETTE)
        if not graph.parts:
            return curves
        shares = next((some for share in graph.shares if (some := self.curves(share, span))), [])
        layers = parts.divided(parts.layers(curves), graph.divided, shares, UPSTREAM_COLORS)
        return layers + self.curves(graph.above, span)[:1] + self.curves(graph.samples, span) if layers else []

    @staticmethod
    def _curve(series, varying, color, grid, values, most, end, lag, covered):
        if series.scale != 1:
            values, most = array.array("d", [value * series.scale for value in values]), most * series.scale
        return Curve(series.label.replace("*", varying), series.draw, series.color or color, grid, values, most,
                     PERCENTILE in series.file, end, lag, covered)

    def sum(self, graph, span, color, first=False):
        """The sum of the graph's series, or the first of them, as a curve with the service's name; None without values."""
        curves = self.curves(graph.series, span)
        return total(curves[:1] if first else curves, self.title, graph.series[0].draw, color) if curves else None

    def figures(self, span):
        """The figures of the table of services; NaN where unknown."""
        return [column.evaluate(self.curves(column.series, span)) for column in COLUMNS]

    def has_picture(self, span):
        """Whether its page has anything but zeros in this time."""
        columns = self.read_spans[span][1]
        return not all(is_zero(columns[key][0]) for key in self._drawn_keys if key in columns)

    def is_in(self, span):
        return span in self.read_spans

    @property
    def is_process(self):
        return self.name != self.parent

    @functools.cached_property
    def is_device(self):
        """Whether it is a device or the machine, not a service."""
        return layers.is_device(self.name, self.files)

    @property
    def is_plugin(self):
        return self.name == name.PLUGIN

    @property
    def title(self):
        return name.title(self.name, self.parent)

    def weight(self, graph, spans):
        """Its largest part in an overview in any of the spans."""
        curves = [self.sum(graph, span, "", not graph.is_stacked()) for span in spans]
        return max((curve.weight() for curve in curves if curve), default=0)

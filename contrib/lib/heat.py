# SPDX-License-Identifier: MIT
"""Heat maps of histograms whose buckets are stored (Buckets in collectd-ebpf(5)): how many events of each size there were, over
time. A bucket is a file bucket-HISTOGRAM-LOWER_UPPER with events per second."""

import collections
import math
import re

import name
import series
import unit
from chart import Chart, array, compose, numbers
from curve import Curve, known
from definitions import GRAPHS, OTHERS, Graph, Series, unit_of
from explain import explanation

NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e[+-]\d{2,3})?|inf)"
BUCKET = re.compile(rf"bucket-(.+?)-({NUMBER})_({NUMBER})", re.S)
KEYS_MAX = 7        # heat maps of one series with a histogram for each key, such as each system call
HELP = ("The stronger the colour, the more events of this size. Two bands are two kinds of work, such as hits and misses of a "
        "cache.")
# The units of other people's histograms, by collectd type.
UNITS = {"latency": unit.SECONDS, "duration": unit.SECONDS, "bytes": unit.BYTES}

# What a histogram is. file: of its series, perhaps with a `*`; unit: of its values, which are stored in 1/factor of it
Kind = collections.namedtuple("Kind", "file source title unit factor section")


def _section_of(file):
    """The section of a page that has graphs of this histogram."""
    drawn = f"{file}-average", f"{file}-percentile-*"
    return next(title for title, graphs in GRAPHS.items() for graph in graphs for one in graph.series if one.file in drawn)


KINDS = tuple(Kind(file, sources[0][0], sources[0][1], *unit_of(word, counted), _section_of(file))
              for _, _, many in series.PROBES for file, kind, counted, word, sources, _ in many if kind == "histogram")


def kind_of(histogram):
    """The most exact description by our probes, else one by the name."""
    found = (one for one in KINDS if name.varying(one.file, histogram) is not None)
    other = Kind(histogram, "value", histogram, UNITS.get(histogram.partition("-")[0], unit.Unit("")), 1, OTHERS)
    return max(found, key=lambda one: len(one.file), default=other)


def split(file):
    """(histogram, lower bound, upper bound) of a bucket's file; None if its name is none."""
    match = BUCKET.fullmatch(file)
    low, high = map(float, match.groups()[1:]) if match else (1, 0)
    return (match[1], low, high) if low <= high else None


def chain(buckets):
    """Sorted buckets, from the first to the last that is not always 0. buckets: (lower bound, upper bound, curve); the curve is
    None for a gap. A bucket that overlaps another is left out, because its name was cut."""
    found = []
    for low, high, curve in sorted(buckets, key=lambda one: (one[0], one[0] < one[1], -one[1])):
        end = found[-1][1] if found else low
        if end < low:
            found.append((end, low, None))
        if end <= low:
            found.append((low, high, curve))
    full = [index for index, (*_, curve) in enumerate(found) if curve and any(known(curve.values))]
    return found[full[0]:full[-1] + 1] if full else []


def number(bound):
    """A bound for JSON, which has no infinite numbers."""
    return bound if math.isfinite(bound) else None


class HeatMap(Chart):
    def __init__(self, histogram, buckets):
        """buckets: see chain()"""
        self.kind, self.buckets = kind_of(histogram), buckets
        self.key = name.varying(self.kind.file, histogram)
        title = f"{self.kind.title}{f', {self.key}' if self.key else ''}: heat map"
        percentiles = Series(self.kind.file + "-percentile-*", self.kind.source)
        text = explanation(Graph("", unit.RATE, (percentiles,)), ())
        super().__init__(Graph(title, unit.RATE, (percentiles,), more=bool(self.key), help=f"{text} {HELP}".strip()), [])

    def weight(self):
        return sum(curve.weight() for *_, curve in self.buckets if curve)

    def json(self, grid):
        bounds = [low for low, *_ in self.buckets] + [self.buckets[-1][1]]
        members = {"unit": self.kind.unit.json(), "bounds": [number(bound * self.kind.factor) for bound in bounds]}
        rows = array(numbers(curve.on(grid).values if curve else ()) for *_, curve in self.buckets)
        return super().json(grid)[:-1] + f',"heat":{compose(members, rows=rows)}}}'


def maps(grid, columns):
    """The heat maps of all histograms with events, those with most of them first. columns: (file, data source) -> (values,
    highest)"""
    found = collections.defaultdict(list)
    for (file, _), (values, highest) in columns.items():
        if bucket := split(file):
            found[bucket[0]].append((*bucket[1:], Curve(file, "heat", "", grid, values, highest)))
    shown, counts = [], collections.Counter()
    for one in sorted((HeatMap(histogram, buckets) for histogram, many in found.items() if (buckets := chain(many))),
                      key=lambda one: -one.weight()):
        counts[one.kind.file] += 1
        if counts[one.kind.file] <= KEYS_MAX:
            shown.append(one)
    return shown


def among(charts, section, found):
    """The charts of a section, each followed by the heat maps of its title."""
    own = [one for one in found if one.kind.section == section]
    placed = [one for chart in charts for one in (chart, *(one for one in own if one.kind.title == chart.graph.title))]
    return placed + [one for one in own if one not in placed]

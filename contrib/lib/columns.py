# SPDX-License-Identifier: MIT
"""Columns of tables: of services, and of the upstreams of services."""

import dataclasses
import math

import unit
from curve import total
from definitions import (AT_UPSTREAMS, DISK_READ, DISK_WRITTEN, IN_REQUESTS, MEDIAN, PROCESSES, READ, REQUESTS, RESIDENT,
                         SAMPLES, SLACK, STARTED, SYSTEM, TAIL, TO_UPSTREAMS, UPSTREAM_ERRORS, UPSTREAM_MEAN, UPSTREAM_TAIL, USER,
                         WAIT, WAITED_FOR, WRITTEN, Series)
from parts import Basis, PartUnit, largest_first, layers


def matching(series, values):
    """(label, value) of each value that belongs to a series. values: by file and data source"""
    if "*" not in series.file:
        key = series.file, series.source
        return [(series.label, values[key] * series.scale)] if key in values else []
    return [(series.label.replace("*", label), value * series.scale) for (file, source), value in values.items()
            if source == series.source and (label := series.key(file)) is not None]


@dataclasses.dataclass(frozen=True)
class Column:
    """The sum of several series or, with `first`, the first of them that exists."""
    name: str               # in JSON and for sorting
    heading: str
    below: str              # the second line of the heading
    brief: str              # the heading on a terminal
    unit: unit.Unit
    series: tuple
    figure: str = "average"     # how a span of time becomes one figure
    first: bool = False

    def of(self, values):
        """The current figure. values: by file and data source."""
        found = [value for series in self.series for _, value in matching(series, values)]
        known = [value for value in found if not math.isnan(value)][:1 if self.first else None]
        return sum(known) if known else math.nan

    def total(self, curves, label="", draw="", color=""):
        """The sum of all curves that belong to the column; None if there is none."""
        counted = curves[:1 if self.first else None]
        return total(counted, label, draw, color) if counted else None

    def evaluate(self, curves):
        """The figure of a span, from its curves."""
        whole = self.total(curves)
        if not whole:
            return math.nan
        return whole.average(self.unit.adds) if self.figure == "average" else getattr(whole, self.figure)()

    def json(self, figure):
        return {self.name: figure if math.isfinite(figure) else None}


def basis(values):
    """The Basis of the parts of requests' time; None if it is unknown. values: by file and data source"""
    return Basis.of_value(values.get((SAMPLES.file, SAMPLES.source), math.nan))


class LargestPart(Column):
    """The name and the share of the largest of several series, which are the parts of a whole. If one of them is that of the
    samples, with their Basis, and unknown if that is not current."""

    def of(self, values):
        found = [(dataclasses.replace(series, label=label), value)
                 for series in self.series if series is not SAMPLES for label, value in matching(series, values)]
        return self._largest(found, basis(values) if SAMPLES in self.series else None)

    def evaluate(self, curves):
        found = [(curve, curve.average(self.unit.adds)) for curve in layers([curve for curve in curves if curve.draw != "samples"])]
        return self._largest(found, Basis.of_curves(curves))

    @staticmethod
    def _largest(found, based_on):
        parts = largest_first(found)
        if not parts or based_on and not based_on.is_current:
            return math.nan
        parts[0].basis = based_on
        return parts[0]

    def json(self, figure):
        known = math.isfinite(figure)
        said = {self.name: figure.label if known else None, f"{self.name}_percent": figure if known else None}
        if SAMPLES in self.series:
            based_on = known and figure.basis
            said[f"{self.name}_samples"] = based_on.samples if based_on else None
            said[f"{self.name}_age"] = round(based_on.age, 1) if based_on and math.isfinite(based_on.age) else None
        return said


# In order of importance: a narrow terminal leaves out the last.
COLUMNS = (
    Column("requests", "requests", "per s", "req/s", unit.RATE, (REQUESTS,)),
    Column("p50", "p50", "response", "p50", unit.SECONDS, MEDIAN, figure="median", first=True),
    Column("p99", "p99", "response", "p99", unit.SECONDS, TAIL, figure="median", first=True),
    LargestPart("why", "why", "largest part", "why", PartUnit("percent"), (*IN_REQUESTS, SAMPLES)),
    Column("slack", "slack", "%", "slack%", unit.SHARE, (SLACK,), first=True),
    Column("cpu", "CPU", "% of one", "CPU%", unit.CPU, (USER, SYSTEM)),
    Column("memory", "memory", "bytes", "memory", unit.BYTES, (RESIDENT,)),
    Column("read", "read", "bytes/s", "read/s", unit.BYTE_RATE, (READ,)),
    Column("written", "written", "bytes/s", "write/s", unit.BYTE_RATE, (WRITTEN,)),
    Column("disk", "disk", "bytes/s", "disk/s", unit.BYTE_RATE, (DISK_READ, DISK_WRITTEN)),
    Column("wait", "CPU wait", "% of one", "wait%", unit.CPU, (WAIT,)),
    Column("processes", "procs", "number", "procs", unit.NUMBER, (PROCESSES,), figure="maximum"),
    Column("started", "started", "per s", "start/s", unit.RATE, (STARTED,)),
)

# Columns of an upstream of a service.
UPSTREAM_COLUMNS = (
    Column("in_progress", "in progress", "requests", "at it", unit.REQUESTS, (AT_UPSTREAMS,)),
    Column("requests", "requests", "per s", "req/s", unit.RATE, (TO_UPSTREAMS,)),
    Column("average", "average", "response", "mean", unit.SECONDS, (UPSTREAM_MEAN,)),
    Column("p99", "p99", "response", "p99", unit.SECONDS, (UPSTREAM_TAIL,), figure="median"),
    Column("errors", "errors", "per s", "err/s", unit.RATE, (UPSTREAM_ERRORS,)),
)

# Columns of the view of one service, which has room for all: its figures,
DETAILS = (
    COLUMNS[0],
    Column("in_progress", "in progress", "requests", "in progress", unit.NUMBER, (Series("gauge-requests_in_progress"),)),
    Column("waiting", "waiting", "requests", "waiting", unit.NUMBER, (Series("gauge-requests_waiting"),)),
    Column("oldest", "oldest", "request", "oldest", unit.SECONDS, (Series("gauge-requests_oldest"),)),
    *(column for column in COLUMNS if column.name in ("slack", "cpu", "wait", "memory", "disk", "processes")),
)
# and its latencies, a row each.
LATENCIES = "response", "service", "wait"
PERCENTS = "50", "90", "95", "99", "99.9"


def latency_columns(of):
    return (Column("average", "average", "", "mean", unit.SECONDS, (Series(f"latency-{of}-average"),)),
            *(Column(f"p{percent}", f"p{percent}", "", f"p{percent}", unit.SECONDS,
                     (Series(f"latency-{of}-percentile-{percent}"),)) for percent in PERCENTS))


# All columns of ebpf-top.
SHOWN = (*COLUMNS, *UPSTREAM_COLUMNS, *DETAILS, *(column for of in LATENCIES for column in latency_columns(of)),
         Column("threads", "threads", "", "threads", unit.THREADS, WAITED_FOR))

# SPDX-License-Identifier: MIT
"""The table of services: its columns, and the columns as text."""

import dataclasses
import math

import unit
from curve import total
from definitions import (DISK_READ, DISK_WRITTEN, IN_REQUESTS, MEDIAN, PROCESSES, READ, REQUESTS, RESIDENT, SLACK, STARTED,
                         SYSTEM, TAIL, USER, WAIT, WRITTEN)
from parts import PartUnit, largest_first, layers


@dataclasses.dataclass(frozen=True)
class Column:
    """The sum of the series, or with `first` that of them which is there."""
    name: str               # in JSON, and to sort by
    heading: str
    below: str              # second line of the heading
    brief: str              # heading on a terminal
    unit: unit.Unit
    series: tuple
    figure: str = "average"     # of a span of time
    first: bool = False

    def of(self, values):
        """The figure of now. values: by file and data source."""
        found = [values[key] * series.scale for series in self.series
                 if (key := (series.file, series.source)) in values]
        known = [value for value in found if not math.isnan(value)][:1 if self.first else None]
        return sum(known) if known else math.nan

    def over(self, curves):
        """The figure of a span."""
        if not curves:
            return math.nan
        return getattr(total(curves[:1] if self.first else curves, "", "", ""), self.figure)()

    def json(self, figure):
        return {self.name: figure if math.isfinite(figure) else None}


class LargestPart(Column):
    """Of the series, which are the parts of a whole: its share, with its name."""

    def of(self, values):
        found = [(series, values[key]) for series in self.series if (key := (series.file, series.source)) in values]
        return next(iter(largest_first(found)), math.nan)

    def over(self, curves):
        return next(iter(largest_first((curve, curve.average()) for curve in layers(curves))), math.nan)

    def json(self, figure):
        known = math.isfinite(figure)
        return {self.name: figure.label if known else None, f"{self.name}_percent": figure if known else None}


# What matters less comes later: a terminal has no room for all.
COLUMNS = (
    Column("requests", "requests", "per s", "req/s", unit.RATE, (REQUESTS,)),
    Column("p50", "p50", "response", "p50", unit.SECONDS, MEDIAN, first=True),
    Column("p99", "p99", "response", "p99", unit.SECONDS, TAIL, first=True),
    LargestPart("why", "why", "largest part", "why", PartUnit("percent"), IN_REQUESTS),
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

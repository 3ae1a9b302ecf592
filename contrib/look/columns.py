# SPDX-License-Identifier: MIT
"""The table of services: its columns, and the columns as text."""

import dataclasses
import math

import unit
from definitions import (DISK_READ, DISK_WRITTEN, ESTIMATE, MEDIAN, PROCESSES, READ, REQUESTS, RESIDENT, SLACK, STARTED,
                         SYSTEM, TAIL, USER, WAIT, WRITTEN)


@dataclasses.dataclass(frozen=True)
class Column:
    """The sum of the series, or with `first` that of them which is there."""
    name: str               # in JSON, and to sort by
    heading: str
    below: str              # second line of the heading
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


COLUMNS = (
    Column("requests", "requests", "per s", unit.RATE, (REQUESTS,)),
    Column("p50", "p50", "response", unit.SECONDS, MEDIAN, first=True),
    Column("p99", "p99", "response", unit.SECONDS, TAIL, first=True),
    Column("slack", "slack", "%", unit.SHARE, (SLACK, ESTIMATE), first=True),
    Column("cpu", "CPU", "% of one", unit.CPU, (USER, SYSTEM)),
    Column("wait", "CPU wait", "% of one", unit.CPU, (WAIT,)),
    Column("memory", "memory", "bytes", unit.BYTES, (RESIDENT,)),
    Column("read", "read", "bytes/s", unit.BYTE_RATE, (READ,)),
    Column("written", "written", "bytes/s", unit.BYTE_RATE, (WRITTEN,)),
    Column("disk", "disk", "bytes/s", unit.BYTE_RATE, (DISK_READ, DISK_WRITTEN)),
    Column("processes", "procs", "number", unit.NUMBER, (PROCESSES,), figure="maximum"),
    Column("started", "started", "per s", unit.RATE, (STARTED,)),
)

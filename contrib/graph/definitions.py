# SPDX-License-Identifier: MIT
"""What is drawn. A new metric is one entry: in GRAPHS, a picture for each service; in OVERVIEW, all
services of a host in one picture; in COLUMNS, the table."""

import dataclasses

# Okabe and Ito's colours: told apart by every kind of colour vision, on white and on black.
BLUE, ORANGE, GREEN, RED, SKY, PINK, YELLOW = PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#D9C900")
GREY = "#8C959F"

# Figures in a legend, each as wide as the others. rrdtool strips spaces at the end, but no others.
NBSP = "\N{NO-BREAK SPACE}"
PLAIN, SCALED = "%10.1lf", "%8.2lf%s" + NBSP


@dataclasses.dataclass(frozen=True)
class Series:
    """A data source of TYPE[-INSTANCE].rrd; a `*` there matches several files and names them."""
    file: str
    source: str
    label: str = "*"
    draw: str = "line"      # line, dashes, area, stack, or figures: too large to share the axis
    scale: float = 1
    color: str = ""
    consolidation: str = "AVERAGE"


@dataclasses.dataclass(frozen=True)
class Graph:
    name: str
    title: str
    unit: str
    series: tuple
    figure: str = SCALED
    base: int = 1000


USER = Series("ps_cputime", "user", "user", "area", 1e-4)
SYSTEM = Series("ps_cputime", "syst", "system", "stack", 1e-4)
WAIT = Series("delay_rate-delay-cpu", "value", "waited", "area", color=RED)
RESIDENT = Series("ps_rss", "value", "resident now", "area", color=SKY)
PEAK = Series("ps_rss-peak", "value", "highest", color=BLUE, consolidation="MAX")
READ = Series("io_octets", "rx", "read")
WRITTEN = Series("io_octets", "tx", "written")
PROCESSES = Series("ps_count", "processes", "processes", color=BLUE)
STARTED = Series("total_events-processes_started", "value", "started")

# A picture each, for every service that has one of the series.
GRAPHS = (
    Graph("cpu", "CPU", "percent of one CPU", (USER, SYSTEM), PLAIN),
    Graph("wait", "Run-queue wait", "seconds per second", (WAIT,)),
    Graph("memory", "Memory", "bytes", (
        RESIDENT, PEAK,
        Series("swap", "value", "swapped out", color=ORANGE),
        Series("ps_vm", "value", "virtual size", "figures")), base=1024),
    Graph("io", "Read and written", "bytes per second", (
        READ, WRITTEN,
        Series("disk_octets", "read", "read from disk", "dashes", color=SKY),
        Series("disk_octets", "write", "written to disk", "dashes", color=RED)), base=1024),
    Graph("calls", "Read and write calls", "calls per second", (
        Series("io_ops", "read", "read"), Series("io_ops", "write", "write"))),
    Graph("processes", "Processes and threads", "number", (
        Series("ps_count", "threads", "threads", "area", color=SKY), PROCESSES), PLAIN),
    Graph("turnover", "Processes started and ended", "processes per second", (
        STARTED, Series("total_events-processes_ended", "value", "ended", "dashes"))),
    Graph("faults", "Page faults", "faults per second", (
        Series("ps_pagefaults", "minflt", "minor"), Series("ps_pagefaults", "majflt", "major"))),
    Graph("switches", "Context switches", "switches per second", (
        Series("contextswitch-voluntary", "value", "voluntary"),
        Series("contextswitch-involuntary", "value", "involuntary"))),
    Graph("reading", "Time of a reading", "seconds", (Series("duration-read_*", "seconds"),)),
    Graph("run", "Mean run of a BPF program", "seconds", (Series("duration-run_*", "seconds"),)),
    Graph("runs", "Runs of BPF programs", "runs per second", (
        Series("operations_per_second-run_*", "value"),)),
    Graph("maps", "Kernel memory of the maps", "bytes", (
        Series("memory-maps_*", "value"),), base=1024),
    Graph("objects", "Services", "number", (
        Series("objects-services", "value", "own series"),
        Series("objects-services_other", "value", "under other")), PLAIN),
    Graph("refused", "Refused insertions", "per second", (
        Series("total_events-refused_*", "value"),)),
)

# A picture each for a host; the series of a service are added up and have one colour.
OVERVIEW = (
    Graph("cpu", "CPU by service", "percent of one CPU", (USER, SYSTEM), PLAIN),
    Graph("memory", "Memory by service, resident", "bytes", (RESIDENT,), base=1024),
    Graph("wait", "Run-queue wait by service", "seconds per second", (WAIT,)),
    Graph("io", "Read and written by service", "bytes per second", (READ, WRITTEN), base=1024),
    Graph("turnover", "Processes started by service", "processes per second", (STARTED,)),
    Graph("peak", "Peak memory by service", "bytes", (PEAK,), base=1024),
)


def scaled(value, base=1000):
    """123456 -> '123k', 1234 -> '1.2k': three digits at most, and the prefix."""
    prefixes = " kMGTP"
    power = 0
    while abs(value) >= base and power < len(prefixes) - 1:
        value, power = value / base, power + 1
    digits = 0 if value >= 10 or value == 0 else 1
    return f"{value:.{digits}f}{prefixes[power]}".strip()


def binary(value):
    return scaled(value, 1024)


def tenths(value):
    return f"{value:.1f}" if value else "0"


def whole(value):
    return f"{value:.0f}"


@dataclasses.dataclass(frozen=True)
class Column:
    heading: str
    unit: str
    series: Series
    figure: str     # of rrdtool's VDEF
    write: callable


COLUMNS = (
    Column("user", "% CPU", USER, "AVERAGE", tenths),
    Column("system", "% CPU", SYSTEM, "AVERAGE", tenths),
    Column("wait", "ms/s", dataclasses.replace(WAIT, scale=1e3), "AVERAGE", tenths),
    Column("RSS", "bytes", RESIDENT, "AVERAGE", binary),
    Column("peak RSS", "bytes", PEAK, "MAXIMUM", binary),
    Column("read", "bytes/s", READ, "AVERAGE", binary),
    Column("written", "bytes/s", WRITTEN, "AVERAGE", binary),
    Column("procs", "most", PROCESSES, "MAXIMUM", whole),
    Column("started", "per s", STARTED, "AVERAGE", tenths),
)

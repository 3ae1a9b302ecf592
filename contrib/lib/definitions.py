# SPDX-License-Identifier: MIT
"""Defines the charts. An entry of GRAPHS is a chart of one service, an entry of OVERVIEW a chart of all services of a host.
A probe's series that is in no entry of GRAPHS gets a chart by its description in series.py. All other series of a
service get a chart by their collectd type."""

import dataclasses
import fnmatch

import series
import unit
from curve import GREY
from name import varying

# Okabe and Ito's colours, distinguishable with any colour vision, on white and on black.
BLUE, ORANGE, GREEN, RED, SKY, PINK, YELLOW = PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#D9C900")

# The colours of further curves.
MORE_COLORS = ("#6E4FA3", "#7A0C3A", "#6B4A2B", "#35B48C", "#5A6572", "#E2574C", "#8A8F00")


@dataclasses.dataclass(frozen=True)
class Series:
    """A data source of TYPE[-INSTANCE].rrd. A `*` matches several files; what it stands for is the label."""
    file: str
    source: str = "value"
    label: str = "*"
    draw: str = "line"      # line, dashes, dotted, area, stack, cap (a layer of a stack that has others), figures (too large
                            # for the axis: not drawn), or samples (of how many samples the others are)
    scale: float = 1
    color: str = ""
    only: frozenset = frozenset()       # what the `*` may stand for; empty: anything
    without: frozenset = frozenset()    # but these

    def key(self, file):
        """What the `*` stands for in this file; None if the file is not of the series."""
        found = varying(self.file, file)
        return None if found in self.without or self.only and found not in self.only else found


@dataclasses.dataclass(frozen=True)
class Graph:
    title: str
    unit: unit.Unit
    series: tuple
    log: bool = False       # a logarithmic axis
    top: float = 0          # the end of the axis; 0: by the values
    parts: bool = False     # a stack of parts of a whole, see parts.py
    above: tuple = ()       # the first of these that the service has is a line above the stack
    divided: str = ""       # the label of a part that is divided,
    shares: tuple = ()      # by the first of these tuples of series that a service has
    samples: tuple = ()     # says of how many samples the parts are
    more: bool = False      # shown only with the details
    help: str = ""          # an explanation in place of that in the tags

    def is_stacked(self):
        return self.series[0].draw == "stack"

    def is_keyed(self):
        """Whether it has a curve for each key, of which there may be any number."""
        return any("*" in one.file and not one.file.endswith("-percentile-*") for one in self.series)


USER = Series("ps_cputime", "user", "user", "stack", 1e-4)
SYSTEM = Series("ps_cputime", "syst", "system", "stack", 1e-4)
WAIT = Series("delay_rate-delay-cpu", label="waited", draw="area", scale=100, color=RED)
RESIDENT = Series("ps_rss", label="resident now", draw="area", color=SKY)
PEAK = Series("ps_rss-peak", label="highest", color=BLUE)
READ = Series("io_octets", "rx", "read")
WRITTEN = Series("io_octets", "tx", "written")
DISK_READ = Series("disk_octets", "read", "read from disk", "dashes", color=SKY)
DISK_WRITTEN = Series("disk_octets", "write", "written to disk", "dashes", color=RED)
PROCESSES = Series("ps_count", "processes", "processes", color=BLUE)
STARTED = Series("total_events-processes_started", label="started")
REQUESTS = Series("total_requests", label="answered", draw="area", color=GREEN)
STREAMS = Series("total_requests-streams", label="streams", draw="dashes", color=ORANGE)
CLIENT = Series("total_requests-client", label="asked of others", draw="dashes", color=PINK)
SLACK = Series("percent-slack", label="the smaller", color=BLUE)
# Where a kernel does not tell when a request arrived, the time from its first receive is the best there is.
MEDIAN = (Series("latency-response-percentile-50"), Series("latency-service-percentile-50"))
TAIL = (Series("latency-response-percentile-99"), Series("latency-service-percentile-99"))

# The parts of a request's time, from below; and what slow ones and threads wait for, in the same words and colours. They
# are told apart by every kind of colour vision, the more so the nearer they are in the stack.
PARTS = {"socket": ("socket", "#E79AC8"), "runqueue": ("run queue", RED), "cpu": ("CPU", BLUE), "disk": ("disk", ORANGE),
         "memory": ("memory", "#F0E442"), "lock": ("lock", "#7A0C3A"),
         "timed_wait": ("timed wait", "#C48BB0"), "upstream": ("upstream", GREEN), "client": ("client", "#8CCBF2"),
         "pipe": ("pipe", "#6B4A2B"), "child": ("child", "#FA8E46"), "event": ("event", "#2F6F77"),
         "sleep": ("sleep", "#CDBFA0"), "stopped": ("stopped", "#C43410"), "queue": ("queue", "#A79CF0"),
         "async": ("async", "#3F2E9C"), "other": ("other", "#7A828B"), "send": ("send buffer", "#9FE8D2")}


def part(name, file, draw="stack"):
    return Series(file, "value", PARTS[name][0], draw, color=PARTS[name][1])


def parts(file, *without):
    """A layer for each part. file: with a `*` in place of the part's name"""
    return tuple(part(name, file.replace("*", name)) for name in PARTS if name not in without)


IN_REQUESTS = (*parts("latency-in_*", "send"), part("send", "gauge-send_wait", "cap"))
IN_SLOW = parts("percent-slow_*", "socket", "queue", "async", "send")
WAITED_FOR = (part("runqueue", "delay_rate-delay-cpu", "cap"), part("disk", "delay_rate-delay-blkio"),
              *parts("delay_rate-delay-*", "socket", "runqueue", "cpu", "disk", "queue", "async", "send"))
SAMPLES = Series("gauge-request_samples", label="samples", draw="samples")
# A tail that is not far from the mean.
ABOVE = tuple(Series(f"latency-{name}-percentile-{percent}", label=f"{name} p{percent}", color="text")
              for name in ("response", "service") for percent in (95, 99, 90))
AT_UPSTREAMS = Series("gauge-requests_in_progress-upstream-*", draw="stack")
WAITED_FOR_UPSTREAMS = Series("delay_rate-upstream-*", draw="stack")
TO_UPSTREAMS = Series("total_requests-upstream-*", draw="stack")
UPSTREAM_MEAN = Series("latency-upstream-*-average")
UPSTREAM_TAIL = Series("latency-upstream-*-percentile-99")
UPSTREAM_ERRORS = Series("errors-upstream-*")
UPSTREAM_COLORS = ("#35B48C", "#006B4E", "#8FDCC2")
REQUEST_TIME = Graph("Where a request's time goes", unit.SECONDS, IN_REQUESTS, parts=True, above=ABOVE,
                     divided=PARTS["upstream"][0], shares=((AT_UPSTREAMS,), (WAITED_FOR_UPSTREAMS,)), samples=(SAMPLES,),
                     help="The mean response time, divided into what requests wait for. The line above is the percentile "
                     "that it names.")
THREAD_TIME = Graph("What threads wait for", unit.THREADS, WAITED_FOR, parts=True,
                    help="The average number of threads that wait, by what they wait for.")
LEADING = (REQUEST_TIME, THREAD_TIME)   # the first that a service has something of leads its page


def latency(title, name):
    return Graph(title, unit.SECONDS, (
        Series(f"latency-{name}-average", label="average", draw="dashes", color=GREY),
        Series(f"latency-{name}-percentile-*", label="p*")), log=True)


# Classes of responses that are no errors, by their usual names.
SUCCESSES = frozenset(("1xx", "2xx", "3xx", "ok", "OK", "success"))


def by_class(file, success="line"):
    """A curve for each class of responses. file: with a `*` in place of the class"""
    return (Series(file.replace("*", "5xx"), label="5xx", color=RED), Series(file.replace("*", "4xx"), label="4xx", color=ORANGE),
            Series(file, without=SUCCESSES | {"5xx", "4xx"}), Series(file, only=SUCCESSES, draw=success))


STATISTICS = "From the kernel's statistics, which the plugin enables for 0.2 s about every five minutes."


# Section -> a picture each, for every service that has one of the series.
GRAPHS = {
    "Requests": (
        REQUEST_TIME,
        Graph("Where the time of slow requests goes", unit.SHARE, IN_SLOW, parts=True, top=100,
              help="What the slowest requests wait for, in percent of their time."),
        Graph("Requests", unit.RATE, (REQUESTS, CLIENT, STREAMS)),
        # Beside successes, which are nearly all, errors would lie on the axis.
        Graph("Responses by class, share of all", unit.SHARE, by_class("percent-response-*", "figures")),
        Graph("Service time by class of the response", unit.SECONDS, by_class("latency-service-*-average"), log=True),
        Graph("Service time by class, 99th percentile", unit.SECONDS, by_class("latency-service-*-percentile-99"), log=True),
        Graph("Requests in the service", unit.REQUESTS, (
            Series("gauge-requests_in_progress", label="in progress", draw="area", color=GREEN),
            Series("gauge-requests_waiting", label="waiting", color=RED))),
        Graph("Oldest request", unit.SECONDS, (Series("gauge-requests_oldest", label="age", color=BLUE),)),
        latency("Response time", "response"),
        latency("Service time, to the last send", "service"),
        latency("Service time, to the first send", "service_first"),
        latency("Wait in the socket buffer", "wait"),
        Graph("Wait in the send buffer", unit.SECONDS, (Series("gauge-send_wait", label="average", color=BLUE),)),
        latency("As a client, to the last receive", "client"),
        latency("As a client, to the first receive", "client_first"),
        Graph("Traffic of the sockets", unit.BYTE_RATE, (
            Series("if_octets", "rx", "received"), Series("if_octets", "tx", "sent"),
            Series("if_octets-client", "rx", "received as client", "dashes"),
            Series("if_octets-client", "tx", "sent as client", "dashes"))),
    ),
    "Upstreams": (
        Graph("Requests at upstreams", unit.REQUESTS, (AT_UPSTREAMS,), parts=True),
        Graph("Requests to upstreams", unit.RATE, (TO_UPSTREAMS,)),
        Graph("Mean response time of upstreams", unit.SECONDS, (UPSTREAM_MEAN,), log=True),
        Graph("99th percentile of upstreams", unit.SECONDS, (UPSTREAM_TAIL,), log=True),
        Graph("Errors of upstreams", unit.RATE, (UPSTREAM_ERRORS,)),
        Graph("Threads that wait for upstreams", unit.THREADS, (WAITED_FOR_UPSTREAMS,), parts=True),
    ),
    "Saturation": (
        Graph("Slack", unit.SHARE, (
            SLACK, Series("percent-slack_threads", label="threads", draw="dashes", color=ORANGE),
            Series("percent-slack_cpus", label="CPUs", draw="dashes", color=PINK)), top=100),
        Graph("Capacity", unit.RATE, (Series("gauge-request_capacity", label="requests"),)),
        Graph("CPU time per request", unit.SECONDS, (Series("gauge-request_cpu", label="CPU time"),)),
        Graph("Connections dropped", unit.RATE, (Series("total_events-listen_drops", label="listen drops"),)),
        Graph("Variation of the gaps", unit.Unit("coefficient"), (
            Series("gauge-receive_gap-cv", label="receives"),
            Series("gauge-send_gap-cv", label="sends", draw="dashes"))),
        Graph("Variance of the gaps", unit.SQUARES, (
            Series("gauge-receive_gap-variance", label="receives"),
            Series("gauge-send_gap-variance", label="sends", draw="dashes")), log=True, more=True),
        Graph("Calls, by their spacing", unit.RATE, (
            Series("gauge-receive_gap-frequency", label="receives"),
            Series("gauge-send_gap-frequency", label="sends", draw="dashes")), more=True),
        Graph("Time in polls", unit.SHARE, (Series("percent-poll_idle", label="polling threads"),), top=100),
        Graph("Time of a poll", unit.SECONDS, (Series("gauge-poll-average", label="average"),), log=True),
        Graph("Run-queue wait", unit.CPU, (WAIT,)),
        THREAD_TIME,
    ),
    "Resources": (
        Graph("CPU", unit.CPU, (USER, SYSTEM)),
        Graph("Memory", unit.BYTES, (
            RESIDENT, PEAK, Series("swap", label="swapped out", color=ORANGE),
            Series("ps_vm", label="virtual size", draw="figures"))),
        Graph("Read and written", unit.BYTE_RATE, (READ, WRITTEN, DISK_READ, DISK_WRITTEN)),
        Graph("Read and write calls", unit.RATE, (
            Series("io_ops", "read", "read"), Series("io_ops", "write", "write"))),
        Graph("Processes and threads", unit.NUMBER, (
            Series("ps_count", "threads", "threads", "area", color=SKY), PROCESSES)),
        Graph("Processes started and ended", unit.RATE, (
            STARTED, Series("total_events-processes_ended", label="ended", draw="dashes"))),
        Graph("Page faults", unit.RATE, (
            Series("ps_pagefaults", "minflt", "minor"), Series("ps_pagefaults", "majflt", "major"))),
        Graph("Context switches", unit.RATE, (
            Series("contextswitch-voluntary", label="voluntary"),
            Series("contextswitch-involuntary", label="involuntary"))),
    ),
    "The plugin": (
        Graph("Cost of probes", unit.Unit("percent of all CPUs"), (Series("percent-overhead_*"),),
              help="An estimate of what each probe costs."),
        Graph("Time of a reading", unit.SECONDS, (Series("duration-read_*", "seconds"),),
              help="How long the last reading of each probe took."),
        Graph("CPU time of walks", unit.SECONDS, (Series("duration-walk_*", "seconds"),),
              help="The last walk of each probe over all processes or threads."),
        Graph("Mean run of a BPF program", unit.SECONDS, (Series("duration-run_*", "seconds"),), log=True, help=STATISTICS),
        Graph("Runs of BPF programs", unit.RATE, (Series("operations_per_second-run_*"),), help=STATISTICS),
        Graph("Kernel memory of the maps", unit.BYTES, (Series("memory-maps_*"),),
              help="The memory of the BPF maps of each probe."),
        Graph("Services", unit.NUMBER, (
            Series("objects-services", label="own series"), Series("objects-services_other", label="under other"),
            Series("objects-services_without_name", label="named by id")),
              help="Services with series of their own, command names that count as other, and containers that are named by "
              "their ids."),
        Graph("Names refused", unit.RATE, (
            Series("total_events-names_refused_services", label="new names"),
            Series("total_events-cgroups_refused_services", label="cgroups")),
              help="New names that MaxNewServices refused, and cgroups that were not inspected."),
        Graph("Insertions refused", unit.RATE, (Series("total_events-refused_*"),), help="Entries that found no room in a map."),
        Graph("Events missed", unit.RATE, (Series("total_events-missed_*"),),
              help="Events that the programs of a probe did not see."),
        Graph("CPU time of a sampler's run", unit.SECONDS, (Series("duration-sample_*", "seconds"),), log=True,
              help="The CPU time of one sample."),
        Graph("Runs of samplers", unit.RATE, (Series("operations_per_second-sample_*"),), help="Samples, of each sampler."),
        Graph("CPU of samplers", unit.CPU, (Series("percent-sample_*"),), help="CPU time of all samples, of each sampler."),
        Graph("Stacks lost", unit.RATE, (Series("total_events-stacks_lost_*"),), help="Stacks that found no room."),
        Graph("Events not reported", unit.RATE, (Series("total_events-events_*"),),
              help="Events that were lost on their way (dropped), or have no notification (suppressed)."),
        Graph("Rows in use", unit.NUMBER, (Series("objects-rows_*"),),
              help="Rows of each probe; Rows in its Probe block is the limit."),
        Graph("Services without a row", unit.NUMBER, (Series("objects-services_without_row_*"),),
              help="Services that found no free row of a probe, and have no series of it."),
        Graph("Processes without a row", unit.NUMBER, (Series("objects-processes_without_row", label="processes"),),
              help="Processes of services with PerProcess that found no free row."),
        Graph("Labels with series", unit.NUMBER, (Series("objects-keys_*"),),
              help="Labels, such as upstreams, with series of their own; Rows in the Probe block is the limit."),
        Graph("Labels under other", unit.NUMBER, (Series("objects-other_*"),), help="Labels that count as other."),
        Graph("Counts under other", unit.SHARE, (Series("percent-other_*"),), help="The share of labels that count as other."),
        Graph("Rows given back", unit.RATE, (Series("total_events-rows_returned_*"),),
              help="Rows that were taken from nearly idle services."),
        Graph("Helpers that wait for a file", unit.NUMBER, (Series("objects-helpers_stuck", label="helpers"),),
              help="The file does not answer. Most such files are on FUSE or a network file system."),
        Graph("Hooks in use", unit.Unit("hook set, 0 is off", whole=True), (Series("count-tier_*"),),
              help="0 also while a reading fails or MaxOverhead pauses the probe."),
    ),
}
OTHERS = "Other metrics"    # the section of series without a definition
BUCKETS = Series("bucket-*")    # of histograms, see heat.py
# Counted, but a picture says nothing: samples behind moments, figures that repeat others.
UNDRAWN = ("gauge-cpu_percent", "gauge-*-samples", SAMPLES.file, "gauge-*-average", "gauge-*_gap-*", "gauge-poll-*", "bucket-*",
           "total_requests-*")
# Of what has a histogram for each key, the average and the 99th percentile have pictures.
UNDRAWN += tuple(f"{file}-percentile-*" for _, _, many in series.PROBES for file, kind, *_ in many
                 if kind == "histogram" and "*" in file)


# Unit of a series -> that of its picture, and a factor; of a counter, what it grows by in a second.
STANDING = {"seconds": (unit.SECONDS, 1), "milliseconds": (unit.SECONDS, 1e-3), "microseconds": (unit.SECONDS, 1e-6),
            "bytes": (unit.BYTES, 1), "percent": (unit.SHARE, 1), "percent of one CPU": (unit.CPU, 1),
            "seconds per second": (unit.THREADS, 1), "requests per second": (unit.RATE, 1)}
GROWING = {"bytes": (unit.BYTE_RATE, 1), "seconds": (unit.SHARE, 100), "milliseconds": (unit.SHARE, 0.1),
           "microseconds": (unit.SHARE, 1e-4)}


def unit_of(word, counted):
    """(unit, factor) of a chart."""
    return GROWING.get(word, (unit.RATE, 1)) if counted else STANDING.get(word, (unit.Unit(word), 1))


def is_log(shown):
    """Whether what has this unit is above 0, so that its axis can be logarithmic."""
    return shown in (unit.SECONDS, unit.BYTES)


def described(file, kind, counted, word, sources):
    """The picture of a series that series.py has; a `*` in its file stands for what it is counted for."""
    shown, scale = unit_of(word, counted)
    title = sources[0][1]
    if kind == "integer":
        labels = [(name, ("* " + name if len(sources) > 1 else "*") if "*" in file else label) for name, label in sources]
        return Graph(title, shown, tuple(Series(file, name, label, scale=scale) for name, label in labels))
    name, keyed = sources[0][0], "*" in file
    average = Series(file + "-average", name, "*" if keyed else "average", scale=scale)
    if kind == "moments" or keyed:
        return Graph(title, shown, (average,), log=is_log(shown))
    return Graph(title, shown, (dataclasses.replace(average, draw="dashes", color=GREY),
                                Series(file + "-percentile-*", name, "p*", scale=scale)), log=is_log(shown))


def tails(file, kind, counted, word, sources):
    """The picture of the 99th percentile, where there is a histogram for each key."""
    if kind != "histogram" or "*" not in file:
        return ()
    shown, scale = unit_of(word, counted)
    name, title = sources[0]
    return (Graph(f"{title}, 99th percentile", shown, (Series(file + "-percentile-99", name, scale=scale),), log=is_log(shown)),)


def is_drawn(file, kind, drawn):
    if kind == "integer":
        return file in drawn or any(fnmatch.fnmatch(file, pattern) for pattern in UNDRAWN)
    return any(one.startswith(file + "-") for one in drawn)


def completed(graphs):
    """Adds a section for each probe with further series. The plugin's own cost is the last section."""
    drawn = {one.file for section in graphs.values() for graph in section for one in graph.series}
    last = {"The plugin": graphs["The plugin"]}
    found = {title: section for title, section in graphs.items() if title not in last}
    for title, _, many in series.PROBES:
        more = tuple(graph for one in many if not is_drawn(*one[:2], drawn) for graph in (described(*one[:-1]), *tails(*one[:-1])))
        if more:
            found[title] = found.get(title, ()) + more
    return {**found, **last}


GRAPHS = completed(GRAPHS)

# A picture each for a host: stacked the sums of each service's series, or of each the first series that it has.
OVERVIEW = (
    Graph("Requests by service", unit.RATE, (dataclasses.replace(REQUESTS, draw="stack"),)),
    Graph("99th percentile of response time", unit.SECONDS, TAIL, log=True),
    Graph("Slack by service", unit.SHARE, (SLACK,), top=100),
    Graph("CPU by service", unit.CPU, (USER, SYSTEM)),
    Graph("Memory by service, resident", unit.BYTES, (dataclasses.replace(RESIDENT, draw="stack"),)),
    Graph("Run-queue wait by service", unit.CPU, (dataclasses.replace(WAIT, draw="stack"),)),
    Graph("Read and written by service", unit.BYTE_RATE, (
        dataclasses.replace(READ, draw="stack"), dataclasses.replace(WRITTEN, draw="stack"))),
    Graph("To and from disk by service", unit.BYTE_RATE, (
        dataclasses.replace(DISK_READ, draw="stack"), dataclasses.replace(DISK_WRITTEN, draw="stack"))),
    Graph("Processes started by service", unit.RATE, (dataclasses.replace(STARTED, draw="stack"),)),
)

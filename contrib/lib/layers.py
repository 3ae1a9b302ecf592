# SPDX-License-Identifier: MIT
"""The layers of a machine that the triage inspects, with the series that show who uses most of each. Only this file names
them."""

import dataclasses
import functools
import math
import re

import unit
from columns import COLUMNS, Column, LargestPart
from definitions import Series
from name import OTHER, PLUGIN
from parts import PartUnit


@dataclasses.dataclass(frozen=True)
class Rank:
    """The column by which subjects are sorted, largest first, and a text about the first. In the text, {name}, {amount} and
    {share} are the subject's, {COLUMN} is a figure of the table, {all_COLUMN} the sum of all subjects. [...] is left out
    if one of its figures is unknown."""
    column: Column
    says: str
    nothing: str = ""   # the text if no subject has any
    title: str = ""     # of the chart
    columns: tuple = ()     # further columns of the table


@dataclasses.dataclass(frozen=True)
class Devices(Rank):
    """A Rank of devices. columns: all columns of the table."""
    heading: str = "device"
    instance: str = ""      # only the device of this name
    lines: tuple = ()       # like those of a Layer


@dataclasses.dataclass(frozen=True)
class Probe:
    """A probe that is off, and what it would add."""
    name: str
    adds: str
    column: Column      # has values if the probe is on
    option: str = ""    # that the probe needs for it

    def hook_set(self):
        """The plugin's own figure: above 0 if the probe is on, whether or not there is anything to count."""
        return Column("tier", "tier", "", "tier", unit.NUMBER, of(f"count-tier_{self.name}"), figure="last")

    def is_on(self, subjects):
        on = not self.option and any(subject.figure(self.hook_set()) > 0 for subject in subjects)
        return on or any(not math.isnan(subject.figure(self.column)) for subject in subjects)

    def hint(self):
        how = f'Option "{self.option}"' if self.option else "Enable true"
        return f'<Probe "{self.name}"> with {how} adds {self.adds}'


@dataclasses.dataclass(frozen=True)
class Layer:
    name: str
    title: str
    ranks: tuple            # the first that any service has is used
    columns: tuple          # further columns of the table of services
    probes: tuple
    also: tuple = ()        # Ranks for additional texts
    devices: tuple = ()
    lines: tuple = ()       # (title, column): charts with a line for each service with a colour
    note: str = ""          # what is counted
    parts: tuple = ()       # (instance, label): subjects that are no services but have a part in the sum,
    labelled: tuple = ()    # in these columns, by series TYPE-INSTANCE-LABEL


OF_SERVICE = {column.name: column for column in COLUMNS}
# Parts of a sum that are nobody's, by name, and what they are. They are never named as the cause.
NOBODY = {OTHER: "what has no series of its own; a <Service> block gives it one",
          "writeback": "the kernel's writing of what services have written before"}


def of(*files, source="value", **options):
    return tuple(Series(file, source, **options) for file in files)


def tail(file, percent=99):
    return of(f"{file}-percentile-{percent}")


def read_and_written(file):
    return of(file, source="read") + of(file, source="write")


# --- requests -----------------------------------------------------------------------------------

REQUESTS = Layer(
    "requests", "Requests",
    ranks=(Rank(Column("in_progress", "in progress", "requests", "requests", unit.REQUESTS, of("gauge-requests_in_progress")),
                "{name} has {amount} requests in progress, {share} of all[; {p99} at the 99th percentile]"
                "[; largest part of their time: {why}]", "no request is in progress", "Requests in progress by service"),),
    columns=(OF_SERVICE["requests"], OF_SERVICE["p50"], OF_SERVICE["p99"], OF_SERVICE["why"], OF_SERVICE["slack"]),
    lines=(("Response time, 99th percentile", OF_SERVICE["p99"]),),
    probes=(Probe("request", "requests, and what most of their time goes to", OF_SERVICE["requests"]),))

# --- processes ----------------------------------------------------------------------------------

# A fork counts for the service that makes the process, a start for the one that the process comes to belong to.
FORKS = Column("forks", "forks", "per s", "fork/s", unit.RATE, of("fork_rate"))
STARTS = OF_SERVICE["started"]
FAILED = Column("failed", "failed", "per s", "fail/s", unit.RATE, of("total_events-exits_failed"))
KILLED = Column("killed", "killed", "per s", "kill/s", unit.RATE, of("total_events-exits_by_signal"))

LIFE = Layer(
    "processes", "Processes",
    ranks=(Rank(FORKS, "{name} forks {amount} processes a second, {share} of all", "no process is forked",
                "Processes forked by service", (STARTS,)),
           Rank(STARTS, "{amount} processes a second start as {name}, {share} of all", "no process is started",
                "Processes started by service")),
    note="A fork counts for the service that makes a process, a start for the service that the process then belongs to: "
         "that of its program, if it executes one that is a service. Starts of a service without series yet are those of other.",
    columns=(
        Column("executed", "executed", "per s", "exec/s", unit.RATE, of("total_events-execs")),
        FAILED, KILLED,
        Column("short_lived", "short-lived", "% of ended", "short%", unit.SHARE, of("percent-short_lived")),
        OF_SERVICE["processes"]),
    also=(Rank(FAILED, "{name} has most failures, {amount} a second", title="Processes that failed, by service"),
          Rank(KILLED, "{name} has most processes ended by a signal, {amount} a second")),
    probes=(Probe("lifecycle", "who starts them, what they execute, and how they end", FAILED),))

# --- run queue ----------------------------------------------------------------------------------

RUNNABLE = Column("runnable", "runnable", "threads", "runnable", unit.THREADS, (
    Series("ps_cputime", "user", scale=1e-6), Series("ps_cputime", "syst", scale=1e-6), *of("delay_rate-delay-cpu")))
RUN_QUEUE_TAIL = Column("p99", "p99", "of a wait", "p99", unit.SECONDS, tail("latency-runqueue"), figure="median")
THROTTLED = Column("throttled", "throttled", "% of periods", "thrott%", unit.SHARE, of("percent-cpu_periods_throttled"))

RUN_QUEUE = Layer(
    "run_queue", "Run queue",
    ranks=(Rank(RUNNABLE, "{name} has {amount} runnable threads, {share} of all[; {all_waiting} of all wait for a CPU]",
                "no thread is runnable", "Runnable threads by service"),),
    columns=(
        Column("waiting", "waiting", "threads", "waiting", unit.THREADS, of("delay_rate-delay-cpu")),
        OF_SERVICE["cpu"],
        RUN_QUEUE_TAIL, THROTTLED,
        Column("migrations", "migrations", "per s", "migr/s", unit.RATE, of("total_events-cpu_migrations"))),
    also=(Rank(THROTTLED, "{name} is held back by its CPU limit in {amount} % of the periods"),),
    devices=(Devices(RUN_QUEUE_TAIL, "the 99th percentile of a wait is {amount}", title="Run-queue latency of the machine",
                   heading="machine", instance="sched", columns=(
                       RUN_QUEUE_TAIL,
                       Column("p95", "p95", "of a wait", "p95", unit.SECONDS, tail("latency-runqueue", 95), figure="median"),
                       Column("p50", "p50", "of a wait", "p50", unit.SECONDS, tail("latency-runqueue", 50), figure="median"),
                       Column("average", "average", "of a wait", "average", unit.SECONDS,
                              of("latency-runqueue-average")))),),
    lines=(("Run-queue latency, 99th percentile", RUN_QUEUE_TAIL),),
    probes=(Probe("sched", "percentiles of the wait, of the machine and of each service", RUN_QUEUE_TAIL),))

# --- disk ---------------------------------------------------------------------------------------

SUBMITTED = Column("submitted", "submitted", "bytes/s", "subm/s", unit.BYTE_RATE, read_and_written("disk_octets-submitted"))
OPERATIONS = Column("operations", "operations", "per s", "ops/s", unit.RATE, read_and_written("disk_ops-submitted"))
READ_TIME = Column("read_p99", "p99", "of a read", "read p99", unit.SECONDS, tail("latency-disk_read"), figure="median")
WRITE_TIME = Column("write_p99", "p99", "of a write", "write p99", unit.SECONDS, tail("latency-disk_write"), figure="median")
MOVED = OF_SERVICE["disk"]
BUSY = Column("busy", "busy", "of time", "busy", unit.Unit("percent", "%"), (
    Series("disk_io_time", "io_time", scale=0.1),))
BLOCKED = Column("blocked", "blocked", "threads", "blocked", unit.THREADS, of("delay_rate-delay-blkio"))
DEVICE_READ = Column("read_p99", "p99", "of a read", "read p99", unit.SECONDS, tail("latency-disk_service-read"), figure="median")
DEVICE_WRITE = Column("write_p99", "p99", "of a write", "write p99", unit.SECONDS, tail("latency-disk_service-write"), figure="median")

DISK = Layer(
    "disk", "Disk",
    ranks=(Rank(SUBMITTED, "{name} submits {amount}, {share} of all I/O", "nothing is read or written",
                "I/O submitted by service"),
           Rank(MOVED, "{name} reads and writes {amount}, {share} of all to and from disks",
                "nothing is read or written", "To and from disk by service")),
    columns=(OPERATIONS, READ_TIME, WRITE_TIME, BLOCKED),
    also=(Rank(BLOCKED, "{name} has most threads that wait for disks, {amount}", title="Threads blocked by disks"),),
    devices=(Devices(BUSY, "{name} is busy for {amount} of the time[, reads take {read_p99} at the 99th percentile]"
                         "[, writes {write_p99}]", title="Time with requests, of devices", columns=(
        BUSY, DEVICE_READ, DEVICE_WRITE,
        Column("pending", "in flight", "requests", "pending", unit.NUMBER, of("pending_operations")),
        Column("operations", "operations", "per s", "ops/s", unit.RATE, read_and_written("disk_ops-completed")),
        Column("bytes", "bytes", "bytes/s", "bytes/s", unit.BYTE_RATE, read_and_written("disk_octets-completed")),
        Column("errors", "errors", "per s", "err/s", unit.RATE, of("errors-disk-*"))),
                   lines=(("Reads of devices, 99th percentile", DEVICE_READ),
                          ("Writes of devices, 99th percentile", DEVICE_WRITE))),),
    parts=(("disk", "writeback"), ("disk", "kernel")),
    labelled=(SUBMITTED, OPERATIONS, READ_TIME, WRITE_TIME),
    probes=(Probe("disk", "how busy devices are, and percentiles of their reads and writes", BUSY),
            Probe("disk", "what each service submits, and how long that takes", SUBMITTED, "services")))

# --- network ------------------------------------------------------------------------------------

RESENT = Column("retransmits", "retransmits", "per s", "retr/s", unit.RATE, of("total_events-retransmits"))
TRAFFIC = Column("traffic", "traffic", "bytes/s", "bytes/s", unit.BYTE_RATE, (
    *of("if_octets", source="rx"), *of("if_octets", source="tx")))
DROPS = Column("listen_drops", "listen drops", "per s", "drop/s", unit.RATE, of("total_events-listen_drops"))
FAILED_CONNECTS = Column("failed", "failed", "connects/s", "fail/s", unit.RATE, of("errors-connect"))
HALF_CLOSED = Column("half_closed", "half-closed", "connections", "halfcl", unit.NUMBER,
                     of("current_connections-close_wait"))
RESENT_BY_ALL = Column("retransmits", "retransmits", "per s", "retr/s", unit.RATE, of("protocol_counter-RetransSegs"))
SEND_WAIT = Column("send_wait", "send wait", "average", "sendwait", unit.SECONDS, of("gauge-send_wait"))

NETWORK = Layer(
    "network", "Network",
    ranks=(Rank(RESENT, "{name} retransmits {amount} segments a second, {share} of all", "no segment is retransmitted",
                "Retransmits by service"),
           Rank(TRAFFIC, "{name} receives and sends {amount}, {share} of all", "no service receives or sends",
                "Received and sent by service")),
    columns=(
        DROPS,
        Column("accept_queue", "accept queue", "% full", "queue%", unit.SHARE, of("percent-accept_queue")),
        FAILED_CONNECTS,
        Column("resets", "resets", "received/s", "rst/s", unit.RATE, of("total_events-resets_received")),
        Column("connections", "open", "connections", "open", unit.NUMBER, of("current_connections")),
        HALF_CLOSED,
        Column("rtt_p99", "p99", "round trip", "rtt p99", unit.SECONDS, tail("latency-rtt"), figure="median"),
        SEND_WAIT),
    also=(Rank(DROPS, "{name} drops {amount} new connections a second", title="Listen drops by service"),
          Rank(FAILED_CONNECTS, "{name} has most connects that fail, {amount} a second"),
          Rank(HALF_CLOSED, "{name} leaves most connections half-closed, {amount}")),
    devices=(Devices(RESENT_BY_ALL, "the machine retransmits {amount} segments a second",
                   "no segment is retransmitted", "TCP of the machine", heading="machine", instance="tcp", columns=(
                       RESENT_BY_ALL,
                       Column("timeouts", "timeouts", "per s", "timeo/s", unit.RATE, of("protocol_counter-TCPTimeouts")),
                       Column("listen_drops", "listen drops", "per s", "drop/s", unit.RATE,
                              of("protocol_counter-ListenDrops")),
                       Column("failed", "failed", "connects/s", "fail/s", unit.RATE, of("protocol_counter-AttemptFails")),
                       Column("resets", "resets", "sent/s", "rst/s", unit.RATE, of("protocol_counter-OutRsts")))),),
    probes=(Probe("tcp", "retransmits and failed connects, of the machine and of each service", RESENT),))

# --- system calls -------------------------------------------------------------------------------

# System calls in which threads wait for work, for a time or for others. They are no sign of a problem. Waits in reads are in
# the layer of disks.
IDLE = frozenset((
    "accept", "accept4", "clock_nanosleep", "epoll_pwait", "epoll_pwait2", "epoll_wait", "fcntl", "flock", "futex",
    "futex_wait", "futex_waitv", "io_getevents", "io_pgetevents", "io_uring_enter", "mq_timedreceive", "msgrcv",
    "nanosleep", "pause", "poll", "ppoll", "pselect6", "read", "readv", "recv", "recvfrom", "recvmmsg", "recvmsg",
    "restart_syscall", "rt_sigsuspend", "rt_sigtimedwait", "select", "semop", "semtimedop", "vfork", "wait4", "waitid"))
# But a thread with a request in hand is not idle.
ASLEEP = of("delay_rate-syscall-*", draw="stack", without=IDLE) + of("delay_rate-request_syscall-*", draw="stack", only=IDLE)
CALLED = of("total_time_in_ms-syscall-*", draw="stack", scale=1e-3, without=IDLE)


def in_calls(series):
    return Rank(
        Column("threads", "in calls", "threads", "threads", unit.THREADS, series),
        "{name} has {amount} threads in system calls, {share} of all[, most in {call}]",
        "no thread is held up in a system call", "Threads in system calls by service",
        (LargestPart("call", "call", "largest part", "call", PartUnit("percent", adds=True), series),))


CALLS = Layer(
    "system_calls", "System calls",
    ranks=(in_calls(ASLEEP), in_calls(CALLED)),
    columns=(Column("errors", "errors", "calls/s", "err/s", unit.RATE, of("errors-syscall-*")),),
    probes=(Probe("delay", "in which system calls threads sleep, by samples, at no cost per call",
                  Column("asleep", "", "", "", unit.THREADS, of("delay_rate-syscall-*")), "by_syscall"),))

# In the order of an incident's first minute: slow requests, process storms, run queue, disk latency, retransmits, slow
# system calls.
LAYERS = (REQUESTS, LIFE, RUN_QUEUE, DISK, NETWORK, CALLS)

# Series that only services have; and those of devices. The machine itself is the instance of a probe.
OF_SERVICES = frozenset(("ps_count", "ps_cputime", "ps_rss", "total_requests"))
OF_DEVICES = frozenset(("disk_io_time", "pending_operations"))
PROBES = frozenset(probe.name for layer in LAYERS for probe in layer.probes)


def is_device(instance, files):
    """Whether this plugin instance, with series of these names, is something other than a service."""
    if instance == PLUGIN:
        return True
    return OF_SERVICES.isdisjoint(files) and (instance in PROBES or not OF_DEVICES.isdisjoint(files))


@functools.cache
def labelled(column, label):
    """The column of the same series with this label after the type instance."""
    files = [re.fullmatch(r"(.*?)(-average|-percentile-.*)?", series.file).groups("") for series in column.series]
    return dataclasses.replace(column, series=tuple(
        dataclasses.replace(series, file=f"{stem}-{label}{statistic}")
        for series, (stem, statistic) in zip(column.series, files)))


def all_columns():
    for layer in LAYERS:
        yield from (column for rank in layer.ranks for column in (rank.column, *rank.columns))
        yield from layer.columns
        yield from (labelled(column, label) for column in layer.labelled for _, label in layer.parts)
        yield from (rank.column for rank in layer.also)
        yield from (column for devices in layer.devices for column in (devices.column, *devices.columns))
        yield from (column for probe in layer.probes for column in (probe.column, probe.hook_set()))


SERIES = tuple(dict.fromkeys(series for column in all_columns() for series in column.series))

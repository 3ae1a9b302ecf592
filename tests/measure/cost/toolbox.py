# SPDX-License-Identifier: MIT
"""The programs of libbpf-tools, each with the probe that says the same, and with an event that both see.

One more is one more Pair below.
"""

import re
from typing import NamedTuple

import powers

SERVICE = "event"  # what makes the events, by its command name
DISK = "(vd|sd|xvd|nvme).*"
WAITS = ("wait", 2000)


class Count(NamedTuple):
    """Something that both count, and how often it really was."""

    what: str
    subject: str  # pattern: whose series; those of all that fit are added
    series: str  # pattern; bucket-INSTANCE: all that is in this histogram
    theirs: object  # function of the tool's output
    each: int = 1  # so many for each event
    once: int = 0  # beside them, of the program that makes them
    source: int = 0  # data source of the series


class Shares(NamedTuple):
    """A histogram that both have."""

    what: str
    subject: str
    instance: str  # pattern in the series: bucket-INSTANCE-LOWER_UPPER
    title: str = ""  # pattern in what the tool writes above it


class Pair(NamedTuple):
    probe: str
    command: tuple
    event: str
    count: int  # of events in one run, that takes some 30 ms of CPU time
    counts: tuple
    shares: tuple = ()
    spread: tuple = ()  # what is made for these instead, and how many: events that differ more
    lines: str = ""  # more of the Probe block
    note: str = ""  # in what the tool counts something else


def lines(pattern):
    """How many lines have it."""
    return lambda output: sum(bool(re.search(pattern, line)) for line in output.splitlines())


def column(pattern):
    """The numbers that its group is in each line, added."""
    return lambda output: sum(int(found.group(1)) for found in re.finditer(pattern, output, re.M))


def section(title):
    """All that is in a histogram."""
    return lambda output: powers.printed(output, title).total()


PAIRS = (
    Pair("softirq", ("softirqs", "-d", "-N"), "datagram", 15000,
         counts=(Count("software interrupts, NET_RX", "softirq", "irq-softirq-NET_RX", section("= net_rx")),),
         shares=(Shares("time in NET_RX", "softirq", "duration-softirq-NET_RX", "= net_rx"),)),
    Pair("syscalls", ("syscount", "-L", "-T", "1000"), "syscall", 150000,
         counts=(Count("getppid", SERVICE, "total_operations-syscall-getppid", column(r"^getppid +(\d+)")),)),
    Pair("sched", ("runqlat", "-P"), "switch", 8000,
         counts=(Count("waits for a CPU", SERVICE, "bucket-latency-runqueue", section(f"pid = {SERVICE}$")),),
         shares=(Shares("run-queue latency", SERVICE, "latency-runqueue", f"pid = {SERVICE}$"),),
         spread=WAITS),
    Pair("sched", ("cpudist", "-P"), "switch", 8000,
         counts=(Count("slices on a CPU", SERVICE, "bucket-duration-on_cpu", section(f"pid = {SERVICE}$")),),
         shares=(Shares("slices on a CPU", SERVICE, "duration-on_cpu", f"pid = {SERVICE}$"),),
         spread=WAITS, note="counts only what ends when the thread could go on, not when it begins to wait."),
    Pair("lifecycle", ("execsnoop",), "exec", 100,
         counts=(Count("execs", SERVICE, "total_events-execs", lines(r"^event "), once=1),)),
    Pair("lifecycle", ("exitsnoop",), "fork", 300,
         counts=(Count("exits", SERVICE, "total_events-exits", lines(r"^event "), once=1),)),
    Pair("files", ("opensnoop",), "open", 30000, lines='    Option "syscalls"\n',
         counts=(Count("opens", SERVICE, "total_operations-open", lines(r"^\d+ +event ")),)),
    Pair("tcp", ("tcplife",), "connection", 1500,
         counts=(Count("connections closed, of both ends", SERVICE, "total_connections-closed", lines(r"^\d+ +event "),
                       each=2),)),
    Pair("tcp", ("tcpconnect",), "connection", 1500,
         counts=(Count("connects", SERVICE, "total_connections-connected", lines(r"^\d+ +event ")),)),
    Pair("tcp", ("tcpconnlat",), "connection", 1500,
         counts=(Count("connects", SERVICE, "total_connections-connected", lines(r"^\d+ +event ")),)),
    Pair("disk", ("biolatency", "-F"), "read", 600,
         counts=(Count("reads", DISK, "disk_ops-completed", section("Read")),),
         shares=(Shares("time in service of reads", DISK, "latency-disk_service-read", "Read"),)),
    Pair("disk", ("biosnoop",), "read", 600, lines='    Option "services"\n',
         counts=(Count("reads", SERVICE, "disk_ops-submitted", lines(r" event +\d+ .* R")),)),
    Pair("hardirq", ("hardirqs", "-d", "-N"), "read", 600,
         counts=(Count("interrupts, virtio", "hardirq", "irq-hardirq-virtio.*", section("= virtio")),),
         shares=(Shares("time in them", ".*", "duration-hardirq-virtio.*", "= virtio"),)),
    Pair("pagecache", ("cachestat", "1"), "page", 600,
         counts=(Count("misses", SERVICE, "cache_result-page_miss", column(r"^ *-?\d+ +(\d+) +\d+ ")),)),
)

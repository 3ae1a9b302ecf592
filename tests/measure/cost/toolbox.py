# SPDX-License-Identifier: MIT
"""The programs of libbpf-tools, each with the probe that says the same, and with an event that both see; and probes of
which none of them says the same.

One more is one more Pair below.
"""

import os
import re
from typing import NamedTuple

import powers

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bpf")
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
    command: tuple  # of the tool; empty: there is none
    event: str
    count: int  # of events in one run, that takes some 30 ms of CPU time
    counts: tuple = ()
    shares: tuple = ()
    spread: tuple = ()  # what is made for these instead, and how many: events that differ more
    lines: str = ""  # more of the Probe block; EVENT: the path of the program that makes the events
    note: str = ""  # in what the tool counts something else
    what: str = ""  # without a tool: what an event is
    service: str = SERVICE  # that the plugin knows

    @property
    def name(self):
        """Unique."""
        return os.path.basename(self.command[-1] if self.command[0] == "bpftrace" else self.command[0]) if self.command \
            else f"{self.probe}, {self.what}"


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
    Pair("disk", ("bpftrace", f"{SCRIPTS}/biosnoop.bt"), "read", 600, lines='    Option "services"\n',
         counts=(Count("reads", SERVICE, "disk_ops-submitted", lines(r"^\d+ event R")),)),
    Pair("hardirq", ("hardirqs", "-d", "-N"), "read", 600,
         counts=(Count("interrupts, virtio", "hardirq", "irq-hardirq-virtio.*", section("= virtio")),),
         shares=(Shares("time in them", ".*", "duration-hardirq-virtio.*", "= virtio"),)),
    Pair("pagecache", ("bpftrace", f"{SCRIPTS}/cachestat.bt"), "page", 600,
         counts=(Count("misses", SERVICE, "cache_result-page_miss", column(r"^@misses\[event\]: (\d+)")),)),
    Pair("pagecache", (), "cached read", 50000, what="a read from the cache"),
    Pair("files", (), "cached read", 50000, what="a read, with paths",
         lines='    Option "syscalls"\n    Option "top_files"\n'),
    Pair("lifecycle", (), "signal", 30000, what="a signal", lines='    Option "signals"\n'),
    Pair("memory", (), "fault", 15000, what="a page allocated and freed", lines='    Option "pages"\n'),
    Pair("memory", (), "fault", 15000, what="a page fault", lines='    Option "faults"\n'),
    Pair("memory", (), "open", 15000, what="objects of the kernel, for an open and close", lines='    Option "kmalloc"\n'),
    Pair("poll", (), "poll", 50000, what="a poll", lines='    Option "syscalls"\n'),
    Pair("offcpu", (), "switch", 8000, what="a context switch", lines='    Option "switches"\n'),
    Pair("offcpu", (), "switch", 8000, what="a context switch, each wait recorded",
         lines='    Option "switches"\n    Parameter "least_us" 0\n'),
    Pair("softirq", (), "datagram", 15000, what="a software interrupt, with its latency", lines='    Option "latency"\n'),
    Pair("syscalls", (), "syscall", 150000, what="a system call of no service", service="none"),
    Pair("functions", (), "call", 20000, what="a call",
         lines='    <Function "called">\n      Attach "uprobe:EVENT:called"\n    </Function>\n'),
    Pair("functions", (), "single step", 5000, what="a call that is single-stepped",
         lines='    <Function "stepped">\n      Attach "uprobe:EVENT:single_stepped"\n    </Function>\n'),
    Pair("functions", (), "call", 5000, what="a call and its return",
         lines='    <Function "called">\n      Attach "uprobe:EVENT:called"\n      Latency true\n    </Function>\n'),
    Pair("functions", (), "call", 20000, what="a call and its return, replaced",
         lines='    <Function "called">\n      Attach "uprobe:EVENT:called"\n      Latency true\n'
               '      Returns "replace"\n    </Function>\n'),
)

# SPDX-License-Identifier: MIT
"""The kernel's tracing: events in a private trace buffer, with the kernel's time of each."""

import os
import re
import subprocess
import time

from lib import Skip

LINE = re.compile(r"-(\d+)\s+\[(\d+)\] (\S+) +(\d+\.\d+): (\w+): (.*)")


class Event:
    """time: in seconds since the epoch; interrupt: whether in a hard or soft interrupt"""

    __slots__ = ("time", "cpu", "pid", "interrupt", "name", "text")

    def __init__(self, found, offset):
        pid, cpu, flags, stamp, self.name, self.text = found.groups()
        self.time, self.cpu, self.pid = float(stamp) + offset, int(cpu), int(pid)
        self.interrupt = flags[2:3] not in (".", "")

    def fields(self):
        return dict(word.split("=", 1) for word in self.text.split() if "=" in word)


def init_threads():
    return set(map(int, os.listdir("/proc/1/task")))


class Trace:
    """with Trace(test, "irq/irq_handler_entry", ...) as seen: ...; then seen.events, and how many were lost.

    Some sandboxes' kernels run no BPF programs in the context of their init's threads, and do not count them as missed:
    seen.unseen are the events in that context. pids: traces only these processes and their descendants.
    """

    def __init__(self, test, *events, pids=(), kib=32768):
        self.events_wanted, self.pids, self.kib = events, pids, kib
        self.root = test.mkdir("tracefs")
        if not os.path.ismount(self.root):
            if subprocess.run(["mount", "-t", "tracefs", "tracefs", self.root], check=False).returncode:
                raise Skip("tracefs cannot be mounted")
            test.at_end(lambda: subprocess.run(["umount", self.root], check=True))
        self.dir = os.path.join(self.root, "instances", test.own("kt_trace"))
        self.events, self.unseen, self.lost = [], [], 0

    def _write(self, name, text):
        with open(os.path.join(self.dir, name), "w", encoding="ascii") as file:
            file.write(str(text))

    def __enter__(self):
        os.mkdir(self.dir)
        self._write("trace_clock", "mono")
        self._write("buffer_size_kb", self.kib)
        self.init = init_threads()
        if self.pids:
            self._write("options/event-fork", 1)
            self._write("set_event_pid", " ".join(map(str, self.pids)))
        self.offset = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
        for event in self.events_wanted:
            self._write(f"events/{event}/enable", 1)
        return self

    def _lost_on(self, cpu):
        """The number of events that were lost because the buffer was full."""
        with open(os.path.join(self.dir, "per_cpu", f"cpu{cpu}", "stats"), encoding="ascii") as file:
            counts = dict(line.split(": ") for line in file.read().splitlines())
        return int(counts["overrun"]) + int(counts["dropped events"])

    def __exit__(self, *_):
        self._write("tracing_on", 0)
        self._write("events/enable", 0)
        self.init |= init_threads()
        with open(os.path.join(self.dir, "trace"), encoding="ascii", errors="replace") as file:
            found = filter(None, map(LINE.search, file))
            self.events = [Event(one, self.offset) for one in found]
        self.unseen = [event for event in self.events if event.pid in self.init]
        self.lost = sum(map(self._lost_on, range(os.sysconf("SC_NPROCESSORS_CONF"))))
        os.rmdir(self.dir)


def durations(events, begin, end, key):
    """[(end time, key, seconds)] of pairs of events with the same key: from the first start to the end after it."""
    began, found = {}, []
    for event in events:
        if event.name == begin:
            began.setdefault(key(event), event.time)
        elif event.name == end and key(event) in began:
            found.append((event.time, key(event), event.time - began.pop(key(event))))
    return found


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, int(len(values) * percent / 100))]

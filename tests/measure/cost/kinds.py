# SPDX-License-Identifier: MIT
"""What a hook costs by its kind: events without and with an empty program on it, the way into it and back included.

What an event of a probe costs is that, and what its program does.
"""

import os

from process import WITH_TRACEFS, Process
from statistic import Estimate

CPU = 0
TIMES_OFF = 2
# By the kinds of tests/measure/cost/kinds: what is hooked, and of which event.
KINDS = {
    "tp_btf": "tp_btf",
    "raw_tp": "raw_tp",
    "tracepoint": "tracepoint",
    "fentry": "fentry",
    "fexit": "fexit",
    "kprobe": "kprobe",
    "kretprobe": "kretprobe",
    "tp_btf/sys": "tp_btf sys_enter, sys_exit: each system call",
    "raw_tp/sys": "raw_tp sys_enter, sys_exit: each system call",
    "syscalls": "tracepoint of one system call, begin and end",
    "other call": "... each other system call meanwhile",
    "uprobe": "uprobe",
    "uretprobe": "uretprobe",
    "usdt": "usdt",
    "perf_event": "perf_event, by the CPU's clock",
    "softirq": "tp_btf softirq_entry, softirq_exit",
    "sched_switch": "tp_btf sched_switch",
    "sched_wakeup": "tp_btf sched_wakeup",
}


class Kind:
    """added: of an event; run_ns: of one run, as the kernel's run statistics have it; reckoned_ns: what the engine takes
    for the first, statistics_ns: for the second."""

    def __init__(self, pairs, runs, run_ns, reckoned_ns, statistics_ns):
        self.without = Estimate(without for without, _ in pairs)
        self.added = Estimate(loaded - without for without, loaded in pairs)
        self.runs = runs
        self.run_ns = run_ns
        self.reckoned_ns = reckoned_ns
        self.statistics_ns = statistics_ns

    def runs_here(self):
        """Else it is about what the hook costs an event that it is not for."""
        return self.runs > 0.5

    def off(self):
        """Is the true figure surely more than so many times the engine's, or less than that part of it?"""
        return self.added.low > TIMES_OFF * self.reckoned_ns or self.added.high < self.reckoned_ns / TIMES_OFF


class Kinds:
    def __init__(self, site, count):
        self.count = count
        self.unavailable = {}  # by kind, why
        self.found = {}
        program = [site.program("kinds"), os.path.join(site.build, "tests/measure/cost/bpf/kinds.bpf.o"), str(CPU)]
        with Process(WITH_TRACEFS + program, talks=True) as process:
            runs = {kind: self._ask(process, kind) for kind in KINDS}
            cycles = [{kind: self._ask(process, kind) for kind in runs if runs[kind]} for _ in range(count)]
        for kind, first in runs.items():
            if first:
                self.found[kind] = Kind([cycle[kind] for cycle in cycles], *first)

    def _ask(self, process, kind):
        reply = process.ask(kind)
        if reply.startswith("unavailable"):
            self.unavailable[kind] = reply.partition(": ")[2]
            return None
        return tuple(map(float, reply.split()))

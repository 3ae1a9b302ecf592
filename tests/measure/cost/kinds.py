# SPDX-License-Identifier: MIT
"""What a hook costs by its kind: events without and with an empty program on it, the way into it and back included.

What an event of a probe costs is that, and what its program does.
"""

import os
import shlex
import subprocess

from process import WITH_TRACEFS
from statistic import Estimate

CPU = "0"
TIMED_OUT = 124  # status of timeout(1)
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
    "syscalls": "tracepoints of one system call, entry and exit",
    "other call": "... each other system call meanwhile",
    "uprobe": "uprobe",
    "uprobe/step": "uprobe on an instruction that is single-stepped",
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
        self.pairs = pairs
        self.without = Estimate(without for without, _ in pairs)
        self.added = Estimate(loaded - without for without, loaded in pairs)
        self.runs = runs
        self.run_ns = run_ns
        self.reckoned_ns = reckoned_ns
        self.statistics_ns = statistics_ns

    def runs_here(self):
        """Else it is about what the hook costs an event that it is not for."""
        return self.runs > 0.5

    def times(self, other):
        """What it adds, as so many times what another adds."""
        return Estimate((loaded - without) / (other_loaded - other_without)
                        for (without, loaded), (other_without, other_loaded) in zip(self.pairs, other.pairs))

    def times_reckoned(self, other):
        return self.reckoned_ns / other.reckoned_ns


class Kinds:
    """What the program says of these kinds in so many turns. under: a command that runs it; fewer: events at a time. KindsError:
    it could not run."""

    def __init__(self, site, kinds, count, fewer=1, under=()):
        self.count = count
        replies = _replies(site, [*kinds] * (1 + count), fewer, under)
        rounds = [dict(zip(kinds, replies[at:])) for at in range(0, len(replies), len(kinds))]
        self.unavailable = {kind: reply.partition(": ")[2] for kind, reply in rounds[0].items()
                            if reply.startswith("unavailable")}  # by kind, why
        self.found = {kind: Kind([_figures(cycle[kind]) for cycle in rounds[1:]], *_figures(rounds[0][kind]))
                      for kind in kinds if kind not in self.unavailable}


class KindsError(Exception):
    pass


def _replies(site, lines, fewer, under):
    program = [site.program("kinds"), os.path.join(site.build, "tests/measure/cost/bpf/kinds.bpf.o"), CPU, str(fewer)]
    text = shlex.quote("\n".join(lines))
    done = subprocess.run([*under, *WITH_TRACEFS, "sh", "-ec", f"echo {text} | {shlex.join(program)}"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    replies = done.stdout.splitlines()
    if done.returncode or len(replies) != len(lines):
        said = (done.stderr or done.stdout).strip().partition("\n")[0]
        raise KindsError("not done in time" if done.returncode == TIMED_OUT else said or f"status {done.returncode}")
    return replies


def _figures(reply):
    return tuple(map(float, reply.split()))

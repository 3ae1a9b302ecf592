#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collectd's own `processes` plugin in the same daemon, for processes that live long: both say the same.

Truth: that plugin, which reads /proc at nearly the same time. CPU time is there in ticks of 10 ms.
"""

import os
import time

import truth
from lib import SLOWNESS, Test

FIGURES = bool(os.environ.get("TEST_FIGURES"))
INTERVAL = 0.2 if SLOWNESS < 2 and not FIGURES else 1
REPEATS = 20
WINDOW = 10        # s, where figures decide
CPU_STEP = 2 * 1e6 / truth.TICK  # us: user and system time are each cut to a tick
PERCPU_PAGES = 32  # percpu_counter_batch

CONF = """
  <Service "kt_peer">
    Process "kt_peer"
  </Service>
  <Service "matched">
    ProcessMatch "kt_mark"
  </Service>
"""

PROCESSES = """
LoadPlugin processes
<Plugin processes>
  CollectContextSwitch true
  Process "kt_peer"
  ProcessMatch "matched" "kt_mark"
</Plugin>
"""


def nearest(rows, moment):
    return min(rows, key=lambda row: abs(row[0] - moment))


def gauges(test, daemon, service, metric, rel, slack=0):
    ours = daemon.rows(service, metric)[-1]
    theirs = nearest(daemon.rows(service, metric, "processes"), ours[0])
    for got, want in zip(ours[1:], theirs[1:]):
        test.close(f"{service} {metric}", got, want, rel=rel, slack=slack)


def uneven(rows, first, last):
    """By how much of its growth the times of first and last could be mistaken: the most that it differs there from its
    mean."""
    found = []
    for i in range(1, len(first)):
        rate = (last[i] - first[i]) / (last[0] - first[0])
        found.append(sum(max(abs(b[i] - a[i] - rate * (b[0] - a[0])) for a, b in zip(rows, rows[1:])
                             if a[0] <= end[0] <= b[0]) for end in (first, last)))
    return [growth / (last[0] - first[0]) for growth in found]


def rates(test, daemon, service, metric, begin, rel, slack):
    """Growth per second, over the time of our rows and of theirs that are next to them. On a machine that halts the
    two are not of the same time."""
    ours = [row for row in daemon.rows(service, metric) if begin < row[0] <= begin + WINDOW + 1]
    theirs = daemon.rows(service, metric, "processes")
    rate = []
    for first, last in ((ours[0], ours[-1]), (nearest(theirs, ours[0][0]), nearest(theirs, ours[-1][0]))):
        rate.append([(b - a) / (last[0] - first[0]) for a, b in zip(first[1:], last[1:])])
    unsure = uneven(theirs, nearest(theirs, ours[0][0]), nearest(theirs, ours[-1][0]))
    for got, want, more in zip(*rate, unsure):
        test.figures.close(f"{service.rpartition('_')[2]} {metric} per second", got, want, rel=rel, slack=slack + more)


def bounded(test, daemon, service, metric, begin):
    """Growth of what comes in bursts: between that of their rows just inside of ours and just outside."""
    ours = [row for row in daemon.rows(service, metric) if begin < row[0] <= begin + WINDOW + 1]
    theirs = daemon.rows(service, metric, "processes")
    first, last = ours[0], ours[-1]
    inner = [row for row in theirs if first[0] <= row[0] <= last[0]]
    before, after = [row for row in theirs if row[0] < first[0]][-1], [row for row in theirs if row[0] > last[0]][0]
    for i in range(1, len(first)):
        test.figures.within(f"{service} {metric}", last[i] - first[i], inner[-1][i] - inner[0][i], after[i] - before[i])


# What of each is compared.
COUNTERS = ("ps_cputime", "contextswitch-voluntary", "contextswitch-involuntary", "io_ops", "ps_pagefaults")


def counted(daemon, loads):
    """{metric: (ours, theirs)} of a service at readings in which nothing of it works."""
    for load in loads:
        truth.wait_state(load.pid, "S")
    moment = time.time()
    return {metric: [daemon.wait_rows("matched", metric, 2, moment, plugin=plugin)[1][1:] for plugin in ("ebpf", "processes")]
            for metric in COUNTERS}


def totals(test, begin, end):
    """What a service has done between two times at which it does nothing."""
    for metric in COUNTERS:
        ours, theirs = ([b - a for a, b in zip(*pair)] for pair in zip(begin[metric], end[metric]))
        if metric == "ps_cputime":
            test.close(f"matched {metric} in all, us", sum(ours), sum(theirs), slack=2 * CPU_STEP)
        else:
            test.equal(f"matched {metric} in all", ours, theirs)


def work(test, memory, marked, io):
    path = os.path.join(test.dir, "data")
    end = time.time() + WINDOW + 4
    for repeat in range(10000):
        if repeat >= REPEATS and not (FIGURES and time.time() < end):
            break
        memory.ask("spike 4 20")
        io.ask(f"write 50 1000 {path}")
        io.ask("reap")
        marked.ask("use 30")


def main():
    with Test(limit=90) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, extra=PROCESSES, collect=("process",))
        daemon.wait_rows("self", "duration-read_process", 1)
        if FIGURES:
            test.load("spin", test.mkdir("log"), 2, 200, 300, name="kt_peer")
        memory = test.load("memory", name="kt_peer")
        marked = test.load("task", "kt_mark")
        memory.ask("grow 64")
        marked.ask("threads 5")
        io = test.load("io", name="kt_peer")
        first = counted(daemon, [marked])
        begin = time.time() + 2
        work(test, memory, marked, io)
        last = counted(daemon, [memory, marked, io])
        totals(test, first, last)
        named = test.own("kt_peer")
        for plugin in ("ebpf", "processes"):
            daemon.wait_rows(named, "ps_rss", 2, time.time(), plugin=plugin)
        for service in (named, "matched"):
            # The peer has RSS from /proc/PID/stat: each of three counters lacks what each CPU keeps to itself.
            gauges(test, daemon, service, "ps_rss", 0.01, 3 * PERCPU_PAGES * truth.CPUS * truth.PAGE)
            gauges(test, daemon, service, "ps_vm", 0.01)
            gauges(test, daemon, service, "ps_count", 0)
        if not FIGURES:
            return
        for service in (named, "matched"):
            # Each process's two values are cut to ticks of 10 ms, at either end; 3 processes. How ticks divide CPU
            # time is in SPLIT of test_cpu.
            rates(test, daemon, service, "ps_cputime", begin, 0.02 * SLOWNESS, 3 * 1e6 / truth.TICK / WINDOW)
        # What a child did shows with the peer when its parent reaps it, and not before: not compared.
        rates(test, daemon, "matched", "contextswitch-voluntary", begin, 0.01, 1)
        bounded(test, daemon, "matched", "contextswitch-involuntary", begin)
        rates(test, daemon, "matched", "io_ops", begin, 0.01, 1)
        rates(test, daemon, "matched", "ps_pagefaults", begin, 0.01, 1)


if __name__ == "__main__":
    main()

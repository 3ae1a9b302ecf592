#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collectd's own `processes` plugin in the same daemon, for processes that live long: both say the same.

Truth: that plugin, which reads /proc at nearly the same time. CPU time is there in ticks of 10 ms.
"""

import os
import time

import truth
from lib import SLOWNESS, Test

BESIDE = True
WINDOW = 10
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
        test.close(f"{service} {metric} per second", got, want, rel=rel, slack=slack + more)


def bounded(test, daemon, service, metric, begin):
    """Growth of what comes in bursts: between that of their rows just inside of ours and just outside."""
    ours = [row for row in daemon.rows(service, metric) if begin < row[0] <= begin + WINDOW + 1]
    theirs = daemon.rows(service, metric, "processes")
    first, last = ours[0], ours[-1]
    inner = [row for row in theirs if first[0] <= row[0] <= last[0]]
    before, after = [row for row in theirs if row[0] < first[0]][-1], [row for row in theirs if row[0] > last[0]][0]
    for i in range(1, len(first)):
        test.within(f"{service} {metric}", last[i] - first[i], inner[-1][i] - inner[0][i], after[i] - before[i])


def main():
    with Test(limit=90) as test:
        daemon = test.collectd(CONF, interval=1, extra=PROCESSES, collect=("process",))
        daemon.wait_rows("self", "duration-read_process", 1)
        spin = test.load("spin", test.mkdir("log"), 2, 200, 300, name="kt_peer")
        memory = test.load("memory", name="kt_peer")
        marked = test.load("task", "kt_mark")
        memory.ask("grow 64")
        marked.ask("threads 5")
        path = os.path.join(test.dir, "data")
        io = test.load("io", name="kt_peer")
        begin = time.time() + 2
        while time.time() < begin + WINDOW + 2:
            memory.ask("spike 4 20")
            io.ask(f"write 50 1000 {path}")
            io.ask("reap")
            marked.ask("use 30")
        named = test.own("kt_peer")
        daemon.wait_rows(named, "ps_rss", 2, time.time())
        for service in (named, "matched"):
            # The peer has RSS from /proc/PID/stat: each of three counters lacks what each CPU keeps to itself.
            gauges(test, daemon, service, "ps_rss", 0.01, 3 * PERCPU_PAGES * truth.CPUS * truth.PAGE)
            gauges(test, daemon, service, "ps_vm", 0.01)
            gauges(test, daemon, service, "ps_count", 0)
        for service in (named, "matched"):
            # Each process's two values are cut to ticks of 10 ms, at either end; 3 processes. How ticks divide CPU
            # time is in SPLIT of test_cpu.
            rates(test, daemon, service, "ps_cputime", begin, 0.02 * SLOWNESS, 3 * 1e6 / truth.TICK / WINDOW)
        # What a child did shows with the peer when its parent reaps it, and not before: not compared.
        rates(test, daemon, "matched", "contextswitch-voluntary", begin, 0.01, 1)
        bounded(test, daemon, "matched", "contextswitch-involuntary", begin)
        rates(test, daemon, "matched", "io_ops", begin, 0.01, 1)
        rates(test, daemon, "matched", "ps_pagefaults", begin, 0.01, 1)
        for load in (spin, memory, marked, io):
            load.kill()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that sleep, past which the walk goes: what they hold stays where it is, moves and ends with them, and what
others do to their memory shows in their turn.

Truth: what the load programs were told, and /proc.
"""

import os
import time

import truth
from lib import SLOWNESS, Test

INTERVAL = 0.1 if SLOWNESS < 2 else 0.5
ROUNDS = 16  # walks, in one of which each task is visited
THREADS = 20
MIB = 1 << 20

CONF = """
  <Service "asleep">
    Process "kt_asleep"
  </Service>
  <Service "renamed">
    Process "kt_renamed"
  </Service>
  <Service "memory">
    Process "kt_memory"
  </Service>
"""


def count(daemon, service, moment=None):
    return daemon.row_after(service, "ps_count", moment or time.time())[1:]


def value(daemon, service, metric):
    return daemon.row_after(service, metric, time.time())[1]


def asleep(test, daemon):
    """Longer than it takes until each has had its turn."""
    memory = [test.load("memory", name="kt_memory") for _ in range(3)]
    for load in memory:
        load.ask("grow 20")
    loads = [test.load("task", name="kt_asleep") for _ in range(5)]
    for load in loads:
        load.ask(f"threads {THREADS}")
    moment = time.time()
    rows = daemon.wait_rows("asleep", "ps_count", ROUNDS + 4, moment)
    test.equal("asleep: ps_count of all rows", {row[1:] for row in rows}, {(5, 5 * (THREADS + 1))})
    pids = [load.pid for load in memory]
    for i, metric in enumerate(("ps_vm", "ps_rss")):
        want = sum(truth.memory(pid)[i] for pid in pids)
        rows = daemon.wait_rows("memory", metric, ROUNDS + 4, moment)
        test.close(f"asleep: lowest {metric}, bytes", min(row[1] for row in rows), want, rel=0.01)
        test.close(f"asleep: highest {metric}, bytes", max(row[1] for row in rows), want, rel=0.01)
    return memory, loads


def taken(test, daemon, load):
    """Pages of a file that another process makes shorter."""
    path = os.path.join(test.dir, "mapped")
    with open(path, "wb") as file:
        file.truncate(50 * MIB)
        load.ask(f"file {path}")
        before = value(daemon, "memory", "ps_rss")
        file.truncate(0)
    moment = time.time()
    rows = daemon.wait_rows("memory", "ps_rss", ROUNDS + 2, moment)
    test.close("taken by another: ps_rss in the end, bytes less", before - rows[-1][1], 50 * MIB, rel=0.02)


def moved(test, daemon, load):
    """A name, given by the one thread that is awake, for all."""
    load.ask("name " + test.own("kt_renamed"))
    moment = time.time()
    test.equal("renamed: ps_count", count(daemon, "renamed", moment), (1, THREADS + 1))
    test.equal("renamed: ps_count of its old service", count(daemon, "asleep", moment), (4, 4 * (THREADS + 1)))


def leader_ends(test, daemon, load):
    load.ask("leader-exit")
    moment = time.time()
    rows = daemon.wait_rows("asleep", "ps_count", ROUNDS + 4, moment)
    test.equal("leader has ended: ps_count", {row[1:] for row in rows}, {(4, 4 * (THREADS + 1))})


def execs(test, daemon, load):
    """By a thread that becomes the leader, and by the leader."""
    load.ask("thread-exec " + test.program("task", "kt_renamed"))
    moment = time.time()
    test.equal("a thread's exec: ps_count", count(daemon, "renamed", moment), (2, THREADS + 2))
    test.equal("a thread's exec: ps_count of its old service", count(daemon, "asleep", moment), (3, 3 * (THREADS + 1)))
    load.ask("exec " + test.program("task", "kt_asleep"))
    moment = time.time()
    test.equal("exec: ps_count", count(daemon, "asleep", moment), (4, 3 * (THREADS + 1) + 1))
    test.equal("exec: ps_count of its old service", count(daemon, "renamed", moment), (1, THREADS + 1))


def ended(test, daemon, loads):
    for load in loads:
        load.kill()
    time.sleep(INTERVAL)
    for service in ("asleep", "renamed", "memory"):
        test.equal(f"ended: ps_count of {service}", count(daemon, service), (0, 0))
        for metric in ("ps_rss", "ps_vm", "swap"):
            test.equal(f"ended: {metric} of {service}", value(daemon, service, metric), 0)


def main():
    with Test(limit=150) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        daemon.wait_rows("asleep", "ps_count", 3)
        memory, loads = asleep(test, daemon)
        taken(test, daemon, memory[0])
        moved(test, daemon, loads[0])
        leader_ends(test, daemon, loads[1])
        execs(test, daemon, loads[2])
        ended(test, daemon, memory + loads)


if __name__ == "__main__":
    main()

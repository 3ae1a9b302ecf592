#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PerProcess and TopN: series of single processes, and a pid that is used again.

Truth: /proc/PID/stat and statm, and the load programs' logs of their thread clocks.
"""

import os
import signal
import time

import tables
import truth
from lib import SLOWNESS, Test

FIGURES = bool(os.environ.get("TEST_FIGURES"))
INTERVAL = 0.2 if SLOWNESS < 2 and not FIGURES else 1
TOP = 3
CONF = f"""
  <Service "pp">
    Process "kt_pp"
    PerProcess true
    TopN {TOP}
  </Service>
  <Service "plain">
    Process "kt_plain"
  </Service>
"""


def series(pid):
    return f"pp-{pid}-{truth.start_ticks(pid)}"


def single(daemon):
    return {subject for subject in daemon.subjects() if subject.startswith("pp-")}


def at_most(test, daemon):
    together = {}
    for subject in single(daemon):
        for row in daemon.rows(subject, "ps_cputime"):
            together.setdefault(row[0], set()).add(subject)
    test.within("series of single processes in one reading", max(map(len, together.values())), 1, TOP)


def expected(daemon):
    """What a process of the service has: the series of its service, but for those that no probe keeps by process."""
    kinds = tables.series()
    alone = kinds["service"] - kinds["process"]
    return {metric for metric in daemon.metrics("pp")
            if not any(metric == base or metric.startswith(base + "-") for base in alone)}


def against_log(test, daemon, log, name):
    rows = daemon.wait_rows(name, "ps_cputime", 6)
    rows = [row for row in rows if row[0] > time.time() - 5 and not daemon.at_cycle(row[0])]
    log = truth.CpuLog(log)
    first, last = rows[0], rows[-1]
    test.figures.true("a process: its log covers its rows", log.covers(first[0]))
    # Over a few seconds, a row's stamp of 1 ms is more than the 0.2 % of 10 s.
    test.figures.between("a process: CPU, us", sum(last[1:]) - sum(first[1:]),
                         log.used_us(first[0], last[0]), rel=0.002, slack=2000 * SLOWNESS)


def values(test, daemon, load, name):
    """What it has used, and its memory, by /proc before a reading and after it: both grow, the latter with its log."""
    used, memory, moment = truth.cpu_us(load.pid), truth.memory(load.pid), time.time()
    cpu, *sizes, count = (daemon.row_after(name, metric, moment) for metric in ("ps_cputime", "ps_vm", "ps_rss", "ps_count"))
    test.within(f"{name}: CPU in all, us", sum(cpu[1:]), used, truth.cpu_us(load.pid) + truth.CPU_STEP)
    for what, row, *bounds in zip(("ps_vm", "ps_rss"), sizes, memory, truth.memory(load.pid)):
        test.between(f"{name}: {what}, bytes", row[1], bounds, rel=0.01)
    test.equal(f"{name}: ps_count", list(count[1:]), [1, 1])


def end(load):
    """What it has used in all its life, at most."""
    os.kill(load.pid, signal.SIGKILL)
    load.zombie()
    used = truth.cpu_us(load.pid) + truth.CPU_STEP
    load.kill()
    return used


def reuse(test, daemon, old, name):
    """The same pid, another process: another series."""
    pid, metrics = old.pid, daemon.metrics(name)
    last = daemon.row_after(name, "ps_cputime", time.time())
    used = end(old)
    log = test.mkdir("log_reused")
    new = test.load("reuse", pid, test.program("spin", "kt_pp"), log, 1, 20, 0)
    while not os.path.exists(f"/proc/{pid}/stat") or truth.stat(pid)[2] != test.own("kt_pp"):
        time.sleep(0.02)
    renewed = series(pid)
    test.true(f"pid {pid} is used again by a younger process ({renewed})", renewed != name)
    rows = daemon.wait_rows(renewed, "ps_cputime", 4)
    test.equal("reused pid: metrics", daemon.metrics(renewed), metrics)
    test.within("reused pid: its first CPU time is its own, us", sum(rows[0][1:]), 0, truth.cpu_us(pid) + truth.CPU_STEP)
    after = [row for row in daemon.rows(name, "ps_cputime") if row[0] > rows[1][0] + INTERVAL / 2]
    test.equal("reused pid: rows of the old series go on", len(after), 0)
    final = daemon.rows(name, "ps_cputime")[-1]
    test.within("reused pid: the old series ends where it was, us", sum(final[1:]), sum(last[1:]), used)
    new.kill()


def main():
    with Test(limit=80) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        daemon.wait_rows("self", "duration-read_process", 1)
        idle = [test.load("task", name="kt_pp") for _ in range(5)]
        plain = test.load("task", name="kt_plain")
        logs = [test.mkdir(f"log_{i}") for i in range(2)]
        busy = [test.load("spin", log, 1, 40, 0, name="kt_pp") for log in logs]
        names = [series(load.pid) for load in busy]
        daemon.wait_rows(names[0], "ps_cputime", 2)
        daemon.wait_rows(names[1], "ps_cputime", 2)
        for load, log, name in zip(busy, logs, names):
            if FIGURES:
                against_log(test, daemon, log, name)
            values(test, daemon, load, name)
        test.equal("series have what their service has", daemon.metrics(names[0]), expected(daemon))
        test.equal("series that a table of processes has", tables.series()["process"] - daemon.metrics(names[0]), set())
        reuse(test, daemon, busy[0], names[0])
        test.equal("series of a service that does not ask for them",
                   [subject for subject in daemon.subjects() if subject.startswith("plain-")], [])
        at_most(test, daemon)
        for load in (*idle, plain):
            load.end()


if __name__ == "__main__":
    main()

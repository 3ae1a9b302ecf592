#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time and its percentage, of threads that run while they are read and of threads and processes that have ended.

Truth: the load programs' own logs of their thread clocks, asked for at the time stamps of the dispatched rows; wait4
for what ended; the cpuacct controller for the machine as a whole.
"""

import os
import time

import truth
from lib import SLOWNESS, Test

CONF = """
  ServicesFrom "commands"
  <Service "solo">
    Process "kt_solo"
  </Service>
  <Service "eight">
    Process "kt_eight"
  </Service>
  <Service "mix">
    Process "kt_mix"
  </Service>
  <Service "hog">
    Process "kt_stress"
  </Service>
  <Service "churn">
    Process "kt_churn"
  </Service>
"""

WINDOW = 10      # seconds, over which CPU time is compared
EXACT = 0.002    # of the truth, over WINDOW
STAMP = 1000 * SLOWNESS  # us: rows are stamped to the millisecond, and a full CPU earns that much in one
LAST_US = 20     # of each thread: what it does after its last look at its clock, for each time that it is slower
TICK = 4000      # us: of a kernel with CONFIG_HZ=250
CPUACCT = "/sys/fs/cgroup/cpuacct/cpuacct.usage"


class Spin:
    """Threads that use a CPU and log what they used, as the processes of a service."""

    def __init__(self, test, service, threads, seconds, permille=0):
        self.service, self.threads = service, threads
        self.dir = test.mkdir("log_" + service)
        self.begin = time.time()
        self.load = test.load("spin", self.dir, threads, seconds, permille, name="kt_" + service)

    def wait(self):
        """For its end."""
        self.divided = self.load.result()
        self.load.process.wait()


def windows(daemon, service, covers):
    """Pairs of rows that are about WINDOW apart, both covered by the truth, and read when they say."""
    rows = [row for row in daemon.rows(service, "ps_cputime") if covers(row[0]) and not daemon.at_turn(row[0])]
    for first in rows:
        for last in rows:
            if abs(last[0] - first[0] - WINDOW) < 0.5:
                yield first, last


def compare(test, daemon, spin, cpus):
    service, log = spin.service, truth.CpuLog(spin.dir)
    pairs = list(windows(daemon, service, log.covers))
    test.true(f"{service}: rows {WINDOW} s apart while it ran", pairs)
    for first, last in pairs:
        test.between(f"{service}: CPU from {first[0]:.3f} to {last[0]:.3f}, us", sum(last[1:]) - sum(first[1:]),
                     log.used_us(first[0], last[0]), rel=EXACT, slack=STAMP * cpus)
    first, last = pairs[0]
    percent = [row for row in daemon.rows(service, "gauge-cpu_percent") if first[0] <= row[0] <= last[0]]
    weighed = sum(row[1] * (row[0] - before[0]) for before, row in zip(percent, percent[1:]))
    used = [us / (last[0] - first[0]) / 1e4 for us in log.used_us(first[0], last[0])]
    test.between(f"{service}: mean of {len(percent) - 1} cpu_percent", weighed / (last[0] - first[0]), used, rel=EXACT,
                 slack=STAMP / 1e5 * cpus)


def compare_division(test, daemon, spin):
    """User and system time, as the kernel divides them in the end. What it, or the plugin, has once given of either is
    not taken back when the next tick says otherwise, so either may be ahead by that, in each thread."""
    before = [row for row in daemon.rows(spin.service, "ps_cputime") if row[0] < spin.begin][-1]
    after = daemon.row_after(spin.service, "ps_cputime", time.time())
    for i, what in (1, "user"), (2, "system"):
        test.close(f"{spin.service}: {what} time in all its life, us", after[i] - before[i],
                   spin.divided[what + "_us"], slack=2 * TICK * spin.threads)


def never_above(test, daemon, service, cpus):
    test.within(f"{service}: highest cpu_percent",
                max(row[1] for row in daemon.rows(service, "gauge-cpu_percent")), 0, 100.0 * cpus)
    rows = daemon.rows(service, "ps_cputime")
    fastest = max(sum(b[1:]) - sum(a[1:]) - ((b[0] - a[0]) * 1e6 * cpus + STAMP * cpus)
                  for a, b in zip(rows, rows[1:]))
    test.within(f"{service}: highest CPU time beyond what {cpus} CPU can give, us", fastest, -float("inf"), 0)


def ended(test, daemon, kind, *args):
    """Work of threads or processes that are all gone when it is read."""
    load = test.load("churn", kind, *args, name="kt_churn")
    before = daemon.row_after("churn", "ps_cputime", time.time())
    load.say("go")
    result = load.result()
    # What ended late in an interval may be more than the CPUs can give in it: the rest comes with the next.
    after = daemon.wait_rows("churn", "ps_cputime", 3, time.time())[2]
    test.close(f"CPU of {kind} that ended, us", sum(after[1:]) - sum(before[1:]),
               result["own_ns"] / 1e3 + result["children_us"], rel=EXACT,
               slack=args[0] * args[1] * LAST_US * (SLOWNESS - 1))
    load.end()


def machine(test, daemon, sampler):
    """All subjects together against the sum that the kernel keeps of all tasks."""
    curve = sampler.curve()
    stamps = [row[0] for row in daemon.rows("other", "ps_cputime") if curve.covers(row[0])]
    got = daemon.growth("ps_cputime", stamps[0], stamps[-1])
    test.between("CPU of all subjects, us", sum(got), [ns / 1e3 for ns in curve.growth(stamps[0], stamps[-1])], rel=0.01)


def main():
    with Test(limit=110) as test:
        usage = None
        if os.path.exists(CPUACCT):
            usage = truth.Sampler(lambda: int(open(CPUACCT, encoding="ascii").read()), every=0.005)
        daemon = test.collectd(CONF, interval=1, collect=("process",))
        daemon.wait_rows("solo", "ps_cputime")
        solo = Spin(test, "solo", 1, 14)
        solo.wait()
        compare(test, daemon, solo, 1)
        compare_division(test, daemon, solo)
        eight, mix = Spin(test, "eight", 8, 13), Spin(test, "mix", 1, 13, 500)
        stress = test.stress("-c", "1", "-t", "13")
        if stress:
            while not truth.children(stress.pid):
                time.sleep(0.01)
            worker = truth.children(stress.pid)[0]
            used = truth.Sampler(lambda: truth.schedstat(worker)[0], every=0.001)
        eight.wait()
        mix.wait()
        compare(test, daemon, eight, 2)
        compare(test, daemon, mix, 1)
        compare_division(test, daemon, eight)
        compare_division(test, daemon, mix)
        if stress:
            stress.wait()
            used.stop()
            curve = used.curve()
            first, last = next(windows(daemon, "hog", curve.covers))
            # schedstat of a thread that runs lacks up to a tick, at either end.
            test.between("stress -c 1: CPU, us", sum(last[1:]) - sum(first[1:]),
                         [ns / 1e3 for ns in curve.growth(first[0], last[0])], rel=EXACT, slack=TICK)
        ended(test, daemon, "threads", 100, 4, 30000)
        ended(test, daemon, "processes", 300, 4, 10000)
        Spin(test, "eight", 8, 6).wait()
        never_above(test, daemon, "solo", 1)
        never_above(test, daemon, "mix", 1)
        never_above(test, daemon, "eight", truth.CPUS)
        if usage:
            usage.stop()
            machine(test, daemon, usage)


if __name__ == "__main__":
    main()

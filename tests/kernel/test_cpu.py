#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time and its percentage, of threads that run during a reading and of threads and processes that have ended.

Truth: the load programs' logs of their thread clocks, at the time stamps of the dispatched rows; wait4 for processes
that ended; the cpuacct controller for the whole machine.
"""

import os
import time

import truth
from lib import SLOWNESS, Test

FIGURES = bool(os.environ.get("TEST_FIGURES"))
INTERVAL = 0.2 if SLOWNESS < 2 and not FIGURES else 1
SECONDS = 13 if FIGURES else 2
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

WINDOW = 10      # seconds, over which CPU time is compared where it is measured
EXACT = 0.002    # of the truth, over WINDOW
STAMP = 1000 * SLOWNESS  # us: time stamps have milliseconds, and a CPU can use that much in one
LAST_US = 20     # us, used by a thread after it last read its clock; more by the factor of an emulator
TICK = 4000      # us: of a kernel with CONFIG_HZ=250
CPUACCT = "/sys/fs/cgroup/cpuacct/cpuacct.usage"


class Spin:
    """A process of a service whose threads use CPU time and log how much."""

    def __init__(self, test, service, threads, seconds, permille=0):
        self.service, self.threads = service, threads
        self.dir = test.mkdir("log_" + service)
        self.begin = time.time()
        self.load = test.load("spin", self.dir, threads, seconds, permille, name="kt_" + service)

    def wait(self):
        """Waits for its end. The CPU time that it used is between its last log entry and what the kernel reports."""
        self.divided = self.load.result()
        self.load.zombie()
        threads = truth.CpuLog(self.dir).threads
        self.used_us = (sum(log.values[-1] - log.values[0] for log in threads),
                        truth.cpu_us(self.load.pid) + truth.CPU_STEP)
        self.load.process.wait()


def compare_all(test, daemon, spin):
    """Compares the CPU time of its whole life, and user and system time as the kernel divides them at the end. Neither the
    kernel nor the plugin ever lowers one of the two when a later tick divides the time otherwise, so either may be higher
    by a tick for each thread."""
    before = [row for row in daemon.rows(spin.service, "ps_cputime") if row[0] < spin.begin][-1]
    after = daemon.wait_rows(spin.service, "ps_cputime", 3, time.time())[2]
    test.between(f"{spin.service}: CPU in all its life, us", sum(after[1:]) - sum(before[1:]), spin.used_us)
    for i, what in (1, "user"), (2, "system"):
        test.figures.close(f"{spin.service}: {what} time in all its life, us", after[i] - before[i],
                           spin.divided[what + "_us"], slack=2 * TICK * spin.threads)


def windows(daemon, service, covers):
    """Pairs of rows about WINDOW apart that were read at their time stamps, while the truth was recorded."""
    rows = [row for row in daemon.rows(service, "ps_cputime") if covers(row[0]) and not daemon.at_cycle(row[0])]
    for first in rows:
        for last in rows:
            if abs(last[0] - first[0] - WINDOW) < 0.5:
                yield first, last


def compare(test, daemon, spin, cpus):
    service, log = spin.service, truth.CpuLog(spin.dir)
    pairs = list(windows(daemon, service, log.covers))
    test.figures.true(f"{service}: rows {WINDOW} s apart while it ran", pairs)
    for first, last in pairs:
        test.figures.between(f"{service}: CPU in {WINDOW} s, us", sum(last[1:]) - sum(first[1:]),
                             log.used_us(first[0], last[0]), rel=EXACT, slack=STAMP * cpus)
    first, last = pairs[0]
    percent = [row for row in daemon.rows(service, "gauge-cpu_percent") if first[0] <= row[0] <= last[0]]
    weighed = sum(row[1] * (row[0] - before[0]) for before, row in zip(percent, percent[1:]))
    used = [us / (last[0] - first[0]) / 1e4 for us in log.used_us(first[0], last[0])]
    test.figures.between(f"{service}: mean of cpu_percent", weighed / (last[0] - first[0]), used,
                         rel=EXACT, slack=STAMP / 1e5 * cpus)


def never_above(test, daemon, service, cpus):
    test.figures.within(f"{service}: highest cpu_percent",
                        max(row[1] for row in daemon.rows(service, "gauge-cpu_percent")), 0, 100.0 * cpus)
    rows = daemon.rows(service, "ps_cputime")
    fastest = max(sum(b[1:]) - sum(a[1:]) - ((b[0] - a[0]) * 1e6 * cpus + STAMP * cpus)
                  for a, b in zip(rows, rows[1:]))
    test.figures.within(f"{service}: highest CPU time beyond what {cpus} CPU can give, us", fastest, -float("inf"), 0)


def ended_us(daemon, before, enough):
    """CPU time of the service since that row, once it is enough. What exceeds what the CPUs can give in an interval is
    dispatched with the next one, and what a thread uses after its exit, when the kernel frees it."""
    give_up = time.monotonic() + 20 * SLOWNESS
    while True:
        after = daemon.wait_rows("churn", "ps_cputime", 3, time.time())[2]
        got = sum(after[1:]) - sum(before[1:])
        if got >= enough or time.monotonic() > give_up:
            return got


def ended(test, daemon, kind, *args):
    """Compares the CPU time of threads or processes that all ended before the reading."""
    load = test.load("churn", kind, *args, name="kt_churn")
    before = daemon.row_after("churn", "ps_cputime", time.time())
    load.say("go")
    result = load.result()
    want = result["own_ns"] / 1e3 + result["children_us"]
    got = ended_us(daemon, before, want * (1 - EXACT))
    test.within(f"CPU of {kind} that ended, us, at least", got, want * (1 - EXACT), 1.5 * want)
    test.figures.close(f"CPU of {kind} that ended, us", got, want, rel=EXACT,
                       slack=args[0] * args[1] * LAST_US * (SLOWNESS - 1))
    load.end()


def hog(test, daemon):
    """Compares the CPU time of stress while it runs."""
    stress = test.stress("-c", "1", "-t", str(SECONDS))
    if not stress:
        return
    while not truth.children(stress.pid):
        time.sleep(0.01)
    worker = truth.children(stress.pid)[0]
    used = truth.Sampler(lambda: truth.schedstat(worker)[0], every=0.001)
    stress.wait()
    used.stop()
    curve = used.curve()
    first, last = next(windows(daemon, "hog", curve.covers))
    # schedstat of a running thread lags behind by up to a tick, at either end.
    test.figures.between("stress -c 1: CPU, us", sum(last[1:]) - sum(first[1:]),
                         [ns / 1e3 for ns in curve.growth(first[0], last[0])], rel=EXACT, slack=TICK)


def cpuacct():
    with open(CPUACCT, encoding="ascii") as file:
        return int(file.read()) / 1e3


def machine(test, daemon, sampler):
    """The sum of all subjects never exceeds the kernel's sum of all tasks."""
    curve = sampler.curve()
    stamps = [row[0] for row in daemon.rows("other", "ps_cputime") if curve.covers(row[0])]
    got = sum(daemon.growth("ps_cputime", stamps[0], stamps[-1]))
    # The last reading ends after its time stamp.
    test.within("CPU of all subjects, us", got, 0, 1.01 * (cpuacct() - curve.bounds(stamps[0])[0]))
    test.figures.between("CPU of all subjects, of the time of the readings, us", got, curve.growth(stamps[0], stamps[-1]),
                         rel=0.01)


def main():
    with Test(limit=110) as test:
        usage = truth.Sampler(cpuacct, every=0.005) if os.path.exists(CPUACCT) else None
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        daemon.wait_rows("solo", "ps_cputime", 2)
        spins = [Spin(test, "solo", 1, SECONDS + 1)]
        spins[0].wait()
        spins += [Spin(test, "eight", 8, SECONDS), Spin(test, "mix", 1, SECONDS, 500)]
        if FIGURES:
            hog(test, daemon)
        for spin in spins[1:]:
            spin.wait()
        for spin, cpus in zip(spins, (1, 2, 1)):
            compare_all(test, daemon, spin)
            if FIGURES:
                compare(test, daemon, spin, cpus)
        ended(test, daemon, "threads", 100, 4, 30000 if FIGURES else 10000)
        ended(test, daemon, "processes", 300 if FIGURES else 100, 4, 10000)
        if FIGURES:
            Spin(test, "eight", 8, 6).wait()
        never_above(test, daemon, "solo", 1)
        never_above(test, daemon, "mix", 1)
        never_above(test, daemon, "eight", truth.CPUS)
        if usage:
            usage.stop()
            machine(test, daemon, usage)
        else:
            test.left_out("CPU time of the machine", "there is no controller cpuacct")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samplers: what they see of threads whose states are known, how often they run, and that they stay below their share,
by MaxSampling and by the options of their probe.

Truth: what the load works and sleeps by its own clock, the kernel's schedstat, and the CPU time of the daemon's threads.
"""

import os
import time

import lib
import truth
from lib import SLOWNESS, Test, without

INTERVAL = 10
PERIOD, WORK = 10000, 7000  # us; a sampler of a fixed 10 ms would see one moment of it alone
HZ = 200                    # as the object wants
SHARE = 0.5                 # percent, the default
NAME = "sample_{}-sampler_scan"
FREQUENCY = 20
BUDGET = 1

CONF = """
  <Service "cycle">
    Process "kt_cycle"
  </Service>
  <Service "idle">
    Process "kt_task"
  </Service>
""" + without("poll") + """
  <Probe "sampler">
    Object "{object}"
  </Probe>
"""

# Of the same object two probes, which have no series in common; samplers with a budget leave MaxSampling alone.
OPTIONS = f"""
  MaxSampling 0.01
  <Probe "seldom">
    Object "{{object}}"
    Collect "percent-running"
    Frequency {FREQUENCY}
    Budget 20
  </Probe>
  <Probe "bounded">
    Object "{{object}}"
    Collect "percent-queued"
    Frequency 1000
    Budget {BUDGET}
  </Probe>
  <Probe "process">
    Frequency 50
    Budget 1
  </Probe>
"""


def figures(daemon, moment, probe="sampler"):
    """Hz, percent of a CPU and seconds a run."""
    return [daemon.row_after("self", f"{what}-{NAME.format(probe)}", moment)[1]
            for what in ("operations_per_second", "percent", "duration")]


def thread_cpu(daemon):
    """Seconds of CPU of each thread of the daemon."""
    found = {}
    for tid in os.listdir(f"/proc/{daemon.process.pid}/task"):
        fields = truth.proc(f"{daemon.process.pid}/task/{tid}", "schedstat").split()
        found[tid] = int(fields[0]) / 1e9
    return found


def print_threads(daemon, seconds=3):
    begin = thread_cpu(daemon)
    time.sleep(seconds)
    used = sorted(100 * (now - begin.get(tid, 0)) / seconds for tid, now in thread_cpu(daemon).items())
    print("note: percent of a CPU by thread of the daemon: " + " ".join(f"{share:.2f}" for share in used))


def states(test, daemon, load, tolerance):
    """One interval of the daemon against the kernel's own counts."""
    row = daemon.row_after("cycle", "percent-running", time.time())
    run, wait = truth.schedstat(load.pid)
    begin = time.time()
    row = daemon.row_after("cycle", "percent-running", row[0] + INTERVAL / 2)
    seconds = time.time() - begin
    run, wait = (100 * (now - before) / 1e9 / seconds for now, before in zip(truth.schedstat(load.pid), (run, wait)))
    what = f"collectd {daemon.number}, {figures(daemon, row[0] - 1)[0]:.0f} Hz"
    test.true(f"{what}: running and sleeping, percent", 0 < row[1] < 100, row[1])
    test.figures.close(f"{what}: running, percent", row[1], run, slack=tolerance)
    test.figures.close(f"{what}: sleeping, percent", daemon.row_after("cycle", "percent-sleeping", row[0] - 1)[1],
                       100 - run - wait, slack=tolerance)
    test.equal(f"{what}: an idle service sleeps, percent",
               daemon.row_after("idle", "percent-sleeping", row[0] - 1)[1], 100)


def options(test, daemon):
    """Each probe as its block says, and a warning where there is no sampler."""
    moment = time.time()
    hz, percent, mean = figures(daemon, moment, "seldom")
    print(f"note: Frequency {FREQUENCY}: {hz:.1f} Hz, {mean * 1e6:.0f} us a run, {percent:.2f} % of a CPU")
    test.figures.within(f"Frequency {FREQUENCY}, Hz", hz, FREQUENCY / 2 / SLOWNESS, FREQUENCY * 1.15)
    hz, percent, mean = figures(daemon, moment, "bounded")
    print(f"note: Budget {BUDGET}: {hz:.1f} Hz, {mean * 1e6:.0f} us a run, {percent:.2f} % of a CPU")
    test.figures.within(f"Budget {BUDGET}, percent of a CPU", percent, 0, BUDGET * 1.3)
    test.figures.within("it is used, Hz", hz, min(1000, BUDGET / 100 / mean) / 2, 1100)
    test.equal("complaints", [line for line in daemon.complaints() if "Frequency" in line],
               ["[warning] ebpf plugin: probe process: ignoring Frequency and Budget: it has no sampler"])


def main():
    with Test(limit=300) as test:
        conf = CONF.format(object=os.path.join(lib.BUILD, "tests", "bpf", "sampler.bpf.o"))
        cycle = test.load("cycle", PERIOD, WORK, name="kt_cycle")
        idle = test.load("task", name="kt_task")
        free = test.collectd(conf + "  MaxSampling 20\n", interval=INTERVAL)
        limited = test.collectd(conf, interval=INTERVAL)
        chosen = test.collectd(OPTIONS.format(object=os.path.join(lib.BUILD, "tests", "bpf", "sampler.bpf.o")),
                               interval=INTERVAL)
        limited.wait_rows("self", "percent-" + NAME.format("sampler"))
        # Four times the standard error of samples that know nothing of each other.
        states(test, free, cycle, 400 * (0.7 * 0.3 / (HZ * INTERVAL / SLOWNESS)) ** 0.5 + 2)
        moment = time.time()
        # A sampler waits for a CPU like all others.
        test.figures.within("frequency with room, Hz", figures(free, moment)[0], HZ / 2 / SLOWNESS, HZ * 1.1)
        states(test, limited, cycle, 25)
        hz, percent, mean = figures(limited, moment)
        print(f"note: {hz:.1f} Hz, {mean * 1e6:.0f} us a run, {percent:.2f} % of a CPU")
        test.figures.within("share of a CPU by default, percent", percent, 0, SHARE * 1.3)
        test.close("it is frequency times cost, percent", percent, 100 * hz * mean, rel=0.01)
        options(test, chosen)
        if test.measures:
            print_threads(limited)
        begin = time.monotonic()
        test.stop(limited)
        test.figures.within("seconds until the daemon has ended", time.monotonic() - begin, 0, 5 * SLOWNESS)
        cycle.end()
        idle.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Samplers: what they see of threads whose states are known, how often they run, and that they stay below their share.

Truth: what the load works and sleeps by its own clock, the kernel's schedstat, and the CPU time of the daemon's threads.
"""

import os
import time

import lib
import truth
from lib import SLOWNESS, Test

INTERVAL = 10
PERIOD, WORK = 10000, 7000  # us; a sampler of a fixed 10 ms would see one moment of it alone
HZ = 200                    # as the object wants
SHARE = 0.5                 # percent, the default
NAME = "sample_sampler-sampler_look"

CONF = """
  <Service "cycle">
    Process "kt_cycle"
  </Service>
  <Service "idle">
    Process "kt_task"
  </Service>
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "sampler">
    Object "{object}"
  </Probe>
"""


def figures(daemon, moment):
    return {what: daemon.row_after("self", f"{what}-{NAME}", moment)[1:]
            for what in ("operations_per_second", "percent", "duration")}


def thread_cpu(daemon):
    """Seconds of CPU of each thread of the daemon."""
    found = {}
    for tid in os.listdir(f"/proc/{daemon.process.pid}/task"):
        fields = truth.proc(f"{daemon.process.pid}/task/{tid}", "schedstat").split()
        found[tid] = int(fields[0]) / 1e9
    return found


def states(test, daemon, load, tolerance):
    """One interval of the daemon against the kernel's own counts."""
    row = daemon.row_after("cycle", "percent-running", time.time())
    run, wait = truth.schedstat(load.pid)
    begin = time.time()
    row = daemon.row_after("cycle", "percent-running", row[0] + INTERVAL / 2)
    seconds = time.time() - begin
    run, wait = (100 * (now - before) / 1e9 / seconds for now, before in zip(truth.schedstat(load.pid), (run, wait)))
    what = f"collectd {daemon.number}, {daemon.row_after('self', 'operations_per_second-' + NAME, row[0] - 1)[1]:.0f} Hz"
    test.close(f"{what}: running, percent", row[1], run, slack=tolerance)
    test.close(f"{what}: sleeping, percent", daemon.row_after("cycle", "percent-sleeping", row[0] - 1)[1],
               100 - run - wait, slack=tolerance)
    test.equal(f"{what}: an idle service sleeps, percent",
               daemon.row_after("idle", "percent-sleeping", row[0] - 1)[1], 100)


def main():
    with Test(limit=120) as test:
        conf = CONF.format(object=os.path.join(lib.BUILD, "tests", "bpf", "sampler.bpf.o"))
        cycle = test.load("cycle", PERIOD, WORK, name="kt_cycle")
        idle = test.load("task", name="kt_task")
        free = test.collectd(conf + "  MaxSampling 20\n", interval=INTERVAL)
        held = test.collectd(conf, interval=INTERVAL)
        held.wait_rows("self", "percent-" + NAME)
        # Four times the standard error of samples that know nothing of each other.
        states(test, free, cycle, 400 * (0.7 * 0.3 / (HZ * INTERVAL / SLOWNESS)) ** 0.5 + 2)
        moment = time.time()
        got = figures(free, moment)
        # A sampler waits for a CPU like all others.
        test.within("frequency with room, Hz", got["operations_per_second"][0], HZ / 2 / SLOWNESS, HZ * 1.1)
        states(test, held, cycle, 25)
        got = figures(held, moment)
        hz, percent, mean = (got[what][0] for what in ("operations_per_second", "percent", "duration"))
        print(f"note: {hz:.1f} Hz, {mean * 1e6:.0f} us a run, {percent:.2f} % of a CPU")
        test.within("share of a CPU by default, percent", percent, 0, SHARE * 1.3)
        test.close("it is frequency times cost, percent", percent, 100 * hz * mean, rel=0.01)
        begin = thread_cpu(held)
        seconds = 3
        time.sleep(seconds)
        used = sorted(100 * (now - begin.get(tid, 0)) / seconds for tid, now in thread_cpu(held).items())
        print("note: percent of a CPU by thread of the daemon: " + " ".join(f"{share:.2f}" for share in used))
        begin = time.monotonic()
        test.stop(held)
        test.within("seconds until the daemon has ended", time.monotonic() - begin, 0, 5 * SLOWNESS)
        cycle.end()
        idle.end()


if __name__ == "__main__":
    main()

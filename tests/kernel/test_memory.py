#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Current memory and its peak within an interval, even a peak of 50 ms or of a process that has ended.

Truth: the sizes that the load program maps and touches, and /proc/PID/statm around the time stamps of the rows.
"""

import time

import truth
from lib import SLOWNESS, Test

MIB = 1 << 20
CLOSE = 0.01
STRESS = 256  # MiB
# With exact_peak, every 16th change is read; before Linux 6.2, there is one for 64 faults.
CHANGES = 16 * 64 * truth.PAGE
INTERVAL = 0.2 if SLOWNESS < 2 else 4
# MiB, of spikes.
HIGH, LOWER = round(200 / SLOWNESS), round(150 / SLOWNESS)

CONF = """
  <Service "memory">
    Process "kt_memory"
  </Service>
  <Service "brief">
    Process "kt_brief"
  </Service>
  <Service "stress">
    Process "kt_stress"
  </Service>
"""
EXACT_PEAK = """
  <Probe "process">
    Option "exact_peak"
  </Probe>
"""


def value(daemon, metric, moment, service="memory"):
    return daemon.row_after(service, metric, moment)[1]


def against_statm(test, daemon, what, service, pids, moment):
    """Compares VM and RSS of a service with the sums of /proc at the time of the row."""
    curve = truth.Sampler(lambda: [truth.memory(pid) for pid in pids()], every=0.005)
    vm = daemon.row_after(service, "ps_vm", moment)
    rss = daemon.row_after(service, "ps_rss", moment)
    curve.stop()
    test.close(f"{what}: ps_vm, bytes", vm[1], curve.curve(lambda all: sum(one[0] for one in all)).at(vm[0]), rel=CLOSE)
    test.close(f"{what}: ps_rss, bytes", rss[1], curve.curve(lambda all: sum(one[1] for one in all)).at(rss[0]),
               rel=CLOSE)


def around(daemon, service, action):
    """(peak of all readings whose interval may include a part of the action, peak of the interval after them, RSS
    then)"""
    known = len(daemon.rows(service, "ps_rss-peak"))
    action()
    rows = daemon.wait_rows(service, "ps_rss-peak", 2, time.time())[:2]
    highest = max(row[1] for row in daemon.rows(service, "ps_rss-peak")[known:] if row[0] <= rows[0][0])
    return highest, rows[1][1], daemon.wait_rows(service, "ps_rss", 1, rows[0][0] + INTERVAL / 2)[0][1]


def spike(test, daemon, load, mib):
    base = truth.memory(load.pid)[1]
    peak, after, now = around(daemon, "memory", lambda: load.ask(f"spike {mib} 50"))
    what = f"spike of {mib} MiB for 50 ms, collectd {daemon.number}"
    test.close(f"{what}: ps_rss-peak, bytes", peak, base + mib * MIB, rel=CLOSE, slack=CHANGES)
    test.close(f"{what}: ps_rss, bytes", now, base, rel=CLOSE)
    test.close(f"{what}: ps_rss-peak of the next interval, bytes", after, base, rel=CLOSE)


def brief(test, daemon):
    """A process that starts and ends between two readings."""
    peak, after, now = around(daemon, "brief", lambda: test.load("memory", HIGH, 50, name="kt_brief").process.wait())
    test.close("process that ended: ps_rss-peak, bytes", peak, HIGH * MIB, rel=CLOSE, slack=2 * MIB)  # for its libraries
    test.equal("process that ended: ps_rss, bytes", now, 0)
    test.equal("process that ended, the interval after: ps_rss-peak", after, 0)


def main():
    with Test(limit=100) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        daemon.wait_rows("memory", "ps_rss", 1)
        exact = test.collectd(CONF + EXACT_PEAK, interval=INTERVAL, collect=("process",))
        load = test.load("memory", name="kt_memory")
        load.ask("grow 100")
        load.ask("reserve 300")
        exact.wait_rows("memory", "ps_rss", 1)
        moment = time.time()
        against_statm(test, daemon, "100 MiB touched, 400 mapped", "memory", lambda: [load.pid], moment)
        test.within("ps_vm, bytes", value(daemon, "ps_vm", moment), 400 * MIB, 440 * MIB)
        test.within("ps_rss, bytes", value(daemon, "ps_rss", moment), 100 * MIB, 105 * MIB)
        spike(test, daemon, load, HIGH)
        spike(test, exact, load, HIGH)
        # The kernel remembers only the peak of the process's life. A lower peak needs the option, as collectd-ebpf-metrics(7)
        # says.
        spike(test, exact, load, LOWER)
        brief(test, daemon)
        # Started last, as it keeps a CPU busy.
        stress = test.stress("-m", "1", "--vm-bytes", f"{STRESS}M", "--vm-keep", "-t", "60")
        if stress:
            while sum(truth.memory(pid)[1] for pid in truth.children(stress.pid)) < STRESS * MIB:
                time.sleep(0.05)
            moment = time.time()
            against_statm(test, daemon, "stress -m 1 --vm-keep", "stress",
                          lambda: [stress.pid, *truth.children(stress.pid)], moment)


if __name__ == "__main__":
    main()

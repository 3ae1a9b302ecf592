#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory now and the highest within an interval, also where it lasted for 50 ms, and of a process that has ended.

Truth: the amounts that the load program maps and touches, and /proc/PID/statm around the time stamps of the rows.
"""

import time

import truth
from lib import SLOWNESS, Test

BESIDE = True
MIB = 1 << 20
CLOSE = 0.01
# With exact_peak every 16th change is looked at, and before 6.2 a change comes with the 64th fault.
CHANGES = 16 * 64 * truth.PAGE
INTERVAL = 2 if SLOWNESS < 2 else 4
# MiB; no more than can be touched well within an interval.
HIGH, LOWER = round(200 / SLOWNESS), round(150 / SLOWNESS)
LATER = 0.01  # s, than a reading: any other one is
ATTEMPTS, HIGHER = 4, round(10 / SLOWNESS)

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
    """VM and RSS of a service against the sums of /proc at the time of the row."""
    curve = truth.Sampler(lambda: [truth.memory(pid) for pid in pids()], every=0.005)
    vm = daemon.row_after(service, "ps_vm", moment)
    rss = daemon.row_after(service, "ps_rss", moment)
    curve.stop()
    test.close(f"{what}: ps_vm, bytes", vm[1], curve.curve(lambda all: sum(one[0] for one in all)).at(vm[0]), rel=CLOSE)
    test.close(f"{what}: ps_rss, bytes", rss[1], curve.curve(lambda all: sum(one[1] for one in all)).at(rss[0]),
               rel=CLOSE)


def settled(daemon):
    """A moment just after a reading, a whole interval away from the next."""
    return daemon.row_after("memory", "ps_rss", time.time())[0]


def between_readings(daemon, action):
    """The reading before it, and how often the action was tried: again, where other work on the machine has drawn it
    out over the next reading."""
    for attempt in range(ATTEMPTS):
        moment = settled(daemon)
        time.sleep(INTERVAL / 8)
        action(attempt)
        done = time.time()
        if daemon.row_after("memory", "ps_rss", moment)[0] > done:
            return moment, attempt
    raise TimeoutError(f"nothing is over within {INTERVAL} s")


def spike(test, daemon, load, mib):
    base = truth.memory(load.pid)[1]
    # Each higher than before: the kernel remembers the highest.
    moment, attempt = between_readings(daemon, lambda attempt: load.ask(f"spike {mib + attempt * HIGHER} 50"))
    mib += attempt * HIGHER
    what = f"spike of {mib} MiB for 50 ms, collectd {daemon.number}"
    read, peak = daemon.row_after("memory", "ps_rss-peak", moment)
    test.close(f"{what}: ps_rss-peak, bytes", peak, base + mib * MIB, rel=CLOSE, slack=CHANGES)
    test.close(f"{what}: ps_rss, bytes", value(daemon, "ps_rss", moment), base, rel=CLOSE)
    test.close(f"{what}: ps_rss-peak of the next interval, bytes", value(daemon, "ps_rss-peak", read + LATER), base,
               rel=CLOSE)


def brief(test, daemon):
    """A process that is not there at any reading."""
    moment, _ = between_readings(daemon, lambda _: test.load("memory", HIGH, 50, name="kt_brief").process.wait())
    read, peak = daemon.row_after("brief", "ps_rss-peak", moment)
    test.close("process that ended: ps_rss-peak, bytes", peak, HIGH * MIB, rel=CLOSE, slack=2 * MIB)  # its libraries
    test.equal("process that ended: ps_rss, bytes", value(daemon, "ps_rss", moment, "brief"), 0)
    test.equal("process that ended, the interval after: ps_rss-peak",
               value(daemon, "ps_rss-peak", read + LATER, "brief"), 0)


def main():
    with Test(limit=100) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        settled(daemon)
        exact = test.collectd(CONF + EXACT_PEAK, interval=INTERVAL, collect=("process",))
        load = test.load("memory", name="kt_memory")
        load.ask("grow 100")
        load.ask("reserve 300")
        moment = settled(daemon)
        against_statm(test, daemon, "100 MiB touched, 400 mapped", "memory", lambda: [load.pid], moment)
        test.within("ps_vm, bytes", value(daemon, "ps_vm", moment), 400 * MIB, 440 * MIB)
        test.within("ps_rss, bytes", value(daemon, "ps_rss", moment), 100 * MIB, 105 * MIB)
        # Each in an interval of its own daemon: the two do not read at the same time.
        spike(test, daemon, load, HIGH)
        spike(test, exact, load, HIGH)
        # Lower than the highest of the process's life, which is all that the kernel remembers: collectd-ebpf(5) says
        # that this takes the option.
        spike(test, exact, load, LOWER)
        brief(test, daemon)
        # Not earlier: it keeps a CPU busy.
        stress = test.stress("-m", "1", "--vm-bytes", "256M", "--vm-keep", "-t", "60")
        if stress:
            time.sleep(INTERVAL)
            moment = settled(daemon)
            against_statm(test, daemon, "stress -m 1 --vm-keep", "stress",
                          lambda: [stress.pid, *truth.children(stress.pid)], moment)


if __name__ == "__main__":
    main()

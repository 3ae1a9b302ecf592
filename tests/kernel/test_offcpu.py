#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time off the CPU by stack, and waits for locks.

Truth: the clocks of the program that waits (load_offcpu.c), which knows in which call and function it does, and, of
waits for locks, how long it asked for. The stacks are those in the rings, which the test reads in the
engine's place: it has no directory for them. Those in files are in test_profile.py.
"""

import json
import math
import time

import stack_rings
from lib import SLOWNESS, Test

CONF = """
  MaxSampling 20
  <Profiles>
    Directory "/proc/none"
  </Profiles>
  <Service "load">
    Process "kt_offcpu"
  </Service>
  <Service "convoy">
    Process "kt_convoy"
  </Service>
  <Service "names">
    Process "kt_names"
  </Service>
  <Probe "offcpu">
    Enable true
    Frequency 100
    Budget 10
    Option "switches"
    Parameter "least_us" 0
    Collect "default" "latency-condition_wait*"
  </Probe>
"""
SEND_SECONDS = 6  # after which the probe has sent all waits that it had seen
THREADS = 4
FREQUENCY = 100
SENT_MAX = 256  # a look, see bpf/offcpu.bpf.c
# A part of the name of a function of the kernel in each.
CYCLE_MS = {"sleep": 40, "futex": 30}  # of the ways in which each call is a wait
LOCK_WAIT = 0.005  # s, the shortest
BUCKET = 0.03      # that a percentile may be off for its bucket
WAYS = {"sleep": "nanosleep", "futex": "futex", "pipe": "pipe_read", "sync": "fsync"}


def ask(load, word):
    return {call: tuple(sums) for call, sums in json.loads(load.ask(word)).items()}


def collect(seconds, *rings, enough=lambda *found: True):
    """What comes into each ring in so many seconds, and until there is enough."""
    found = [[] for _ in rings]
    end = time.monotonic() + seconds
    while True:
        for stacks, ring in zip(found, rings):
            stacks += ring.read_all()
        if time.monotonic() > end and enough(*found):
            return found
        time.sleep(0.05)


def by_way(stacks, symbols, kernel, end):
    """{way: value}, of the outer function of the program (switches), or of what the kernel calls it."""
    sums = dict.fromkeys(WAYS, 0)
    for stack in stacks:
        names = [symbols.name(at) for at in stack.user] if end == "user" else [kernel.name(at) for at in stack.kernel]
        found = next((way for way, word in WAYS.items() for name in names
                      if (name == f"in_{way}" if end == "user" else word in name)), None)
        if found:
            sums[found] += stack.value
    return sums


def shares(sums):
    total = sum(sums.values()) or 1
    return {way: 100 * value / total for way, value in sums.items()}


def cycle(test, waits, switches, kernel):
    """No wait is missing and none is longer than it was; as figures, the known shares: within 3 points by samples,
    within 2 percent by switches."""
    load = test.load("offcpu", test.disk, name="kt_offcpu")
    load.ask(f"cycle {THREADS}")
    symbols = stack_rings.of_program(load.pid)
    collect(SEND_SECONDS if test.measures else 0.5, waits, switches)
    outer = [ask(load, "sums")]
    switches.read_all()
    inner = [ask(load, "sums")]
    taken, sent = collect(20 if test.measures else 3, waits, switches)
    inner.append(ask(load, "sums"))
    sent += switches.read_all()
    outer.append(ask(load, "sums"))
    taken += collect(SEND_SECONDS if test.measures else 0, waits, enough=lambda stacks: all(
        by_way(taken + stacks, symbols, kernel, "kernel")[way] for way in (*CYCLE_MS, "pipe")))[0]
    by_switches(test, [stack for stack in sent if stack.comm == load.name], symbols, kernel, outer, inner)
    by_samples(test, [stack for stack in taken if stack.comm == load.name], symbols, kernel, inner)
    load.end()


def by_switches(test, own, symbols, kernel, outer, inner):
    """outer, inner: sums of the load before and after; all records of those between the inner ones are there, and none
    of others than those between the outer ones."""
    got = by_way(own, symbols, kernel, "user")
    for way in WAYS:
        truth, queued = ((inner[1][way][i] - inner[0][way][i]) / 1000 for i in (0, 1))
        test.within(f"switches: {way}, us", got[way], 0, (outer[1][way][0] - outer[0][way][0]) / 1000 * 1.02)
        # Who has to leave a CPU before it is done is not blocked. Waits that go on at the begin or the end are cut.
        test.figures.between(f"switches: {way}, us", got[way], (truth - queued, truth), rel=0.02,
                             slack=THREADS * 40000 * SLOWNESS)
    for way, ms in CYCLE_MS.items():
        found = [stack.value for stack in own if f"in_{way}" in map(symbols.name, stack.user)]
        # One of each thread may have had its CPU back before, and be counted after.
        least, most = inner[1][way][2] - inner[0][way][2] - THREADS, outer[1][way][2] - outer[0][way][2] + THREADS
        test.within(f"switches: {way}, waits", len(found), least, most)
        # The time begins before the thread is blocked: it may lose its CPU in between.
        test.figures.true(f"switches: {way}, shortest wait, us", min(found) >= 1000 * ms - 1, min(found))


def by_samples(test, taken, symbols, kernel, sums):
    got = shares(by_way(taken, symbols, kernel, "kernel"))
    truth, queued = ({way: (sums[1][way][i] - sums[0][way][i]) / 1000 for way in WAYS} for i in (0, 1))
    bounds = shares(truth), shares({way: truth[way] - queued[way] for way in WAYS})
    print(f"note: in run queues, us: {queued}")
    for way in WAYS:
        # With or without what threads wait for a CPU, which is long where these are emulated.
        low, high = sorted(share[way] for share in bounds)
        test.figures.between(f"waits: {way}, percent", got[way], (low, high), slack=3)
    test.true("waits: no stack of a user", not any(stack.user for stack in taken), len(taken))
    calls = {way: {stack.syscall for stack in taken for at in stack.kernel if word in kernel.name(at)}
             for way, word in WAYS.items()}
    # The shortest may not be met.
    test.true("waits: each has one call", all(len(numbers) == 1 or way == "sync" and not numbers
                                              for way, numbers in calls.items()), calls)
    test.equal("waits: idle threads", sum("epoll" in kernel.name(at) for stack in taken for at in stack.kernel), 0)


def percentiles(daemon, service, moment):
    """{name: seconds}, of an interval that began later and has any."""
    moment += daemon.interval
    while True:
        found = {p: daemon.row_after(service, f"latency-lock_wait-percentile-{p}", moment)[:2] for p in (50, 95, 99)}
        if not any(math.isnan(value) for _, value in found.values()):
            return {p: value for p, (_, value) in found.items()}
        moment = time.time()


def locks(test, daemon):
    load = test.load("offcpu", test.disk, name="kt_offcpu")
    load.ask(f"futex {THREADS}")
    got = percentiles(daemon, "load", time.time())
    test.true("lock_wait: percentiles, s", LOCK_WAIT * (1 - BUCKET) <= got[50] <= got[95] <= got[99], got)
    for name, want in ((50, LOCK_WAIT), (95, 0.1), (99, 0.1)):
        test.figures.close(f"lock_wait: percentile {name}, s", got[name], want, rel=0.06, slack=0.001 * SLOWNESS)
    load.end()


def convoy(test, daemon, switches):
    """Each of eight waits until seven others have had the lock."""
    load = test.load("offcpu", test.disk, name="kt_convoy")
    load.ask("convoy 8")
    symbols = stack_rings.of_program(load.pid)
    collect(1, switches)
    before, moment = ask(load, "sums"), time.time()
    stacks = [stack for stack in collect(2 * daemon.interval, switches, enough=lambda found: sum(
        stack.comm == load.name for stack in found) >= 200)[0] if stack.comm == load.name]
    after = ask(load, "sums")
    got = percentiles(daemon, "convoy", moment)
    mean = (after["futex"][0] - before["futex"][0]) / (after["futex"][2] - before["futex"][2]) / 1e9
    test.figures.close("convoy: half of all waits, s", got[50], mean, rel=0.1)
    inside = sum("in_convoy" in [symbols.name(at) for at in stack.user] for stack in stacks)
    test.within("convoy: share of waits in its function", inside / len(stacks), 0.95, 1)
    load.end()


def names(test, waits):
    """Threads with ever new names: records are as they have to be, few at a time, and others have theirs."""
    load, other = test.load("offcpu", test.disk, name="kt_names"), test.load("offcpu", test.disk, name="kt_offcpu")
    load.ask("names 500")
    other.ask("futex 1")
    begin = time.monotonic()
    if test.measures:
        collect(SEND_SECONDS, waits)
    stacks = collect(2 * SEND_SECONDS if test.measures else 1, waits, enough=lambda found: len(
        found) >= 500 and any(stack.comm == other.name for stack in found))[0]
    most = (time.monotonic() - begin + SEND_SECONDS) * FREQUENCY * SENT_MAX
    test.within("names: records", len(stacks), 500, most)
    seen = sum(stack.value for stack in stacks if stack.comm == other.name) / 1e6
    test.true("names: another thread was seen blocked, s", seen > 0, seen)
    test.figures.within("names: seconds that another thread was seen blocked", seen, 2 * SEND_SECONDS / 4,
                        4 * SEND_SECONDS)
    test.true("names: all of them have a stack", all(stack.kernel for stack in stacks), len(stacks))
    load.end(), other.end()


def main():
    with Test(limit=180) as test:
        daemon = test.collectd(CONF, interval=3 if test.measures or SLOWNESS >= 2 else 1)
        daemon.wait_rows("self", "duration-read_process", 1)
        time.sleep(1)
        kernel = stack_rings.of_kernel()
        waits, switches = (stack_rings.Ring(test, daemon.process.pid, name) for name in ("waits", "switches"))
        cycle(test, waits, switches, kernel)
        locks(test, daemon)
        convoy(test, daemon, switches)
        names(test, waits)
        test.equal("complaints", [line for line in daemon.complaints() if "no profiles are written" not in line], [])


if __name__ == "__main__":
    main()

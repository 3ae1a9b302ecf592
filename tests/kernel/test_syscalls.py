#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""System calls by name: how many, how many failed, and how long they took, by service.

Truth: a load that makes known numbers of known calls and takes the time of some of them. The names are those that
the C library has for the numbers.
"""

import time

from lib import Test

BESIDE = True
OTHERS = """
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Enable false
  </Probe>
"""
CONF = OTHERS + """
  <Service "calls">
    Process "kt_calls"
  </Service>
  <Service "bystander">
    Process "kt_quiet"
  </Service>
  <Probe "syscalls">
    Enable true
%s  </Probe>
"""
CALLS = 20000
UNKNOWN = 10000  # more than there are rows
GETPPID, READ, SLEEP = ("-syscall-" + name for name in ("getppid", "read", "nanosleep"))


def counts(daemon, moment, call):
    """(calls, failed, ms) at the first reading after this moment; nothing yet: zeros."""
    if "total_operations" + call not in daemon.metrics("calls"):
        return 0, 0, 0
    return tuple(daemon.row_after("calls", metric + call, moment)[1]
                 for metric in ("total_operations", "errors", "total_time_in_ms"))


def ask(test, daemon, load):
    """The growth of each of the calls by one request."""
    begin = time.time()
    # The second: then all of the first are written.
    daemon.wait_rows("self", "duration-read_syscalls", 2, begin)
    before = {call: counts(daemon, begin, call) for call in (GETPPID, READ, SLEEP)}
    load.say(f"{CALLS} 0")
    slept_ms = load.result()["slept_ns"] / 1e6
    end = time.time()
    daemon.wait_rows("self", "duration-read_syscalls", 2, end)
    after = {call: counts(daemon, end, call) for call in (GETPPID, READ, SLEEP)}
    return slept_ms, {call: [b - a for a, b in zip(before[call], after[call])] for call in before}


def known_calls(test, daemon, load):
    slept_ms, grown = ask(test, daemon, load)
    test.equal("getppid: calls and failures", grown[GETPPID][:2], [CALLS, 0])
    test.equal("nanosleep: calls and failures", grown[SLEEP][:2], [CALLS // 100, 0])
    # One more is what waits for the next request, and what got this one.
    test.close("read: calls", grown[READ][0], 2 * CALLS, slack=2)
    test.equal("read of no descriptor: failures", grown[READ][1], 2 * CALLS)
    # The calls of the clock around the sleeps, and a counter of whole milliseconds.
    test.close("nanosleep: ms", grown[SLEEP][2], slept_ms, rel=0.02, slack=2)


def unknown_calls(test, daemon, load):
    """Numbers that anybody can make up are one name, and take no room from others."""
    load.say(f"0 {UNKNOWN}")
    load.result()
    end = time.time()
    daemon.wait_rows("self", "duration-read_syscalls", 2, end)
    test.equal("unknown: calls and failures", counts(daemon, end, "-syscall-syscall_1024")[:2], (UNKNOWN, UNKNOWN))
    test.equal("unknown: names", [metric for metric in daemon.metrics("calls")
                                  if "syscall_" in metric and not metric.endswith("-syscall_1024")], [])
    test.equal("unknown: refused", daemon.rows("self", "total_events-refused_syscalls")[-1][1], 0)


def off_by_default(test):
    daemon = test.collectd(OTHERS, interval=1)
    daemon.wait_rows("self", "duration-read_process", 2)
    test.equal("off by default: the kernel has no such program",
               [metric for metric in daemon.metrics("self") if "syscalls" in metric or "softirq" in metric], [])
    test.true("it is told", any("probe syscalls is off: it is off by default" in line for line in daemon.log()))
    test.equal("and nobody complains", daemon.complaints(), [])
    test.stop(daemon)


def percent_of_rest(daemon, load):
    """Of readings in which nothing was counted there is none, and the plugin's own may have met only such."""
    while "percent-other_syscalls" not in daemon.metrics("self"):
        load.say(f"{CALLS} 0")
        load.result()
    return daemon.rows("self", "percent-other_syscalls")[-1][1]


def few_rows(test, load):
    """With room for two names there are two at most, and the rest counts all the same."""
    daemon = test.collectd(CONF % "    Rows 2\n", interval=1)
    daemon.wait_rows("self", "objects-keys_syscalls", 2)
    load.say(f"{CALLS} 0")
    load.result()
    daemon.wait_rows("self", "objects-keys_syscalls", 2, time.time())
    named = {(subject, metric) for subject in daemon.subjects() for metric in daemon.metrics(subject)
             if metric.startswith("total_operations-syscall") and not metric.endswith("-other")}
    test.within("names with series", len(named), 1, 2 + 2)
    test.equal("at once", daemon.rows("self", "objects-keys_syscalls")[-1][1], 2)
    total = sum(daemon.rows("calls", metric)[-1][1] for metric in daemon.metrics("calls")
                if metric.startswith("total_operations-syscall"))
    test.within("all calls of the service, by name or not", total, 3 * CALLS + CALLS // 100, 3 * CALLS + CALLS // 100 + 200)
    test.within("names without", daemon.rows("self", "objects-other_syscalls")[-1][1], 1, 8192)
    test.within("what they counted, percent", percent_of_rest(daemon, load), 0, 100)
    test.stop(daemon)


def main():
    with Test(limit=90) as test:
        off_by_default(test)
        load = test.load("syscall", name="kt_calls")
        quiet = test.load("syscall", name="kt_quiet")
        daemon = test.collectd(CONF % "", interval=1)
        daemon.wait_rows("self", "duration-read_syscalls", 2)
        known_calls(test, daemon, load)
        unknown_calls(test, daemon, load)
        known_calls(test, daemon, load)
        test.equal("series of a service without calls",
                   [metric for metric in daemon.metrics("bystander") if "syscall" in metric], [])
        test.equal("counters that fell", daemon.fallen(), [])
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        few_rows(test, load)
        load.end()
        quiet.end()


if __name__ == "__main__":
    main()

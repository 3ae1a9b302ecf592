#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""System calls by name: how many, how many failed, and how long they took, by service.

Truth: a load that makes known numbers of known calls and takes the time of some of them; of all of its calls, strace,
where that is installed. The names are those that the C library has for the numbers. What samples say of sleep in calls
is compared with the load's own clock and with what the hooks count.
"""

import os
import shutil
import subprocess
import time

from lib import SLOWNESS, Test, die_with_test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
OTHERS = without("poll", "request")
CONF = OTHERS + """
  <Service "calls">
    Process "kt_calls"
  </Service>
  <Service "bystander">
    Process "kt_quiet"
  </Service>
  <Service "traced">
    Process "kt_strace"
  </Service>
  <Probe "syscalls">
    Enable true
%s  </Probe>
"""
SAMPLED = CONF % "" + """
  <Probe "delay">
    Option "by_syscall"
    Frequency 500
    Budget 50
  </Probe>
"""
NAMES = OTHERS + """
  ServicesFrom "commands"
  MaxServices 1000
  <Service "calls">
    Process "kt_calls"
  </Service>
  <Probe "syscalls">
    Enable true
  </Probe>
  <Probe "delay">
    Option "by_syscall"
  </Probe>
"""
SLEEP_MS = 10000
LEAST_MS = {"nanosleep": 5, "futex": 3, "ppoll": 3}  # of each call of a load that sleeps
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


def latencies_ms(daemon, call, begin):
    """The sum over all calls since then, of each interval's average."""
    calls = daemon.rows("calls", "total_operations" + call)
    averages = {row[0]: row[1] for row in daemon.rows("calls", f"latency{call}-average") if row[1] == row[1]}
    return sum((row[1] - before[1]) * averages.get(row[0], 0) for before, row in zip(calls, calls[1:]) if row[0] > begin) * 1e3


def known_calls(test, daemon, load):
    slept_ms, grown = ask(test, daemon, load)
    test.equal("getppid: calls and failures", grown[GETPPID][:2], [CALLS, 0])
    test.equal("nanosleep: calls and failures", grown[SLEEP][:2], [CALLS // 100, 0])
    # One more is what waits for the next request, and what got this one.
    test.close("read: calls", grown[READ][0], 2 * CALLS, slack=2)
    test.equal("read of no descriptor: failures", grown[READ][1], 2 * CALLS)
    # A counter of whole milliseconds, and the clock around the sleeps.
    test.within("nanosleep: ms", grown[SLEEP][2], CALLS // 100 - 1, slept_ms + 1)
    test.figures.close("nanosleep: ms", grown[SLEEP][2], slept_ms, rel=0.02, slack=2)


def distribution(test, daemon, load):
    """The histogram has what the counter has, and knows how long a call takes at the least."""
    begin = time.time()
    _, grown = ask(test, daemon, load)
    got_ms = latencies_ms(daemon, SLEEP, begin)
    test.true("nanosleep: ms, by the histogram", got_ms > 0, got_ms)
    test.figures.close("nanosleep: ms, by the histogram", got_ms, grown[SLEEP][2], rel=0.03, slack=2)
    medians = [row[1] for row in daemon.rows("calls", f"latency{SLEEP}-percentile-50") if row[1] == row[1]]
    test.within("nanosleep of 1 ms: lowest median, s, at least", min(medians), 0.00097, float("inf"))
    test.figures.within("nanosleep of 1 ms: lowest median, s", min(medians), 0.00097, 0.0015 * SLOWNESS)


def unknown_calls(test, daemon, load):
    """Numbers that anybody can make up are one name, and take no room from others."""
    load.say(f"0 {UNKNOWN}")
    load.result()
    end = time.time()
    daemon.wait_rows("self", "duration-read_syscalls", 2, end)
    test.equal("unknown: calls and failures", counts(daemon, end, "-syscall-syscall_1024")[:2], (UNKNOWN, UNKNOWN))
    test.equal("unknown: names", [metric for metric in daemon.metrics("calls")
                                  if "syscall_" in metric and "-syscall_1024" not in metric], [])
    test.equal("unknown: refused", daemon.rows("self", "total_events-refused_syscalls")[-1][1], 0)


def off_by_default(test):
    daemon = test.collectd('ServicesFrom "none"\n' + OTHERS, interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_process", 2)
    test.equal("off by default: the kernel has no such program",
               [metric for metric in daemon.metrics("self") if "syscalls" in metric or "softirq" in metric], [])
    test.true("it is told", any("off by default: " in line and " syscalls" in line for line in daemon.log()))
    test.equal("and nobody complains", daemon.complaints(), [])
    test.stop(daemon)


def percent_of_others(daemon, load):
    """Of readings in which nothing was counted there is none, and the plugin's own may have met only such."""
    while "percent-other_syscalls" not in daemon.metrics("self"):
        load.say(f"{CALLS} 0")
        load.result()
    return daemon.rows("self", "percent-other_syscalls")[-1][1]


def few_rows(test, load):
    """With room for two names there are two at most, and the rest counts all the same."""
    daemon = test.collectd(CONF % "    Rows 2\n", interval=INTERVAL)
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
    test.within("what they counted, percent", percent_of_others(daemon, load), 0, 100)
    test.stop(daemon)


def without_services(test):
    daemon = test.collectd(OTHERS + '<Probe "syscalls">\n Enable true\n</Probe>\n', interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_process", 2)
    test.equal("without a Service block: it is read", "duration-read_syscalls" in daemon.metrics("self"), False)
    test.true("it is told", any("it counts only for services of Service blocks" in line for line in daemon.log()))
    test.stop(daemon)


def named_alone(test, load, quiet):
    """Others, which are services too, have no calls, but what they sleep in is known."""
    daemon = test.collectd(NAMES, interval=1 if test.measures else INTERVAL)
    daemon.wait_rows("self", "duration-read_syscalls", 2)
    for one in load, quiet:
        one.say(f"{CALLS} 0")
        one.result()
    end = time.time()
    name = test.own("kt_quiet")
    daemon.wait_rows(name, "delay_rate-syscall-read", 2, end)
    counted = {subject for subject in daemon.subjects() for metric in daemon.metrics(subject) if metric.startswith("total_operations-syscall")}
    test.equal("services with calls", counted, {"calls"})
    sleeping = [row[1] for row in daemon.rows(name, "delay_rate-syscall-read")]
    test.true("threads that sleep in read", max(sleeping) > 0, max(sleeping))
    test.figures.close("threads that sleep in read", sleeping[-1], 1, rel=0.3)
    test.stop(daemon)


def shares(test, load):
    """Of the time in which it sleeps, that in each call: by samples, by the hooks, and by the load's own clock."""
    daemon = test.collectd(SAMPLED, interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_syscalls", 2)
    load.say("sleep 1000")      # the series are there then
    load.result()
    begin = time.time()
    daemon.wait_rows("self", "duration-read_syscalls", 2, begin)
    before = {call: counts(daemon, begin, "-syscall-" + call) for call in LEAST_MS}
    load.say(f"sleep {SLEEP_MS if test.measures else 1000}")
    slept = load.result()
    end = time.time()
    daemon.wait_rows("self", "duration-read_syscalls", 2, end)
    after = {call: counts(daemon, end, "-syscall-" + call) for call in LEAST_MS}
    grown = {call: [b - a for a, b in zip(before[call], after[call])] for call in LEAST_MS}
    sampled = {call: sum(row[1] for row in daemon.rows("calls", "delay_rate-syscall-" + call) if row[0] > begin + 0.5)
               for call in LEAST_MS}
    tolerance = 3 if SLOWNESS < 2 else 8
    for call, least_ms in LEAST_MS.items():
        number, _, ms = grown[call]
        test.within(f"{call}: ms by hooks", ms, least_ms * number - 1, slept[call] / 1e6 + 1)
        test.true(f"{call}: by samples", sampled[call] > 0, sampled[call])
        own = 100 * slept[call] / sum(slept.values())
        by_hooks = 100 * ms / sum(ms for _, _, ms in grown.values())
        test.figures.close(f"{call}: percent of the sleep, by hooks", by_hooks, own, slack=1)
        by_samples = 100 * sampled[call] / sum(sampled.values())
        test.figures.close(f"{call}: by samples, against the hooks", by_samples, by_hooks, slack=tolerance)
    test.equal("complaints", daemon.complaints(), [])
    test.stop(daemon)


def strace_counts(path):
    """{call: (calls, errors)} of strace -c."""
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if len(words) in (5, 6) and words[-1] != "total" and words[0][0].isdigit():
                found[words[-1]] = int(words[3]), int(words[4]) if len(words) == 6 else 0
    return found


def all_calls(test, daemon):
    """Of a process from its exec on, every call. That exec began in another service, and exit_group does not return."""
    strace = shutil.which("strace")
    if not strace:
        test.left_out("calls as strace counts them", "strace is not installed")
        return
    path, program = os.path.join(test.dir, "strace"), test.program("syscall", "kt_strace")
    subprocess.run([strace, "-c", "-o", path, program], input="300 0\nsleep 200\n", text=True, check=True,
                   stdout=subprocess.DEVNULL, preexec_fn=die_with_test)
    end = time.time()
    daemon.wait_rows("self", "duration-read_syscalls", 2, end)
    wanted = strace_counts(path)
    wanted.pop("execve")
    test.within("calls that strace has names of", len(wanted), 5, 100)
    for call, (calls, errors) in sorted(wanted.items()):
        rows = [daemon.rows("traced", f"{metric}-syscall-{call}") for metric in ("total_operations", "errors")
                if f"{metric}-syscall-{call}" in daemon.metrics("traced")]
        test.equal(f"{call}: calls and failures, as strace counts", [of[-1][1] for of in rows], [calls, errors])


def main():
    with Test(limit=150) as test:
        off_by_default(test)
        without_services(test)
        load = test.load("syscall", name="kt_calls")
        quiet = test.load("syscall", name="kt_quiet")
        daemon = test.collectd(CONF % '    Option "latency"\n', interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_syscalls", 2)
        known_calls(test, daemon, load)
        unknown_calls(test, daemon, load)
        known_calls(test, daemon, load)
        distribution(test, daemon, load)
        all_calls(test, daemon)
        test.equal("series of a service without calls",
                   [metric for metric in daemon.metrics("bystander") if "syscall" in metric], [])
        test.equal("counters that fell", daemon.fallen(), [])
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        few_rows(test, load)
        named_alone(test, load, quiet)
        shares(test, load)
        load.end()
        quiet.end()


if __name__ == "__main__":
    main()

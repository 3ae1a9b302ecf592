#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Forks, programs, ends of processes and signals, by service: exact numbers, whatever the way in which a process ends.

Truth: a load that makes known numbers of each, and what wait4 told it; of a storm of short lives also the process
connector.
"""

import os
import time

import truth
from lib import SLOWNESS, Test, without

CONF = """
  <Service "ends">
    Process "kt_ends"
  </Service>
  <Service "run">
    Process "kt_run"
  </Service>
  <Service "target">
    Process "kt_target"
  </Service>
  <Service "churn">
    Process "kt_churn"
  </Service>
""" + without("disk") + """
  <Probe "lifecycle">
    Enable true
    Collect "*"
    Option "signals"
    Option "lifetimes"
    Parameter "short_lived_ns" 1500000
  </Probe>
"""
BRIEF, SLEEP = 0.0015, 0.002  # s: what is short-lived here, and for how long a leader's last thread sleeps
FIGURES = bool(os.environ.get("TEST_FIGURES"))
INTERVAL = 1 if SLOWNESS >= 2 else 0.5 if FIGURES else 0.2
N = max(10, round(100 / SLOWNESS))
STORM = round((20000 if os.environ.get("TEST_LONG") else 2000) / SLOWNESS ** 2)
RACERS = 2  # of load_ends
RACES = 12 * N  # few of them are so close that several threads find none alive
SIGKILL, SIGSEGV, SIGTERM, SIGRTMIN = 9, 11, 15, 34

METRICS = {"forks": "fork_rate", "threads": "total_events-threads_created", "execs": "total_events-execs",
           "exits": "total_events-exits", "failed": "total_events-exits_failed",
           "killed": "total_events-exits_by_signal", "sent": "total_events-signals_sent",
           "received": "total_events-signals_received"}


def lives(n, **others):
    """Of processes that begin and end in the same service."""
    return {"forks": n, "exits": n, **others}


# What is asked for, what the load's own children are then, and what grows where. A thread that executes a program is one
# more of the process that it was.
CASES = [
    (f"code {N} 0", (N, 0, 0), {"ends": lives(N)}),
    (f"code {N} 3", (0, N, 0), {"ends": lives(N, failed=N)}),
    (f"vfork {N} 0", (N, 0, 0), {"ends": {"forks": N}, "run": {"execs": N, "exits": N}}),
    (f"vfork {N} 7", (0, N, 0), {"ends": {"forks": N}, "run": {"execs": N, "exits": N, "failed": N}}),
    (f"absent {N} 0", (0, N, 0), {"ends": lives(N, failed=N)}),
    (f"thread_exec {N} 0", (N, 0, 0), {"ends": {"forks": N, "threads": N}, "run": {"execs": N, "exits": N}}),
    (f"threads {N} 0", (0, 0, 0), {"ends": {"threads": N}}),
    (f"race {RACES} 0", (RACES, 0, 0), {"ends": lives(RACES, threads=RACES * (RACERS - 1))}),
    (f"leader {N} 0", (N, 0, 0), {"ends": lives(N, threads=N)}),
    (f"leader {N} 5", (0, N, 0), {"ends": lives(N, threads=N, failed=N)}),
    (f"signal {N} {SIGKILL}", (0, 0, N), {"ends": lives(N, killed=N, sent=N, received=N)}),
    (f"signal {N} {SIGTERM}", (0, 0, N), {"ends": lives(N, killed=N, sent=N, received=N)}),
    (f"group 50 {SIGTERM}", (0, 0, 50), {"ends": lives(50, killed=50, sent=50, received=50)}),
    (f"crash {N} 0", (0, 0, N), {"ends": lives(N, killed=N, received=N)}),
]
SERVICES = ("ends", "run", "target")
# By name, of all of the above.
NAMED = {"signal_sent-SIGKILL": N, "signal_received-SIGKILL": N, "exit_by_signal-SIGKILL": N,
         "signal_sent-SIGTERM": N + 50, "exit_by_signal-SIGTERM": N + 50, "exit_by_signal-SIGSEGV": N}


def reading(daemon, moment):
    """All counters of the services at the first reading that began after this moment."""
    daemon.wait_rows("self", "duration-read_lifecycle", 2, moment)
    return {(service, word): daemon.row_after(service, metric, moment)[1]
            for service in SERVICES for word, metric in METRICS.items()}


class Counters:
    """Of the daemon, and what they grow by when a load is asked for something. Between two requests there is nothing."""

    def __init__(self, daemon, load):
        self.daemon, self.load = daemon, load
        load.say("threads 0 0")
        load.result()  # it has begun
        self.now = reading(daemon, time.time())

    def ask(self, text):
        """The growth of those that grow, and the load's answer."""
        self.load.say(text)
        result = self.load.result()
        before, self.now = self.now, reading(self.daemon, time.time())
        return {key: n - before[key] for key, n in self.now.items() if n != before[key]}, result


def known(test, counters, text, children, want):
    grown, result = counters.ask(text)
    test.equal(f"{text}: what wait4 said", (result["done"], result["failed"], result["signaled"]), children)
    test.equal(text, grown, {(service, word): n for service, counts in want.items() for word, n in counts.items()})


def signals_to_another(test, counters, target):
    """Each is queued; those of a number below are merged while one is pending."""
    handled = target_handled(target)
    grown, _ = counters.ask(f"send {N} {SIGRTMIN} {target.pid}")
    test.equal("sigqueue: handled", target_handled(target) - handled, N)
    test.equal("sigqueue", grown, {("ends", "sent"): N, ("target", "received"): N})


def target_handled(target):
    target.say("threads 0 0")
    return target.result()["handled"]


def by_name(test, daemon):
    for name, want in NAMED.items():
        test.equal(f"ends: {name}", daemon.rows("ends", f"total_events-{name}")[-1][1], want)


def of_all(daemon, metric, begin):
    """The sum over all processes that have ended since then, of what each reading says of those of its interval."""
    exits = daemon.rows("ends", METRICS["exits"])
    each = {row[0]: row[1] for row in daemon.rows("ends", metric) if row[1] == row[1]}
    return sum((row[1] - before[1]) * each.get(row[0], 0) for before, row in zip(exits, exits[1:]) if row[0] > begin)


def statistics(test, daemon, counters):
    """A life is no longer than from before its fork until it is reaped, and that of a sleeper no shorter than its sleep."""
    for text, shortest_s in ((f"leader {N} 0", SLEEP), (f"code {N} 0", 0)):
        begin = time.time()
        _, result = counters.ask(text)
        averages = [row[1] for row in daemon.rows("ends", "duration-lifetime-average") if row[0] > begin and row[1] == row[1]]
        test.within(f"{text}: least average life, s", min(averages), 0.95 * shortest_s, float("inf"))
        test.within(f"{text}: highest average life, s", max(averages), 0, 1.05 * result["lived_ns"] / 1e9)
        if shortest_s > BRIEF:
            shares = {row[1] for row in daemon.rows("ends", "percent-short_lived") if row[0] > begin and row[1] == row[1]}
            test.equal(f"{text}: short-lived, percent", shares, {0})
        short = of_all(daemon, "percent-short_lived", begin) / 100
        lived = of_all(daemon, "duration-lifetime-average", begin)
        test.figures.within(f"{text}: short-lived", short, result["brief"] - 0.5, 0 if shortest_s > BRIEF else N + 0.5)
        # An interval's average is weighted by its exits, which may have ended between the two looks.
        test.figures.within(f"{text}: all lives, s", lived, 0.95 * shortest_s * N, 1.05 * result["lived_ns"] / 1e9)


def storm(test, daemon):
    load = test.load("churn", "processes", STORM, 8, 0, name="kt_churn")
    daemon.wait_rows("churn", "fork_rate", 2)
    with truth.Processes() as seen:
        load.say("go")
        load.result()
    moment = time.time()
    daemon.wait_rows("self", "duration-read_lifecycle", 2, moment)
    test.equal("storm: process connector: lost events, forks", (seen.lost, len([1 for _, _, parent in seen.forks if parent == load.pid])),
               (False, STORM))
    for word in ("forks", "exits"):
        test.equal(f"storm: {word}", daemon.row_after("churn", METRICS[word], moment)[1], STORM)
    test.equal("storm: failed, killed", [daemon.row_after("churn", METRICS[word], moment)[1] for word in ("failed", "killed")],
               [0, 0])
    load.end()


def whole_machine(test, daemon):
    """Others are at work, too."""
    totals = {word: sum(daemon.rows(service, metric)[-1][1] for service in daemon.subjects() - {"self", "lifecycle"}
                        if metric in daemon.metrics(service)) for word, metric in METRICS.items()}
    moment = time.time()
    for word, metric in METRICS.items():
        test.within(f"machine: {word}, at least what the services have", daemon.row_after("lifecycle", metric, moment)[1],
                    totals[word], float("inf"))


def main():
    with Test(limit=300) as test:
        run = test.program("ends", "kt_run")
        daemon = test.collectd(CONF, interval=INTERVAL)
        load = test.load("ends", run, name="kt_ends")
        target = test.load("ends", run, name="kt_target")
        daemon.wait_rows("self", "duration-read_lifecycle", 2)
        counters = Counters(daemon, load)
        for case in CASES:
            known(test, counters, *case)
        by_name(test, daemon)
        signals_to_another(test, counters, target)
        statistics(test, daemon, counters)
        storm(test, daemon)
        whole_machine(test, daemon)
        test.equal("refused", daemon.rows("self", "total_events-refused_lifecycle")[-1][1], 0)
        # On a CPU that is interrupted in the program by what it is to see.
        test.figures.equal("events that no program saw", daemon.rows("self", "total_events-missed_lifecycle")[-1][1], 0)
        test.equal("complaints", daemon.complaints(), [])
        load.end()
        target.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Command names as services: never more series than MaxServices, everything else under "other", and a name whose
processes are gone gives its row to another.

Two daemons with the default configuration see 300 names come and go: one has room for 16, the other for most of them.

Truth: the names that were started, and the process connector for all that the machine did.
"""

import subprocess
import time

import truth
from collectd import Daemon
from lib import SLOWNESS, Test

NAMES, BATCHES = 300, 4
FEW, ENOUGH = 16, 256
INTERVAL = 0.5 if SLOWNESS < 2 else 1.5
PLUGINS_OWN = {"other", "kernel", "self"}


def names_of(number):
    return range(number * NAMES // BATCHES, (number + 1) * NAMES // BATCHES)


def wait_readings(daemons, count):
    """So many more of each."""
    moment = time.time()
    for daemon in daemons:
        daemon.wait_rows("other", "ps_count", count, moment, seconds=100)


def batch(test, daemons, number):
    """All alive for a whole interval and more, so that each earns a series where there is room. When each ended."""
    names = [f"kt_n{i}" for i in names_of(number)]
    loads = {test.own(name): test.load("task", name=name) for name in names}
    wait_readings(daemons, 4)
    ended = {}
    for name, load in loads.items():
        load.end()
        ended[name] = time.time()
    return ended


def shown(test, daemon, number):
    return {test.own(f"kt_n{i}") for i in names_of(number)} & daemon.subjects()


def bounded(test, daemon, most):
    """At no reading were more series there than asked for."""
    alive = {}
    for subject in daemon.subjects() - PLUGINS_OWN:
        for row in daemon.rows(subject, "ps_count"):
            alive.setdefault(row[0], set()).add(subject)
    test.within(f"MaxServices {most}: services in one reading", max(map(len, alive.values())), 1, most)


def seen_ended(daemon, count, after=0.0):
    """The time of a reading of ends, and when all of it was there for sure."""
    return daemon.wait_rows("other", "total_events-processes_ended", count, after)[count - 1][0], time.time()


def catch_up(seen):
    """Until what was there before is known."""
    moment = time.time()
    subprocess.run(["true"], check=True)
    while not seen.exits or seen.exits[-1][0] < moment:
        time.sleep(0.05)


def complete(test, what, daemon, marks, seen, ours):
    """marks: of the first and the last reading."""
    (begin, _), (end, _) = marks
    for word, events in (("started", seen.forks), ("ended", seen.exits)):
        want = len(truth.between(events, begin, end))
        edge = sum(len(truth.between(events, stamp - 0.1, known)) for stamp, known in marks)
        # A process that a reading has met ends in one service and starts in another when it execs.
        moved = len(truth.between(seen.execs, begin, end))
        got = daemon.growth("total_events-processes_" + word, begin, end)[0]
        test.within(f"{what}: {word}, all subjects ({ours} of them ours, {moved} execs, {edge} at the edges)", got,
                    want - edge, want + edge + moved)


def check_forgotten(test, daemon, names, ended):
    """How long a name is dispatched after the end of its processes, in intervals: until its last reading at least, and
    before the next one."""
    readings = [row[0] for row in daemon.rows("other", "ps_count")]
    last = {name: daemon.rows(name, "ps_count")[-1][0] for name in names}
    after = {stamp: next(it for it in readings if it > stamp) for stamp in last.values()}
    test.true("dispatched after the end of its processes", all(after[last[name]] > ended[name] for name in names))
    least = min((after[last[name]] - ended[name]) / INTERVAL for name in names)
    most = max((last[name] - ended[name]) / INTERVAL for name in names)
    test.figures.within("no longer dispatched after the end of its processes, intervals, least", least, Daemon.FORGET_INTERVALS - 2,
                        float("inf"))
    test.figures.within("dispatched after the end of its processes, intervals, most", most, 0, Daemon.FORGET_INTERVALS + 2)


def main():
    with Test(limit=400) as test, truth.Processes() as seen:
        daemons = {most: test.collectd(f"  MaxServices {most}\n  MaxNewServices 1000", interval=INTERVAL,
                                       collect=("process",))
                   for most in (FEW, ENOUGH)}
        marks = {most: [seen_ended(daemon, 2)] for most, daemon in daemons.items()}
        ended = []
        for number in range(BATCHES):
            ended.append(batch(test, daemons.values(), number))
            wait_readings(daemons.values(), Daemon.FORGET_INTERVALS + 4)
        for most, daemon in daemons.items():
            marks[most].append(seen_ended(daemon, 1, time.time()))
        catch_up(seen)
        for most, daemon in daemons.items():
            bounded(test, daemon, most)
            complete(test, f"MaxServices {most}", daemon, marks[most], seen, NAMES)
        # Names of the rest of the machine take rows too, and each of theirs is one less for ours.
        counts = [len(shown(test, daemons[ENOUGH], number)) for number in range(BATCHES)]
        test.within(f"MaxServices {ENOUGH}: names that had series, {counts} of ours by batch",
                    len(daemons[ENOUGH].subjects() - PLUGINS_OWN), ENOUGH + 1, float("inf"))
        test.within(f"MaxServices {ENOUGH}: least names of a batch that had series", min(counts), 10, NAMES // BATCHES)
        check_forgotten(test, daemons[ENOUGH], shown(test, daemons[ENOUGH], 0), ended[0])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A storm of 20,000 processes that live for 1 to 5 ms: none is lost, and nearly no CPU time is.

The same storm is seen by two daemons, one with Service blocks and one with the default configuration. Half of most
of it only forks and belongs to the storm's own name; the other half execs a program with another name; the rest
execs programs with many names, each of which does little.

Truth: the storm's own count, wait4 of every child, and the process connector for all that the machine did.
"""

import time

import truth
from lib import SLOWNESS, Test
from test_names import catch_up

# A fork with an exec is what emulation slows most: 25 ms, from 0.3.
MAIN, OTHER = round(18000 / SLOWNESS ** 2), round(2000 / SLOWNESS ** 2)
EXECUTED = 500   # of 1000 of the main storm
AT_ONCE = 8
NAMES = 40
NAMED = ("kt_storm", "kt_tiny")
CPU = 0.01       # of the truth
INTERVAL = 5
QUIET = 0.5      # seconds before the storm, for a reading that has begun

CONF = """
  <Service "kt_storm">
    Process "kt_storm"
  </Service>
  <Service "kt_tiny">
    Process "kt_tiny"
  </Service>
"""

EVENTS = "total_events-processes_"


def reading(daemon, service, moment):
    """Started, ended and CPU (us) in the first reading after a moment."""
    started, ended = (daemon.row_after(service, EVENTS + what, moment)[1] for what in ("started", "ended"))
    return started, ended, sum(daemon.row_after(service, "ps_cputime", moment)[1:])


def by_name(test, what, daemon, before, result):
    """The storm and what it execs, by their names: exact numbers, whatever else the machine does."""
    moment = time.time() + 0.5
    storm, tiny = ([b - a for a, b in zip(before[name], reading(daemon, test.own(name), moment))] for name in NAMED)
    only_forked = result["forked"] - result["executed"]
    test.equal(f"{what}: kt_tiny started", tiny[0], result["executed"])
    test.equal(f"{what}: kt_tiny ended", tiny[1], result["executed"])
    # A process that a reading meets between fork and exec has started in one service and moves to another.
    stamps = [row[0] for row in daemon.rows(test.own("kt_storm"), "ps_cputime")]
    readings = sum(result["begin"] - QUIET < stamp < result["end"] for stamp in stamps)
    test.within(f"{what}: kt_storm started", storm[0], only_forked, result["forked"])
    # A walk over tasks that is held up may meet more.
    test.figures.within(f"{what}: kt_storm started, some met before their exec in {readings} readings", storm[0],
                        only_forked, only_forked + readings * AT_ONCE)
    test.equal(f"{what}: kt_storm ended, as many as started", storm[1], storm[0])
    test.close(f"{what}: CPU of kt_storm and kt_tiny, us", storm[2] + tiny[2],
               result["children_us"] + result["own_ns"] / 1e3, rel=CPU)


def in_all(test, what, daemon, first, seen, storms):
    """All subjects together against the process connector, from one reading of "other" to another: the time of each, and
    when all of it was there for sure."""
    marks = [first, (daemon.row_after("other", EVENTS + "ended", time.time() + 0.5)[0], time.time())]
    (begin, _), (end, _) = marks
    catch_up(seen)
    readings = len([row for row in daemon.rows("other", "ps_cputime") if begin < row[0] <= end])
    for word, events in (("started", seen.forks), ("ended", seen.exits)):
        got = daemon.growth(EVENTS + word, begin, end)[0]
        want = len(truth.between(events, begin, end))
        # Not the storm's, and so not known exactly: at the two readings, and execs of what a reading had met before.
        edge = sum(len(truth.between(events, stamp - 0.1, known)) for stamp, known in marks)
        ours = {pid for _, pid, parent in seen.forks if parent in storms}
        execs = truth.between(seen.execs, begin, end)
        moved = len([pid for _, pid in execs if pid not in ours])
        said = f"all subjects (storm {MAIN + OTHER}; at the edges {edge}, others' execs {moved}, {readings} readings)"
        test.within(f"{what}: {word}, all subjects (at the edges {edge}, execs {len(execs)})", got, want - edge,
                    want + edge + len(execs))
        test.figures.within(f"{what}: {word}, {said}", got, want - edge, want + edge + moved + readings * AT_ONCE)


def run(load):
    begin = time.time()
    load.say("go")
    return {**load.result(), "begin": begin, "end": time.time()}


def main():
    with Test(limit=400) as test:
        tiny = test.program("tiny", "kt_tiny")
        others = [test.program("tiny", f"kt_u{i}") for i in range(NAMES)]
        with truth.Processes() as seen:
            daemons = {"Service blocks": test.collectd(CONF, interval=INTERVAL, collect=("process",)),
                       "default": test.collectd(interval=INTERVAL, collect=("process",))}
            storm = test.load("storm", MAIN, AT_ONCE, EXECUTED, tiny, name="kt_storm")
            others = test.load("storm", OTHER, AT_ONCE, 1000, *others, name="kt_storm")
            # So that both names have earned their series when the storm begins.
            patient = test.load("task", name="kt_tiny")
            before = {}
            for what, daemon in daemons.items():
                for name in NAMED:
                    daemon.wait_rows(test.own(name), "ps_cputime", 2)
            for what, daemon in daemons.items():
                moment = time.time()
                before[what] = {name: reading(daemon, test.own(name), moment) for name in NAMED}
            first = {what: (daemon.rows("other", "ps_cputime")[-1][0], time.time()) for what, daemon in daemons.items()}
            time.sleep(QUIET)
            result = run(storm)
            test.equal("storm: forked", result["forked"], MAIN)
            for what, daemon in daemons.items():
                by_name(test, what, daemon, before[what], result)
            run(others)
            for what, daemon in daemons.items():
                in_all(test, what, daemon, first[what], seen, (storm.pid, others.pid))
            patient.end()
        test.equal("process connector: lost events", seen.lost, False)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A table of processes that has a row for those alone that have events: an administrator's own object with a histogram.
Also while thousands of processes come and go, which have the kernel's rows one after the other.

Truth: what the threads of the load say of their own lives, and how many processes it has started.
"""

import math
import os
import time

import lib
import truth
from lib import SLOWNESS, Test, without

ROWS = 32
TOP = 4 * ROWS  # a row may have one process after the other in a reading: none is to be left out for its rank
CONF = """
  <Service "pp">
    Process "kt_pp"
    PerProcess true
    TopN %(top)d
  </Service>
  <Service "storm">
    Process "kt_storm"
    PerProcess true
    TopN %(top)d
  </Service>
""" + without("process", "request", "poll") + """
  <Probe "lives">
    Object "%(objects)s/lives.bpf.o"
    Rows %(rows)d
  </Probe>
"""
LIVES = 400
PATIENCE = 100 * SLOWNESS
BURST, STORM = 600, 6000
HIST_ROW = 4744  # bytes of a row of the object


def series(load, service="pp"):
    return f"{service}-{load.pid}-{truth.start_ticks(load.pid)}"


def percentile(lives, percent):
    return sorted(lives)[math.ceil(len(lives) * percent / 100) - 1]


def last(daemon, subject, metric="derive-lives"):
    return daemon.rows(subject, metric)[-1][1]


def figure(daemon, metric):
    """Of the plugin itself, as of now."""
    return daemon.row_after("self", metric, time.time())[1]


def until(condition):
    """Until it holds, or has not for long."""
    give_up = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < give_up:
        time.sleep(0.1)


def percentiles(test, daemon, name, lives):
    """Nothing ends before it says so. As figures, of each interval, while its threads were all that ended."""
    rows, compared = daemon.rows(name, "latency-life-percentile-50"), 0
    highest = {row[0]: row[1] for row in daemon.rows(name, "latency-life-percentile-99")}
    medians = [row[1] for row in rows if not math.isnan(row[1])]
    test.true(f"{name}: medians are no less than the shortest life, s",
              min(medians, default=0) >= 0.96 * min(life for _, life in lives), medians)
    for before, row in zip(rows, rows[1:]):
        window = [life for end, life in lives if before[0] < end <= row[0]]
        if len(window) < 20 or row[0] > lives[-1][0]:
            continue
        compared += 1
        test.figures.within("a process: median, s", row[1], 0.96 * percentile(window, 40),
                            1.04 * percentile(window, 60))
        test.figures.within("a process: 99th percentile, s", highest[row[0]], 0.96 * percentile(window, 80),
                            1.04 * max(window))
    test.figures.true("a process: intervals", compared >= 2, compared)


def histogram(test, daemon):
    """Percentiles of each process, and its exact number of threads, also of those that end together with it."""
    loads = [test.load("lives", LIVES, name="kt_pp") for _ in range(2)]
    idle = [test.load("task", name="kt_pp") for _ in range(3)]
    names = [series(load) for load in loads]
    for load in loads:
        load.say("go")
    results = [load.result()["lives"] for load in loads]
    for load, name, lives in zip(loads, names, results):
        load.end()
        until(lambda name=name: last(daemon, name) == LIVES + 1)
        test.equal(f"{name}: threads that ended", last(daemon, name), LIVES + 1)
        percentiles(test, daemon, name, [(end / 1e9, life / 1e9) for end, life in lives])
    for load in idle:
        test.equal("series of a process without events", daemon.metrics(series(load)), set())
        load.end()


def used(daemon):
    return figure(daemon, "objects-rows_lives")


def wait_given_back(test, daemon, what):
    until(lambda: used(daemon) == 0)
    test.equal(f"{what}: rows that are still taken", used(daemon), 0)


def storm_series(daemon):
    return {subject: last(daemon, subject) for subject in daemon.subjects() if subject.startswith("storm-")}


def refused(daemon):
    return figure(daemon, "total_events-refused_lives"), figure(daemon, "total_events-refused_services")


def churn(test, daemon, what, count):
    """Processes with one event each, at their ends. Those that found no row of either kind are counted; all others have
    series, with their own event and no other's."""
    seen, before = storm_series(daemon), refused(daemon)
    load = test.load("churn", "processes", count, 16, 500, name="kt_storm")
    load.ask("go")
    load.end()

    def counted():
        """Series, and how many found no row of their service and none here."""
        after = refused(daemon)
        shown = {name: value for name, value in storm_series(daemon).items() if name not in seen}
        return shown, after[1] - before[1], after[0] - before[0]

    def is_complete():
        shown, no_row, no_slot = counted()
        return sum(shown.values()) + no_slot >= count + 1 - no_row

    until(is_complete)
    shown, no_row, no_slot = counted()
    test.equal(f"{what}: series of more than the one event of their process", {n: v for n, v in shown.items() if v != 1}, {})
    test.within(f"{what}: events in {len(shown)} series and of {no_slot} processes refused a row here, of {count + 1}; "
                f"{no_row} were refused one by the service", sum(shown.values()) + no_slot, count + 1 - no_row, count + 1)
    test.true(f"{what}: some had series", len(shown) >= ROWS - 1, len(shown))
    test.true(f"{what}: some were refused", no_slot > 0, no_slot)


def main():
    with Test(limit=400) as test:
        daemon = test.collectd(CONF % {"objects": os.path.join(lib.BUILD, "tests", "bpf"), "rows": ROWS, "top": TOP}, interval=1)
        daemon.wait_rows("self", "duration-read_lives", 1)
        maps = figure(daemon, "memory-maps_lives")
        # Two arrays of numbers by process beside the rows, and all in whole pages.
        test.within("bytes of all maps of the probe", maps, ROWS * HIST_ROW, ROWS * HIST_ROW + 100000)
        histogram(test, daemon)
        wait_given_back(test, daemon, "processes that ended")
        churn(test, daemon, "as many as have rows of their service", BURST)
        rss = truth.memory(daemon.process.pid)[1]
        churn(test, daemon, "many more", STORM)
        test.equal("bytes of the maps afterwards", figure(daemon, "memory-maps_lives"), maps)
        test.within("collectd's memory has grown by, bytes", truth.memory(daemon.process.pid)[1] - rss, -1e9, 16e6)
        wait_given_back(test, daemon, "the storm")
        histogram(test, daemon)
        # Told once, if some wait for a row while there is a reading.
        complaints = daemon.complaints()
        test.within("complaints", len(complaints), 0, 1)
        test.equal("others than that all rows are in use",
                   [line for line in complaints if "all rows for services or processes are in use" not in line], [])


if __name__ == "__main__":
    main()

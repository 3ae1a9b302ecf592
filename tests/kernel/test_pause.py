#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gaps around a pause: load and pause are not mixed, neither when load begins again nor after its end.

Truth: the server's own log of each request (load_flow.c), over the same intervals.
"""

import bisect
import os
import statistics
import struct
import time

import lib
from lib import Test

CONF = """
  <Service "flow">
    Process "kt_flow"
  </Service>"""
FIGURES = bool(os.environ.get("TEST_FIGURES"))
INTERVAL = 2 if FIGURES or lib.SLOWNESS >= 2 else 0.5
RATE = 100 / lib.SLOWNESS
LOAD_S = round(4 * INTERVAL)
READING = 0.02 * lib.SLOWNESS  # s, that it takes: what is sent meanwhile may be in it
INTERVALS = 6  # that moments are of, at most: few gaps of this load are 2048


class Log:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.ends = [row[0] / 1e9 for row in struct.iter_unpack("QQQQ", file.read()) if row[0]]

    def index(self, moment):
        return bisect.bisect(self.ends, moment)

    def count(self, begin, end):
        return self.index(end) - self.index(begin)

    def last(self, moment):
        """The last answer until then."""
        return self.ends[self.index(moment) - 1]

    def variation(self, begin, end):
        """The coefficient of variation of gaps that end within this time."""
        ends = self.ends[self.index(begin) - 1:self.index(end)]
        gaps = [b - a for a, b in zip(ends, ends[1:])]
        return statistics.pstdev(gaps) / statistics.fmean(gaps)


def loaded(log, moments, k):
    return k >= 0 and log.count(moments[k - 1] if k else 0, moments[k]) > 0


def first_of(log, moments, k):
    """The interval that the window of interval k goes back to; moments[i] ends interval i."""
    first = k
    while k - first < INTERVALS - 1 and loaded(log, moments, first - 1) and loaded(log, moments, first - 2):
        first -= 1
    return first


def check_interval(test, flow, log, moments, k):
    """Of one with load."""
    begin, end = moments[first_of(log, moments, k) - 1], moments[k]
    counts = [log.count(begin + at, end + late) for at in (0, READING) for late in (0, READING)]
    name = f"interval {k}, of {round((end - begin) / INTERVAL)}"
    test.figures.between(f"{name}: samples", flow["samples"][end], (min(counts), max(counts)), slack=1)
    # A gap from before the begin counts as a whole if no whole interval lies in it.
    since = log.last(begin) if loaded(log, moments, k - 1) else begin
    want = log.count(begin, end) / (log.last(end) - since)
    test.figures.close(f"{name}: frequency", flow["frequency"][end], want, rel=0.02, slack=3 / (end - begin))


def order(load, seconds):
    load.say(f"1 {RATE} 0 {seconds}")
    load.result()


def figures_of(daemon):
    return {figure: dict(daemon.rows("flow", f"gauge-send_gap-{figure}")) for figure in ("samples", "frequency", "cv")}


def check_figures(test, daemon, log):
    flow = figures_of(daemon)
    moments = sorted(flow["samples"])
    busy = [k for k in range(1, len(moments)) if log.count(moments[k - 1], moments[k] + READING)]
    begins = [k for k in busy if k > 1 and k - 1 not in busy]
    for k in busy:
        if log.count(moments[k - 1] + READING, moments[k]) > 5:
            check_interval(test, flow, log, moments, k)
    test.figures.equal("loads that began after a pause", len(begins), 1)
    whole = moments[begins[0] + 1]
    test.figures.close("frequency in the first whole interval, per second", flow["frequency"][whole], RATE, rel=0.3)
    test.figures.close("coefficient of variation there", flow["cv"][whole], log.variation(moments[begins[0]], whole), rel=0.1)


def pause(test, daemon):
    """Of the second reading after the end of the load, and of the third."""
    rows = daemon.wait_rows("flow", "gauge-send_gap-samples", 4, time.time())
    flow, moments = figures_of(daemon), [row[0] for row in rows[1:3]]
    test.equal("frequencies in intervals without load", [flow["frequency"].get(moment) for moment in moments], [None] * 2)
    test.equal("samples there", {flow["samples"][moment] for moment in moments}, {0})


def check_load(test, daemon, begin):
    """Since it began."""
    flow = figures_of(daemon)
    for figure in ("samples", "frequency"):
        values = [value for moment, value in flow[figure].items() if moment > begin and value > 0]
        test.true(f"{figure} with load", values, len(values))


def main():
    with Test(limit=90) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("request",))
        daemon.wait_rows("self", "duration-read_request", 1)
        path = os.path.join(test.dir, "flow")
        load = test.load("flow", path, name="kt_flow")
        for _ in range(2):
            begin = time.time()
            order(load, LOAD_S)
            pause(test, daemon)
            check_load(test, daemon, begin)
        if FIGURES:
            check_figures(test, daemon, Log(path))


if __name__ == "__main__":
    main()

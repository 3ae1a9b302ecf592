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
INTERVAL = 2
RATE = 100 / lib.SLOWNESS
PAUSE_S = 2.5 * INTERVAL  # in which there is a whole interval
LOAD_S = 4 * INTERVAL
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
    test.between(f"{name}: samples", flow["samples"][end], (min(counts), max(counts)), slack=1)
    # A gap from before the begin counts as a whole if no whole interval lies in it.
    since = log.last(begin) if loaded(log, moments, k - 1) else begin
    want = log.count(begin, end) / (log.last(end) - since)
    test.close(f"{name}: frequency", flow["frequency"][end], want, rel=0.02, slack=3 / (end - begin))


def order(load, seconds):
    load.say(f"1 {RATE} 0 {seconds}")
    load.result()


def check(test, daemon, log):
    flow = {figure: dict(daemon.rows("flow", f"gauge-send_gap-{figure}")) for figure in ("samples", "frequency", "cv")}
    moments = sorted(flow["samples"])
    busy = [k for k in range(1, len(moments)) if log.count(moments[k - 1], moments[k] + READING)]
    begins = [k for k in busy if k > 1 and k - 1 not in busy]
    for k in busy:
        if log.count(moments[k - 1] + READING, moments[k]) > 5:
            check_interval(test, flow, log, moments, k)
    test.equal("loads that began after a pause", len(begins), 1)
    whole = moments[begins[0] + 1]
    test.close("frequency in the first whole interval, per second", flow["frequency"][whole], RATE, rel=0.3)
    test.close("coefficient of variation there", flow["cv"][whole], log.variation(moments[begins[0]], whole), rel=0.1)
    silent = [moment for k, moment in enumerate(moments) if k and k not in busy]
    test.true("intervals without load", len(silent) >= 3, len(silent))
    test.equal("frequencies in intervals without load", [flow["frequency"].get(moment) for moment in silent],
               [None] * len(silent))
    test.equal("samples there", {flow["samples"][moment] for moment in silent}, {0})


def main():
    with Test(limit=90) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("request",))
        daemon.wait_rows("self", "duration-read_request", 1)
        path = os.path.join(test.dir, "flow")
        load = test.load("flow", path, name="kt_flow")
        order(load, LOAD_S)
        time.sleep(PAUSE_S)
        order(load, LOAD_S)
        time.sleep(PAUSE_S)
        check(test, daemon, Log(path))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gaps, waits, service times and slack of a server under little load, under half of what it can, and saturated.

Truth: the server's own log of each request (load_flow.c), over the same windows; for the slack the kernel's own
account of the server's thread. All of it but counts and the least service times are figures.
"""

import os
import statistics
import struct
import time

import lib
import truth
from lib import Test
from request_hook_sets import no_readings

INTERVAL = 2 if lib.SLOWNESS >= 2 or os.environ.get("TEST_FIGURES") else 0.5
CONF = """
  <Service "flow">
    Process "kt_flow"
  </Service>"""
BUCKET = 1 / 32       # half a bucket of the histogram, by its lower bound
CLOCK = 50e-6 * lib.SLOWNESS**2  # between the clocks of client, kernel and server
# A thread that loses the CPU between the kernel's look at the clock and its own changes two gaps.
CLOCKS_APART = 0.04 if lib.SLOWNESS == 1 else 0.12
READING = 0.02 * lib.SLOWNESS  # s, that it takes: what is sent meanwhile may be in it
# s before a moment and after it, in which a wait that goes on then is counted: the kernel does it at its end.
BEFORE, AFTER = 0.1, 0.6
RANKS = {"50": (0.45, 0.55), "90": (0.86, 0.94), "99": (0.96, 1.0)}


class Flow:
    def __init__(self, test, daemon):
        self.test, self.daemon = test, daemon
        self.path = os.path.join(test.dir, "flow")
        self.load = test.load("flow", self.path, name="kt_flow")
        self.busy = truth.Sampler(lambda: sum(truth.schedstat(self.load.pid)), every=0.02)
        self.until = float("inf")

    def log(self):
        """[(time of the answer, wait, least and most service time)]"""
        with open(self.path, "rb") as file:
            return [tuple(ns / 1e9 for ns in row) for row in struct.iter_unpack("QQQQ", file.read()) if row[0]]

    def order(self, connections, rate, work_us, seconds):
        """Returns the times of the readings that lie within it: the first is the begin of the first interval."""
        begin = time.time()
        self.load.say(f"{connections} {rate} {work_us} {seconds}")
        self.load.result()
        self.until = end = time.time()
        self.daemon.row_after("flow", "total_requests", end)
        return [row[0] for row in self.daemon.rows("flow", "total_requests") if begin < row[0] < end]

    def value(self, metric, moment):
        return {row[0]: row[1] for row in self.daemon.rows("flow", metric)}[moment]

    def window(self, moments):
        """Of the gaps at the last of these moments: several intervals, where few have enough samples."""
        end = moments[-1]
        length = self.value("gauge-send_gap-samples", end) / self.value("gauge-send_gap-frequency", end)
        return min(moments, key=lambda moment: abs(moment - end + length)), end


def gap_figures(ends, begin, end):
    gaps = [b - a for a, b in zip(ends, ends[1:]) if begin < b <= end]
    mean = statistics.fmean(gaps)
    return {"average": mean, "frequency": 1 / mean, "cv": statistics.pstdev(gaps) / mean}


def check_gaps(test, flow, moments):
    """A long gap that ends when a reading has begun is in this window or in the next."""
    begin, end = flow.window(moments)
    ends = [row[0] for row in flow.log()]
    truths = [gap_figures(ends, begin + first, end + last) for first in (0, READING) for last in (0, READING)]
    for figure, rel in (("average", 0.02), ("frequency", 0.02), ("cv", CLOCKS_APART)):
        wants = [those[figure] for those in truths]
        bounds = min(wants), max(wants)
        test.figures.between(f"gaps between sends: {figure}", flow.value(f"gauge-send_gap-{figure}", end), bounds,
                             rel=rel)
        if figure != "frequency":
            test.figures.between(f"gaps between receives as those between sends: {figure}",
                                 flow.value(f"gauge-receive_gap-{figure}", end), bounds, rel=0.2)


def check_percentiles(test, flow, moments):
    """By rank, and between the two ends of what the server knows: it may lose the CPU within a call."""
    begin, end = moments[-2:]
    rows = [row for row in flow.log() if begin < row[0] <= end]
    truths = {"latency-wait": [(wait, wait) for _, wait, _, _ in rows],
              "latency-service": [(least, most) for _, _, least, most in rows],
              "latency-response": [(wait + least, wait + most) for _, wait, least, most in rows]}
    for metric, pairs in truths.items():
        least, most = (sorted(values) for values in zip(*pairs))
        for at, (low, high) in RANKS.items():
            last = len(rows) - 1
            test.figures.within(f"{metric} p{at}, s", flow.value(f"{metric}-percentile-{at}", end),
                                least[int(low * last)] * (1 - BUCKET) - CLOCK,
                                most[int(high * last)] * (1 + BUCKET) + CLOCK)


def idle_percent(flow, begin, end):
    """That the server's threads neither ran nor waited for a CPU, and how much of it may be of the time next to it:
    a wait is counted when it is over."""
    curve = flow.busy.curve()
    rate = (curve.at(end) - curve.at(begin)) / (end - begin)
    unsure = 0
    for moment in begin, end:
        first, last = moment - BEFORE, min(moment + AFTER, flow.until)
        unsure += abs(curve.at(last) - curve.at(first) - rate * (last - first))
    return 100 * (1 - rate / 1e9), 100 * unsure / (end - begin) / 1e9


def check_slack(test, flow, moments, name):
    want, unsure = idle_percent(flow, moments[0], moments[-1])
    got = statistics.fmean(flow.value("percent-slack_threads", moment) for moment in moments[1:])
    test.figures.close(f"slack of threads, {name}", got, want, slack=3 + unsure)


def check_one_interval(test, daemon, flow):
    """However long it takes."""
    last, before = daemon.wait_rows("flow", "total_requests", 2, time.time())[-1]
    known = len(flow.log())
    with no_readings([daemon]):
        flow.load.say("2 100 4000 1")
        requested = flow.load.result()["requests"]
        # The client has an answer before the log has it.
        while len(rows := flow.log()[known:]) < requested:
            time.sleep(0.01)
        moment = time.time()
    test.equal("requests", daemon.row_after("flow", "total_requests", moment)[1] - before, requested)
    least = sorted(row[2] for row in rows)
    for at, (low, _) in RANKS.items():
        metric = f"latency-service-percentile-{at}"
        daemon.row_after("flow", metric, moment)
        got = next((row[1] for row in daemon.rows("flow", metric) if row[0] > last and row[1] == row[1]), 0)
        want = least[int(low * (requested - 1))] * (1 - BUCKET) - CLOCK
        test.true(f"{metric} of {requested} is not below {want:.6g} s", got >= want, got)
    slack = [row[1] for row in daemon.rows("flow", "percent-slack_threads") if row[1] == row[1]]
    test.true("slack of threads is between 0 and 100 %", slack and 0 <= min(slack) <= max(slack) <= 100, slack)


def check_flow(test, flow):
    # In emulation it takes 6 intervals to enough gaps.
    moments = flow.order(4, 2400 / lib.SLOWNESS, 20, 8 if lib.SLOWNESS == 1 else 18)
    check_gaps(test, flow, moments)
    check_slack(test, flow, moments, "little load")
    moments = flow.order(2, 100 / lib.SLOWNESS, 4000, 7)
    check_slack(test, flow, moments, "half load")
    check_percentiles(test, flow, moments)
    moments = flow.order(8, 0, 2000, 7)
    check_slack(test, flow, moments, "saturated")
    check_percentiles(test, flow, moments)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("request",))
        daemon.wait_rows("self", "duration-read_request", 1)
        flow = Flow(test, daemon)
        try:
            flow.order(1, 10, 0, 0.2)
            check_one_interval(test, daemon, flow)
            if test.measures:
                check_flow(test, flow)
        finally:
            flow.busy.stop()


if __name__ == "__main__":
    main()

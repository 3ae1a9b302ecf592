#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gaps, waits, service times and slack of a server under little load, under half of what it can, and saturated.

Truth: the server's own log of each request (load_flow.c), over the same windows; for the slack the kernel's own
account of the server's thread.
"""

import os
import statistics
import struct
import time

import lib
import truth
from lib import Test

CONF = """
  <Service "flow">
    Process "kt_flow"
  </Service>"""
BUCKET = 1 / 32       # half a bucket of the histogram, by its lower bound
CLOCK = 50e-6 * lib.SLOWNESS**2  # between the clocks of client, kernel and server
# A thread that loses the CPU between the kernel's look at the clock and its own changes two gaps.
CLOCKS_APART = 0.04 if lib.SLOWNESS == 1 else 0.12
RANKS = {"50": (0.45, 0.55), "90": (0.86, 0.94), "99": (0.96, 1.0)}


class Flow:
    def __init__(self, test, daemon):
        self.test, self.daemon = test, daemon
        self.path = os.path.join(test.dir, "flow")
        self.load = test.load("flow", self.path, name="kt_flow")
        self.busy = truth.Sampler(lambda: sum(truth.schedstat(self.load.pid)), every=0.02)

    def log(self):
        """[(time of the answer, wait, least and most service time)]"""
        with open(self.path, "rb") as file:
            return [tuple(ns / 1e9 for ns in row) for row in struct.iter_unpack("QQQQ", file.read()) if row[0]]

    def order(self, connections, rate, work_us, seconds):
        """Returns the times of the readings that lie within it: the first is the begin of the first interval."""
        begin = time.time()
        self.load.say(f"{connections} {rate} {work_us} {seconds}")
        self.load.result()
        end = time.time()
        self.daemon.row_after("flow", "total_requests", end)
        return [row[0] for row in self.daemon.rows("flow", "total_requests") if begin < row[0] < end]

    def value(self, metric, moment):
        return {row[0]: row[1] for row in self.daemon.rows("flow", metric)}[moment]

    def window(self, moments):
        """Of the gaps at the last of these moments: several intervals, where few have enough samples."""
        end = moments[-1]
        length = self.value("gauge-send_gap-samples", end) / self.value("gauge-send_gap-frequency", end)
        return min(moments, key=lambda moment: abs(moment - end + length)), end


def check_gaps(test, flow, moments):
    begin, end = flow.window(moments)
    ends = [row[0] for row in flow.log()]
    gaps = [b - a for a, b in zip(ends, ends[1:]) if begin < b <= end]
    mean, deviation = statistics.fmean(gaps), statistics.pstdev(gaps)
    for figure, want, rel in (("average", mean, 0.02), ("frequency", 1 / mean, 0.02),
                              ("cv", deviation / mean, CLOCKS_APART)):
        test.close(f"gaps between sends: {figure}", flow.value(f"gauge-send_gap-{figure}", end), want, rel=rel)
    for figure in ("average", "cv"):
        send, receive = (flow.value(f"gauge-{which}_gap-{figure}", end) for which in ("send", "receive"))
        test.close(f"gaps between receives as those between sends: {figure}", receive, send, rel=0.2)


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
            test.within(f"{metric} p{at} of {len(rows)}, s", flow.value(f"{metric}-percentile-{at}", end),
                        least[int(low * last)] * (1 - BUCKET) - CLOCK, most[int(high * last)] * (1 + BUCKET) + CLOCK)


def check_slack(test, flow, moments, name):
    """The server's threads ran or waited for a CPU, or else had time."""
    begin, end = moments[0], moments[-1]
    curve = flow.busy.curve()
    busy = (curve.at(end) - curve.at(begin)) / (end - begin) / 1e9
    got = statistics.fmean(flow.value("percent-slack_estimate", moment) for moment in moments[1:])
    test.close(f"slack estimate, {name}", got, 100 * (1 - busy), slack=3)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(CONF, interval=2)
        daemon.wait_rows("self", "duration-read_request", 1)
        flow = Flow(test, daemon)
        try:
            flow.order(1, 10, 0, 0.2)
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
        finally:
            flow.busy.stop()


if __name__ == "__main__":
    main()

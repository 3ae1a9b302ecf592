#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exchanges, octets, percentiles and gaps of a service, for each kind of socket and each family of calls.

Truth: the server's own log of each request (load_request.c) and its client's count.
"""

import os
import time

import lib
from lib import Test

CONF = "\n".join(f"""
  <Service "{kind}">
    Process "kt_s_{kind}"
  </Service>""" for kind in ("tcp", "tcp6", "unix", "udp", "idle"))

CALLS = ("read/write", "recv/send", "recvfrom/sendto", "recvmsg/sendmsg", "readv/writev", "recvmmsg/sendmmsg",
         "read/sendfile")
PERCENTILES = ("50", "90", "99")
BUCKET = 1 / 32  # half a bucket of the histogram, by its lower bound
SLACK = 30e-6 * lib.SLOWNESS  # between the kernel's clock and the server's


class Pair:
    """A server and its client, with connections that are open before anything is asked."""

    def __init__(self, test, kind, connections):
        self.test = test
        self.kind = kind
        self.server = test.load("request", "server", kind, os.path.join(test.dir, kind), name=f"kt_s_{kind}")
        where = self.server.hear()
        self.client = test.load("request", "client", kind, where, connections, name=f"kt_c_{kind}")
        self.client.hear()

    def order(self, requests, size, pieces, parts, part_size, work_us, call):
        """Returns what the server and what the client say of it."""
        self.client.say(f"{requests} {size} {pieces} {parts} {part_size} {work_us} {call}")
        self.client.result()
        self.server.say("report")
        return self.server.result()


def counters(daemon, kind, moment):
    """(exchanges, received, sent) at the first reading after this moment."""
    total = daemon.row_after(kind, "total_requests", moment)
    octets = daemon.row_after(kind, "if_octets", moment)
    return total[1], octets[1], octets[2]


def check_counts(test, daemon, pair, requests):
    """Each family of calls: requests in pieces, and responses in parts."""
    pieces, parts = (1, 1) if pair.kind == "udp" else (2, 3)
    # The first request makes the series.
    pair.order(1, 100, pieces, parts, 100, 0, 0)
    before = counters(daemon, pair.kind, time.time())
    want = [0, 0, 0]
    for call, name in enumerate(CALLS):
        said = pair.order(requests, 100, pieces, parts, 500, 100, call)
        test.true(f"{pair.kind}: the server has served {name}", said["requests"])
        for i, key in enumerate(("requests", "rx", "tx")):
            want[i] += said[key]
    after = counters(daemon, pair.kind, time.time())
    got = [b - a for a, b in zip(before, after)]
    for what, is_now, should in zip(("exchanges", "octets received", "octets sent"), got, want):
        test.equal(f"{pair.kind}: {what}", is_now, should)


def check_percentiles(test, daemon, pair):
    """One order that lies between two readings: every sample is in one window."""
    row = daemon.wait_rows(pair.kind, "total_requests", after=time.time())[-1]
    said = pair.order(200, 200, 1, 1 if pair.kind == "udp" else 2, 1000, 2000, 0)
    rows = daemon.wait_rows(pair.kind, "total_requests", after=time.time())
    test.true(f"{pair.kind}: one reading after the order", rows[0][0] - row[0] < 1.5 * daemon.interval)
    for metric, key in (("latency-service_first", "first"), ("latency-service", "service")):
        for i, at in enumerate(PERCENTILES):
            # By rank: the server may lose the CPU between a call and its clock.
            below, above = said[key + "_low"][3 * i], said[key + "_high"][3 * i + 2]
            got = {r[0]: r[1] for r in daemon.rows(pair.kind, f"{metric}-percentile-{at}")}[rows[0][0]]
            test.within(f"{pair.kind}: {metric} p{at}, s", got, below * (1 - BUCKET) - SLACK, above * (1 + BUCKET) + SLACK)


def main():
    with Test(limit=150) as test:
        early = Pair(test, "tcp", 4)
        early.order(3, 100, 1, 1, 100, 0, 0)
        daemon = test.collectd(CONF, interval=4)
        daemon.wait_rows("self", "duration-read_request", 1)
        pairs = [early, Pair(test, "tcp6", 4), Pair(test, "unix", 4), Pair(test, "udp", 1)]
        for pair in pairs:
            check_counts(test, daemon, pair, 100)
        for pair in pairs:
            check_percentiles(test, daemon, pair)
        for kind in ("tcp", "unix"):
            test.equal(f"client of {kind} serves nothing", [metric for metric in daemon.metrics(f"kt_c_{kind}")
                                                            if metric.startswith("total_requests")], [])


if __name__ == "__main__":
    main()

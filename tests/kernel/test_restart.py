#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A collectd that is started again, or killed and started again, under load: what it says first is of no more than it
has seen.

Truth: the logs of the load programs, whose connections, requests, polls and processes are older than each daemon.
"""

import math
import os
import signal
import statistics
import time

import truth
from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts
from test_poll import Sharer, command, slacks
from test_request_figures import BUCKET, CLOCK, Flow, idle_percent

INTERVAL = 2 if SLOWNESS >= 2 or os.environ.get("TEST_FIGURES") else 1
CONNECTIONS, RATE, WORK_US, SECONDS = 32, 600, 500, 60
# Of requests that are in work when collectd starts: until the first part of the answer, and in all.
SLOW = {"tcp": 8, "unix": 8, "udp": 1}
SLOW_WORK, SLOW_PARTS = 0.7, 3
SLOW_SECONDS = SLOW_WORK * (1 + (SLOW_PARTS - 1) / 2)
EDGE = 3  # requests that the log has on the other side of a reading
READING = 0.01 * SLOWNESS  # s, that it takes
LATE = 0.6  # s, that a sleep may be longer: less than a second one
CONF = """
  <Service "flow">
    Process "kt_flow"
  </Service>""" + "".join(f"""
  <Service "slow_{kind}">
    Process "kt_s_{kind}"
  </Service>""" for kind in SLOW) + f"""
  <Service "polls">
    Process "{command("s50")}"
    Process "{command("long")}"
  </Service>
  <Probe "poll">
    Enable true
    Option "syscalls"
  </Probe>"""
WORSE = ("average", "percentile-50", "percentile-99")


class Slow:
    """Connections on which there is a request in work at each moment."""

    def __init__(self, test, kind):
        self.subject = f"slow_{kind}"
        # One datagram answers a request.
        self.parts = 1 if kind == "udp" else SLOW_PARTS
        server = test.load("request", "server", kind, os.path.join(test.dir, kind), name=f"kt_s_{kind}")
        self.client = test.load("request", "client", kind, server.hear(), SLOW[kind], name=f"kt_c_{kind}")
        self.client.hear()
        self.client.say(f"1000 200 1 {self.parts} 300 {int(SLOW_WORK * 1e6)} 0")

    def longest(self):
        return SLOW_SECONDS if self.parts > 1 else SLOW_WORK


def known(daemon, subject, metric, moments):
    """[(time, value)] of the first readings."""
    return [row[:2] for row in daemon.rows(subject, metric) if row[0] <= moments[-1] and not math.isnan(row[1])]


def check_latencies(test, what, daemon, subject, moments, metrics):
    """Of no latency that began before the daemon is there a part: {metric: (least, most)}. None is longer than the daemon
    runs."""
    for metric, (least, most) in metrics.items():
        values = [value for figure in WORSE for _, value in known(daemon, subject, f"{metric}-{figure}", moments)]
        test.true(f"{what}: {subject} has {metric}", values)
        low, high = least * (1 - BUCKET) - CLOCK, most * (1 + BUCKET) + CLOCK
        life = (moments[-1] + INTERVAL - daemon.starts[0]) * (1 + BUCKET)
        for bound in (min, max):
            name = f"{what}: {bound.__name__} of {subject} {metric}, s"
            test.within(name, bound(values, default=0), low, life)
            test.figures.within(name, bound(values, default=0), low, high)


def check_flow(test, what, daemon, flow, moments, begun):
    log = flow.log()
    counted = [row[1] for row in known(daemon, "flow", "total_requests", moments)]
    test.within(f"{what}: requests until the first reading", counted[0], 0,
                sum(begun < row[0] <= moments[1] for row in log) + EDGE)
    test.figures.within(f"{what}: requests until the first reading", counted[0], 0,
                        sum(begun < row[0] <= moments[0] for row in log) + EDGE)
    test.true(f"{what}: requests since then", counted[-1] > counted[0], counted[-1] - counted[0])
    for i, (begin, end) in enumerate(zip(moments, moments[1:])):
        name = f"{what}, interval {i + 1}"
        # What is answered when a reading has begun is in this interval or in the next.
        ways = [[row for row in log if begin + first < row[0] <= end + last]
                for first in (0, READING) for last in (0, READING)]
        counts = [len(rows) for rows in ways]
        test.figures.between(f"{name}: requests", counted[i + 1] - counted[i], (min(counts), max(counts)), slack=EDGE)
        waits, least, most = ([statistics.fmean(row[j] for row in rows) for rows in ways] for j in (1, 2, 3))
        test.figures.between(f"{name}: latency-wait, s", flow_value(daemon, "latency-wait-average", end),
                     (min(waits), max(waits)), rel=0.1, slack=CLOCK)
        test.figures.between(f"{name}: latency-service, s", flow_value(daemon, "latency-service-average", end),
                     (min(least), max(most)), rel=0.05, slack=CLOCK)
        test.figures.between(f"{name}: latency-response, s", flow_value(daemon, "latency-response-average", end),
                     (min(waits) + min(least), max(waits) + max(most)), rel=0.05, slack=CLOCK)
        ends = [row[0] for row in log if begun < row[0] <= end]
        gap = statistics.fmean(b - a for a, b in zip(ends, ends[1:]))
        for metric in ("send_gap", "receive_gap"):
            test.figures.close(f"{name}: {metric}, s", flow_value(daemon, f"gauge-{metric}-average", end), gap, rel=0.1)
        # That is known from the second walk on.
        if end != moments[-1] and end not in dict(known(daemon, "flow", "percent-slack_threads", moments)):
            continue
        idle, unsure = idle_percent(flow, begin, end)
        test.figures.close(f"{name}: slack of threads, %", flow_value(daemon, "percent-slack_threads", end), idle,
                   slack=4 + unsure)
    longest = max(row[1] + row[3] for row in log if begun < row[0] <= moments[-1])
    check_latencies(test, what, daemon, "flow", moments,
                    {metric: (0, longest) for metric in ("latency-wait", "latency-service", "latency-response")})


def flow_value(daemon, metric, moment):
    return dict(row[:2] for row in daemon.rows("flow", metric))[moment]


def wait_slow(daemon, slow, metric):
    """Until requests have ended that began when the daemon was there."""
    while not any(row[1] == row[1] for row in daemon.wait_rows(slow.subject, f"{metric}-average")):
        time.sleep(0.05)


def check_slow(test, what, daemon, slow, moments):
    bounds = {"latency-service_first": (SLOW_WORK, SLOW_WORK), "latency-service": (SLOW_WORK, slow.longest()),
              "latency-response": (SLOW_WORK, slow.longest())}
    for metric in bounds:
        wait_slow(daemon, slow, metric)
    # Of a reading everything is written when the next one begins to be.
    last = daemon.row_after(slow.subject, "total_requests", time.time())[0]
    check_latencies(test, what, daemon, slow.subject, [moments[0], last],
                    {metric: (least, most + LATE * SLOWNESS) for metric, (least, most) in bounds.items()})


def check_polls(test, what, daemon, sharers, moments):
    for sharer in sharers:
        sharer.read()
    curves = [curve for sharer in sharers for curve in sharer.waited]
    spans = slacks(daemon, "polls")
    test.figures.true(f"{what}: intervals with a slack of polls", spans)
    for begin, end, got in spans:
        waited = sum(curve.at(end) - curve.at(begin) for curve in curves)
        test.figures.close(f"{what}: slack of polls, %", got, 100 * waited / (end - begin) / len(curves), slack=3)
    longest = max((value for _, value in known(daemon, "polls", "gauge-poll-average", moments)), default=0)
    test.within(f"{what}: average of polls, s, no more than the daemon runs", longest, 0,
                moments[-1] + INTERVAL - daemon.starts[0])
    test.figures.within(f"{what}: average of polls, s", longest, 0, 0.2 * SLOWNESS)


def check_process(test, what, daemon, flow, used, moments):
    rows = [row for row in daemon.rows("flow", "ps_cputime") if row[0] <= moments[-1] + 0.5]
    curve = used.curve()
    for before, after in zip(rows, rows[1:]):
        cpu = sum(after[1:]) - sum(before[1:])
        test.figures.between(f"{what}: CPU time, us", cpu, [ns / 1e3 for ns in curve.growth(before[0], after[0])], rel=0.03,
                     slack=20000)
    first = sum(rows[0][1:])
    # schedstat of what runs lacks up to a tick.
    test.within(f"{what}: CPU time at the first reading, us", first, 0,
                curve.growth(daemon.starts[0], moments[1])[1] / 1e3 + 20000)
    test.figures.within(f"{what}: CPU time at the first reading, us, of one interval", first, 0, 1e6 * INTERVAL)
    for metric in ("processes_started", "processes_ended"):
        values = [value for _, value in known(daemon, "flow", f"total_events-{metric}", moments)]
        test.equal(f"{what}: {metric}", values, [0] * len(values))


def check_start(test, what, daemon, flow, used, slow, sharers):
    """The first two intervals of a daemon."""
    moments = [row[0] for row in daemon.wait_rows("flow", "total_requests", 3)][:3]
    # Of a reading everything is written when the next one begins to be.
    for subject, metric in (("flow", "total_requests"), ("flow", "ps_cputime"), ("polls", "percent-poll_idle")):
        daemon.wait_rows(subject, metric, 1, moments[-1] + INTERVAL / 2)
    check_flow(test, what, daemon, flow, moments, daemon.starts[0])
    check_process(test, what, daemon, flow, used, moments)
    for one in slow:
        check_slow(test, what, daemon, one, moments)
    check_polls(test, what, daemon, sharers, moments)
    negative = [(subject, metric, row) for subject in daemon.subjects() for metric in daemon.metrics(subject)
                for row in daemon.rows(subject, metric) if any(value < 0 for value in row[1:])]
    test.equal(f"{what}: values below zero", negative, [])


def start(test):
    daemon = test.collectd(CONF, interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS), collect=("process", "request", "poll"))
    daemon.wait_rows("self", "duration-read_request", 1)
    return daemon


def main():
    with Test(limit=120) as test:
        slow = [Slow(test, kind) for kind in SLOW]
        sharers = [Sharer(test, "s50", 1, 3, 40000, 50, "sleep"), Sharer(test, "long", 1, 3, 100000000, 95, "sleep")]
        first = start(test)
        flow = Flow(test, first)
        try:
            flow.load.say(f"{CONNECTIONS} {RATE / SLOWNESS} {WORK_US} {SECONDS}")
            first.wait_rows("flow", "total_requests", 1)
            # The client, a child, has its name.
            pids = [flow.load.pid, *truth.children(flow.load.pid)]
            used = truth.Sampler(lambda: sum(truth.schedstat(pid)[0] for pid in pids), every=0.02)
            test.stop(first)
            second = start(test)
            check_start(test, "started again", second, flow, used, slow, sharers)
            test.ledger.note(second.process.pid)
            second.stop(signal.SIGKILL)
            third = start(test)
            check_start(test, "started after SIGKILL", third, flow, used, slow, sharers)
        finally:
            flow.busy.stop()


if __name__ == "__main__":
    main()

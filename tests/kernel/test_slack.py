#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Slack of threads and of CPUs, of a server whose use of both is known: threads that sleep with a request in hand, half
of them hardly used, an event loop with the same load, and one CPU shared with others.

Truth: the server's own log of how long it had each request in hand (load_slack.c); for the CPUs /proc/stat and the
kernel's account of the server's threads.
"""

import os
import struct
import time

import lib
import truth
from lib import Test

SERVICES = {"pool": "kt_pool", "loop": "kt_loop", "pinned": "kt_pinned"}
CONF = "".join(f'<Service "{name}">\n Process "{command}"\n</Service>\n' for name, command in SERVICES.items())
INTERVAL = 2
CPU = truth.CPUS - 1
POINTS = 3 if lib.SLOWNESS == 1 else 6


def idle_s(cpus):
    """Idle time of these CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as stat:
        words = [line.split() for line in stat if line.startswith("cpu") and line[3].isdigit()]
    return sum(int(word[4]) + int(word[5]) for word in words if int(word[0][3:]) in cpus) / truth.TICK


class Server:
    def __init__(self, test, daemon, name, how, cpu=-1):
        self.test, self.daemon, self.name = test, daemon, name
        self.path = os.path.join(test.dir, name)
        self.cpus = range(truth.CPUS) if cpu < 0 else (cpu,)
        self.load = test.load("slack", self.path, how, cpu, name=SERVICES[name])
        self.busy = truth.Sampler(lambda: truth.schedstat(self.load.pid), every=0.02)
        self.idle = truth.Sampler(lambda: idle_s(self.cpus), every=0.02)

    def order(self, connections, spin_us, sleep_us, period_us, seconds):
        """Returns the times of the readings that lie within it."""
        begin = time.time()
        self.load.say(f"{connections} {spin_us} {sleep_us} {period_us} {seconds}")
        self.load.result()
        end = time.time()
        self.daemon.row_after(self.name, "total_requests", end)
        return [row[0] for row in self.daemon.rows(self.name, "total_requests") if begin + 1 < row[0] < end]

    def value(self, metric, moments):
        rows = {row[0]: row[1] for row in self.daemon.rows(self.name, metric)}
        return sum(rows[moment] for moment in moments[1:]) / (len(moments) - 1)

    def in_hand(self, begin, end):
        """Seconds for which threads had requests in hand, of all together."""
        with open(self.path, "rb") as file:
            rows = [row for row in struct.iter_unpack("QQ", file.read()) if row[0]]
        return sum(max(0, min(last, end * 1e9) - max(last - hand, begin * 1e9)) for last, hand in rows) / 1e9

    def used(self, begin, end):
        """CPU time and run-queue wait in seconds."""
        curves = [self.busy.curve(lambda both, i=i: both[i]) for i in (0, 1)]
        return [(curve.at(end) - curve.at(begin)) / 1e9 for curve in curves]

    def stop(self):
        self.busy.stop()
        self.idle.stop()


def share_of_cpus(server, begin, end):
    used, waited = server.used(begin, end)
    idle = server.idle.curve().at(end) - server.idle.curve().at(begin)
    all_of_them = len(server.cpus) * (end - begin)
    others = max(0, all_of_them - idle - used)
    return 100 * (idle + others * used / (used + waited)) / all_of_them


def check(test, server, what, moments, threads, asynchronous=False):
    begin, end = moments[0], moments[-1]
    busy = sum(server.used(begin, end)) if asynchronous else server.in_hand(begin, end)
    want = 100 * max(0, 1 - busy / threads / (end - begin))
    got = server.value("percent-slack_threads", moments)
    test.close(f"{what}: slack of threads, %", got, want, slack=POINTS)
    want_cpus = share_of_cpus(server, begin, end)
    got_cpus = server.value("percent-slack_cpus", moments)
    test.close(f"{what}: slack of CPUs, %", got_cpus, want_cpus, slack=POINTS)
    got = server.value("percent-slack", moments)
    test.within(f"{what}: the smaller one, %", got, min(got_cpus, got) - 0.1, min(got, got_cpus) + 1)


def check_request_cpu(test, server, what, moments):
    begin, end = moments[0], moments[-1]
    used, _ = server.used(begin, end)
    rows = {row[0]: row[1] for row in server.daemon.rows(server.name, "total_requests")}
    test.close(f"{what}: CPU time per request, s", server.value("gauge-request_cpu", moments),
               used / (rows[end] - rows[begin]), rel=0.03)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        servers = [Server(test, daemon, "pool", "pool"), Server(test, daemon, "loop", "loop"),
                   Server(test, daemon, "pinned", "pool", CPU)]
        pool, loop, pinned = servers
        try:
            # A service has figures from its second walk on.
            for server in servers:
                server.order(1, 100, 0, 10000, 0.3)
            moments = pool.order(4, 4000, 16000, 40000, 7)
            check(test, pool, "blocked for part of the time", moments, 4)
            check_request_cpu(test, pool, "blocked for part of the time", moments)
            moments = loop.order(4, 4000, 16000, 40000, 7)
            check(test, loop, "an event loop with the same load", moments, 1, asynchronous=True)
            moments = pinned.order(4, 5000, 0, 40000, 7)
            check(test, pinned, "one CPU of several", moments, 4)
            spin = test.load("slack", os.path.join(test.dir, "other"), "pool", CPU, name="kt_other")
            spin.say("1 20000 0 25000 8")
            moments = pinned.order(4, 2000, 0, 40000, 7)
            check(test, pinned, "one CPU, which others use", moments, 4)
            spin.result()
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()

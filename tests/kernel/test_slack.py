#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Slack of threads and of CPUs, of a server whose use of both is known: threads that sleep with a request in hand, half
of them idle, an event loop with the same load, one CPU shared with others, and a CPU quota; with the probe process,
which knows the CPU time of the whole service, and without it.

Truth: the server's own log of how long it had each request in hand (load_slack.c); for the CPUs /proc/stat and the
kernel's account of the server's threads.
"""

import math
import os
import struct
import time

import lib
import truth
from cgroups import Cgroups, controller_root, unified_root
from lib import Test, without

SERVICES = {name: f"kt_{name}" for name in ("pool", "polled", "latched", "loop", "pinned")}
CONF = "".join(f'<Service "{name}">\n Process "{command}"\n</Service>\n' for name, command in SERVICES.items())
INTERVAL = 1  # for figures
SHORT = 0.2 if lib.SLOWNESS < 2 else 1
CAPACITY_SAMPLES = 2048  # requests, as the probe has it
CPU = truth.CPUS - 1
QUOTA, PERIOD = 0.6, 100000  # CPUs, us
POINTS = 3 if lib.SLOWNESS == 1 else 6


def idle_s(cpus):
    """Idle time of these CPUs since boot."""
    with open("/proc/stat", encoding="ascii") as stat:
        words = [line.split() for line in stat if line.startswith("cpu") and line[3].isdigit()]
    return sum(int(word[4]) + int(word[5]) for word in words if int(word[0][3:]) in cpus) / truth.TICK


class Server:
    def __init__(self, test, daemons, name, how, cpu=-1):
        self.daemons, self.name = daemons, name
        self.path = os.path.join(test.dir, name)
        self.cpus = range(truth.CPUS) if cpu < 0 else (cpu,)
        self.load = test.load("slack", self.path, how, cpu, name=SERVICES[name])
        self.busy = truth.Sampler(lambda: truth.schedstat(self.load.pid), every=0.02)
        self.idle = truth.Sampler(lambda: idle_s(self.cpus), every=0.02)

    def begin(self, connections, spin_us, sleep_us, period_us, seconds):
        self.load.say(f"{connections} {spin_us} {sleep_us} {period_us} {seconds}")

    def finish(self):
        """Returns when it ended."""
        self.load.result()
        end = time.time()
        for daemon in self.daemons.values():
            daemon.row_after(self.name, "percent-slack", end)
        return end

    def order(self, *what):
        """Returns when it began, after a moment, and ended."""
        begin = time.time()
        self.begin(*what)
        return begin + 1, self.finish()

    def readings(self, daemon, span):
        """The times of those that lie within it."""
        return [row[0] for row in daemon.rows(self.name, "percent-slack") if span[0] < row[0] < span[1]]

    def value(self, daemon, metric, moments):
        rows = {row[0]: row[1] for row in daemon.rows(self.name, metric)}
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


def share_of_cpus(server, begin, end, quota):
    used, waited = server.used(begin, end)
    idle = server.idle.curve().at(end) - server.idle.curve().at(begin)
    all_of_them = len(server.cpus) * (end - begin)
    others = max(0, all_of_them - idle - used)
    room = idle + others * used / (used + waited)
    if quota:
        all_of_them = quota * (end - begin)
        room = min(room, all_of_them - used)
    return 100 * room / all_of_them


def check(test, server, what, span, threads, asynchronous=False, quota=None, uses_cpu=True):
    for kind, daemon in server.daemons.items():
        moments = server.readings(daemon, span)
        begin, end = moments[0], moments[-1]
        used, waited = server.used(begin, end)
        # Of the waits for a CPU some are before the receive, and others in the log already.
        least = used + waited if asynchronous else server.in_hand(begin, end)
        busy = least, least if asynchronous else least + waited
        wants = [100 * max(0, 1 - one / threads / (end - begin)) for one in reversed(busy)]
        of_threads = server.value(daemon, "percent-slack_threads", moments)
        test.figures.between(f"{what}, {kind}: slack of threads, %", of_threads, wants, slack=POINTS)
        if not uses_cpu:
            continue
        of_cpus = server.value(daemon, "percent-slack_cpus", moments)
        test.figures.close(f"{what}, {kind}: slack of CPUs, %", of_cpus, share_of_cpus(server, begin, end, quota),
                           slack=POINTS)
        smaller = min(of_threads, of_cpus)
        test.figures.within(f"{what}, {kind}: the smaller one, %", server.value(daemon, "percent-slack", moments),
                            smaller - POINTS, smaller + 0.1)


def check_request_cpu(test, server, what, span):
    for kind, daemon in server.daemons.items():
        moments = server.readings(daemon, span)
        begin, end = moments[0], moments[-1]
        used, _ = server.used(begin, end)
        rows = {row[0]: row[1] for row in daemon.rows(server.name, "total_requests")}
        test.figures.close(f"{what}, {kind}: CPU time per request, s",
                           server.value(daemon, "gauge-request_cpu", moments), used / (rows[end] - rows[begin]), rel=0.03)


def check_idle(test, server):
    time.sleep(3 * INTERVAL)
    for kind, daemon in server.daemons.items():
        moment = daemon.rows(server.name, "percent-slack")[-1][0]
        test.figures.close(f"idle, {kind}: slack of threads, %",
                           server.value(daemon, "percent-slack_threads", [0, moment]), 100, slack=0.5)


def check_one_way(test, server):
    """Threads that have received what nobody answers, and wait for more of it, could take it."""
    span = server.order(3, 0, 0, 0, 3 * INTERVAL)
    for kind, daemon in server.daemons.items():
        moments = server.readings(daemon, span)
        test.figures.close(f"one-way, {server.name}, {kind}: slack of threads, %",
                           server.value(daemon, "percent-slack_threads", moments), 100, slack=POINTS)


def limit(test, server):
    """Gives the server a quota; false: this machine has none to give."""
    own = controller_root("cpu")
    root = own or unified_root()
    if not root:
        return False
    groups = Cgroups(root)
    if not own:
        with open(os.path.join(root, "cgroup.subtree_control"), "w", encoding="ascii") as control:
            control.write("+cpu")
    name = f"kt-slack-{os.getpid()}"
    test.at_end(groups.remove)
    quota = f"{int(QUOTA * PERIOD)}"
    file, text = ("cpu.cfs_quota_us", quota) if own else ("cpu.max", f"{quota} {PERIOD}")
    with open(os.path.join(groups.make(name), file), "w", encoding="ascii") as limits:
        limits.write(text)
    groups.enter(name, server.load.pid)
    return True


def check_series(test, servers):
    """They are there, and agree with each other, reading by reading."""
    for server in servers:
        server.begin(4, 2000, 8000, 40000, 6 * SHORT)
    for server in servers:
        end = server.finish()
        if server.name == "pinned":
            end = alternate(server)
        for kind, daemon in server.daemons.items():
            daemon.wait_rows(server.name, "percent-slack", 2, end)
            whole, threads, cpus = (dict(daemon.rows(server.name, f"percent-slack{of}"))
                                    for of in ("", "_threads", "_cpus"))
            known = [moment for moment in whole if moment in threads and moment in cpus]
            test.true(f"{server.name}, {kind}: readings with slack", known, len(known))
            test.equal(f"{server.name}, {kind}: readings in which it is not the smaller of both",
                       [(whole[at], threads[at], cpus[at]) for at in known
                        if abs(whole[at] - min(threads[at], cpus[at])) > 0.1], [])
            test.equal(f"{server.name}, {kind}: percentages that are none", [value for of in (whole, threads, cpus)
                                                                            for value in of.values()
                                                                            if not 0 <= value <= 100], [])
            spent = [row[1] for row in daemon.rows(server.name, "gauge-request_cpu")]
            test.true(f"{server.name}, {kind}: CPU time per request", max(spent) > 0, max(spent))


def alternate(server):
    """By turns one thread of four needs its CPU, and all are blocked: within one reading each share is the smaller. Returns the end."""
    half_us = int(SHORT * 1e6)
    for _ in range(6):
        server.begin(1, half_us, 0, half_us, SHORT)
        server.load.result()
        server.begin(4, 0, half_us, half_us, SHORT)
        end = server.finish()
    return end


def check_capacity(test, server):
    """A number once there are enough requests, and nothing before."""
    for _ in range(20):
        server.begin(4, 0, 0, 500, 4 * SHORT)
        end = server.finish()
        if all(daemon.row_after(server.name, "total_requests", end)[1] >= 2 * CAPACITY_SAMPLES
               for daemon in server.daemons.values()):
            break
    for kind, daemon in server.daemons.items():
        requests = daemon.rows(server.name, "total_requests")
        # All series of a reading are there when the next begins.
        daemon.row_after(server.name, "total_requests", time.time())
        capacity = {row[0]: row[1] for row in daemon.rows(server.name, "gauge-request_capacity") if not math.isnan(row[1])}
        early = [row for row in requests if row[1] < CAPACITY_SAMPLES]
        late = [row for row in requests if row[1] >= 2 * CAPACITY_SAMPLES]
        test.true(f"{server.name}, {kind}: readings with too few requests for a capacity", early, len(early))
        test.equal(f"{server.name}, {kind}: those of them with one", [row for row in early if row[0] in capacity], [])
        test.true(f"{server.name}, {kind}: readings with requests enough", late, len(late))
        test.equal(f"{server.name}, {kind}: those of them without a capacity above 0",
                   [row for row in late if capacity.get(row[0], 0) <= 0], [])


def cases(test, servers):
    """Each with a load of its own for some seconds."""
    pool, polled, latched, loop, pinned = servers
    span = pool.order(4, 4000, 16000, 40000, 6)
    check(test, pool, "blocked for part of the time", span, 4)
    check_request_cpu(test, pool, "blocked for part of the time", span)
    span = latched.order(4, 4000, 16000, 40000, 6)
    check(test, latched, "blocked in an epoll that watches another thing", span, 4)
    span = loop.order(4, 4000, 16000, 40000, 6)
    check(test, loop, "an event loop with the same load", span, 1, asynchronous=True)
    span = pinned.order(4, 5000, 0, 40000, 6)
    check(test, pinned, "one CPU of several", span, 4)
    other = test.load("slack", os.path.join(test.dir, "other"), "pool", CPU, name="kt_other")
    other.say("1 20000 0 25000 7")
    span = pinned.order(4, 2000, 0, 40000, 6)
    check(test, pinned, "one CPU, which others use", span, 4)
    other.result()
    span = pool.order(2, 0, 5000000, 6000000, 8)
    check(test, pool, "blocked over several readings", span, 2, uses_cpu=False)
    for server in (pool, polled):
        check_one_way(test, server)
    check_idle(test, pool)
    if limit(test, pool):
        span = pool.order(2, 6000, 0, 40000, 6)
        check(test, pool, "a quota", span, 2, quota=QUOTA)
    else:
        test.left_out("slack under a quota", "there are no CPU quotas here")


def main():
    with Test(limit=200) as test:
        interval = INTERVAL if test.measures else SHORT
        # Two walks lie between two readings of the probe request: the one for the probe process is for all.
        rare = "" if test.measures else f'<Probe "request">\n Interval {2 * interval}\n</Probe>\n'
        daemons = {"with process": test.collectd(CONF + rare, interval=interval),
                   "without": test.collectd(CONF + without("process"), interval=interval)}
        for daemon in daemons.values():
            daemon.wait_rows("self", "duration-read_request", 1)
        servers = [Server(test, daemons, "pool", "pool"), Server(test, daemons, "polled", "polled"),
                   Server(test, daemons, "latched", "latched"), Server(test, daemons, "loop", "loop"),
                   Server(test, daemons, "pinned", "pool", CPU)]
        try:
            # A service has figures from its second walk on.
            for server in servers:
                server.begin(1, 100, 0, 10000, 0.3)
            for server in servers:
                server.finish()
            if test.measures:
                cases(test, servers)
            else:
                check_series(test, servers)
                check_capacity(test, servers[0])
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of HTTP/2: their number, their times, and how many are in progress, however the frames are split and
whichever calls transfer them. In addition, connections whose bytes cannot be read, or are not HTTP/2.

Truth: the log of the server, a child of this process.
"""

import collections
import functools
import socket
import time

import http2
from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts, without
from request_hook_sets import KNOWS_ARRIVAL, HOOK_SETS, gets
from test_progress import (INTERVAL, METRICS, NEVER, Request, at_once, check_time, figures, readings, rows_around,
                           spans, wait_quiet)
from test_progress import check as check_progress

AFTER = 2  # seconds until a response is a stream
DELAY = 0.02
RESPONSES = ("plain", "only", "split", "trailers", "continued", "padded", "cut", "refused", "large")
SMALL = RESPONSES[:-1]
MANY = 300
TRIES = 3  # receives after which a connection without a preface is known as HTTP/2

Case = collections.namedtuple("Case", "server begin responses sizes",
                              defaults=({}, (http2.PREFACE,), RESPONSES, (1 << 20,)))
CASES = {
    "plain": Case(),
    "preface": Case(begin=http2.pieces(http2.PREFACE, 1, 2, 9)),
    "bytes": Case({"give": "bytes"}, responses=SMALL, sizes=(1,)),
    "vectors": Case({"receive": "vectors", "give": "vectors"}, sizes=(11, 30)),
    "message": Case({"receive": "message", "give": "message"}, sizes=(50,)),
    "preadv2": Case({"receive": "preadv2", "give": "write"}),
    "file": Case({"receive": "read", "give": "file"}),
    "small": Case({"receive": "small"}, responses=SMALL),
    "proxy1": Case(begin=(http2.PROXY1 + http2.PREFACE,)),
    "proxy1_apart": Case(begin=(http2.PROXY1, http2.PREFACE)),
    "proxy2": Case(begin=(http2.PROXY2 + http2.PREFACE[:10], http2.PREFACE[10:])),
    "upgrade": Case(begin=(http2.UPGRADE, http2.PREFACE)),
    "unix": Case({"family": socket.AF_UNIX}),
    "threads": Case({"threads": True}, responses=("plain", "only", "large")),
    "late": Case(),
    "late_apart": Case({"receive": "apart"}),
    "late_unix": Case({"family": socket.AF_UNIX}),
}
NOT_SEEN = {5: "preadv2"}  # by hook set
OTHERS = {"streams": {}, "many": {}, "closed": {}, "garbage": {}, "several": {"receive": "several"}}
NAMES = (*CASES, *OTHERS)
CONF = without("poll", "process", "delay") + f"""
  <Probe "request">
    Collect "total_requests" "total_requests-streams" "total_connections-unread" "gauge-requests_in_progress"
    Collect "gauge-requests_waiting" "gauge-requests_oldest"
    Collect "latency-service" "latency-service_first" "latency-response"
    HookSet {{}}
    Option "syscalls"
    Parameter "stream_after" {AFTER}
  </Probe>""" + "".join(f"""
  <Service "{name}">
    Process "kt_h_{name}"
  </Service>""" for name in NAMES)


class Served:
    """A server as test_progress expects it."""

    def __init__(self, server):
        self.kind, self.server = server.name, server

    def requests(self):
        return [Request(one["sent"], one["received"], one.get("end", NEVER)) for one in self.server.requests()]


def counted(server, begin=0.0):
    """The number of requests with a response."""
    return sum("first" in one for one in server.settled(begin))


def check_count(test, daemons, server, begin=0.0, more=0):
    want, moment = counted(server, begin) + more, time.time()
    for hook_set, daemon in daemons.items():
        if NOT_SEEN.get(hook_set) == server.name:
            continue
        got = daemon.row_after(server.name, "total_requests", moment)[1]
        test.equal(f"hook set {hook_set}, {server.name}: requests", got, want)


def run_case(case, client):
    for how in case.responses:
        client.rounds(2, 3, how, DELAY, case.sizes)
    client.rounds(1, 3, "split", DELAY, case.sizes, padded=True)
    client.sock.sendall(http2.other())
    client.rounds(1, 1, "only", DELAY, case.sizes)


def check_cases(test, daemons, servers, late, began):
    """Each case has two connections; one that is older than the probe begins with single requests until it is known."""
    clients = {name: [http2.Client(servers[name], case.begin) for _ in range(2)]
               for name, case in CASES.items() if name not in late}
    for name, client in late.items():
        client.rounds(TRIES, 1, "only", DELAY)
        clients[name] = [client]
    at_once([functools.partial(run_case, CASES[name], client) for name in clients for client in clients[name]])
    for name in clients:
        check_count(test, daemons, servers[name], began if name in late else 0,
                    len(clients[name]) if name == "upgrade" else 0)
    return clients


TIMED = ("plain", "vectors", "threads", "late")


def check_times(test, daemons, servers, clients):
    """A response ends `delay` after its first byte, which is `delay` after the request."""
    delay = 0.1
    begin = time.time()
    at_once([functools.partial(clients[name][0].rounds, max(3, int(3 * INTERVAL / delay / 2)), 3, "split", delay)
             for name in TIMED])
    end = time.time()
    for name in TIMED:
        servers[name].settled(begin)
    moment = time.time()
    for hook_set, daemon in daemons.items():
        for name in TIMED:
            for metric, want in (("service_first", delay), ("service", 2 * delay), ("response", 2 * delay)):
                if metric != "response" or hook_set in KNOWS_ARRIVAL:
                    check_average(test, f"hook set {hook_set}, {name}: {metric}, s", daemon, name, metric, want,
                                  (begin, end, moment))


def check_average(test, what, daemon, name, metric, want, moments):
    begin, end, moment = moments
    metric = f"latency-{metric}-average"
    last = daemon.row_after(name, metric, moment)[0]
    rows = [row for row in daemon.rows(name, metric) if begin < row[0] <= last and row[1] == row[1]]
    least = min((row[1] for row in rows), default=0)
    test.true(f"{what}, least of {len(rows)} intervals, not below {0.97 * want:.4g}", least >= 0.97 * want, least)
    got = [row[1] for row in rows if end - 2 * INTERVAL < row[0] < end]
    test.figures.within(what, got[-1] if got else 0, 0.97 * want, 1.03 * want + 0.01 * SLOWNESS)


def check_progresses(test, daemons, servers, clients):
    wait_quiet(daemons, TIMED)
    begin = time.time()
    at_once([functools.partial(clients[name][0].rounds, max(4, int(4 * INTERVAL / 0.3)), 7, "only", 0.3)
             for name in TIMED])
    check_progress(test, "seven at once", daemons, [Served(servers[name]) for name in TIMED], begin, time.time())


def check_many(test, daemons, server):
    """More requests at once than are remembered: all count, and all are in progress."""
    client = http2.Client(server)
    client.rounds(1, MANY, "split", DELAY)
    check_count(test, daemons, server)
    metric = METRICS[0]
    wait_quiet(daemons, [server.name])
    begin = time.time()
    client.rounds(2, MANY, "only", INTERVAL)
    end = time.time()
    server.settled()
    requests = [one for one in Served(server).requests() if one.sent[0] > begin]
    for hook_set, daemon in daemons.items():
        name = f"hook set {hook_set}, {MANY} at once: {metric}"
        check_time(test, name, rows_around(daemon, server.name, metric, begin, end), spans(requests)[0])
        rows = readings(daemon, server.name, begin, end)
        want = sum(figures(requests, *row[:2])[0] for row in rows)
        test.figures.close(f"{name}, sum", sum(row[2][0] for row in rows), want, 0.01)
    check_count(test, daemons, server)


def check_streams(test, daemons, server):
    """Events and an upload without a response are streams; a slow request on the same connection is not."""
    client = http2.Client(server)
    events, upload, slow = (client.request(*what) for what in (("events", 0.5), ("silent", 0), ("only", 2 * AFTER)))
    client.send(events + upload + slow)
    for _ in range(2 * AFTER * 4):
        client.sock.sendall(http2.data(3))
        time.sleep(0.25)
    client.wait(5)
    moment = time.time()
    for hook_set, daemon in daemons.items():
        name = f"hook set {hook_set}, streams"
        test.equal(f"{name}: streams", daemon.row_after(server.name, "total_requests-streams", moment)[1], 2)
        test.equal(f"{name}: requests", gets(daemon, server.name, "total_requests", 3, moment), 3)
        for metric in METRICS[::2]:
            test.equal(f"{name}: while one goes on: {metric}", gets(daemon, server.name, metric, 0, moment), 0)
    client.close()


def check_closed(test, daemons, server):
    """Requests without a response are in progress until their connection is closed or they are reset."""
    client, other = http2.Client(server), http2.Client(server)
    for one in (client, other):
        one.send(one.request("silent", 0) + one.request("silent", 0) + one.request("silent", 0))
    other.sock.sendall(http2.reset(1))
    for want in (5, 2):
        moment = time.time()
        for hook_set, daemon in daemons.items():
            test.equal(f"hook set {hook_set}, closed: in progress", gets(daemon, server.name, METRICS[0], want, moment), want)
        client.close()
    for hook_set, daemon in daemons.items():
        got = daemon.row_after(server.name, "total_requests", time.time())[1]
        test.equal(f"hook set {hook_set}, closed: requests", got, 0)


def check_garbage(test, daemons, server):
    """Garbage spoils no figures except those of its connection."""
    for byte_count in (b"\xff" * 100000, http2.frame(http2.SETTINGS, 0, 0, bytes(5)) * 100,
                   http2.headers(1 << 31 | 1) * 3, bytes(9) * 30000, b"\0\0\0\x09\0\0\0\0"):
        client = http2.Client(server)
        client.sock.sendall(byte_count)
        client.finish()
    spoiled = {hook_set: daemon.row_after(server.name, "total_requests", time.time())[1]
               for hook_set, daemon in daemons.items()}
    begin = time.time()
    client = http2.Client(server)
    client.rounds(10, 5, "plain", DELAY)
    want, moment = counted(server, begin), time.time()
    for hook_set, daemon in daemons.items():
        got = daemon.row_after(server.name, "total_requests", moment)[1] - spoiled[hook_set]
        test.equal(f"hook set {hook_set}, garbage: requests of another connection", got, want)


def check_unread(test, daemons, server, servers):
    """Where bytes cannot be read, turns are counted, and a series says so."""
    client = http2.Client(server)
    client.rounds(5, 1, "only", DELAY)
    server.settled()
    for hook_set, daemon in daemons.items():
        for name, want in ((server.name, 1), (servers["plain"].name, 0)):
            got = daemon.row_after(name, "total_connections-unread", time.time())[1]
            test.equal(f"hook set {hook_set}, {name}: connections that are not looked into", got, want)
        got = daemon.row_after(server.name, "total_requests", time.time())[1]
        test.within(f"hook set {hook_set}, {server.name}: turns", got, 5, 7)


def start_daemons(test):
    daemons = {hook_set: test.collectd(CONF.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS))
               for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
            test.stop(daemons.pop(hook_set))
    return daemons


def main():
    with Test(limit=150) as test:
        servers = {name: http2.Server(test, name, **case.server) for name, case in CASES.items()}
        servers |= {name: http2.Server(test, name, **options) for name, options in OTHERS.items()}
        late = {name: http2.Client(servers[name]) for name in CASES if name.startswith("late")}
        at_once([functools.partial(client.rounds, 3, 2, "plain", 0) for client in late.values()])
        daemons = start_daemons(test)
        test.true(f"hook sets: {set(daemons)}", daemons)
        clients = check_cases(test, daemons, servers, late, time.time())
        check_times(test, daemons, servers, clients)
        check_progresses(test, daemons, servers, clients)
        check_many(test, daemons, servers["many"])
        check_streams(test, daemons, servers["streams"])
        check_closed(test, daemons, servers["closed"])
        check_garbage(test, daemons, servers["garbage"])
        check_unread(test, daemons, servers["several"], servers)


if __name__ == "__main__":
    main()

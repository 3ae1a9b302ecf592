#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of a UDP socket that several processes or threads use at once, on several CPUs.

Truth: the sums of the load program.
"""

import ctypes
import json
import os
import socket
import time

from connections import free_port
from lib import SLOWNESS, Test, die_with_test, without
from request_hook_sets import gets, no_readings

INTERVAL = 0.5 if SLOWNESS < 2 else 3  # seconds
SIZE = 16  # bytes of a message
REQUESTS = int(2000 // SLOWNESS)
TOLERANCE = 0.1
KNOWN = 0.02
SLACK = 1e-3 * SLOWNESS  # s, of an average: between the programs' clocks and the socket
CLIENTS = 8
EXPIRY = 5  # seconds after which a request without a response is dropped
DEFERRED = 300  # requests that a server responds to after as many others: more than half of the probe's ring
WARM = "1 20 1 0 0"  # makes the series
# Name; arguments of load_receivers; requests of a client at once, and without a response after each.
SERVERS = (
    ("processes", ("processes", 4, 1), 4, 0),
    ("threads", ("threads", 3, 1), 4, 0),
    ("batches", ("processes", 4, 100), 50, 0),
    ("senders", ("senders", 2, 1), 4, 0),  # other threads send
    ("many", ("threads", 24, 1), 4, 0),    # more than the probe tells apart
    ("silent", ("processes", 2, 1), 4, 1),
)
CONF = """
  Buckets true
""" + without("delay", "poll") + "".join(f"""
  <Service "{name}">
    Process "kt_{name}"
  </Service>""" for name, *_ in (*SERVERS, ("deferred",)))
PR_SET_NAME = 15
SO_RCVBUFFORCE, BUFFER = 33, 4 << 20


def counters(daemon, names):
    moment = time.time()
    return {name: daemon.exchanges(name, moment) for name in names}


def load(server, window, silent):
    return json.loads(server.ask(f"{CLIENTS} {REQUESTS} {window} {silent} 0"))


def check_counts(test, name, before, after, said):
    test.equal(f"{name}: requests, bytes", [b - a for a, b in zip(before, after)],
               [said["responses"], said["requests"] * SIZE, said["responses"] * SIZE])


def check_service(test, daemon, name, said, start, end):
    """The average of the interval that has the load."""
    daemon.row_after(name, "latency-service-average", end)
    got = [row[1] for row in daemon.rows(name, "latency-service-average") if row[0] > start and row[1] == row[1]]
    least, most = (said[key] / said["responses"] for key in ("service_low", "service_high"))
    test.within(f"{name}: latency-service-average, s", got[0], least * (1 - TOLERANCE) - SLACK, most * (1 + TOLERANCE) + SLACK)


def check_wait(test, daemon, name, said, start):
    """How long requests waited is known of all but a few, which two CPUs note in another order than they were."""
    got = [row[1] for row in daemon.rows(name, "latency-wait-average") if row[0] > start and row[1] == row[1]]
    test.within(f"{name}: latency-wait-average, s", got[0], 0, said["wait"] / said["requests"] * (1 + TOLERANCE) + SLACK)
    known = sum(daemon.samples(name, "latency-wait", start).values())
    test.within(f"{name}: requests whose wait is known", known, *(said["responses"] * (1 + share) for share in (-KNOWN, KNOWN)))


def check_ended(test, daemon, name, end):
    """The first reading after the load has its end, the second has none of it."""
    test.equal(f"{name}: oldest", daemon.row_after(name, "gauge-requests_oldest", end)[1], 0)
    for metric in ("in_progress", "waiting"):
        test.equal(f"{name}: {metric}", daemon.wait_rows(name, f"gauge-requests_{metric}", 2, end)[1][1], 0)


def all_at_once(test, daemon, servers):
    before, start = counters(daemon, servers), time.time()
    with no_readings([daemon]):
        said = {name: load(servers[name], *orders) for name, _, *orders in SERVERS}
        end = time.time()
    after = counters(daemon, servers)
    for name, *_, silent in SERVERS:
        check_counts(test, name, before[name], after[name], said[name])
        if not silent:
            check_ended(test, daemon, name, end)
            check_service(test, daemon, name, said[name], start, end)
            check_wait(test, daemon, name, said[name], start)


def expired(test, daemon, name, server):
    """Requests without a response end some time, and what is sent later responds to none of them."""
    time.sleep(EXPIRY)
    for metric in ("in_progress", "waiting", "oldest"):
        test.equal(f"{name}: {metric} at last", gets(daemon, name, f"gauge-requests_{metric}", 0, time.time()), 0)
    before, start = counters(daemon, [name]), time.time()
    with no_readings([daemon]):
        said = load(server, 1, 0)
        end = time.time()
    check_counts(test, f"{name}, later", before[name], counters(daemon, [name])[name], said)
    check_service(test, daemon, name, said, start, end)


def udp_socket():
    sock = socket.socket(type=socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    return sock


def start_deferring(test):
    """A server that responds to the first request, and to the next DEFERRED after as many others. Returns a client."""
    server, client = udp_socket(), udp_socket()
    server.bind(("127.0.0.1", free_port(socket.SOCK_DGRAM)))
    client.connect(server.getsockname())
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_deferred").encode(), 0, 0, 0)
        server.sendto(*server.recvfrom(SIZE))
        deferred = [server.recvfrom(SIZE) for _ in range(DEFERRED)]
        for _ in range(DEFERRED):
            server.sendto(*server.recvfrom(SIZE))
        for request in deferred:
            server.sendto(*request)
        server.recv(SIZE)
        os._exit(0)
    server.close()
    return client


def ask(client):
    client.send(b"r" * SIZE)
    client.recv(SIZE)


def check_deferred(test, daemon, client):
    ask(client)
    begin = daemon.exchanges("deferred", time.time())
    for _ in range(DEFERRED):
        client.send(b"k" * SIZE)
    for _ in range(DEFERRED):
        ask(client)
    for _ in range(DEFERRED):
        client.recv(SIZE)
    end = daemon.exchanges("deferred", time.time())
    test.equal("deferred: requests, bytes", [b - a for a, b in zip(begin, end)], [2 * DEFERRED] + [2 * DEFERRED * SIZE] * 2)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("request",))
        daemon.wait_rows("self", "duration-read_request", 1)
        # Hook set 3 does not see the end of a receive that is older than the probe.
        servers = {name: test.load("receivers", *arguments, name="kt_" + name) for name, arguments, *_ in SERVERS}
        client = start_deferring(test)
        for server in servers.values():
            server.hear()
        for name, server in servers.items():
            server.ask(WARM)
            daemon.row_after(name, "latency-wait-average", 0)
        all_at_once(test, daemon, servers)
        check_deferred(test, daemon, client)
        expired(test, daemon, "silent", servers["silent"])


if __name__ == "__main__":
    main()

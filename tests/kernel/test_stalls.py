#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Responses that end when the send buffer is empty: header and body in two writes, of which the second waits for an
acknowledgement that the client delays; and one that a client is slow to take, on a connection that the server closes.

Truth: the client's own clock.
"""

import ctypes
import functools
import os
import socket
import statistics
import time

from lib import SLOWNESS, Test, die_with_test, without
from request_hook_sets import IN_SOCKET

NAME = "kt_stall"
CONF = without("poll") + f"""
  <Service "stall">
    Process "{NAME}"
  </Service>"""
PR_SET_NAME = 15
INTERVAL = 0.2 if SLOWNESS < 2 else 1
WHOLE = 3 if SLOWNESS < 2 else 8  # seconds; for figures an order lies in one interval
REQUEST, HEADER, BODY, LARGE = 100, 150, 400, 120000
TOLERANCE = 0.1


def serve(listener):
    while True:
        sock, _ = listener.accept()
        if os.fork() == 0:
            die_with_test()
            listener.close()
            respond(sock)
            os._exit(0)
        sock.close()


def respond(sock):
    while what := sock.recv(REQUEST):
        if what.startswith(b"large"):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * LARGE)
            sock.send(b"x" * LARGE)
            return
        if what.startswith(b"whole"):
            sock.send(b"x" * (HEADER + BODY))
        else:
            sock.send(b"h" * HEADER)
            sock.send(b"b" * BODY)


def start_server(test):
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own(NAME).encode(), 0, 0, 0)
        serve(listener)
    where = listener.getsockname()
    listener.close()
    return where


def ask(sock, what, size):
    """How long the response takes, as the client sees it."""
    begin, have = time.monotonic(), 0
    sock.send(what.ljust(REQUEST))
    # What a client in conversation is in by itself.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
    while have < size:
        have += len(sock.recv(size - have))
    return time.monotonic() - begin


def ask_stalled(sock):
    return [ask(sock, b"split", HEADER + BODY) for _ in range(20)]


def ask_whole(sock):
    return [ask(sock, b"whole", HEADER + BODY) for _ in range(20)]


def ask_slowly(where, seconds):
    """What is left is in the server's send buffer when it has closed the connection."""
    times = []
    for _ in range(2):
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(where)
            begin = time.monotonic()
            sock.send(b"large".ljust(REQUEST))
            time.sleep(seconds)
            while sock.recv(LARGE):
                pass
            times.append(time.monotonic() - begin)
    return times


def most(daemon, metric, begin):
    """Of all readings since then; none has anything: -1."""
    return max((row[1] for row in daemon.rows("stall", metric) if row[0] > begin and row[1] == row[1]), default=-1)


def check(test, what, daemon, order, stalls=True, whole=False):
    """Of an order that begins just after a reading. whole: its stalls are per request where one reading has both."""
    before = daemon.row_after("stall", "total_requests", time.time())
    times = order()
    finished = time.time()
    after = daemon.row_after("stall", "total_requests", finished)
    daemon.wait_rows("stall", "total_requests", 2, finished)
    test.equal(f"{what}: requests", after[1] - before[1], len(times))
    print(f"note: {what}: the client sees {statistics.fmean(times) * 1e3:.2f} ms")
    for metric in ("latency-response-average", "latency-response-percentile-50", "gauge-requests_in_progress",
                   *(["gauge-send_wait"] if stalls and not whole else [])):
        got = most(daemon, metric, before[0])
        test.true(f"{what}: {metric}", got > 0, got)
    if test.measures:
        check_times(test, what, daemon, times, (before, after), stalls)


def check_times(test, what, daemon, times, readings, stalls):
    """The second of the readings has all of it."""
    before, after = readings
    test.figures.within(f"{what}: readings between", round((after[0] - before[0]) / WHOLE), 1, 1)
    mean = statistics.fmean(times)
    value = lambda metric: daemon.row_after("stall", metric, after[0] - WHOLE / 2)[1]
    slack = 0.0015 * SLOWNESS
    test.figures.close(f"{what}: latency-response-average, s", value("latency-response-average"), mean, TOLERANCE,
                       slack)
    test.figures.close(f"{what}: latency-response-percentile-50, s", value("latency-response-percentile-50"),
                       statistics.median(times), TOLERANCE, slack)
    test.figures.close(f"{what}: gauge-send_wait, s", value("gauge-send_wait"), mean if stalls else 0, TOLERANCE, slack)
    test.figures.close(f"{what}: gauge-requests_in_progress",
                       value("gauge-requests_in_progress") * (after[0] - before[0]), sum(times), TOLERANCE,
                       slack * len(times))


def main():
    with Test(limit=120) as test:
        where, offered = start_server(test), 0
        interval = WHOLE if test.measures else INTERVAL
        for hook_set in IN_SOCKET:
            daemon = test.collectd(CONF + f'\n<Probe "request">\nHookSet {hook_set}\n</Probe>', interval=interval,
                                   collect=("request",))
            if daemon.wait_rows("self", "count-tier_request", 1)[-1][1]:
                offered += 1
                with socket.create_connection(where) as sock:
                    ask(sock, b"whole", HEADER + BODY)  # makes the series
                    name = f"hook set {hook_set}"
                    check(test, f"{name}, a delayed acknowledgement", daemon, functools.partial(ask_stalled, sock))
                    check(test, f"{name}, none", daemon, functools.partial(ask_whole, sock), False)
                check(test, f"{name}, a slow client", daemon, functools.partial(ask_slowly, where, WHOLE / 8),
                      whole=True)
            test.stop(daemon)
        test.true("hook sets", offered)


if __name__ == "__main__":
    main()

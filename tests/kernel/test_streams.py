#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Connections on which one side goes on without the other are no requests that take long: server-sent events beside normal
requests, and messages that nobody answers. Long downloads and slow requests are.

Truth: what the clients do, and their own clocks.
"""

import ctypes
import os
import socket
import statistics
import threading
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, die_with_test, in_mounts, without
from request_hook_sets import IN_SOCKET, HOOK_SETS

KINDS = ("events", "oneway", "download", "late")
AFTER = 2  # seconds
INTERVAL = 0.5 if SLOWNESS < 2 else 2
CONF = "".join(f"""
  <Service "{kind}">
    Process "kt_w_{kind}"
  </Service>""" for kind in KINDS) + without("delay", "poll") + f"""
  <Probe "request">
    HookSet {{}}
    Option "syscalls"
    Parameter "stream_after" {AFTER}
  </Probe>"""
PR_SET_NAME = 15
REQUEST = 64
STREAMS, TICK = 3, 0.5
NORMAL = 0.002  # seconds
LONG = 1.5 * AFTER  # seconds, of what takes long and is no stream
WAIT = 10 * SLOWNESS  # seconds


def serve(listener):
    while True:
        sock, _ = listener.accept()
        if os.fork() == 0:
            die_with_test()
            listener.close()
            while what := sock.recv(REQUEST):
                RESPONSES[what.split()[0]](sock)
            os._exit(0)
        sock.close()


def events(sock):
    try:
        while True:
            sock.send(b"event")
            time.sleep(TICK)
    except OSError:
        pass


def normal(sock):
    time.sleep(NORMAL)
    sock.send(b"x")


def absorb(_sock):
    pass


def download(sock):
    """The client takes as long as it likes; the send buffer is never empty."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
    begin = time.monotonic()
    while time.monotonic() - begin < LONG:
        sock.send(b"x" * 4096)
    sock.send(b"e")


def late(sock):
    """Between its first send and the end of the connection there is a reading."""
    time.sleep(LONG)
    for _ in range(2):
        sock.send(b"x")
        time.sleep(0.6 * INTERVAL)


RESPONSES = {b"events": events, b"normal": normal, b"absorb": absorb, b"download": download, b"late": late}


def start_server(test, kind):
    listener = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_w_" + kind).encode(), 0, 0, 0)
        serve(listener)
    where = listener.getsockname()
    listener.close()
    return where


class Clients:
    """Each in a thread, until it is over."""

    def __init__(self, where):
        self.where, self.normal, self.finished = where, [], threading.Event()
        self.times = {"download": [], "late": []}
        self.threads = [threading.Thread(target=one, daemon=True)
                        for one in (*[self.events] * STREAMS, self.requests, self.oneway, self.download, self.late)]
        self.begin = time.time()
        for thread in self.threads:
            thread.start()

    def join(self):
        self.finished.set()
        for thread in self.threads:
            thread.join()
        return time.time()

    def connect(self, kind, what, rcvbuf=None):
        sock = socket.socket()
        if rcvbuf:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        sock.connect(self.where[kind])
        sock.send(what.ljust(REQUEST))
        return sock

    def events(self):
        with self.connect("events", b"events") as sock:
            while not self.finished.is_set():
                sock.recv(REQUEST)

    def requests(self):
        with self.connect("events", b"normal") as sock:
            sock.recv(1)
            while not self.finished.is_set():
                begin = time.monotonic()
                sock.send(b"normal".ljust(REQUEST))
                sock.recv(1)
                self.normal.append(time.monotonic() - begin)
                time.sleep(0.02)

    def oneway(self):
        with self.connect("oneway", b"normal") as sock:
            sock.recv(1)
            while not self.finished.is_set():
                sock.send(b"absorb".ljust(REQUEST))
                time.sleep(TICK)

    def download(self):
        begin = time.monotonic()
        with self.connect("download", b"download", 8192) as sock:
            while not sock.recv(65536).endswith(b"e"):
                time.sleep(0.05)
            finish(sock)
        self.times["download"].append(time.monotonic() - begin)

    def late(self):
        begin = time.monotonic()
        with self.connect("late", b"late") as sock:
            for _ in range(2):
                sock.recv(1)
            finish(sock)
        self.times["late"].append(time.monotonic() - begin)


def finish(sock):
    """Until the server has closed the connection: it has an answer before the call that sent it is over."""
    sock.shutdown(socket.SHUT_WR)
    sock.recv(1)


def values(daemon, kind, metric, begin, end):
    """Of the intervals that lie between these moments."""
    rows = [row for row in daemon.rows(kind, metric) if begin < row[0] <= end]
    return [row[1] for row in rows[1:]]


def wait_intervals(daemons):
    """In which all that goes on without the other side is known as a stream. Returns when they began and ended."""
    time.sleep(2 * AFTER + TICK)
    begin = time.time()
    for daemon in daemons.values():
        for kind, metric in (("events", "latency-service-percentile-99"), ("oneway", "gauge-requests_oldest")):
            daemon.wait_rows(kind, metric, 4, begin)
    return begin, time.time()


def check(test, hook_set, daemon, clients, span, end):
    name = f"hook set {hook_set}"
    streams = {kind: daemon.row_after(kind, "total_requests-streams", end)[1] for kind in KINDS}
    test.equal(f"{name}: streams", streams, {"events": STREAMS, "oneway": 1, "download": 0, "late": 0})
    check_normal(test, name, daemon, clients, span)
    got = values(daemon, "oneway", "gauge-requests_in_progress", *span)
    test.equal(f"{name}: oneway: gauge-requests_in_progress", (set(got), len(got) > 1), ({0}, True))
    # What has just been sent may wait for the server's CPU.
    got = values(daemon, "oneway", "gauge-requests_oldest", *span)
    test.true(f"{name}: oneway: each gauge-requests_oldest is below {TICK} s", len(got) > 1 and max(got) < TICK, got)
    for kind, times in clients.times.items():
        if kind == "download" and hook_set not in IN_SOCKET:
            continue
        metric = "latency-service-percentile-99"
        # The first send may have been in an interval before, and the end may count in the one after.
        rows, moment = [], end
        while not rows and moment < end + WAIT:
            moment = daemon.row_after(kind, metric, moment)[0]
            rows = [row for row in daemon.rows(kind, metric) if row[0] > clients.begin and row[1] == row[1]]
        got = rows[-1][1] if rows else 0
        test.true(f"{name}: {kind}: the last {metric} is not below {0.97 * LONG} s", got >= 0.97 * LONG, got)
        test.figures.close(f"{name}: {kind}: the last {metric}, s", got, times[0], 0.1, 0.2)


def check_normal(test, name, daemon, clients, span):
    """Streams, which take longer than AFTER, are not among them."""
    for metric, most in (("average", 1.2 * statistics.fmean(clients.normal) + 0.001),
                         ("percentile-99", max(clients.normal) + 0.001)):
        got = [value for value in values(daemon, "events", "latency-service-" + metric, *span) if value == value]
        what = f"{name}: events: latency-service-{metric} of the others, s"
        test.true(f"{what}: {len(got)} intervals have it", got)
        test.within(f"{what}, least", min(got, default=0), 0.97 * NORMAL, AFTER)
        test.within(f"{what}, greatest", max(got, default=0), 0.97 * NORMAL, AFTER)
        test.figures.within(what, max(got, default=0), NORMAL, most)


def main():
    with Test(limit=120) as test:
        where = {kind: start_server(test, kind) for kind in KINDS}
        daemons = {hook_set: test.collectd(CONF.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                                       collect=("request",))
                   for hook_set in HOOK_SETS}
        for hook_set, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(hook_set))
        test.true(f"hook sets: {set(daemons)}", daemons)
        clients = Clients(where)
        span = wait_intervals(daemons)
        end = clients.join()
        for hook_set, daemon in daemons.items():
            check(test, hook_set, daemon, clients, span, end)


if __name__ == "__main__":
    main()

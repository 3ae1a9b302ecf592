# SPDX-License-Identifier: MIT
"""What the tests of responses by class share: servers of their own, and what collectd says of each class."""

import ctypes
import os
import socket

from lib import die_with_test

PR_SET_NAME = 15


def start(test, name, serve, kind=socket.SOCK_STREAM):
    """A process with this command name that serves on a socket. Returns where."""
    if kind == socket.SOCK_STREAM:
        sock = socket.create_server(("127.0.0.1", 0))
    else:
        # A port that the kernel has chosen is a client's.
        with socket.socket(socket.AF_INET, kind) as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        sock = socket.socket(socket.AF_INET, kind)
        sock.bind(("127.0.0.1", port))
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own(name).encode(), 0, 0, 0)
        serve(sock)
        os._exit(0)
    where = sock.getsockname()
    sock.close()
    return where


def serve_each(answer):
    """What serves each connection in a process of its own."""
    def serve(listener):
        while True:
            sock, _ = listener.accept()
            if os.fork() == 0:
                die_with_test()
                listener.close()
                answer(sock)
                os._exit(0)
            sock.close()
    return serve


def weighted(daemon, name, kind):
    """By the shares of a class: how many there were."""
    totals = dict(row[:2] for row in daemon.rows(name, "total_requests"))
    stamps = sorted(totals)
    grown = {now: totals[now] - totals[before] for before, now in zip(stamps, stamps[1:])}
    shares = [row[:2] for row in daemon.rows(name, f"percent-response-{kind}") if row[1] == row[1]]
    return sum(share / 100 * grown.get(stamp, 0) for stamp, share in shares)


def check(test, what, daemon, name, counts, moment):
    """counts: by class; None: of none."""
    test.equal(f"{what}: {name}: requests", daemon.row_after(name, "total_requests", moment)[1], sum(counts.values()))
    for kind, count in counts.items():
        if kind:
            test.equal(f"{what}: {name}: {kind}", daemon.row_after(name, f"total_requests-{kind}", moment)[1], count)
            test.close(f"{what}: {name}: {kind} by its shares", weighted(daemon, name, kind), count, slack=0.6)


def longest(daemon, name, kind):
    """Of the service times of a class, average of an interval."""
    rows = daemon.rows(name, f"latency-service-{kind}-average")
    return max((row[1] for row in rows if row[1] == row[1]), default=0)

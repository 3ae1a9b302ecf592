# SPDX-License-Identifier: MIT
"""What the tests of classes of responses share: servers, and checks of the values of each class."""

import ctypes
import os
import socket
import time

from connections import free_port
from lib import die_with_test
from request_hook_sets import no_readings

PR_SET_NAME = 15


def start(test, name, serve, kind=socket.SOCK_STREAM):
    """Starts a process with this command name that serves on a socket. Returns the socket's address."""
    if kind == socket.SOCK_STREAM:
        sock = socket.create_server(("127.0.0.1", 0))
    else:
        # The probe takes a port that the kernel has chosen for a client's.
        sock = socket.socket(socket.AF_INET, kind)
        sock.bind(("127.0.0.1", free_port(kind)))
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own(name).encode(), 0, 0, 0)
        serve(sock)
        os._exit(0)
    where = sock.getsockname()
    sock.close()
    return where


def serve_each(respond):
    """A function that serves each connection in a process of its own."""
    def serve(listener):
        while True:
            sock, _ = listener.accept()
            if os.fork() == 0:
                die_with_test()
                listener.close()
                respond(sock)
                os._exit(0)
            sock.close()
    return serve


def finish(sock):
    """Waits until the server closes the connection, which it does after the call that sends its last response."""
    sock.shutdown(socket.SHUT_WR)
    while sock.recv(65536):
        pass


def shares(daemon, name, kind):
    """The shares of a class in all intervals that have any responses."""
    return [row[1] for row in daemon.rows(name, f"percent-response-{kind}") if row[1] == row[1]]


def check(test, what, daemon, name, counts, times, moment):
    """counts: responses of each class at each of `times` times; None: of no class"""
    whole = sum(counts.values())
    test.equal(f"{what}: {name}: requests", daemon.row_after(name, "total_requests", moment)[1], times * whole)
    for kind, count in counts.items():
        if kind:
            test.equal(f"{what}: {name}: {kind}", daemon.row_after(name, f"total_requests-{kind}", moment)[1],
                       times * count)
            got = shares(daemon, name, kind)
            test.equal(f"{what}: {name}: intervals with a share of {kind}", len(got), times)
            for share in got:
                test.close(f"{what}: {name}: share of {kind}, %", share, 100 * count / whole, slack=1e-5)


def check_times(test, what, daemon, name, pause, slowness):
    """Checks the average times of the classes slow, whose responses pause, and 4xx, in an interval."""
    got = longest(daemon, name, "slow")
    test.true(f"{what}: service time of slow is not below {0.96 * pause} s", got >= 0.96 * pause, got)
    test.figures.within(f"{what}: service time of slow, s", got, 0.96 * pause, 2 * pause * slowness)
    got = longest(daemon, name, "4xx")
    test.true(f"{what}: there is a service time of 4xx", got > 0, got)
    test.figures.within(f"{what}: service time of 4xx, s", got, 0, pause / 2 * slowness)


def longest(daemon, name, kind):
    """The longest average service time of a class in an interval."""
    rows = daemon.rows(name, f"latency-service-{kind}-average")
    return max((row[1] for row in rows if row[1] == row[1]), default=0)


def ask_times(daemons, times, ask):
    """Asks so many times, each time within one interval. Returns the counts of each class, and the time by which all are
    counted."""
    for _ in range(times):
        with no_readings(daemons):
            counts, moment = ask(), time.time()
        for daemon in daemons:
            daemon.wait_rows("self", "duration-read_request", 2, moment)
    return counts, moment

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of a UDP server, several in flight: received in a row, and answered in order, in another order, or never.

Truth: the log of the server, a child of this process, and the times at which the client sent.
"""

import ctypes
import functools
import json
import os
import select
import signal
import socket
import time

from lib import SLOWNESS, Test, die_with_test, without
from request_hook_sets import no_readings

NAME = "kt_datagram"
CONF = without("delay", "poll") + f"""
  <Service "datagram">
    Process "{NAME}"
  </Service>
"""
PR_SET_NAME = 15
INTERVAL = 0.5 if SLOWNESS < 2 else 3  # seconds
ROUNDS = 8
SIZE = 100
DELAY = 0.02  # seconds before a batch is received; half of it before the responses
FORGOTTEN = 5  # seconds after which a request without a response expires
TOLERANCE = 0.05
SLACK = 200e-6 * SLOWNESS  # s, of an average: between the programs' clocks and the socket


def bind(sock):
    """Binds the socket to an explicit port, as servers do."""
    for port in range(20000 + os.getpid() % 20000, 60000):
        try:
            return sock.bind(("127.0.0.1", port))
        except OSError:
            continue
    raise OSError("no port")


class Server:
    """Receives and answers in batches, as the client's datagrams say: COUNT ORDER RESPONSES."""

    def __init__(self, test):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        bind(self.socket)
        read_end, self.log = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            die_with_test()
            ctypes.CDLL(None).prctl(PR_SET_NAME, test.own(NAME).encode(), 0, 0, 0)
            self._serve()
        os.close(self.log)
        self.lines = os.fdopen(read_end)
        self.where = self.socket.getsockname()
        self.socket.close()

    def _serve(self):
        while True:
            time.sleep(DELAY)
            count, taken = 1, []
            while len(taken) < count:
                select.select([self.socket], [], [])
                begin = time.monotonic()
                data, peer = self.socket.recvfrom(SIZE)
                taken.append(((begin, time.monotonic()), peer))
                words = data.split()
                count, order, responses = int(words[0]), words[1], int(words[2])
            time.sleep(DELAY / 2)
            answered = taken[:responses] if order == b"forth" else taken[::-1][:responses]
            answered += taken[-1:] * (responses - len(answered))
            sent = []
            for _, peer in answered:
                begin = time.monotonic()
                self.socket.sendto(b"x" * SIZE, peer)
                sent.append((begin, time.monotonic()))
            line = json.dumps({"received": [when for when, _ in taken], "answered": [when for when, _ in answered],
                               "sent": sent}) + "\n"
            os.write(self.log, line.encode())

    def heard(self):
        return json.loads(self.lines.readline())


def batch(client, server, count, order, responses):
    """Returns the waits and service times by the log, each as its bounds: a program may lose the CPU between a call and
    reading the clock."""
    sent = send(client, count, f"{count} {order} {responses}".encode().ljust(SIZE))
    for _ in range(responses):
        client.recv(SIZE)
    log = server.heard()
    waits = waited(sent, log["received"])
    return waits[:responses], [(max(0, end[0] - begin[1]), end[1] - begin[0])
                             for begin, end in zip(log["answered"], log["sent"])]


def send(client, count, message):
    """Sends datagrams; returns when each call began and ended."""
    sent = []
    for _ in range(count):
        begin = time.monotonic()
        client.send(message)
        sent.append((begin, time.monotonic()))
    return sent


def waited(sent, received):
    return [(max(0, then[0] - begun[1]), then[1] - begun[0]) for begun, then in zip(sent, received)]


def mean(spans):
    """The mean of the lower and of the upper bounds."""
    return [sum(ends) / len(spans) for ends in zip(*spans)]


def counters(daemon):
    """The counters and the time of a reading all of whose values are dispatched: averages come after counters."""
    counted = daemon.exchanges("datagram", time.time())
    read = daemon.rows("datagram", "total_requests")[-1][0]
    daemon.wait_rows("datagram", "latency-response-average", 1, read - 0.001)
    return counted, read


def check_average(test, what, daemon, metric, before, truth):
    """Compares the average of the only interval with values since a reading. Data may reach the socket after its send has
    returned."""
    got = [row[1] for row in daemon.rows("datagram", metric + "-average") if row[0] > before and row[1] == row[1]]
    test.equal(f"{what}: {metric} has values of one interval", len(got), 1)
    least, most = mean(truth)
    below = 0 if metric == "latency-wait" else least * (1 - TOLERANCE) - SLACK
    test.within(f"{what}: {metric}-average, s", got[0], below, most * (1 + TOLERANCE) + SLACK)
    test.figures.between(f"{what}: {metric}-average, s", got[0], (least, most), rel=TOLERANCE, slack=SLACK)


def batches(test, daemon, client, server, what, rounds, count, order, responses):
    before, read = counters(daemon)
    waits, services = [], []
    with no_readings([daemon]):
        for _ in range(rounds):
            one = batch(client, server, count, order, responses)
            waits += one[0]
            services += one[1]
    after, _ = counters(daemon)
    test.equal(f"{what}: exchanges, bytes", [a - b for a, b in zip(after, before)],
               [rounds * responses, rounds * count * SIZE, rounds * responses * SIZE])
    for metric, truth in (("latency-wait", waits), ("latency-service", services)):
        check_average(test, what, daemon, metric, read, truth)


def forgotten(test, daemon, client, server):
    """A second response to one request is not the response to an older request, which has expired."""
    batch(client, server, 8, "forth", 6)
    time.sleep(FORGOTTEN + 1)
    before, _ = counters(daemon)
    batch(client, server, 1, "forth", 2)
    after, _ = counters(daemon)
    test.equal("two answers, after requests that had none: exchanges, bytes", [a - b for a, b in zip(after, before)],
               [1, SIZE, 2 * SIZE])


def older(test, client, server):
    """Datagrams wait in a socket when collectd starts. It does not know for how long, and times only those that arrive
    after them. Returns the daemon."""
    count, message = 8, b"1 forth 1".ljust(SIZE)
    os.kill(server.pid, signal.SIGSTOP)
    for _ in range(count):
        client.send(message)
    daemon = test.collectd(CONF, interval=INTERVAL, collect=("request",))
    daemon.wait_rows("self", "duration-read_request", 1)
    with no_readings([daemon]):
        sent = send(client, count, message)
        os.kill(server.pid, signal.SIGCONT)
        received = []
        for _ in range(2 * count):
            client.recv(SIZE)
            received += server.heard()["received"]
    # Averages are dispatched after the rest of their reading.
    daemon.row_after("datagram", "latency-wait-average", time.time())
    check_average(test, "older than collectd, the others", daemon, "latency-wait", 0, waited(sent, received[count:]))
    return daemon


def main():
    with Test(limit=120) as test:
        server = Server(test)
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.connect(server.where)
        daemon = older(test, client, server)
        batch(client, server, 1, "forth", 1)  # makes the series
        check = functools.partial(batches, test, daemon, client, server)
        check("one at a time", ROUNDS, 1, "forth", 1)
        check("8 in a row", ROUNDS, 8, "forth", 8)
        check("8 in a row, answered from the last", ROUNDS, 8, "back", 8)
        check("8 in a row, 6 answered", ROUNDS, 8, "forth", 6)
        check("after that, one at a time", ROUNDS, 1, "forth", 1)
        check("200 in a row", 1, 200, "forth", 200)
        forgotten(test, daemon, client, server)


if __name__ == "__main__":
    main()

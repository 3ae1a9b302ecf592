#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests in progress and waiting, as averages of each interval, and the oldest, with each set of hooks that the kernel
offers, all of them at once on the same requests.

Truth: when the client sent, which each request says, and the log of the server, which is forked here. Each is known as
two times between which it was, and so is each reading: it is over when the next begins.
"""

import collections
import ctypes
import functools
import json
import os
import selectors
import socket
import threading
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, die_with_test, in_mounts, without
from request_hook_sets import KNOWS_ARRIVAL, HOOK_SETS, gets

KINDS = ("tcp", "unix", "udp")
CONF = without("delay", "poll", "process") + "".join(f"""
  <Service "{kind}">
    Process "kt_p_{kind}"
  </Service>""" for kind in KINDS)
PROBE = """
  <Probe "request">
    HookSet {}
    Option "syscalls"
  </Probe>"""
SIZE = 64
CONNECTIONS = 4
INTERVAL = 3 if SLOWNESS >= 2 else 1 if os.environ.get("TEST_FIGURES") else 0.25
ROUNDING = INTERVAL / 8 if INTERVAL >= 1 else 0.001  # seconds, of a time stamp
LONG = min(3.3 * INTERVAL, 4)  # seconds; a datagram is forgotten after 5
FORGOTTEN = 4.5
SLACK = 0.02 * SLOWNESS  # requests, and seconds of the oldest: between the clocks of client, kernel and server
PR_SET_NAME = 15


# Each as the earliest and the latest time that it may have been.
Request = collections.namedtuple("Request", "sent received answered")
NEVER = float("inf"), float("inf")


class Server:
    """Answers a request when it is as old as it says: in turn, so that the others wait, or each by itself."""

    def __init__(self, test, kind):
        self.kind, self.path = kind, os.path.join(test.dir, "log-" + kind)
        self.sent = {}  # by when a client began to send, when it had
        self.listener = self.listen(os.path.join(test.dir, kind))
        self.where = self.listener.getsockname()
        if os.fork() == 0:
            die_with_test()
            ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_p_" + kind).encode(), 0, 0, 0)
            with open(self.path, "a", encoding="ascii", buffering=1) as self.log:
                try:
                    self.serve()
                finally:
                    os._exit(1)
        self.listener.close()

    def listen(self, path):
        if self.kind == "udp":
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for port in range(20000 + os.getpid() % 20000, 60000):
                try:
                    sock.bind(("127.0.0.1", port))
                    return sock
                except OSError:
                    continue
        sock = socket.socket(socket.AF_UNIX if self.kind == "unix" else socket.AF_INET)
        sock.bind(path if self.kind == "unix" else ("127.0.0.1", 0))
        sock.listen(16)
        return sock

    def serve(self):
        self.due, self.waiter = [], selectors.DefaultSelector()
        self.waiter.register(self.listener, selectors.EVENT_READ)
        while True:
            timeout = max(0, min(self.due)[0] - time.time()) if self.due else None
            for key, _ in self.waiter.select(timeout):
                if key.fileobj is self.listener and self.kind != "udp":
                    self.waiter.register(self.listener.accept()[0], selectors.EVENT_READ)
                else:
                    self.receive(key.fileobj)
            while self.due and min(self.due)[0] <= time.time():
                self.due.remove(first := min(self.due))
                self.respond(*first[1:])

    def receive(self, sock):
        begin = time.time()
        data, peer = sock.recvfrom(SIZE)
        received = time.time()
        if not data:
            self.waiter.unregister(sock)
            sock.close()
            return
        sent, delay, way = data.split()[:3]
        name = f"{sent.decode()} {received}"
        self.note(name, sent=float(sent), received=(begin, received))
        if way == b"turn":
            time.sleep(float(delay))
            self.respond(name, sock, peer)
        else:
            self.due.append((received + float(delay), name, sock, peer))

    def respond(self, name, sock, peer):
        begin = time.time()
        if self.kind == "udp":
            sock.sendto(b"x" * SIZE, peer)
        elif sock.fileno() >= 0:
            sock.send(b"x" * SIZE)
        self.note(name, answered=(begin, time.time()))

    def note(self, name, **when):
        self.log.write(json.dumps({"name": name, **when}) + "\n")

    def requests(self):
        found = {}
        with open(self.path, encoding="ascii") as log:
            for line in map(json.loads, log):
                found.setdefault(line.pop("name"), {}).update(line)
        return [Request((one["sent"], self.sent.get(one["sent"], one["received"][1])), one["received"],
                        one.get("answered", NEVER)) for one in found.values()]


class Client:
    def __init__(self, server):
        self.server = server
        self.sockets = [self.connect() for _ in range(CONNECTIONS)]

    def connect(self):
        family = socket.AF_UNIX if self.server.kind == "unix" else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM if self.server.kind == "udp" else socket.SOCK_STREAM)
        sock.connect(self.server.where)
        return sock

    def send(self, sock, delay, way):
        begin = time.time()
        sock.send(f"{begin} {delay} {way}".encode().ljust(SIZE))
        self.server.sent[begin] = time.time()

    def rounds(self, count, delay, way):
        for _ in range(count):
            for sock in self.sockets:
                self.send(sock, delay, way)
            for sock in self.sockets:
                sock.recv(SIZE)


def integral(spans, begin, end):
    return sum(max(0, min(last, end) - max(first, begin)) for first, last in spans)


def figures(requests, begin, end):
    """In progress and waiting, on average."""
    return (integral([(one.received[1], one.answered[1]) for one in requests], begin, end) / (end - begin),
            integral([(one.sent[0], one.received[1]) for one in requests], begin, end) / (end - begin))


def spans(requests):
    """The least and the most time of all of them that they are in progress, and that they wait."""
    return [(sum(max(0, last[0] - first[1]) for first, last in pairs), sum(last[1] - first[0] for first, last in pairs))
            for pairs in ([(one.received, one.answered) for one in requests],
                          [(one.sent, one.received) for one in requests])]


def time_of(rows):
    """Of an average in each interval, the least and the most of its time: it is 0 before the first reading and in the
    last interval. At a reading, which was between its row and the next, two intervals meet."""
    values = [0, *(value for _, value in rows[1:-1]), 0]
    moments = [moment - rows[0][0] for moment, _ in rows]
    edges = [[(now - following) * moment for moment in (moments[i] - ROUNDING, moments[i + 1] + ROUNDING)]
             for i, (now, following) in enumerate(zip(values, values[1:]))]
    return sum(map(min, edges)), sum(map(max, edges))


def oldest(requests, begin, end):
    """Its age, at least and at most, at some moment between these."""
    moments = [begin, end] + [edge + by for one in requests for edge in (*one.sent, *one.answered)
                              if begin < edge < end for by in (-1e-6, 1e-6)]
    return (min(max((moment - one.sent[1] for one in requests if one.sent[1] < moment < one.answered[0]), default=0)
                for moment in moments),
            max(max((moment - one.sent[0] for one in requests if one.sent[0] < moment < one.answered[1]), default=0)
                for moment in moments))


METRICS = ("gauge-requests_in_progress", "gauge-requests_waiting", "gauge-requests_oldest")


def rows_around(daemon, kind, metric, begin, end):
    """From a reading that was over at the begin to one that began after the end, and the next."""
    after = daemon.wait_rows(kind, metric, 2, end)[1][0]
    rows = [row[:2] for row in daemon.rows(kind, metric) if row[0] <= after]
    before = [row for row in rows if row[0] <= begin]
    return rows[max(0, len(before) - 2):]


def readings(daemon, kind, begin, end):
    """[(begin of the interval, its end, the figures)]"""
    columns = [dict(rows_around(daemon, kind, metric, begin, end)) for metric in METRICS]
    moments = sorted(columns[-1])
    return [(first, last, [column[last] for column in columns])
            for first, last in zip(moments, moments[1:]) if all(last in column for column in columns)]


def answered(server, begin, end):
    """What a client sent between these moments. It has an answer before the log has it."""
    while True:
        requests = [one for one in server.requests() if begin < one.sent[0] < end]
        if NEVER not in (one.answered for one in requests):
            return requests
        time.sleep(0.01)


def check(test, what, daemons, servers, begin, end, each=True):
    for server in servers:
        requests = answered(server, begin, end)
        truth = spans(requests)
        for hook_set, daemon in daemons.items():
            name = f"hook set {hook_set}, {server.kind}: {what}"
            metrics = METRICS[:2] if hook_set in KNOWS_ARRIVAL else METRICS[:1]
            for metric, want in zip(metrics, truth):
                check_time(test, f"{name}: {metric}", rows_around(daemon, server.kind, metric, begin, end), want)
            if hook_set in KNOWS_ARRIVAL:
                check_oldest(test, name, rows_around(daemon, server.kind, METRICS[2], begin, end), requests)
            check_each(test, name, readings(daemon, server.kind, begin, end), requests, metrics, each)


def check_time(test, name, rows, want):
    got = time_of(rows)
    test.true(f"{name}, {len(rows)} readings: time of all requests is within {want[0]:.6g} .. {want[1]:.6g} s",
              got[0] <= want[1] and want[0] <= got[1], f"{got[0]:.6g} .. {got[1]:.6g}")


def check_oldest(test, name, rows, requests):
    wrong = []
    for (moment, got), (following, _) in zip(rows, rows[1:]):
        least, most = oldest(requests, moment - ROUNDING, following + ROUNDING)
        if not least - ROUNDING <= got <= most + ROUNDING:
            wrong.append((moment, got, least, most))
    test.equal(f"{name}: {METRICS[2]}, readings of {len(rows)} at which it is wrong", wrong[:3], [])


def check_each(test, name, rows, requests, metrics, each):
    """As if each reading were at the moment of its row: of each interval, or of all of them."""
    got = [row[2] for row in rows]
    want = [figures(requests, *row[:2]) for row in rows]
    for i, metric in enumerate(metrics):
        if each:
            worst = max(zip(got, want), key=lambda pair: abs(pair[0][i] - pair[1][i]))
            test.figures.close(f"{name}: {metric}, worst interval", worst[0][i], worst[1][i], 0.01, SLACK)
        else:
            test.figures.close(f"{name}: {metric}, sum", sum(one[i] for one in got), sum(one[i] for one in want), 0.01,
                               SLACK)
    if each and len(metrics) > 1:
        ages = [(row[2][2], *oldest(requests, row[1] - SLACK, row[1] + SLACK)) for row in rows]
        test.figures.within(f"{name}: {METRICS[2]}, greatest error, s",
                            max(max(0, least - age, age - most) for age, least, most in ages), 0, 2 * SLACK)


def wait_quiet(daemons, kinds):
    """Until no request of before is in what is read next."""
    begin = time.time()
    for daemon in daemons.values():
        for kind in kinds:
            daemon.wait_rows(kind, METRICS[2], 2, begin)


def at_once(orders):
    threads = [threading.Thread(target=order, daemon=True) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def check_rounds(test, daemons, clients, what, *order):
    begin = time.time()
    at_once([functools.partial(client.rounds, *order) for client in clients])
    check(test, what, daemons, [client.server for client in clients], begin, time.time())


def check_pipelined(test, daemons, clients):
    """The second request comes while the first is in progress: it waits from then on, which counts when the first is
    answered."""
    begin = time.time()
    for client in clients:
        client.send(client.sockets[0], 1.5 * INTERVAL, "turn")
    time.sleep(0.5 * INTERVAL)
    for client in clients:
        client.send(client.sockets[0], 0.2, "turn")
    for client in clients:
        for _ in range(2):
            client.sockets[0].recv(SIZE)
    check(test, "pipelined", daemons, [client.server for client in clients], begin, time.time(), each=False)


def check_abandoned(test, daemons, clients):
    """A stuck server's request is in progress, and grows older, until its client gives up."""
    for client in clients:
        begin = time.time()
        client.send(client.sockets[1], 1000, "apart")
        while not (stuck := [one for one in client.server.requests() if one.sent[0] >= begin]):
            time.sleep(0.01)
        check_stuck(test, daemons, client.server.kind, stuck)
    for client in clients:
        client.sockets[1].close()
    end = time.time()
    for client in clients:
        if client.server.kind == "udp":
            continue
        for hook_set, daemon in daemons.items():
            for metric in METRICS[::2]:
                test.equal(f"hook set {hook_set}, {client.server.kind}: {metric} when the client has gone",
                           gets(daemon, client.server.kind, metric, 0, end), 0)


def check_stuck(test, daemons, kind, stuck):
    begin = time.time()
    for hook_set, daemon in daemons.items():
        name = f"hook set {hook_set}, {kind}: abandoned"
        rows = daemon.wait_rows(kind, METRICS[2], 3, begin)
        if kind == "udp" and rows[2][0] - stuck[0].sent[0] > FORGOTTEN:
            continue
        got = daemon.row_after(kind, METRICS[0], rows[0][0] + ROUNDING)[1]
        test.close(f"{name}: {METRICS[0]}", got, 1, 0, SLACK)
        if hook_set in KNOWS_ARRIVAL:
            check_oldest(test, name, [row[:2] for row in rows], stuck)
        else:
            test.true(f"{name}: {METRICS[2]} grows", rows[0][1] < rows[1][1] < rows[2][1])
        test.figures.close(f"{name}: {METRICS[2]}", rows[1][1], rows[1][0] - stuck[0].sent[0], 0, 2 * SLACK)


def start_all(test):
    daemons = {hook_set: test.collectd(CONF + PROBE.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                                   collect=("request",))
               for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
            test.stop(daemons.pop(hook_set))
    return daemons


def main():
    with Test(limit=240) as test:
        servers = [Server(test, kind) for kind in KINDS]
        daemons = start_all(test)
        test.true(f"hook sets: {set(daemons)}", daemons)
        clients = [Client(server) for server in servers]
        at_once([functools.partial(client.rounds, 2, 0, "apart") for client in clients])  # makes the series
        wait_quiet(daemons, KINDS)
        check_rounds(test, daemons, clients, "several at once", 5, 0.3, "apart")
        check_rounds(test, daemons, clients, "longer than an interval", 2, LONG, "apart")
        check_rounds(test, daemons, clients, "one after the other", 4, 0.1, "turn")
        check_pipelined(test, daemons, clients)
        check_abandoned(test, daemons, clients)


if __name__ == "__main__":
    main()

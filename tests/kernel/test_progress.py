#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests in progress and waiting, as averages of each interval, and the oldest, with each set of hooks that the kernel
offers, all of them at once on the same requests.

Truth: when the client sent, which each request says, and the log of the server, which is forked here.
"""

import ctypes
import functools
import json
import os
import selectors
import socket
import threading
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, die_with_test, in_mounts
from request_tiers import KNOWS_ARRIVAL, TIERS

BESIDE = True
KINDS = ("tcp", "unix", "udp")
CONF = """
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "process">
    Enable false
  </Probe>""" + "".join(f"""
  <Service "{kind}">
    Process "kt_p_{kind}"
  </Service>""" for kind in KINDS)
PROBE = """
  <Probe "request">
    Tier {}
    Option "syscalls"
  </Probe>"""
SIZE = 64
CONNECTIONS = 4
INTERVAL = 1 if SLOWNESS < 2 else 3
LONG = min(3.3 * INTERVAL, 4)  # seconds; a datagram is forgotten after 5
FORGOTTEN = 4.5
SLACK = 0.02 * SLOWNESS  # requests, and seconds of the oldest: between the clocks of client, kernel and server
PR_SET_NAME = 15


class Server:
    """Answers a request when it is as old as it says: in turn, so that the others wait, or each by itself."""

    def __init__(self, test, kind):
        self.kind, self.path = kind, os.path.join(test.dir, "log-" + kind)
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
                    self.take(key.fileobj)
            while self.due and min(self.due)[0] <= time.time():
                self.due.remove(first := min(self.due))
                self.answer(*first[1:])

    def take(self, sock):
        data, peer = sock.recvfrom(SIZE)
        received = time.time()
        if not data:
            self.waiter.unregister(sock)
            sock.close()
            return
        sent, hold, way = data.split()[:3]
        name = f"{sent.decode()} {received}"
        self.note(name, sent=float(sent), received=received)
        if way == b"turn":
            time.sleep(float(hold))
            self.answer(name, sock, peer)
        else:
            self.due.append((received + float(hold), name, sock, peer))

    def answer(self, name, sock, peer):
        if self.kind == "udp":
            sock.sendto(b"x" * SIZE, peer)
        elif sock.fileno() >= 0:
            sock.send(b"x" * SIZE)
        self.note(name, answered=time.time())

    def note(self, name, **when):
        self.log.write(json.dumps({"name": name, **when}) + "\n")

    def requests(self):
        """[(sent, received, answered)]"""
        found = {}
        with open(self.path, encoding="ascii") as log:
            for line in map(json.loads, log):
                found.setdefault(line.pop("name"), {}).update(line)
        return [(one["sent"], one["received"], one.get("answered", float("inf"))) for one in found.values()]


class Client:
    def __init__(self, server):
        self.server = server
        self.sockets = [self.connect() for _ in range(CONNECTIONS)]

    def connect(self):
        family = socket.AF_UNIX if self.server.kind == "unix" else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_DGRAM if self.server.kind == "udp" else socket.SOCK_STREAM)
        sock.connect(self.server.where)
        return sock

    def send(self, sock, hold, way):
        sock.send(f"{time.time()} {hold} {way}".encode().ljust(SIZE))

    def rounds(self, count, hold, way):
        for _ in range(count):
            for sock in self.sockets:
                self.send(sock, hold, way)
            for sock in self.sockets:
                sock.recv(SIZE)


def integral(spans, begin, end):
    return sum(max(0, min(last, end) - max(first, begin)) for first, last in spans)


def figures(requests, begin, end):
    """In progress and waiting, on average."""
    return (integral([(received, answered) for _, received, answered in requests], begin, end) / (end - begin),
            integral([(sent, received) for sent, received, _ in requests], begin, end) / (end - begin))


def oldest_error(requests, moment, got):
    """Of the age of the oldest, at the best moment of those that may be meant."""
    near = [moment - SLACK, moment, moment + SLACK]
    near += [edge + by for one in requests for edge in (one[0], one[2]) for by in (-1e-6, 1e-6)
             if abs(edge - moment) < SLACK]
    return min(abs(got - max((moment - sent for sent, _, answered in requests if sent < then < answered), default=0))
               for then in near)


METRICS = ("gauge-requests_in_progress", "gauge-requests_waiting", "gauge-requests_oldest")


def readings(daemon, kind, begin, end):
    """[(begin of the interval, its end, the figures)]"""
    daemon.wait_rows(kind, METRICS[-1], 2, end)
    columns = [{row[0]: row[1] for row in daemon.rows(kind, metric)} for metric in METRICS]
    moments = sorted(moment for moment in columns[-1] if begin - 1.5 * INTERVAL < moment)
    return [(first, last, [column[last] for column in columns])
            for first, last in zip(moments, moments[1:]) if all(last in column for column in columns)]


def check(test, what, daemons, servers, begin, end, each=True, together=1):
    """Of each interval, or of all of them together. So many requests have the same stamps of client and server, and these
    err by as much for each."""
    for tier, daemon in daemons.items():
        for server in servers:
            name = f"tier {tier}, {server.kind}: {what}"
            rows = readings(daemon, server.kind, begin, end)
            # Then: the client has an answer before the log has it.
            requests = server.requests()
            test.true(f"{name}: readings", len(rows) > 1)
            got = [row[2] for row in rows]
            want = [figures(requests, *row[:2]) for row in rows]
            for i, metric in enumerate(METRICS[:2]):
                if metric == METRICS[1] and tier not in KNOWS_ARRIVAL:
                    continue
                if each:
                    worst = max(zip(got, want), key=lambda pair: abs(pair[0][i] - pair[1][i]))
                    test.close(f"{name}: {metric}, worst of {len(rows)}", worst[0][i], worst[1][i], 0.01,
                               together * SLACK)
                else:
                    test.close(f"{name}: {metric}, sum", sum(one[i] for one in got), sum(one[i] for one in want), 0.01,
                               SLACK)
            if each and tier in KNOWS_ARRIVAL:
                errors = [oldest_error(requests, end, ages[2]) for _, end, ages in rows]
                test.within(f"{name}: {METRICS[2]}, greatest error of {len(rows)}", max(errors), 0, 2 * SLACK)


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
        client.send(client.sockets[1], 1000, "apart")
    begin = time.time()
    time.sleep(2.5 * INTERVAL)
    for client in clients:
        for tier, daemon in daemons.items():
            name = f"tier {tier}, {client.server.kind}: abandoned"
            moment, oldest = daemon.row_after(client.server.kind, METRICS[2], begin + INTERVAL)[:2]
            if client.server.kind == "udp" and moment - begin > FORGOTTEN:
                continue
            test.close(f"{name}: {METRICS[2]}", oldest, moment - begin, 0, 2 * SLACK)
            got = daemon.row_after(client.server.kind, METRICS[0], moment - INTERVAL / 2)[1]
            test.close(f"{name}: {METRICS[0]}", got, 1, 0, SLACK)
        client.sockets[1].close()
    end = time.time()
    for client in clients:
        if client.server.kind == "udp":
            continue
        for tier, daemon in daemons.items():
            name = f"tier {tier}, {client.server.kind}: when the client has gone"
            daemon.wait_rows(client.server.kind, METRICS[2], 2, end)
            for metric in METRICS[::2]:
                got = daemon.rows(client.server.kind, metric)[-1][1]
                test.equal(f"{name}: {metric}", got, 0)


def start_all(test):
    daemons = {tier: test.collectd(CONF + PROBE.format(tier), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                                   collect=("request",))
               for tier in TIERS}
    for tier, daemon in list(daemons.items()):
        if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
            test.stop(daemons.pop(tier))
    return daemons


def main():
    with Test(limit=240) as test:
        servers = [Server(test, kind) for kind in KINDS]
        daemons = start_all(test)
        test.true(f"tiers: {set(daemons)}", daemons)
        clients = [Client(server) for server in servers]
        at_once([functools.partial(client.rounds, 2, 0, "apart") for client in clients])  # makes the series
        check_rounds(test, daemons, clients, "several at once", int(5 * INTERVAL / 0.3), 0.3, "apart")
        check_rounds(test, daemons, clients, "longer than an interval", 2, LONG, "apart")
        check_rounds(test, daemons, clients, "one after the other", int(5 * INTERVAL / 0.4), 0.1, "turn")
        check_pipelined(test, daemons, clients)
        check_abandoned(test, daemons, clients)


if __name__ == "__main__":
    main()

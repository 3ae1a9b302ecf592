#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who of two serves and who asks, where it is not plain to see, and requests of no bytes, with each set of hooks that
the kernel offers.

Truth: the programs that this test forks, which make so many exchanges as they are told.
"""

import ctypes
import os
import signal
import socket
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, die_with_test, in_mounts, without
from request_hook_sets import HOOK_SETS

INTERVAL = 0.5 if SLOWNESS < 2 else 1
ORDER = 50
REQUEST, RESPONSE = 100, 300
PR_SET_NAME = 15


def listen(family, where, protocol=0):
    sock = socket.socket(family, socket.SOCK_STREAM, protocol)
    sock.bind(where)
    sock.listen(16)
    return sock


def serve_stream(listener, sent):
    """sent: is told when a call that sends is over."""
    while True:
        sock, _ = listener.accept()
        if os.fork():
            continue
        die_with_test()
        while sock.recv(REQUEST):
            sock.send(b"x" * RESPONSE)
            os.write(sent, b"x")
        os._exit(0)


def serve_datagrams(sock, size, sent):
    while True:
        _, peer = sock.recvfrom(REQUEST)
        sock.sendto(b"x" * size, peer)
        os.write(sent, b"x")


def ask_stream(sock, count):
    for _ in range(count):
        sock.send(b"x" * REQUEST)
        sock.recv(RESPONSE)


class Stream:
    served = requested = True
    byte_count = REQUEST, RESPONSE

    def __init__(self, where):
        self.where = where

    def listen(self):
        return listen(socket.AF_UNIX, self.where)

    serve = staticmethod(serve_stream)

    def connect(self, _where):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(self.where)
        return sock

    ask = staticmethod(ask_stream)


class Bound(Stream):
    """A client with a name of its own."""

    def connect(self, _where):
        sock = socket.socket(socket.AF_UNIX)
        sock.bind(self.where + ".client")
        sock.connect(self.where)
        return sock


class Credentials(Stream):
    """The kernel gives a name to a client that wants to know whom it talks to."""

    def connect(self, _where):
        sock = socket.socket(socket.AF_UNIX)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        sock.connect(self.where)
        return sock


class Multipath(Stream):
    IPPROTO_MPTCP = 262

    def listen(self):
        return listen(socket.AF_INET, ("127.0.0.1", 0), self.IPPROTO_MPTCP)

    def connect(self, where):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, self.IPPROTO_MPTCP)
        sock.connect(where)
        return sock


class Datagram(Stream):
    size = REQUEST

    def listen(self):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for port in range(20000 + os.getpid() % 20000, 60000):
            try:
                sock.bind(("127.0.0.1", port))
                return sock
            except OSError:
                continue
        raise OSError("no port")

    def serve(self, sock, sent):
        serve_datagrams(sock, self.byte_count[1], sent)

    def connect(self, where):
        """A client that asks several servers has bound a port, as one of DNS does, and no peer."""
        self.peer = where
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("0.0.0.0", 0))
        return sock

    def ask(self, sock, count):
        for _ in range(count):
            sock.sendto(b"x" * self.byte_count[0], self.peer)
            sock.recv(RESPONSE)


class Empty(Datagram):
    byte_count = 0, 0


class Unasked(Datagram):
    """The kernel does not tell a server that has bound port 0 from a client that has bound none."""
    served = False

    def listen(self):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        return sock


class OfPair(Stream):
    """Ends of a socketpair: processes of one program, of which none has connected to the other."""
    served = requested = False

    def listen(self):
        self.client, server = socket.socketpair()
        return server

    def serve(self, sock, sent):
        while sock.recv(REQUEST):
            sock.send(b"x" * RESPONSE)
            os.write(sent, b"x")

    def connect(self, _where):
        return self.client


KINDS = {"bound": Bound, "creds": Credentials, "mptcp": Multipath, "udp": Datagram, "empty": Empty, "port0": Unasked, "pair": OfPair}
CONF = "".join(f"""
  <Service "{kind}">
    Process "kt_s_{kind}"
  </Service>
  <Service "{kind}_client">
    Process "kt_c_{kind}"
  </Service>""" for kind in KINDS) + """
  <Service "late">
    Process "kt_s_late"
  </Service>"""
PROBE = """
  <Probe "request">
    Collect "default" "latency-wait"
    HookSet {}
    Option "syscalls"
    Option "clients"
  </Probe>
""" + without("delay", "poll")


class Pair:
    """A server and a client that asks it when it is told to, on one connection."""

    def __init__(self, test, kind):
        self.kind, self.way = kind, KINDS[kind](os.path.join(test.dir, kind))
        listener = self.way.listen()
        self.sent, sent = os.pipe()
        self.fork(test, f"kt_s_{kind}", lambda: self.way.serve(listener, sent))
        orders, self.orders = os.pipe()
        self.done, done = os.pipe()
        self.fork(test, f"kt_c_{kind}", lambda: self.obey(listener.getsockname(), orders, done))

    def fork(self, test, name, function):
        if os.fork() == 0:
            die_with_test()
            rename(test, name)
            try:
                function()
            finally:
                os._exit(1)

    def obey(self, where, orders, done):
        sock = self.way.connect(where)
        while os.read(orders, 1):
            self.way.ask(sock, ORDER)
            os.write(done, b"x")

    def order(self):
        os.write(self.orders, b"x")
        if not os.read(self.done, 1):
            raise RuntimeError(f"the client {self.kind} has ended")
        left = ORDER
        while left:
            left -= len(os.read(self.sent, left))


def counts(daemon, kind, moment):
    """Exchanges and bytes of both, as servers and as clients; None: no series."""
    # The second: then all of the first are written.
    daemon.wait_rows("self", "duration-read_request", 2, moment)
    found = {}
    for subject in (kind, f"{kind}_client"):
        for side in ("", "-client"):
            shown = "total_requests" + side in daemon.metrics(subject)
            found[subject, side] = daemon.exchanges(subject, moment, side) if shown else None
    return found


def order_all(daemons, pairs):
    """Returns what all daemons have counted then."""
    for pair in pairs:
        pair.order()
    moment = time.time()
    return {(hook_set, pair.kind): counts(daemon, pair.kind, moment) for hook_set, daemon in daemons.items() for pair in pairs}


def check(test, daemons, pairs):
    before = order_all(daemons, pairs)  # makes the series; a call that receives may be older than a probe
    after = order_all(daemons, pairs)
    for hook_set in daemons:
        for pair in pairs:
            rx, tx = (ORDER * byte_count for byte_count in pair.way.byte_count)
            want = {(pair.kind, ""): (ORDER, rx, tx) if pair.way.served else None, (pair.kind, "-client"): None,
                    (f"{pair.kind}_client", ""): None, (f"{pair.kind}_client", "-client"): (ORDER, tx, rx) if pair.way.requested else None}
            now = after[hook_set, pair.kind]
            for key, then in before[hook_set, pair.kind].items():
                got = now[key] and tuple(a - b for a, b in zip(now[key], then or (0, 0, 0)))
                if key != ("port0", "-client"):
                    test.equal(f"hook set {hook_set}: exchanges, bytes of {key[0]}{key[1]}", got, want[key])


class Late:
    """A server that takes the name of a service after its first exchange."""

    QUIET = 1.5

    def __init__(self, test):
        where = os.path.join(test.dir, "late")
        listener = listen(socket.AF_UNIX, where)
        self.pid = os.fork()
        if self.pid == 0:
            die_with_test()
            signal.signal(signal.SIGUSR1, lambda *_: rename(test, "kt_s_late"))
            rename(test, "kt_u_late")
            sock, _ = listener.accept()
            while sock.recv(REQUEST):
                sock.send(b"x" * RESPONSE)
            os._exit(0)
        self.client = socket.socket(socket.AF_UNIX)
        self.client.connect(where)

    def check(self, test, what, daemon):
        """Data that came while nobody counted waits for no request of later."""
        ask_stream(self.client, 1)
        time.sleep(self.QUIET)
        os.kill(self.pid, signal.SIGUSR1)
        ask_stream(self.client, 10)
        daemon.wait_rows("late", "total_requests", 2, time.time())
        waits = [row[1] for row in daemon.rows("late", "latency-wait-percentile-99") if row[1] == row[1]]
        test.within(f"{what}: longest wait of {len(waits)} readings, s", max(waits), 0, 0.97 * self.QUIET)
        test.figures.within(f"{what}: longest wait, s", max(waits), 0, self.QUIET / 2)


def rename(test, name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, test.own(name).encode(), 0, 0, 0)


def has_mptcp(test):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_STREAM, Multipath.IPPROTO_MPTCP).close()
    except OSError as reason:
        test.left_out("MPTCP", reason)
        return False
    return True


def start_all(test):
    daemons = {hook_set: test.collectd(CONF + PROBE.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS))
               for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if not daemon.wait_rows("self", "count-tier_request", 1)[-1][1]:
            test.stop(daemons.pop(hook_set))
    return daemons


def main():
    with Test(limit=240) as test:
        kinds = [kind for kind in KINDS if kind != "mptcp" or has_mptcp(test)]
        # Before any collectd: their sockets are older than the probe.
        pairs = [Pair(test, kind) for kind in kinds]
        daemons = start_all(test)
        test.true(f"hook sets: {set(daemons)}", daemons)
        first = min(daemons)
        Late(test).check(test, f"hook set {first}", daemons[first])
        check(test, daemons, pairs)


if __name__ == "__main__":
    main()

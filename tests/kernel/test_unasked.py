#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a server sends without a request is none, nor is what the client acknowledges; and a response that goes on has a length
once, when it has ended.

Truth: what the clients do.
"""

import ctypes
import os
import select
import socket
import tempfile
import threading
import time

from lib import SLOWNESS, Test, die_with_test, without

INTERVAL = 1 if SLOWNESS < 2 else 2
KINDS = ("tokens", "idle", "unix", "socket", "acked", "paused", "pushed", "busy", "late", "php")
ENDING = ("tokens", "unix", "acked", "paused", "busy", "late", "php")
CONF = "".join(f"""
  <Service "{kind}">
    Process "kt_u_{kind}"
  </Service>""" for kind in KINDS) + without("delay", "poll")
PR_SET_NAME = 15
REQUEST = 200
PIECES, PIECE = 15, 0.1 * SLOWNESS  # of a response in pieces, seconds between two
RESPONSES = 2                       # one after the other
ROUNDS = 20
PUSHES = 5
PUSH = 0.2 * SLOWNESS  # seconds between what the server sends without a request
THINK = 0.01 * SLOWNESS
UPGRADE = b"GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"


def receive(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            break
        data += more
    return data


def serve_tokens(sock):
    while receive(sock, REQUEST):
        for _ in range(PIECES):
            sock.send(b"t")
            time.sleep(PIECE)


def serve_simple(sock):
    while receive(sock, REQUEST):
        sock.send(b"x")


def serve_socket(sock):
    """A WebSocket, more or less: echoes, and pushes meanwhile, in an event loop."""
    receive(sock, len(UPGRADE))
    sock.send(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    while True:
        if select.select([sock], [], [], PUSH)[0]:
            if not sock.recv(REQUEST):
                return
            sock.send(b"echo")
        else:
            sock.send(b"push")


def serve_acked(sock):
    """A broker: responds to a subscription and to what is published, and delivers to the subscriber, who acknowledges."""
    receive(sock, REQUEST)
    sock.send(b"subscribed")
    for _ in range(ROUNDS):
        time.sleep(PUSH)
        sock.send(b"message")
        receive(sock, 4)
    while receive(sock, REQUEST):
        sock.send(b"ok")


def serve_paused(sock):
    """A response with a pause, and requests that are as short as acknowledgements."""
    receive(sock, REQUEST)
    sock.send(b"first")
    time.sleep(PUSH)
    sock.send(b"last")
    while receive(sock, 4):
        sock.send(b"x")


def serve_pushed(sock):
    """Subscribes, and then only sends."""
    receive(sock, REQUEST)
    sock.send(b"subscribed")
    time.sleep(4 * INTERVAL)
    while not select.select([sock], [], [], PUSH)[0]:
        sock.send(b"news")


def serve_busy(sock):
    """A broker whose subscriber always has a next message."""
    receive(sock, REQUEST)
    sock.send(b"subscribed, message")
    while receive(sock, 4):
        sock.send(b"message")


def serve_late(sock):
    """A WebSocket after two other requests; its messages follow each other within an interval."""
    for response in b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 101 Switching Protocols\r\n\r\n":
        receive(sock, len(UPGRADE))
        sock.send(response)
    for _ in range(PUSHES):
        time.sleep(PUSH)
        sock.send(b"push")


def serve_php(sock):
    """As PHP-FPM: collectd-ebpf-metrics(7) says "PHP-FPM reads the end of a request only after it has responded"."""
    while receive(sock, REQUEST - 8):
        sock.send(b"x")
        receive(sock, 8)


SERVERS = {"tokens": serve_tokens, "idle": serve_simple, "unix": serve_simple, "socket": serve_socket,
           "acked": serve_acked, "paused": serve_paused, "pushed": serve_pushed,
           "busy": serve_busy, "late": serve_late, "php": serve_php}


def serve(listener, kind):
    def whole(sock):
        with sock:
            SERVERS[kind](sock)
    while True:
        threading.Thread(target=whole, args=(listener.accept()[0],), daemon=True).start()


def start_server(test, kind, directory):
    if kind == "unix":
        where = os.path.join(directory, "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
        listener.listen()
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        where = listener.getsockname()
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_u_" + kind).encode(), 0, 0, 0)
        serve(listener, kind)
    listener.close()
    return where


class Clients:
    """Each in a thread. reading: time of one"""

    def __init__(self, where, reading):
        self.where, self.reading = where, reading
        self.done, self.echoes = threading.Event(), 0
        self.threads = {kind: threading.Thread(target=getattr(self, kind), daemon=True) for kind in KINDS}
        for thread in self.threads.values():
            thread.start()

    def join(self):
        """When those are done that end by themselves, the others go on for some intervals."""
        for kind in ENDING:
            self.threads[kind].join()
        time.sleep(3 * INTERVAL)
        self.done.set()
        for thread in self.threads.values():
            thread.join()
        return time.time()

    def connect(self, kind):
        where = self.where[kind]
        sock = socket.socket(socket.AF_UNIX if isinstance(where, str) else socket.AF_INET)
        sock.connect(where)
        return sock

    def ask(self, sock, size, begin=b""):
        sock.send(begin.ljust(REQUEST))
        receive(sock, size)

    def tokens(self):
        with self.connect("tokens") as sock:
            for _ in range(RESPONSES):
                self.pause_between_readings()
                self.ask(sock, PIECES)

    def pause_between_readings(self):
        """A response that starts during a reading has a length there that is not whole."""
        time.sleep((self.reading + INTERVAL / 2 - time.time()) % INTERVAL)

    def idle(self):
        """The last response has no successor."""
        with self.connect("idle") as sock:
            self.ask(sock, 1)
            self.done.wait()

    def unix(self):
        """Likewise, and ends before an interval is over."""
        for _ in range(ROUNDS):
            with self.connect("unix") as sock:
                self.ask(sock, 1)
                time.sleep(0.2 * INTERVAL)

    def socket(self):
        with self.connect("socket") as sock:
            sock.send(UPGRADE)
            time.sleep(PUSH)
            while not self.done.is_set():
                sock.send(b"hello")
                self.echoes += 1
                while receive(sock, 4) != b"echo":
                    pass
                time.sleep(2.5 * PUSH)
            finish(sock)

    def acked(self):
        with self.connect("acked") as sock:
            self.ask(sock, len("subscribed"), b"\x10")
            for _ in range(ROUNDS):
                receive(sock, len("message"))
                sock.send(b"ack.")
            time.sleep(PUSH)
            for _ in range(ROUNDS):
                self.ask(sock, 2)
                time.sleep(THINK)

    def paused(self):
        with self.connect("paused") as sock:
            self.ask(sock, len("firstlast"))
            for _ in range(ROUNDS):
                time.sleep(THINK)
                sock.send(b"get.")
                receive(sock, 1)

    def busy(self):
        with self.connect("busy") as sock:
            self.ask(sock, len("subscribed, message"), b"\x10")
            for _ in range(ROUNDS):
                sock.send(b"ack.")
                receive(sock, len("message"))

    def late(self):
        with self.connect("late") as sock:
            for start in b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK", b"HTTP/1.1 101 Switching Protocols":
                sock.send(UPGRADE)
                receive(sock, len(start) + 4)
            receive(sock, PUSHES * len("push"))

    def php(self):
        with self.connect("php") as sock:
            for _ in range(ROUNDS):
                self.ask(sock, 1)
                time.sleep(THINK)

    def pushed(self):
        with self.connect("pushed") as sock:
            sock.send(b"r" * REQUEST)
            while not self.done.is_set():
                receive(sock, 1)
            finish(sock)


def finish(sock):
    """Without a reset, though more may come."""
    sock.shutdown(socket.SHUT_WR)
    while sock.recv(REQUEST):
        pass


def count(daemon, kind, instance, end):
    return daemon.row_after(kind, "total_requests" + instance, end)[1]


def check_counts(test, daemon, clients, end):
    wanted = {  # requests, full-duplex turns, acknowledgements, streams
        "tokens": (RESPONSES, 0, 0, 0),
        "idle": (1, 0, 0, 0),
        "unix": (ROUNDS, 0, 0, 0),
        "socket": (1, clients.echoes, 0, 0),
        "paused": (1 + ROUNDS, 0, 0, 0),
        "pushed": (1, 0, 0, 1),
        "busy": (1 + ROUNDS, 0, 0, 0),
        "late": (3, 0, 0, 0),
        "php": (ROUNDS, 0, 0, 0),
    }
    got = {kind: tuple(count(daemon, kind, instance, end)
                       for instance in ("", "-full_duplex", "-acknowledgements", "-streams")) for kind in KINDS}
    for kind, want in wanted.items():
        test.equal(f"{kind}: requests, full-duplex turns, acknowledgements, streams", got[kind], want)
    # A client that has to wait for its CPU may be late with one.
    requests, full_duplex, acknowledgements, streams = got["acked"]
    test.equal("acked: requests and acknowledgements, full-duplex turns, streams",
               (requests + acknowledgements, full_duplex, streams), (1 + 2 * ROUNDS, 0, 0))
    test.within("acked: acknowledgements", acknowledgements, 0.8 * ROUNDS, ROUNDS)
    test.true("there were echoes", clients.echoes > 1, clients.echoes)


def lengths(daemon, kind, metric):
    return [row[1] for row in daemon.rows(kind, metric) if row[1] == row[1]]


def check_lengths(test, daemon, end):
    whole = (PIECES - 1) * PIECE
    for kind in KINDS:
        daemon.row_after(kind, "latency-service-percentile-50", end)
    for metric in ("percentile-50", "percentile-99"):
        got = lengths(daemon, "tokens", "latency-service-" + metric)
        test.true(f"tokens: latency-service-{metric} in at most {RESPONSES} intervals", 0 < len(got) <= RESPONSES, got)
        test.within(f"tokens: latency-service-{metric}, least", min(got, default=0), 0.97 * whole, 3 * whole)
    test.equal("idle: intervals with a latency", len(lengths(daemon, "idle", "latency-service-percentile-50")), 1)
    for kind in ("socket", "pushed"):
        got = lengths(daemon, kind, "latency-service-percentile-99")
        test.true(f"{kind}: no latency has a push", got and max(got) < PUSH, got)
    got = lengths(daemon, "php", "latency-service-percentile-50")
    test.true("php: a latency includes the time until the next request", max(got, default=0) > 0.9 * THINK, got)
    slack = lengths(daemon, "socket", "percent-slack_threads")
    test.true("socket: an event loop that pushes has slack", min(slack[2:], default=0) > 50, slack)
    old = lengths(daemon, "tokens", "gauge-requests_oldest")
    test.true("tokens: a response in pieces has an age meanwhile", max(old, default=0) > whole / 2, old)


def main():
    with Test(limit=120) as test, tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        where = {kind: start_server(test, kind, directory) for kind in KINDS}
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("request",))
        clients = Clients(where, daemon.wait_rows("self", "duration-read_request")[0][0])
        end = clients.join()
        check_counts(test, daemon, clients, end)
        check_lengths(test, daemon, end)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

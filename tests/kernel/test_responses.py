#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Responses by class, as Response of Service blocks says: however they are sent, and what is none yet or cannot be read.

Truth: what the server was told to answer, and how long it took.
"""

import os
import socket
import time

import responses
from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts, without
from request_hook_sets import HOOK_SETS

AFTER = 1  # seconds
INTERVAL = 0.5 if SLOWNESS < 2 else 2
CONF = "".join(f"""
  <Service "{name}">
    Process "kt_{name}"
    {{{name}}}
  </Service>""" for name in ("http", "udp", "plain")) + without("delay", "poll") + f"""
  <Probe "request">
    HookSet {{hooks}}
    Option "syscalls"
    Parameter "stream_after" {AFTER}
  </Probe>"""
RESPONSES = {
    "http": r"""Response "slow" "HTTP/1.? 503"
    Response "5xx" "HTTP/1.? 5"
    Response "4xx" "HTTP/1.? 4"
    Response "4xx" "ERR\\x00\\\\\\?"
    Response "switched" "HTTP/1.? 101"
    Response "long" "HTTP/1.1 200 OK!"
    """,
    "udp": 'Response "bad" "-"',
    "plain": "",
}
REQUEST = 64
PAUSE = 0.1  # seconds
ROUNDS = 3
TIMES = 2


def page(status):
    return f"HTTP/1.1 {status} Some\r\nContent-Length: 3\r\n\r\nabc".encode()


def paused(sock):
    """The service time is that up to the last send."""
    sock.send(page(503))
    time.sleep(PAUSE)
    sock.send(b"more")


def interim(sock):
    """Two that are none, in which the rest of the request is received; then the response."""
    for status in (100, 103):
        sock.send(page(status))
        sock.recv(REQUEST)
    sock.send(page(500))


def from_file(sock):
    with open(__file__, "rb") as file:
        os.sendfile(sock.fileno(), file.fileno(), 0, 4)


def in_two(sock):
    """Of the first send alone it is not known what it is."""
    sock.send(page(500)[:9])
    sock.send(page(500)[9:])


def goes_on(sock):
    """A request that goes on for so long that it is a stream."""
    sock.recv(REQUEST)
    sock.send(page(500))


# What is asked for: how it is answered, and the class of that.
REPLIES = {
    "send": (lambda sock: sock.send(page(500)), "5xx"),
    "write": (lambda sock: os.write(sock.fileno(), page(502)), "5xx"),
    "writev": (lambda sock: os.writev(sock.fileno(), [b"HT", b"", b"TP/1.0 4", b"04 x", b"y" * 5000]), "4xx"),
    "sendmsg": (lambda sock: sock.sendmsg([page(404), b"more"]), "4xx"),
    "fine": (lambda sock: sock.send(page(200)), None),
    "short": (lambda sock: sock.send(b"HTTP/1.1 "), None),
    "bytes": (lambda sock: sock.send(b"ERR\0\\?"), "4xx"),
    "byte": (lambda sock: sock.send(b"ERR\0\\x"), None),
    "exact": (lambda sock: sock.send(b"HTTP/1.1 200 OK!"), "long"),
    "upgrade": (lambda sock: sock.send(page(101)), "switched"),
    "paused": (paused, "slow"),
    "interim": (interim, "5xx"),
    "file": (from_file, "unknown"),
    "two": (in_two, None),
    "stream": (goes_on, "5xx"),
}
MORE = {"interim": (0, 0), "stream": (1.3 * AFTER,)}  # what the client sends besides: after so many seconds


def respond(sock):
    while what := sock.recv(REQUEST):
        if what.strip():
            REPLIES[what.split()[0].decode()][0](sock)


def serve_datagrams(sock):
    """No call that receives is older than a probe."""
    sock.settimeout(3600)
    while True:
        what, client = sock.recvfrom(REQUEST)
        sock.sendto(what, client)
        os.write(SENT[1], b"x")


SENT = os.pipe()  # tells that a datagram's call is over, which its receiver may have before
SERVE = responses.serve_each(respond), socket.SOCK_STREAM
SERVERS = {"http": SERVE, "udp": (serve_datagrams, socket.SOCK_DGRAM), "plain": SERVE}


def wait_for(sock, what):
    """The whole answer."""
    last = {"paused": b"more", "file": b"#!/u", "short": b"HTTP/1.1 ", "bytes": b"?", "byte": b"x", "exact": b"!",
            "sendmsg": b"more", "writev": b"y" * 5000}.get(what, b"abc")
    got = b""
    while not got.endswith(last) or what == "interim" and got.count(b"abc") < 3:
        got += (part := sock.recv(65536))
        if not part:
            raise RuntimeError(f"{what}: the server has closed the connection")


def ask(where):
    """Everything some times, what takes long once. Returns how many there were of each class."""
    counts = {None: 0}
    with socket.create_connection(where) as sock:
        for cycle in range(ROUNDS):
            for what, (_, kind) in REPLIES.items():
                if what in MORE and cycle:
                    continue
                sock.send(what.encode().ljust(REQUEST))
                for pause in MORE.get(what, ()):
                    time.sleep(pause or PAUSE)
                    sock.send(b" " * REQUEST)
                wait_for(sock, what)
                counts[kind] = counts.get(kind, 0) + 1
        responses.finish(sock)
    return counts


def ask_datagrams(where):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(where)
        for i in range(ROUNDS * 3):
            sock.send(b"-bad" if i % 3 else b"+good")
            sock.recv(REQUEST)
            os.read(SENT[0], 1)
    return {"bad": ROUNDS * 2, None: ROUNDS}


def ask_all(where):
    return {"http": ask(where["http"]), "udp": ask_datagrams(where["udp"]), "plain": ask(where["plain"])}


def check(test, hook_set, daemon, counts, moment):
    what = f"hook set {hook_set}"
    for name in ("http", "udp"):
        responses.check(test, what, daemon, name, counts[name], TIMES, moment)
    responses.check_times(test, what, daemon, "http", PAUSE, SLOWNESS)
    named = [one for one in daemon.metrics("plain") if one.startswith(("total_requests-", "percent-response", "latency-service-"))]
    test.equal(f"{what}: a service without Response: classes", named, [])
    test.equal(f"{what}: complaints", daemon.complaints(), [])


def main():
    with Test(limit=120) as test:
        where = {name: responses.start(test, "kt_" + name, serve, kind) for name, (serve, kind) in SERVERS.items()}
        daemons = {hook_set: test.collectd(CONF.format(hooks=hook_set, **RESPONSES), interval=INTERVAL,
                                       wrap=in_mounts(WITH_TRACEFS))
                   for hook_set in HOOK_SETS}
        for hook_set, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(hook_set))
        test.true(f"hook sets: {set(daemons)}", daemons)
        counts, moment = responses.ask_times(daemons.values(), TIMES, lambda: ask_all(where))
        for hook_set, daemon in daemons.items():
            check(test, hook_set, daemon, counts, moment)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Responses by class, as Response of Service blocks says: however they are sent, and what is none yet or cannot be read.

Truth: what the server was told to answer, and how long it took.
"""

import ctypes
import os
import socket
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, die_with_test, in_mounts

TIERS = (1, 2, 3, 4)
AFTER = 1  # seconds
INTERVAL = 2
SERVICES = ("http", "udp", "plain")
CONF = "".join(f"""
  <Service "{name}">
    Process "kt_{name}"
    {{{name}}}
  </Service>""" for name in SERVICES) + f"""
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Tier {{tier}}
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
PR_SET_NAME = 15
REQUEST = 64
PAUSE = 0.1  # seconds
ROUNDS = 7


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
ANSWERS = {
    "send": (lambda sock: sock.send(page(500)), "5xx"),
    "write": (lambda sock: os.write(sock.fileno(), page(502)), "5xx"),
    "writev": (lambda sock: os.writev(sock.fileno(), [b"HT", b"", b"TP/1.0 4", b"04 x", b"y" * 5000]), "4xx"),
    "sendmsg": (lambda sock: sock.sendmsg([page(404), b"more"]), "4xx"),
    "fine": (lambda sock: sock.send(page(200)), None),
    "short": (lambda sock: sock.send(b"HTTP/1.1 "), None),
    "octets": (lambda sock: sock.send(b"ERR\0\\?"), "4xx"),
    "octet": (lambda sock: sock.send(b"ERR\0\\x"), None),
    "exact": (lambda sock: sock.send(b"HTTP/1.1 200 OK!"), "long"),
    "upgrade": (lambda sock: sock.send(page(101)), "switched"),
    "paused": (paused, "slow"),
    "interim": (interim, "5xx"),
    "file": (from_file, "unknown"),
    "two": (in_two, None),
    "stream": (goes_on, "5xx"),
}
MORE = {"interim": (0, 0), "stream": (1.3 * AFTER,)}  # what the client sends besides: after so many seconds


def answer(sock):
    while what := sock.recv(REQUEST):
        if what.strip():
            ANSWERS[what.split()[0].decode()][0](sock)


def serve(listener):
    while True:
        sock, _ = listener.accept()
        if os.fork() == 0:
            die_with_test()
            listener.close()
            answer(sock)
            os._exit(0)
        sock.close()


def serve_datagrams(sock):
    while True:
        what, client = sock.recvfrom(REQUEST)
        sock.sendto(what, client)


def start(test, name):
    if name == "udp":
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
    else:
        sock = socket.create_server(("127.0.0.1", 0))
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_" + name).encode(), 0, 0, 0)
        (serve_datagrams if name == "udp" else serve)(sock)
    where = sock.getsockname()
    sock.close()
    return where


def wait_for(sock, what):
    """The whole answer."""
    last = {"paused": b"more", "file": b"#!/u", "short": b"HTTP/1.1 ", "octets": b"?", "octet": b"x", "exact": b"!",
            "sendmsg": b"more", "writev": b"y" * 5000}.get(what, b"abc")
    got = b""
    while not got.endswith(last) or what == "interim" and got.count(b"abc") < 3:
        got += (part := sock.recv(65536))
        if not part:
            raise RuntimeError(f"{what}: the server has closed the connection")


def ask(where):
    """Everything some times, on a connection for all but streams. Returns how many there were of each class."""
    counts = {None: 0}
    with socket.create_connection(where) as sock:
        for turn in range(ROUNDS):
            for what, (_, kind) in ANSWERS.items():
                if what in MORE and turn:
                    continue
                sock.send(what.encode().ljust(REQUEST))
                for pause in MORE.get(what, ()):
                    time.sleep(pause or PAUSE)
                    sock.send(b" " * REQUEST)
                wait_for(sock, what)
                counts[kind] = counts.get(kind, 0) + 1
    return counts


def ask_datagrams(where):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(where)
        for i in range(ROUNDS * 3):
            sock.send(b"-bad" if i % 3 else b"+good")
            sock.recv(REQUEST)
    return {"bad": ROUNDS * 2, None: ROUNDS}


def total(daemon, name, metric, moment):
    return daemon.row_after(name, metric, moment)[1]


def weighted(daemon, name, kind):
    """By the shares of a class: how many there were."""
    totals = dict(row[:2] for row in daemon.rows(name, "total_requests"))
    stamps = sorted(totals)
    grown = {now: totals[now] - totals[before] for before, now in zip(stamps, stamps[1:])}
    shares = [row[:2] for row in daemon.rows(name, f"percent-response-{kind}") if row[1] == row[1]]
    return sum(share / 100 * grown.get(stamp, 0) for stamp, share in shares)


def check_service(test, what, daemon, name, counts, moment):
    test.equal(f"{what}: {name}: requests", total(daemon, name, "total_requests", moment), sum(counts.values()))
    for kind, count in counts.items():
        if kind:
            test.equal(f"{what}: {name}: {kind}", total(daemon, name, f"total_requests-{kind}", moment), count)
            test.close(f"{what}: {name}: {kind} by its shares", weighted(daemon, name, kind), count, slack=0.6)


def longest(daemon, name, kind):
    rows = daemon.rows(name, f"latency-service-{kind}-average")
    return max((row[1] for row in rows if row[1] == row[1]), default=0)


def check(test, tier, daemon, counts, moment):
    what = f"tier {tier}"
    for name in ("http", "udp"):
        check_service(test, what, daemon, name, counts[name], moment)
    test.within(f"{what}: service time of slow, s", longest(daemon, "http", "slow"), PAUSE, 2 * PAUSE * SLOWNESS)
    test.within(f"{what}: service time of 4xx, s", longest(daemon, "http", "4xx"), 0, PAUSE / 2 * SLOWNESS)
    named = [one for one in daemon.metrics("plain") if one.startswith(("total_requests-", "percent-response", "latency-service-"))]
    test.equal(f"{what}: a service without Response: classes", named, [])
    test.equal(f"{what}: complaints", daemon.complaints(), [])


def main():
    with Test(limit=120) as test:
        where = {name: start(test, name) for name in SERVICES}
        daemons = {tier: test.collectd(CONF.format(tier=tier, **RESPONSES), interval=INTERVAL,
                                       wrap=in_mounts(WITH_TRACEFS))
                   for tier in TIERS}
        for tier, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(tier))
        test.true(f"tiers: {set(daemons)}", daemons)
        counts = {"http": ask(where["http"]), "udp": ask_datagrams(where["udp"]), "plain": ask(where["plain"])}
        moment = time.time()
        for tier, daemon in daemons.items():
            check(test, tier, daemon, counts, moment)


if __name__ == "__main__":
    main()

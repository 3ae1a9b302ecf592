#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Handshakes of TLS: how many, the wait of the requests behind them in the accept queue, and whether HTTP/2 is inside.

Truth: what the test's own servers and clients do, and their clocks. The limits are wide: a wait is lost or it is not.
"""

import ctypes
import json
import math
import os
import shutil
import socket
import ssl
import struct
import threading
import time
from dataclasses import dataclass

from lib import SLOWNESS, WITH_TRACEFS, Skip, Test, die_with_test, in_mounts, without
from request_hook_sets import HOOK_SETS, KNOWS_ARRIVAL, gets
from tls import CHANGE_CIPHER_SPEC, DATA, HANDSHAKE, Chunks, Records, client_context, make_certificate, server_context

PR_SET_NAME = 15
INTERVAL = 0.5 if SLOWNESS < 2 else 2
WORK = 0.03 * SLOWNESS  # seconds
IDLE = 1.5 if SLOWNESS < 2 else 4  # seconds, of a connection that is opened in advance
CLIENTS = 10            # at the same time, of a server with one thread
ADVANCE = 2
SIZE = 64
VERSIONS = {"12": ssl.TLSVersion.TLSv1_2, "13": ssl.TLSVersion.TLSv1_3}
QUEUES = {"clear": None, **{"queue" + name: version for name, version in VERSIONS.items()}}
HTTP1, HTTP2, BOTH = ["http/1.1"], ["h2"], ["h2", "http/1.1"]


@dataclass(frozen=True)
class Choice:
    """Connections whose client offers protocols of which the server chooses one."""
    version: str
    offers: list
    chooses: list
    piece: int = None   # bytes that a client sends in a call
    chunks: bool = False  # the server receives all that is there
    named: bool = False  # the server confirms its name
    retry: bool = False  # it wants another key than the client guessed
    resumes: bool = False

    @property
    def unread(self):
        return "h2" in self.offers and self.chooses[:1] == HTTP2


def choices_of(version):
    return {
        "two": Choice(version, BOTH, BOTH),
        "one": Choice(version, BOTH, HTTP1),
        "none": Choice(version, BOTH, []),
        "other": Choice(version, ["postgresql"], ["postgresql"]),  # of the length of "h2" and two empty extensions
        "http1": Choice(version, HTTP1, BOTH[::-1]),
        "drip": Choice(version, BOTH, BOTH, piece=1, chunks=True),
        "split": Choice(version, BOTH, BOTH, piece=150),
        "named": Choice(version, BOTH, BOTH, named=True),
        "named1": Choice(version, BOTH, HTTP1, named=True),
        "resume": Choice(version, BOTH, BOTH, resumes=True),
    }


CHOICES = {name + version: choice for version in VERSIONS for name, choice in choices_of(version).items()}
CHOICES["retry13"] = Choice("13", BOTH, BOTH, retry=True)
CONNECTIONS = 2  # of each
# Does the client of an imitated TLS 1.3 offer HTTP/2, and the lengths of what both sides send after its start;
# EncryptedExtensions is no record of its own.
FINISHED, ACKNOWLEDGED = 53, 26
IMITATIONS = {
    "packed2": (True, (("<", (1200,)), (">", (FINISHED, 120)), ("<", (60,)), (">", (ACKNOWLEDGED,)), ("<", (200,)))),
    "packed1": (True, (("<", (1200,)), (">", (FINISHED, 120, ACKNOWLEDGED)), ("<", (200,)), (">", (120,)), ("<", (200,)))),
    "packed": (False, (("<", (1200,)), (">", (FINISHED, 120)), ("<", (60,)), (">", (ACKNOWLEDGED,)), ("<", (200,)))),
}
OTHERS = ("ahead12", "ahead13", "refuse12", "refuse13")
NAMES = (*QUEUES, *OTHERS, *CHOICES, *IMITATIONS)
CONF = "".join(f"""
  <Service "{name}">
    Process "kt_h_{name}"
  </Service>""" for name in NAMES) + without("delay", "poll", "process") + """
  <Probe "request">
    Collect "default" "total_connections-unread" "total_connections-tls_handshakes" "gauge-tls_handshake" "latency-wait"
    HookSet {}
    Option "syscalls"
  </Probe>"""


# --- servers

class Server:
    """A process with one thread, which serves a connection after the other."""

    def __init__(self, test, name, serve):
        self.path = os.path.join(test.dir, "log-" + name)
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.where = listener.getsockname()
        if os.fork() == 0:
            die_with_test()
            ctypes.CDLL(None).prctl(PR_SET_NAME, test.own("kt_h_" + name).encode(), 0, 0, 0)
            with open(self.path, "a", encoding="ascii", buffering=1) as self.log:
                while True:
                    sock = listener.accept()[0]
                    try:
                        serve(self, sock)
                    except OSError:  # ssl.SSLError, too
                        sock.close()
        listener.close()

    def waits(self):
        """Of each request, from what its client says to its receive."""
        with open(self.path, encoding="ascii") as log:
            return [json.loads(line) for line in log]


def serve_requests(end_of):
    """Requests that say since when their clients wait."""
    def serve(server, sock):
        end = end_of(sock)
        while data := end.read(SIZE):
            server.log.write(json.dumps(time.time() - float(data.split()[0])) + "\n")
            time.sleep(WORK)
            end.write(b"x" * SIZE)
        end.close()
    return serve


def serve_choice(choice, context):
    def serve(_, sock):
        end = (Chunks if choice.chunks else Records)(sock, context, server_side=True)
        while end.read(SIZE):
            end.write(b"x" * SIZE)
        end.close()
    return serve


class Plain:
    """An end without TLS."""

    def __init__(self, sock):
        self.read, self.write, self.close = sock.recv, sock.sendall, sock.close


def context_of(certificate, choice):
    context = server_context(certificate, VERSIONS[choice.version], curve="secp384r1" if choice.retry else None)
    if choice.chooses:
        context.set_alpn_protocols(choice.chooses)
    if choice.named:
        context.sni_callback = lambda *_: None
    return context


# --- clients

def request(where, end_of, since=None, idle=0.0):
    sock = socket.create_connection(where)
    sock.settimeout(60 * SLOWNESS)  # it waits in poll: hook set 4 misses calls where many threads wait in a receive
    end = end_of(sock)
    time.sleep(idle)
    end.write(str(since or time.time()).encode().ljust(SIZE))
    end.read(SIZE)
    end.close()


def crowd(server, end_of):
    """All at once."""
    threads = [threading.Thread(target=request, args=(server.where, end_of, time.time())) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ends_of(context):
    return Plain if context is None else lambda sock: Records(sock, context)


def choose(server, choice, certificate):
    """The second request is in two records, the latter of the length of a SETTINGS frame."""
    context, session = client_context(certificate, VERSIONS[choice.version]), None
    context.set_alpn_protocols(choice.offers)
    for _ in range(CONNECTIONS):
        end = Chunks(socket.create_connection(server.where), context, piece=choice.piece,
                     session=session if choice.resumes else None)
        for pieces in ((b"r" * SIZE,), (b"r" * (SIZE - 9), b"123456789")):
            end.write(*pieces)
            end.read(SIZE)
        session = end.tls.session
        end.close()


def refuse(server, version):
    """A client that does not trust the server's certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.minimum_version = context.maximum_version = version
    try:
        Records(socket.create_connection(server.where), context)
    except ssl.SSLError:
        pass


# --- an imitation

def record(kind, data):
    return struct.pack(">BHH", kind, 0x303, len(data)) + data


def extension(kind, data):
    return struct.pack(">HH", kind, len(data)) + data


def hello(kind, extensions):
    """A ClientHello or ServerHello."""
    lists = b"\0\x04\x13\x01\x13\x02\x01\0" if kind == 1 else b"\x13\x01\0"
    body = b"\x03\x03" + bytes(32) + b"\x20" + bytes(32) + lists + struct.pack(">H", len(extensions)) + extensions
    return record(HANDSHAKE, struct.pack(">I", kind << 24 | len(body)) + body)


def start_of(offered):
    names = b"\x08http/1.1" + (b"\x02h2" if offered else b"")
    return hello(1, extension(10, bytes(40)) + extension(16, struct.pack(">H", len(names)) + names) +
                 extension(43, b"\x02\x03\x04"))


SERVER_START = hello(2, extension(43, b"\x03\x04") + extension(51, bytes(36))) + record(CHANGE_CIPHER_SPEC, b"\x01")


def imitate(sock, client, offered, flights):
    """What the client has sent is received as a whole before the server goes on."""
    first = start_of(offered)
    if client:
        sock.sendall(first)
    else:
        sock.recv(len(first), socket.MSG_WAITALL)
    for who, lengths in flights:
        data = b"".join(record(DATA, bytes(length)) for length in lengths)
        if who == "<" and lengths == flights[0][1]:
            data = SERVER_START + data
        if (who == ">") == client:
            sock.sendall(data)
        else:
            for length in lengths if who == ">" else (len(data),):
                sock.recv(length + 5 if who == ">" else length, socket.MSG_WAITALL)
    sock.close()


# --- checks

def time_of(daemon, name):
    """Of all requests that waited, after the first reading."""
    rows = daemon.rows(name, "gauge-requests_waiting")
    return sum(value * (now - before) for (before, _), (now, value) in zip(rows, rows[1:]) if value == value)


def mean(daemon, name, metric, counter):
    """Of all that the counter counts. A response that may go on is measured a reading after it was counted."""
    values, measured, total = dict(daemon.rows(name, metric)), 0, 0
    for moment, count in daemon.rows(name, counter):
        if count > measured and not math.isnan(values[moment]):
            total += values[moment] * (count - measured)
            measured = count
    return total / measured


def check_waits(test, hook_set, daemon, servers, moment):
    """With TLS as in clear."""
    for name in QUEUES:
        wants = servers[name].waits()
        gets(daemon, name, "total_requests", CLIENTS + 1, moment)
        daemon.row_after(name, "gauge-requests_waiting", time.time())
        waited = time_of(daemon, name)
        test.within(f"hook set {hook_set}: {name}: time of all that waited, s", waited, 0.5 * sum(wants), 1.2 * sum(wants))
        for metric, want in (("latency-wait", sum(wants) / len(wants)),
                             ("latency-response", sum(wants) / len(wants) + WORK)):
            got = mean(daemon, name, metric + "-average", "total_requests")
            test.within(f"hook set {hook_set}: {name}: {metric}-average, s", got, 0.5 * want, 1.2 * want)
    for name in OTHERS[:2]:
        got = max(row[1] for row in daemon.rows(name, "latency-response-percentile-99") if row[1] == row[1])
        test.within(f"hook set {hook_set}: {name}: the greatest latency-response, s", got, 0.9 * WORK, IDLE / 2)
        waited = time_of(daemon, name)
        test.within(f"hook set {hook_set}: {name}: time of all that waited, s", waited, 0, ADVANCE * IDLE / 2)


def check_counts(test, hook_set, daemon, servers, moment):
    wants = {name: CONNECTIONS for name in CHOICES} | dict.fromkeys(IMITATIONS, 1) | {"clear": 0} | dict.fromkeys(
        ("queue12", "queue13"), CLIENTS + 1) | dict.fromkeys(OTHERS, 0) | dict.fromkeys(OTHERS[:2], ADVANCE + 1)
    for name, want in wants.items():
        test.equal(f"hook set {hook_set}: {name}: handshakes",
                   gets(daemon, name, "total_connections-tls_handshakes", want, moment), want)
    wants = {name: CONNECTIONS * choice.unread for name, choice in CHOICES.items()} | {
        "packed2": 1, "packed1": 0, "packed": 0} | dict.fromkeys(OTHERS, 0)
    for name, want in wants.items():
        test.equal(f"hook set {hook_set}: {name}: connections unread",
                   gets(daemon, name, "total_connections-unread", want, moment), want)
    if hook_set not in KNOWS_ARRIVAL:
        return
    for name in ("queue12", "queue13"):
        # Nearly all of the wait is before the end of the handshake.
        want = sum(servers[name].waits()) / (CLIENTS + 1)
        got = mean(daemon, name, "gauge-tls_handshake", "total_connections-tls_handshakes")
        test.within(f"hook set {hook_set}: {name}: duration of a handshake, s", got, 0.5 * want, 1.2 * want)
    for name in OTHERS[:2]:
        got = mean(daemon, name, "gauge-tls_handshake", "total_connections-tls_handshakes")
        test.within(f"hook set {hook_set}: {name}: duration of a handshake, s", got, 1e-6, IDLE / 2)


# --- the whole

def start_servers(test, certificate):
    servers = {}
    for name, version in (*QUEUES.items(), *((name, VERSIONS[name[-2:]]) for name in OTHERS)):
        context = version and server_context(certificate, version)
        servers[name] = Server(test, name, serve_requests(
            Plain if context is None else lambda sock, context=context: Records(sock, context, server_side=True)))
    for name, choice in CHOICES.items():
        servers[name] = Server(test, name, serve_choice(choice, context_of(certificate, choice)))
    for name, (offered, flights) in IMITATIONS.items():
        servers[name] = Server(test, name, lambda _, sock, offered=offered, flights=flights: imitate(
            sock, False, offered, flights))
    return servers


def start_daemons(test):
    daemons = {hook_set: test.collectd(CONF.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS))
               for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
            test.stop(daemons.pop(hook_set))
    test.true(f"hook sets: {set(daemons)}", daemons)
    return daemons


def talk(servers, daemons, certificate):
    contexts = {version: client_context(certificate, version) for version in VERSIONS.values()}
    first = {**QUEUES, **{name: VERSIONS[name[-2:]] for name in OTHERS[:2]}}
    for name, version in first.items():
        request(servers[name].where, ends_of(contexts.get(version)))
    moment = time.time()
    for daemon in daemons:
        for name in first:
            daemon.row_after(name, "gauge-requests_waiting", moment)
    for name, version in QUEUES.items():
        crowd(servers[name], ends_of(contexts.get(version)))
    for name in OTHERS[:2]:
        for _ in range(ADVANCE):
            request(servers[name].where, ends_of(contexts[VERSIONS[name[-2:]]]), idle=IDLE)
    for name in OTHERS[2:]:
        refuse(servers[name], VERSIONS[name[-2:]])
    for name, choice in CHOICES.items():
        choose(servers[name], choice, certificate)
    for name, (offered, flights) in IMITATIONS.items():
        imitate(socket.create_connection(servers[name].where), True, offered, flights)


def main():
    with Test(limit=150) as test:
        if not shutil.which("openssl"):
            raise Skip("openssl is not installed")
        certificate = make_certificate(os.path.join(test.dir, "certificate"))
        servers = start_servers(test, certificate)
        daemons = start_daemons(test)
        talk(servers, daemons.values(), certificate)
        moment = time.time()
        for hook_set, daemon in daemons.items():
            check_counts(test, hook_set, daemon, servers, moment)
            if hook_set in KNOWS_ARRIVAL:
                check_waits(test, hook_set, daemon, servers, moment)


if __name__ == "__main__":
    main()

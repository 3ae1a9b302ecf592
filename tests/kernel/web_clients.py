# SPDX-License-Identifier: MIT
"""Clients of web servers that count exactly: each function returns the number of responses, and fails if one was wrong or
missing."""

import http.client
import json
import re
import socket
import ssl
import struct
import subprocess

from need import require
from process import Process

LIMIT_S = 60
VERSIONS = {"tls1.2": ssl.TLSVersion.TLSv1_2, "tls1.3": ssl.TLSVersion.TLSv1_3}


class Wrong(Exception):
    """A client reports an error."""


def _run(*argv, pattern=None):
    """Runs a client. Returns its output, or the match of the expression in it."""
    require(argv[0])
    done = subprocess.run(list(map(str, argv)), capture_output=True, text=True, timeout=LIMIT_S, check=False)
    found = re.search(pattern, done.stdout, re.MULTILINE) if pattern else done.stdout
    if done.returncode or not found:
        raise Wrong(f"{argv}: {done.stdout[-500:]}{done.stderr[-500:]}")
    return found


def _connect(port):
    made = socket.create_connection(("127.0.0.1", port))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


# HTTP/2 by h2load and nghttp

def h2load(url, requests, connections, streams, *more):
    """All connections at once, as fast as responses come."""
    said = _run("h2load", "-n", requests, "-c", connections, "-m", streams, *more, url,
                pattern=r"^requests: (\d+) total, \d+ started, \d+ done, (\d+) succeeded")
    if said[1] != said[2]:
        raise Wrong(f"h2load: {said[0]}")
    return int(said[2])


def h2load_log(path):
    """[(start, end)] of each request, in seconds since the epoch."""
    with open(path, encoding="ascii") as log:
        rows = [tuple(map(int, line.split()[:3])) for line in log]
    if any(status != 200 for _, status, _ in rows):
        raise Wrong(f"h2load: {sum(status != 200 for _, status, _ in rows)} answers are none")
    return [(begin / 1e6, (begin + duration) / 1e6) for begin, _, duration in rows]


def nghttp(url, connections, requests, *more):
    """On one connection after the other, so many requests at once."""
    responses = []
    for _ in range(connections):
        said = _run("nghttp", "-n", "-s", "-m", requests, *more, url)
        responses += re.findall(r"^ *\d+ .* (\d{3}) +\d", said, re.MULTILINE)
    if responses != ["200"] * connections * requests:
        raise Wrong(f"nghttp: {responses}")
    return len(responses)


# HTTP/2 on a persistent connection

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = END_STREAM = 1
END_HEADERS = 4
INITIAL_WINDOW_SIZE = 4
WINDOW, FIRST_WINDOW = (1 << 31) - 1, 65535
# HPACK: GET and http from the static table, then literals for the path and the authority.
GET_PAGE = b"\x82\x86\x04\x05/page\x01\x09localhost"


def _frame(kind, flags, stream, payload=b""):
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


class Http2:
    """A connection with windows so large that nothing waits for flow control."""

    def __init__(self, port):
        self._socket = _connect(port)
        self._input = self._socket.makefile("rb")
        self._stream = -1
        self._socket.sendall(PREFACE + _frame(SETTINGS, 0, 0, struct.pack("!HI", INITIAL_WINDOW_SIZE, WINDOW)) +
                             _frame(WINDOW_UPDATE, 0, 0, struct.pack("!I", WINDOW - FIRST_WINDOW)))

    def ask(self, streams, times=1):
        """Sends so many requests with one call, and repeats that when all have responses."""
        for _ in range(times):
            numbers = range(self._stream + 2, self._stream + 2 + 2 * streams, 2)
            self._stream = numbers[-1]
            self._socket.sendall(b"".join(_frame(HEADERS, END_STREAM | END_HEADERS, number, GET_PAGE)
                                          for number in numbers))
            ended = 0
            while ended < streams:
                ended += self._read_frame()
        return streams * times

    def _read_frame(self):
        """Reads a frame. Returns whether it ends a stream."""
        head = self._input.read(9)
        if len(head) < 9:
            raise Wrong("the server has closed the connection")
        length, kind, flags = struct.unpack("!I", b"\0" + head[:3])[0], head[3], head[4]
        payload = self._input.read(length)
        if kind in (RST_STREAM, GOAWAY):
            raise Wrong(f"a frame of type {kind}: {payload!r}")
        if kind in (SETTINGS, PING) and not flags & ACK:
            self._socket.sendall(_frame(kind, ACK, 0, payload if kind == PING else b""))
        return kind in (DATA, HEADERS) and bool(flags & END_STREAM)

    def close(self):
        self._input.close()
        self._socket.close()


# gRPC

class Grpc:
    """The client of tests/measure/accuracy, with so many connections and at most so many requests at once on each."""

    def __init__(self, program, port, connections, streams):
        self._process = Process([program, port, connections, streams, 1000], talks=True)
        self._process.hear()

    def ask(self, seconds):
        return json.loads(self._process.ask(f"0 {seconds}"))["sent"]

    def close(self):
        self._process.end()


# TLS

def python(port, version, connections, each, resume=False):
    """So many requests on each connection, one connection after the other. resume: reuses the first connection's session."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = VERSIONS[version]
    session, resumed = None, 0
    for _ in range(connections):
        client = http.client.HTTPConnection("127.0.0.1", port)
        client.sock = tls = context.wrap_socket(_connect(port), session=session)
        resumed += tls.session_reused
        for left in reversed(range(each)):
            client.request("GET", "/page", headers={} if left else {"Connection": "close"})
            response = client.getresponse()
            if resume:
                session = session or tls.session    # in TLS 1.3 it comes after the handshake
            if response.status != 200 or not response.read():
                raise Wrong(f"status {response.status}")
        client.close()
    if resumed != (connections - 1 if resume else 0):
        raise Wrong(f"{resumed} of {connections} connections took up a session")
    return connections * each


def s_time(port, version, how):
    """A new connection for each request, for a second. how: -new or -reuse; the latter has one more connection."""
    said = _run("openssl", "s_time", "-connect", f"127.0.0.1:{port}", "-www", "/page", "-time", 1, how,
                "-" + version.replace(".", "_"), pattern=r"^(\d+) connections in \d+ real seconds")
    return int(said[1]) + (how == "-reuse")


def curl(url, requests, *more):
    """One request after the other, by default on one connection."""
    said = _run("curl", "-s", "-k", "-o", "/dev/null", "-w", "%{http_code}\\n", *more, f"{url}?[1-{requests}]")
    responses = said.split()
    if set(responses) != {"200"}:
        raise Wrong(f"curl: {responses}")
    return len(responses)


def ab(url, requests, connections, protocol, *more):
    said = _run("ab", "-q", "-n", requests, "-c", connections, "-f", protocol, *more, url,
                pattern=r"^Complete requests: *(\d+)\nFailed requests: *0$")
    return int(said[1])

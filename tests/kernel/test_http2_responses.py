#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Responses of HTTP/2 by class: statuses in HPACK, and calls that end with their first HEADERS, as in gRPC.

Truth: the frames that the server sends, which are in RESPONSES.
"""

import socket
import time

import responses
from lib import SLOWNESS, Test, without
from request_hook_sets import IN_SOCKET

INTERVAL = 0.5 if SLOWNESS < 2 else 2
CONF = """
  <Service "http2">
    Process "kt_http2"
    Response "slow" "HTTP/2 503"
    Response "5xx" "HTTP/2 5"
    Response "4xx" "HTTP/2 4"
    Response "ended" "HTTP/2 ??? end"
  </Service>
""" + without("delay", "poll") + """
  <Probe "request">
    HookSet {hooks}
  </Probe>"""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS = 0, 1, 3, 4
END_STREAM, END_HEADERS, PADDED, PRIORITY = 1, 4, 8, 32
PAUSE = 0.1  # seconds
ROUNDS = 3
TIMES = 2

# Responses, by index: the server's frames (type, flags, payload; or a float: seconds to wait), and the class.
LAST = (DATA, END_STREAM, b"text")
RESPONSES = [
    ([(HEADERS, 0, b"\x88\x5a\x04text"), LAST], None),
    ([(HEADERS, 0, b"\x8e\x5a\x04text"), LAST], "5xx"),
    ([(HEADERS, 0, b"\x8d"), LAST], "4xx"),
    ([(HEADERS, END_STREAM, b"\x8d")], "4xx"),
    ([(HEADERS, END_STREAM, b"\x88")], "ended"),
    ([(HEADERS, END_STREAM, b"\xbe")], "ended"),
    ([(HEADERS, 0, b"\x20\x3f\xe1\x1f\x8e"), LAST], "5xx"),
    ([(HEADERS, PADDED, b"\x02\x8e\0\0"), LAST], "5xx"),
    ([(HEADERS, PADDED | PRIORITY, b"\x01\0\0\0\0\x10\x8c\0"), LAST], "4xx"),
    ([(HEADERS, 0, b"\x48\x03502"), LAST], "5xx"),
    ([(HEADERS, 0, b"\x08\x03404"), LAST], "4xx"),
    ([(HEADERS, 0, b"\x18\x03302"), LAST], None),
    ([(HEADERS, 0, b"\x48\x82\x64\x02"), LAST], "unknown"),
    ([(HEADERS, 0, b"\x48\x0350x"), LAST], "unknown"),
    ([(HEADERS, 0, b"\xbe"), LAST], "unknown"),
    ([(HEADERS, 0, b"\x88"), LAST[:1] + (0,) + LAST[2:], (HEADERS, END_STREAM, b"\x8e")], None),
    ([(HEADERS, 0, b"\x48\x03103"), (HEADERS, 0, b"\x8d"), LAST], "4xx"),
    ([(HEADERS, 0, b"\x08\x03503"), PAUSE, LAST], "slow"),
    ([(HEADERS, 0, b"\x8e"), (RST_STREAM, 0, bytes(4))], "5xx"),
]


def frame(kind, flags, stream, payload):
    flags |= END_HEADERS if kind == HEADERS else 0
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def frames(file):
    """Yields (type, flags, stream, payload) of each frame, up to the end of the connection."""
    while head := file.read(9):
        yield head[3], head[4], int.from_bytes(head[5:], "big"), file.read(int.from_bytes(head[:3], "big"))


def respond(sock):
    """Sends each response frame by frame."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    file = sock.makefile("rb")
    file.read(len(PREFACE))
    sock.sendall(frame(SETTINGS, 0, 0, b""))
    for kind, _, stream, payload in frames(file):
        if kind != HEADERS:
            continue
        for part in RESPONSES[payload[-1]][0]:
            if isinstance(part, float):
                time.sleep(part)
            else:
                sock.sendall(frame(part[0], part[1], stream, part[2]))


def ask(where):
    """Requests all responses several times, one after the other. Returns the number for each class."""
    counts = {}
    with socket.create_connection(where) as sock, sock.makefile("rb") as file:
        sock.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
        got = frames(file)
        stream = 1
        for _ in range(ROUNDS):
            for i, (_, kind) in enumerate(RESPONSES):
                sock.sendall(frame(HEADERS, END_STREAM, stream, b"\x82\x86\x84\x04" + bytes((1, i))))
                while not any((what == RST_STREAM or flags & END_STREAM) and of == stream
                              for what, flags, of, _ in (next(got),)):
                    pass
                stream += 2
                counts[kind] = counts.get(kind, 0) + 1
        responses.finish(sock)
    return counts


def main():
    with Test(limit=90) as test:
        where = responses.start(test, "kt_http2", responses.serve_each(respond))
        daemons = {hook_set: test.collectd(CONF.format(hooks=hook_set), interval=INTERVAL) for hook_set in IN_SOCKET}
        for hook_set, daemon in list(daemons.items()):
            if not daemon.wait_rows("self", "count-tier_request")[-1][1]:
                test.stop(daemons.pop(hook_set))
        test.true(f"hook sets: {set(daemons)}", daemons)
        counts, moment = responses.ask_times(daemons.values(), TIMES, lambda: ask(where))
        for hook_set, daemon in daemons.items():
            what = f"hook set {hook_set}"
            responses.check(test, what, daemon, "http2", counts, TIMES, moment)
            responses.check_times(test, what, daemon, "http2", PAUSE, SLOWNESS)
            test.equal(f"{what}: complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

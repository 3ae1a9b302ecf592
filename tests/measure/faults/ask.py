#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of a service that speaks HTTP, with its own clock.

ask.py PORT USERS THINK PATHS

A line "SECONDS keep|close" makes it ask for that long: each of USERS threads a request, and another one when it has
had the answer and has thought for THINK seconds on average; on one connection, or on a new one for each request. It
answers in the words of load.c; `stalled` is the time from the first bytes of an answer to the last.
"""

import http.client
import json
import random
import socket
import sys
import threading
import time

PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path, way):
        """Seconds until the first bytes of the answer, and from these to the last."""
        begin = time.monotonic()
        self.socket.sendall(b"GET /%d HTTP/1.1\r\nHost: localhost\r\nConnection: %b\r\nX-Sent: %f\r\n\r\n"
                            % (path, way, begin))
        reply, first = self.socket.recv(65536), time.monotonic()
        while b"\r\n\r\n" not in reply:
            reply += self._receive()
        head, _, body = reply.partition(b"\r\n\r\n")
        if b" 200 " not in head[:15]:
            raise http.client.HTTPException(head)
        missing = int(head.lower().partition(b"content-length:")[2].split()[0]) - len(body)
        while missing > 0:
            missing -= len(self._receive())
        return first - begin, time.monotonic() - first

    def _receive(self):
        some = self.socket.recv(65536)
        if not some:
            raise ConnectionError("an answer has an early end")
        return some


def use(options, end, keeps, answered):
    """Appends (end, seconds, stalled) of each request."""
    port, think, paths = options
    connection = None
    while time.monotonic() < end:
        connection = connection or Connection(port)
        first, stalled = connection.ask(random.randrange(paths), b"keep-alive" if keeps else b"close")
        answered.append((first + stalled, stalled))
        if not keeps:
            connection.socket.close()
            connection = None
        time.sleep(random.expovariate(1 / think))


def record(values):
    values = sorted(values)
    count = len(values)
    return {"count": count, "average": sum(values) / max(count, 1),
            **{name: values[int(share * (count - 1))] for name, share in PERCENTILES.items() if values}}


def ask(options, users, seconds, keeps):
    begin, answered = time.time(), []
    threads = [threading.Thread(target=use, args=(options, time.monotonic() + seconds, keeps, answered))
               for _ in range(users)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"begin": begin, "end": time.time(), "latency": record([row[0] for row in answered]),
            "stalled": record([row[1] for row in answered])}


def main(port, users, think, paths):
    print("ready", flush=True)
    for line in sys.stdin:
        seconds, way = line.split()
        print(json.dumps(ask((int(port), float(think), int(paths)), int(users), float(seconds), way == "keep")),
              flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

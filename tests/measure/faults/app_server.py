#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An application on the standard library's ThreadingHTTPServer, a thread for each connection.

app_server.py PORT work SECONDS    each answer takes so much CPU time; SIGUSR1: another thread computes until SIGUSR2
app_server.py PORT sleep SECONDS   sleeps
app_server.py PORT ask PORT        asks another one, waits for its answer, and answers
app_server.py PORT KIND SECONDS    waits for something else, see app_work.py

A line "wait SECONDS" changes how long. Every line is answered with its figures so far: requests, and seconds of its
handlers: elapsed (wall), on a CPU, and in what they wait for. A request that says when it was sent (X-Sent, by the clock
CLOCK_MONOTONIC) counts from then.
"""

import http.client
import http.server
import json
import os
import signal
import sys
import threading
import time

import app_work

figures = dict.fromkeys(("requests", "wall", "cpu", "waited"), 0)
counting = threading.Lock()
reporting = threading.Event()
local = threading.local()


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(2000))


def report():
    while reporting.is_set():
        sum(range(2000))


def start_report(*_signal):
    reporting.set()
    threading.Thread(target=report, daemon=True).start()


def ask(port):
    if not hasattr(local, "connection"):
        local.connection = http.client.HTTPConnection("127.0.0.1", port)
    local.connection.request("GET", "/")
    local.connection.getresponse().read()


KINDS = {"work": lambda: compute, "sleep": lambda: time.sleep, "ask": lambda: lambda port: ask(int(port)), **app_work.KINDS}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1   # header and body together
    wait = amount = None

    def setup(self):
        super().setup()
        self.idle = time.thread_time()  # when this thread had no request

    def do_GET(self):   # pylint: disable=invalid-name
        # From when the client has sent it: a thread that has received may wait for the interpreter's lock first.
        begin = float(self.headers.get("X-Sent") or time.monotonic())
        waited = self._wait()
        body = 1000 * b"x"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        wall = time.monotonic() - begin     # what comes after the answer is sent is not the request's
        self.wfile.flush()
        self._count(wall, waited)

    @staticmethod
    def _wait():
        begin = time.monotonic()
        waited = Handler.wait(Handler.amount)
        return waited if isinstance(waited, float) else time.monotonic() - begin

    def _count(self, wall, waited):
        now = time.thread_time()
        with counting:
            for name, value in zip(figures, (1, wall, now - self.idle, waited)):
                figures[name] += value
        self.idle = now

    def log_message(self, *_words):     # pylint: disable=arguments-differ
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main(port, kind, amount):
    Handler.wait, Handler.amount = KINDS[kind](), float(amount)
    signal.signal(signal.SIGUSR1, start_report)
    signal.signal(signal.SIGUSR2, lambda *_: reporting.clear())
    server = Server(("127.0.0.1", int(port)), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin:
        if line.startswith("wait"):
            Handler.amount = float(line.split()[1])
        print(json.dumps(figures), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

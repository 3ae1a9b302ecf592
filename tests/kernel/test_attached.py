#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs are attached one after the other. A request of that time may be seen without its response, or the other way round:
it does not stay in progress on a connection that is idle from then on. Where programs are attached to functions, as by Linux 6.1,
that takes long enough for some requests; elsewhere it is seen that the probe knows since when all are attached.

Truth: each connection has one request, whose response the client has received.
"""

import itertools
import os
import re
import resource
import selectors
import socket
import subprocess
import threading
import time

import bpf_objects
from lib import SLOWNESS, Test, die_with_test
from test_request_roles import rename

INTERVAL = 0.5 if SLOWNESS < 2 else 1
PAUSE_S = 0.0004    # between two requests
SPARE = 300         # descriptors
CONNECTIONS_MAX = 60000
CONF = """
  <Service "idle">
    Process "kt_idle"
  </Service>
  <Service "client">
    Process "kt_client"
  </Service>
  <Probe "request">
    Option "clients"
  </Probe>
"""


def serve(listener):
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is listener:
                    selector.register(listener.accept()[0], selectors.EVENT_READ)
                elif key.fileobj.recv(100):
                    key.fileobj.send(b"response")


class Client:
    """Asks once on each of its connections, then again on the last one, until it is told to stop."""

    def __init__(self, where, count):
        self.connections = [socket.socket(socket.AF_UNIX) for _ in range(count)]
        for one in self.connections:
            one.connect(where)
        self.requested, self.has_ended = 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        for one in itertools.chain(self.connections, itertools.repeat(self.connections[-1])):
            if self.has_ended:
                return
            one.send(b"request")
            one.recv(100)
            self.requested += 1
            time.sleep(PAUSE_S)

    def stop(self):
        self.has_ended = True
        self.thread.join()


def attached_ns(daemon):
    """The variable of the probe request, by bpftool."""
    maps = {number for kind, number in bpf_objects.of_process(daemon.process.pid) if kind == "map"}
    number = next(shown["id"] for shown in bpf_objects.show("map", maps) if shown.get("name") == "request.bss")
    dump = subprocess.run([bpf_objects.BPFTOOL, "-j", "map", "dump", "id", str(number)], capture_output=True, text=True, check=True)
    return int(re.search(r'"attached_ns": ?"?(\d+)', dump.stdout)[1])


def main():
    with Test(limit=120) as test:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        where = os.path.join(test.dir, "idle")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
        listener.listen(4096)
        if os.fork() == 0:
            die_with_test()
            rename(test, "kt_idle")
            serve(listener)
        rename(test, "kt_client")
        client = Client(where, min(most - SPARE, CONNECTIONS_MAX))
        began_ns = time.monotonic_ns()
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("idle", "total_requests", 2)
        client.stop()
        test.within("all programs are attached, s after the start", (attached_ns(daemon) - began_ns) / 1e9, 0, 3600)
        test.figures.within("requests while collectd starts", client.requested, 0, len(client.connections))
        moment = time.time()
        daemon.row_after("self", "duration-read_request", moment)
        for metric in ("gauge-requests_in_progress", "gauge-requests_oldest", "gauge-requests_waiting"):
            test.equal(metric, daemon.wait_rows("idle", metric, 2, moment)[-1][1], 0)
        upstreams = [metric for metric in daemon.metrics("client") if metric.startswith("gauge-requests_in_progress-upstream")]
        for metric in upstreams:
            test.equal(metric, daemon.wait_rows("client", metric, 2, moment)[-1][1], 0)
        test.true("the client has an upstream", upstreams)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a service leaves in the socket until it has responded, and discards after shutdown(SHUT_WR), is no request that has
waited. PHP does so with the end of each FastCGI request.
"""

import ctypes
import os
import socket
import time

from lib import SLOWNESS, Test, die_with_test, without

KINDS = {"tcp": socket.AF_INET, "unix": socket.AF_UNIX}
CONF = without("delay", "poll", "process") + "".join(f"""
  <Service "{kind}">
    Process "kt_d_{kind}"
  </Service>""" for kind in KINDS)
INTERVAL = 0.5 if SLOWNESS < 2 else 2
REQUESTS, SECONDS = 8, 0.2
PR_SET_NAME = 15


def serve(listener):
    while True:
        sock = listener.accept()[0]
        sock.recv(8)
        time.sleep(SECONDS)
        sock.send(b"x")
        sock.shutdown(socket.SHUT_WR)
        while sock.recv(8):
            pass
        sock.close()


def start(test, kind):
    """Returns its address."""
    listener = socket.socket(KINDS[kind])
    listener.bind(("127.0.0.1", 0) if kind == "tcp" else os.path.join(test.dir, kind))
    listener.listen(16)
    if os.fork() == 0:
        die_with_test()
        ctypes.CDLL(None).prctl(PR_SET_NAME, test.own(f"kt_d_{kind}").encode(), 0, 0, 0)
        try:
            serve(listener)
        finally:
            os._exit(1)
    return listener.getsockname()


def ask(kind, address):
    with socket.socket(KINDS[kind]) as sock:
        sock.connect(address)
        sock.send(bytes(16))
        while sock.recv(8):
            pass


def main():
    with Test() as test:
        addresses = {kind: start(test, kind) for kind in KINDS}
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 2)
        for kind, address in addresses.items():
            ask(kind, address)
        begin = time.time()
        before = {kind: daemon.exchanges(kind, begin)[0] for kind in KINDS}
        for _ in range(REQUESTS):
            for kind, address in addresses.items():
                ask(kind, address)
        end = time.time()
        for kind in KINDS:
            test.equal(f"{kind}: exchanges", daemon.exchanges(kind, end)[0] - before[kind], REQUESTS)
            progress, waiting = (sum(row[1] for row in daemon.rows(kind, f"gauge-requests_{which}") if row[0] > begin)
                                 for which in ("in_progress", "waiting"))
            test.true(f"{kind}: waiting {waiting:.2f}, in progress {progress:.2f}", waiting < progress / 2)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads that sleep in a system call with a request in hand are counted as such, others are not, and the triage names their
service and the call.

Truth: what the threads do (load_stuck.c).
"""

import os
import re
import socket
import sys

from lib import SLOWNESS, Test, without

sys.path.insert(0, os.path.join(os.environ["abs_top_srcdir"], "contrib", "lib"))
import live  # noqa: E402
from unit import NBSP  # noqa: E402

INTERVAL = 0.5 if SLOWNESS < 2 else 2
CONF = """
  <Service "stuck">
    Process "kt_stuck"
  </Service>
  <Service "unasked">
    Process "kt_unasked"
  </Service>
""" + without("disk", "poll", "tcp") + """
  <Probe "delay">
    Option "by_syscall"
    Frequency 100
    Budget 50
  </Probe>
"""
IDLE, LOCKED, UPSTREAM = 3, 5, 2    # threads that serve
ASIDE = 2                           # threads of the server that wait for the lock without a request
OF_ALL, IN_REQUESTS = "delay_rate-syscall-", "delay_rate-request_syscall-"
SETTLED = 3     # readings until all is counted that the clients have asked for


def listen():
    return socket.create_server(("127.0.0.1", 0))


def connect(port, request):
    client = socket.create_connection(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    client.sendall(request)
    return client


def ask(port):
    """Connections of requests: those that have a response, and those that have none."""
    clients = [connect(port, b"e") for _ in range(IDLE)]
    for client in clients:
        client.recv(1)
    return clients + [connect(port, b"l") for _ in range(LOCKED)] + [connect(port, b"u") for _ in range(UPSTREAM)]


def in_calls(daemon, service, begin, moment):
    """{call: threads} of one reading."""
    return {metric.removeprefix(begin): row[1] for metric in daemon.metrics(service) if metric.startswith(begin)
            for row in daemon.rows(service, metric) if row[0] == moment}


def check_triage(test, values):
    """values: by series, of one reading"""
    rows = live.rows({("h", "stuck"): {(file, "value"): value for file, value in values.items()}})
    finding = next(finding for finding in live.findings(rows)["h"] if finding.layer.name == "system_calls")
    said = finding.sentence().replace(NBSP, " ")
    share = re.search(r"^stuck has .*, most in flock (\d+) %", said)
    test.true("the triage names the service and the call", share, said)
    test.close("with its share", int(share[1]) if share else 0, 100 * LOCKED / (LOCKED + UPSTREAM), slack=5)
    test.close("with its threads", finding.tables[0].rows[0][1][0], LOCKED + UPSTREAM, rel=0.2)


def main():
    with Test(limit=60) as test:
        upstream = listen()
        loads = [test.load("stuck", os.path.join(test.dir, f"{name}.lock"), upstream.getsockname()[1], name="kt_" + name)
                 for name in ("stuck", "unasked")]
        port = loads[0].result()["port"]
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("stuck", OF_ALL + "flock")
        clients = ask(port)
        daemon.wait_rows("stuck", IN_REQUESTS + "flock")
        moment = daemon.wait_rows("stuck", IN_REQUESTS + "recvfrom", SETTLED)[-1][0]
        of_all, in_requests = (in_calls(daemon, "stuck", begin, moment) for begin in (OF_ALL, IN_REQUESTS))
        test.equal("calls in which requests wait", set(in_requests), {"flock", "recvfrom"})
        # Both are of the same samples, but for one that a reading meets.
        test.close("of the threads in flock, those with a request", in_requests["flock"] / of_all["flock"],
                   LOCKED / (LOCKED + ASIDE), slack=0.05)
        test.close("of those in recvfrom", in_requests["recvfrom"] / of_all["recvfrom"], UPSTREAM / (UPSTREAM + IDLE),
                   slack=0.05)
        check_triage(test, {begin + call: value for begin, found in ((OF_ALL, of_all), (IN_REQUESTS, in_requests))
                            for call, value in found.items()})
        test.true("a service without requests: threads in flock", in_calls(daemon, "unasked", OF_ALL, moment).get("flock"))
        test.equal("and requests", [metric for metric in daemon.metrics("unasked") if metric.startswith(IN_REQUESTS)], [])
        for client in clients:
            client.close()
        upstream.close()


if __name__ == "__main__":
    main()

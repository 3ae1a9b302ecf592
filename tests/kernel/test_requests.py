#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exchanges, bytes and percentiles of a service, for each kind of socket and each family of calls, with each set of
hooks that the kernel offers, all of them at once on the same requests, and of its clients.

Truth: the server's own log of each request (load_request.c) and its client's count.
"""

import math
import os
import subprocess
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, die_with_test, in_mounts, without
from request_hook_sets import KNOWS_ARRIVAL, OFFERED, HOOK_SETS, no_readings
from tls import kernel_has_tls

CONF = "\n".join(f"""
  <Service "{kind}">
    Process "kt_s_{kind}"
  </Service>
  <Service "{kind}_client">
    Process "kt_c_{kind}"
  </Service>""" for kind in ("tcp", "tcp6", "tls", "unix", "udp"))
PROBE = """
  ServicesFrom "commands"
""" + without("delay", "poll", "process") + """
  <Probe "request">
    HookSet {}
    Collect "default" "latency-service_first" "latency-service" "latency-client" "latency-wait"
    Option "syscalls"
    Option "clients"
  </Probe>"""

CALLS = ("read/write", "recv/send", "recvfrom/sendto", "recvmsg/sendmsg", "readv/writev", "recvmmsg/sendmmsg",
         "read/sendfile", "read/send with MSG_MORE")
CORK = len(CALLS) - 1
PERCENTILES = ("50", "90", "99")
INTERVAL = 0.5 if SLOWNESS < 2 else 8
ORDER = 100
BUCKET = 1 / 32  # half a bucket of the histogram, by its lower bound
SLACK = 30e-6 * SLOWNESS  # between the kernel's clock and the server's
WORK_US, LONG_WORK_US = 2000, 100000


class Pair:
    """A server and its client, with connections that are open before anything is asked."""

    def __init__(self, test, kind, connections):
        self.test = test
        self.kind = kind
        self.server = test.load("request", "server", kind, os.path.join(test.dir, kind), name=f"kt_s_{kind}")
        where = self.server.hear()
        self.client = test.load("request", "client", kind, where, connections, name=f"kt_c_{kind}")
        self.client.hear()

    def order(self, requests, size, pieces, parts, part_size, work_us, call):
        """Returns what the server says of it, with the client's times."""
        self.client.say(f"{requests} {size} {pieces} {parts} {part_size} {work_us} {call}")
        response = self.client.result()["response"]
        self.server.say("report")
        return {**self.server.result(), "response": response}


def both_counters(daemon, kind, moment):
    """Of the server, and of its client with the directions the other way round."""
    requested = daemon.exchanges(f"{kind}_client", moment, "-client")
    return [*daemon.exchanges(kind, moment), requested[0], requested[2], requested[1]]


def order_all(test, pair, requests):
    """Requests in pieces, and responses in parts, by each family of calls; what both sides should have seen."""
    pieces, parts = (1, 1) if pair.kind == "udp" else (2, 3)
    want = [0, 0, 0]
    for call, name in enumerate(CALLS):
        said = pair.order(requests, 100, pieces, parts, 500, 100, call)
        test.true(f"{pair.kind}: the server has served {name}", said["requests"])
        for i, key in enumerate(("requests", "rx", "tx")):
            want[i] += said[key]
    return want * 2


def check_counts(test, daemons, pairs, requests):
    for pair in pairs:
        pair.order(1, 100, 1, 1, 100, 0, 0)  # makes the series
    moment = time.time()
    before = {hook_set: [both_counters(daemon, pair.kind, moment) for pair in pairs] for hook_set, daemon in daemons.items()}
    want = [order_all(test, pair, requests) for pair in pairs]
    moment = time.time()
    names = ("exchanges", "bytes received", "bytes sent")
    names = (*names, *(f"{name}, as its client sees it" for name in names))
    for hook_set, daemon in daemons.items():
        for pair, then, should in zip(pairs, before[hook_set], want):
            for name, was, now, wanted in zip(names, then, both_counters(daemon, pair.kind, moment), should):
                test.equal(f"hook set {hook_set}, {pair.kind}: {name}", now - was, wanted)


def bounds(said, i):
    """By name of the metric: the percentile's least and greatest. By rank: between a call and its clock the server may
    lose the CPU."""
    low, high = 3 * i, 3 * i + 2
    return {
        "latency-service_first": (said["first_low"][low], said["first_high"][high]),
        "latency-service": (said["service_low"][low], said["service_high"][high]),
        # From the request's last piece at the earliest, and no longer than the client waits.
        "latency-response": (said["service_low"][low], said["response"][high]),
        "latency-client": (said["service_low"][low], said["response"][high]),
    }


def order_in_one_interval(daemons, pair, requests=ORDER, work_us=WORK_US, call=0):
    """What the server says of an order that lies between two readings of each daemon, by hook set and subject when the
    first of them was, and a moment before the second."""
    before = {}
    for hook_set, daemon in daemons.items():
        for subject, instance in ((pair.kind, ""), (pair.kind + "_client", "-client")):
            before[hook_set, subject] = daemon.wait_rows(subject, "total_requests" + instance)[-1][0]
    with no_readings(daemons.values()):
        said = pair.order(requests, 200, 1, 1 if pair.kind == "udp" else 2, 1000, work_us, call)
        moment = time.time()
    return said, before, moment


def value_after(daemon, subject, metric, before, moment):
    """The only one since the reading before."""
    daemon.row_after(subject, metric, moment)
    found = [row[1] for row in daemon.rows(subject, metric) if row[0] > before and not math.isnan(row[1])]
    return found[0] if found else 0


def check_bounds(test, what, got, slept_us, below, above):
    """It is no less than the server has slept in each request. Its rank depends on the machine: of each connection, the last
    response of an order counts one interval later."""
    least = slept_us / 1e6 * (1 - BUCKET)
    test.true(f"{what} is not below {least:.6g}", got >= least, got)
    test.figures.within(what, got, below * (1 - BUCKET) - SLACK, above * (1 + BUCKET) + SLACK)


def slept_us(kind, metric, work_us):
    """Before each part, see load_request.c."""
    return work_us if kind == "udp" or metric == "latency-service_first" else work_us + work_us // 2


def check_percentiles(test, daemons, what, pair, call=0):
    """Every sample of the order is in one window of each daemon."""
    said, before, moment = order_in_one_interval(daemons, pair, call=call)
    for hook_set, daemon in daemons.items():
        check_hook_set_percentiles(test, daemon, f"hook set {hook_set}, {what}", pair.kind, said,
                               {subject: when for (of, subject), when in before.items() if of == hook_set}, moment,
                               hook_set in KNOWS_ARRIVAL)


def check_hook_set_percentiles(test, daemon, what, kind, said, before, moment, arrival):
    for i, at in enumerate(PERCENTILES):
        for metric, (below, above) in bounds(said, i).items():
            subject = kind + ("_client" if metric == "latency-client" else "")
            if metric == "latency-response" and not arrival:
                continue
            got = value_after(daemon, subject, f"{metric}-percentile-{at}", before[subject], moment)
            check_bounds(test, f"{what}: {metric} p{at}, s", got, slept_us(kind, metric, WORK_US), below, above)
    for metric in ("latency-response", "latency-wait"):
        known = any(not math.isnan(row[1]) for row in daemon.rows(kind, f"{metric}-average"))
        test.equal(f"{what}: {metric} is known", known, arrival)


def check_moves(test, daemons, pair):
    """The second part of each response is sent after other programs have begun."""
    for daemon in daemons.values():
        daemon.wait_rows(pair.kind, "total_requests", 2, time.time())  # until the responses of the last order count
    churn = subprocess.Popen(["sh", "-c", "while :; do /bin/true; sleep 0.005; done"], preexec_fn=die_with_test)
    said, before, moment = order_in_one_interval(daemons, pair, 5, LONG_WORK_US)
    churn.kill()
    churn.wait()
    for hook_set, daemon in daemons.items():
        got = value_after(daemon, pair.kind, "latency-service-percentile-50", before[hook_set, pair.kind], moment)
        check_bounds(test, f"hook set {hook_set}, {pair.kind}: latency-service p50 while programs begin, s", got,
                     slept_us(pair.kind, "latency-service", LONG_WORK_US), said["service_low"][0], said["service_high"][2])


def check_sides(test, daemons):
    for hook_set, daemon in daemons.items():
        for kind in ("tcp", "unix"):
            for subject, metric in ((f"{kind}_client", "total_requests"), (kind, "total_requests-client")):
                test.true(f"hook set {hook_set}: no {metric} of {subject}", metric not in daemon.metrics(subject))


def start_all(test):
    """By hook set a daemon that was told to use it, and does: of those that the kernel offers."""
    daemons = {hook_set: test.collectd(CONF + PROBE.format(hook_set), interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS))
               for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        used = daemon.wait_rows("self", "count-tier_request")[-1][1]
        if used:
            test.equal("hook set in use", used, hook_set)
        else:
            test.stop(daemons.pop(hook_set))
    return daemons


def main():
    with Test(limit=600) as test:
        # Before any collectd: their connections are older than the probe.
        pairs = [Pair(test, "tcp", 4), Pair(test, "tcp6", 4), Pair(test, "unix", 4), Pair(test, "udp", 1)]
        kernel = os.environ.get("VM_KERNEL")
        if kernel_has_tls():
            # One, so that no function has more callers than a kretprobe has room for on one CPU, which is 10.
            pairs.append(Pair(test, "tls", 1))
        else:
            test.left_out("connections with TLS in the kernel", "this one has none")
            test.true("Debian's kernels have TLS", kernel not in OFFERED)
        pairs[0].order(3, 100, 1, 1, 100, 0, 0)
        daemons = start_all(test)
        test.true(f"hook sets that this kernel offers: {set(daemons)}",
                  set(daemons) == OFFERED.get(kernel, set(daemons)) and daemons)
        check_counts(test, daemons, pairs, 30)
        for pair in pairs:
            check_percentiles(test, daemons, pair.kind, pair)
        check_percentiles(test, daemons, "tcp, corked", pairs[0], CORK)
        check_moves(test, daemons, pairs[0])
        check_sides(test, daemons)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The first events of a connection, on two CPUs at once: none is lost, and there is a rate for the first interval of a
service.

Truth: load_first.c, each of whose connections has one request.
"""

import os
import time

from check import Skip
from lib import SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
KINDS = ("tcp", "unix")
ORDER = int(5000 / SLOWNESS)
CONF = "\n".join(f"""
  <Service "{kind}">
    Process "kt_s_{kind}"
  </Service>
  <Service "{kind}_client">
    Process "kt_c_{kind}"
  </Service>""" for kind in KINDS) + """
  <Probe "request">
    Option "clients"
  </Probe>
""" + without("poll")


def counted(daemon, kind):
    moment = time.time()
    return [daemon.exchanges(kind, moment)[0], daemon.exchanges(f"{kind}_client", moment, "-client")[0]]


def check_begin(test, daemon, kind):
    """The counter is zero at the reading before the first requests."""
    rows = daemon.rows(kind, "total_requests")
    test.equal(f"{kind}: the first value of the counter", rows[0][1], 0)
    test.true(f"{kind}: the next one has the first requests", rows[1][1] > 0, rows[1][1])
    test.figures.within(f"{kind}: intervals from one to the other", (rows[1][0] - rows[0][0]) / INTERVAL, 0.8,
                        1.2 + SLOWNESS / 10)
    test.equal(f"{kind}: percentiles before", [row for row in daemon.rows(kind, "latency-response-percentile-50")
                                               if row[0] < rows[1][0]], [])


def main():
    with Test(limit=120) as test:
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if len(cpus) < 2:
            raise Skip("needs two CPUs")
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        for kind in KINDS:
            load = test.load("first", kind, f"kt_c_{kind}", *cpus, name=f"kt_s_{kind}")
            load.ask("100")
            before = counted(daemon, kind)
            load.ask(str(ORDER))
            after = counted(daemon, kind)
            for side, was, now in zip(("server", "client"), before, after):
                test.equal(f"{kind}: exchanges of the {side}", now - was, ORDER)
            check_begin(test, daemon, kind)
            load.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Windows of the parts of a request's time: they say how many samples they have, end with two readings, also beside many
idle threads, and what is older than two intervals is not dispatched.

Truth: what the server is asked to do.
"""

import time

import delays
from lib import SLOWNESS, Test

INTERVAL = 0.5 if SLOWNESS < 2 else 2
PATIENCE = 60 * SLOWNESS
FEWEST = 10  # samples of a window
SAMPLES, PART = "gauge-request_samples", "latency-in_sleep"
IDLE = 3000


def after(daemon, name, metric, begin):
    return [row[:2] for row in daemon.rows(name, metric) if row[0] > begin]


def check_shown(test, daemon, server):
    """Within the patience there are values, each with its number of samples."""
    end = time.time() + PATIENCE
    while time.time() < end and not after(daemon, server.name, SAMPLES, 0):
        server.order(4, 1000, 4 * INTERVAL, "sleep=8000 spin=200")
        server.result()
    samples = after(daemon, server.name, SAMPLES, 0)
    test.true("number of samples of a window", samples, len(samples))
    test.equal("windows with too few samples", [row for row in samples if row[1] < FEWEST], [])
    parts = {row[0] for row in after(daemon, server.name, PART, 0)}
    test.true("readings with parts and their number of samples", parts & {row[0] for row in samples}, len(parts))


def check_old(test, daemon, server):
    """With too few samples the values of the window before are withheld after two intervals."""
    begin = time.time()
    server.order(1, 400000, 12 * INTERVAL, "spin=100")
    server.result()
    late = begin + 6 * INTERVAL  # the first interval may belong to the load before, and readings are asynchronous
    test.equal("too few samples: values older than two intervals", after(daemon, server.name, PART, late), [])
    test.equal("too few samples: their number", after(daemon, server.name, SAMPLES, late), [])
    test.true("too few samples: requests go on", after(daemon, server.name, delays.RESPONSE, late), "none")


def main():
    with Test(limit=180) as test:
        daemon = test.collectd(delays.services("server", "idle"), interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_delay", 1)
        idle = test.load("task", name="kt_idle")
        idle.ask(f"threads {IDLE}")
        server = delays.Server(test, "server", "pool", 4)
        try:
            check_shown(test, daemon, server)
            check_old(test, daemon, server)
        finally:
            server.stop()
            idle.end()


if __name__ == "__main__":
    main()

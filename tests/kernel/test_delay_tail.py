#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What slow requests wait for: from their beginning on, not only once they are slow; in the pieces of a response, too; and
those that hang, before they end.

Truth: the load's orders (load_delay.c).
"""

import time

import delays
from lib import Test

INTERVAL = 1
CONNECTIONS = 24
WINDOWS = 2
# The mutex is free for a ninth of the time; otherwise a request waits for up to 114 ms: slow requests wait for 51 ms on average,
# then sleep for 67.5 ms, like all others: 43 % of their time are the lock.
EARLY = "spin=100 lock=57000/30 sleep=67500"
LOCK_MIN, SLEEP_MAX = 100 / 3, 200 / 3
HUNG, HUNG_S = 4, 12
HUNG_MIN = 90
SLOW = ("percent-slow_lock", "percent-slow_sleep")


def shares(daemon, name, begin):
    """{metric: its values, of windows that began later}"""
    return {metric: [row[1] for row in daemon.rows(name, metric) if row[0] > begin] for metric in SLOW}


def windows(daemon, name, begin):
    """Waits for values. A window that ends may have begun before."""
    rows = daemon.wait_rows(name, SLOW[0], 2, begin + 3 * INTERVAL)
    return shares(daemon, name, rows[0][0] - INTERVAL / 2)


def check_early(test, daemon, server):
    begin = time.time()
    server.order(CONNECTIONS, 0, 9 * INTERVAL, EARLY)
    found = windows(daemon, server.name, begin)
    server.result()
    print(f"note: slow requests that wait for a lock first: {found}")
    lock, sleep = (sum(values) / len(values) for values in found.values())
    test.within("slow requests that wait for a lock first: lock, %", lock, LOCK_MIN, 100)
    test.within("slow requests that wait for a lock first: sleep, %", sleep, 0, SLEEP_MAX)


def check_hung(test, daemon, server):
    """Responses before tell what is slow; there are none in the meantime."""
    server.order(CONNECTIONS, 1000, 2 * INTERVAL, "sleep=1000")
    server.result()
    begin = time.time()
    server.order(HUNG, 0, 1, f"sleep={HUNG_S * 1000000}")
    found = daemon.wait_rows(server.name, SLOW[1], 1, begin + 2 * INTERVAL)[0]
    test.true("requests that hang: values before they end", found[0] < begin + HUNG_S, found[0] - begin)
    test.within("requests that hang: sleep, %", found[1], HUNG_MIN, 100)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(delays.services("early", "hung") + delays.probe(100, 50, "percent-slow_*"), interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        upstream = delays.Upstream(test)
        servers = [delays.Server(test, name, "thread", 0, upstream=upstream) for name in ("early", "hung")]
        try:
            check_early(test, daemon, servers[0])
            check_hung(test, daemon, servers[1])
            test.equal("complaints", daemon.complaints(), [])
        finally:
            for server in servers:
                server.stop()


if __name__ == "__main__":
    main()

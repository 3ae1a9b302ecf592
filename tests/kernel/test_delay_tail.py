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
FREQUENCY, BUDGET = 40, 50  # so that the samples of a window are of twenty slow requests
CONNECTIONS = 48
# The mutex is free for a ninth of the time; otherwise a request waits for up to 228 ms: slow requests wait for 101 ms on average,
# then sleep for 136 ms, like all others: 43 % of their time are the lock. Of their time beyond 136 ms it is 16 %.
EARLY = "lock=114000/30 sleep=136000"
LOCK_MIN, SLEEP_MAX = 100 / 3, 200 / 3
WINDOWS = 8  # at most: in one of them the machine has nothing else to do that makes requests slow
HUNG = 8
UPSTREAM_S, SLEEP_S = 4 * INTERVAL, 5 * INTERVAL
HUNG_MIN = 90
SLOW = ("percent-slow_lock", "percent-slow_sleep")


def check_early(test, daemon, server):
    for _ in range(WINDOWS):
        server.order(CONNECTIONS, 0, 6 * INTERVAL, EARLY)
        server.result()
        lock, sleep = (daemon.rows(server.name, metric)[-1][1] for metric in SLOW)
        print(f"note: slow requests that wait for a lock first: lock {lock:.1f}, sleep {sleep:.1f} %")
        if lock >= LOCK_MIN and sleep <= SLEEP_MAX:
            break
    test.within("slow requests that wait for a lock first: lock, %", lock, LOCK_MIN, 100)
    test.within("slow requests that wait for a lock first: sleep, %", sleep, 0, SLEEP_MAX)


def check_hung(test, daemon, server):
    """Responses before tell what is slow; there are none meanwhile."""
    server.order(CONNECTIONS, 1000, 2 * INTERVAL, "pipe=1000")
    server.result()
    begin = time.time()
    server.order(HUNG, 0, 1, f"upstream={UPSTREAM_S * 1000000:.0f} sleep={SLEEP_S * 1000000:.0f}")
    found = daemon.wait_rows(server.name, SLOW[1], 1, begin + UPSTREAM_S + 3 * INTERVAL)[0]
    test.true("requests that hang: values before they end", found[0] < begin + UPSTREAM_S + SLEEP_S, found[0] - begin)
    test.within("requests that hang: sleep, %", found[1], HUNG_MIN, 100)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(delays.services("early", "hung") + delays.probe(FREQUENCY, BUDGET, "percent-slow_*"),
                               interval=INTERVAL)
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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What event loops wait for while no thread has their requests in hand: an upstream, by the counts of the probe request,
and a timer.

Truth: what the servers do. All that decides is which part is the largest, and that nothing is taken for a lock.
"""

import asyncio
import os
import sys
import time

import delays
from lib import SLOWNESS, Test

INTERVAL = 1
SECONDS = 5 * SLOWNESS
PATIENCE = 60 * SLOWNESS
LOCK = 0.1  # greatest share of a lock that is none
SLEEP_S = 0.05
BYTES = 64
CONNECTIONS = 4


async def sleeper(source, sink):
    try:
        while True:
            await source.readexactly(BYTES)
            await asyncio.sleep(SLEEP_S)
            sink.write(bytes(BYTES))
    except (asyncio.IncompleteReadError, ConnectionError):
        sink.close()


async def serve_sleeping():
    server = await asyncio.start_server(sleeper, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def ask(port, end):
    source, sink = await asyncio.open_connection("127.0.0.1", port)
    while time.time() < end:
        sink.write(bytes(BYTES))
        await source.readexactly(BYTES)
    sink.close()


async def ask_all(port):
    await asyncio.gather(*(ask(port, time.time() + SECONDS) for _ in range(CONNECTIONS)))


def check(test, daemon, name, part, order):
    """Asks until there are figures of a time in which the server had requests only."""
    begin = time.time()
    while time.time() < begin + PATIENCE:
        order()
        rows = [row for row in daemon.rows(name, f"latency-in_{part}") if row[0] > begin + 3 * INTERVAL]
        if rows:
            break
    sums = {other: sum(row[1] for row in daemon.rows(name, f"latency-in_{other}") if row[0] > begin + 3 * INTERVAL)
            for other in delays.METRICS}
    print(f"note: {name}: " + ", ".join(f"{other} {value:.4f}" for other, value in sums.items() if value))
    waits = {other: sums[other] for other in ("lock", "upstream", "sleep", "queue", "async", "other")}
    test.equal(f"{name}: what its requests wait for most", max(waits, key=waits.get), part)
    test.within(f"{name}: share of a lock", sums["lock"] / (sum(sums.values()) or 1), 0, LOCK)


def main():
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve_sleeping())
        return
    with Test(limit=180) as test:
        python = os.path.join(test.dir, test.own("kt_timer"))
        os.symlink(os.path.realpath(sys.executable), python)
        daemon = test.collectd(delays.services("proxy", "timer") + delays.probe(100, 10) +
                               '<Probe "request">\n Option "clients"\n</Probe>\n', interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        proxy = delays.Server(test, "proxy", "proxy", 0)

        def ask_proxy():
            proxy.order(8, 3000, SECONDS, "upstream=20000")
            proxy.result()

        check(test, daemon, "proxy", "upstream", ask_proxy)
        proxy.stop()
        timer = test.load_at(python, os.path.abspath(__file__), "serve")
        port = int(timer.hear())
        check(test, daemon, "timer", "sleep", lambda: asyncio.run(ask_all(port)))
        timer.kill()


if __name__ == "__main__":
    main()

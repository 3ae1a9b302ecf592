#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where the time of requests goes, for servers of several architectures whose mixture is known: the shares of the
parts, and that they add up to the response time.

Truth: the server's log, by its clocks and the kernel's schedstat (load_delay.c).
"""

import sys
import time

import delays
import lib
import truth
from lib import Test

INTERVAL = 1
FREQUENCY, BUDGET = 400, 50
SAMPLES = 2048  # least number, of threads with a request in hand
POINTS = 3 if lib.SLOWNESS == 1 else 6
RELATIVE = 0.02 if lib.SLOWNESS == 1 else 0.06
SECONDS, FEW_SECONDS = 12, 4 * lib.SLOWNESS
PATIENCE = 60 * lib.SLOWNESS
PRESENT = 0.05  # share of a part that must be above 0
CPU = truth.CPUS - 1

MIXTURE = "spin=1000 lock=2000 disk=3000 upstream=5000 sleep=2000"
SERIAL = "spin=1000 lock=1000 disk=1000 upstream=2000 sleep=1000"
# name: architecture, workers, connections, mixture
CASES = {
    "thread": ("thread", 0, 8, MIXTURE + " client=2000/2 pipe=2000/2"),
    "prefork": ("prefork", 8, 8, MIXTURE + " fault=2000"),
    "pool": ("pool", 4, 8, MIXTURE),
    "loop": ("loop", 0, 4, SERIAL),
    "loop_pool": ("loop_pool", 8, 8, MIXTURE),
    "loop_few": ("loop_pool", 4, 8, MIXTURE),
    "loop_back": ("loop_back", 8, 8, MIXTURE),
    "proxy": ("proxy", 0, 8, "spin=300 upstream=10000"),
    "starved": ("thread", 0, 2, "spin=100"),
}
# Its threads wait for a CPU, mostly before they receive the request that has woken them.
STARVED = "starved"
# Workers that are not known to serve requests: a thread has a request in hand only while the loop runs.
UNKNOWN = {"loop_back"}
# Workers that respond to what another thread has received.
WORKERS = {"loop_pool", "loop_few"}


def mean(daemon, server, metric, begin, end):
    return delays.mean(delays.readings(daemon, server.name, metric, begin, end), server.log) or 0.0


def check_response(test, daemon, server, begin, end):
    rows = delays.readings(daemon, server.name, delays.RESPONSE, begin, end)
    test.figures.close(f"{server.name}: average response time, s", delays.mean(rows, server.log),
                       delays.wants(server.log, rows[0][0], rows[-1][0])[1], rel=RELATIVE)


def check_samples(test, daemon, server, want, times):
    in_hand = sum(want[part] for part in want if part not in ("socket", "queue", "async"))
    requests = server.log.grown(times[0], times[-1])["requests"]
    if in_hand:
        test.figures.within(f"{server.name}: samples with a request in hand",
                            in_hand * requests * sampled(daemon, times), SAMPLES / lib.SLOWNESS, float("inf"))


def check(test, daemon, server, begin, end):
    # The time of threads is known up to the previous walk.
    begin += 2.5 * INTERVAL
    times = [row[0] for row in delays.readings(daemon, server.name, "latency-in_cpu", begin, end)]
    if not test.figures.true(f"{server.name}: readings", len(times) > 3, len(times)):
        return
    want, response = delays.wants(server.log, times[0], times[-1])
    if server.name in UNKNOWN:
        want = dict.fromkeys(want, 0.0) | {"socket": want["socket"], "async": response - want["socket"]}
    elif server.name in WORKERS:
        # A worker that waits for a CPU counts as if it had a request, though its response may be sent already, or another
        # worker may have the request. That time is missing from its wait for the lock.
        grown = server.log.grown(times[0], times[-1])
        vain = grown["vain"] / grown["requests"]
        want["runqueue"] += vain
        want["lock"] -= vain
        want["queue"], want["async"] = want["async"], 0.0
        print(f"note: {server.name}: workers waited for a CPU in vain for {100 * vain / response:.2f} %")
    got = {part: mean(daemon, server, f"latency-in_{part}", begin, end) for part in delays.METRICS}
    stalled = mean(daemon, server, delays.SEND_WAIT, begin, end)
    total = sum(got.values()) + stalled
    points = 2 * POINTS if server.name in UNKNOWN else POINTS
    for part in delays.METRICS:
        test.figures.close(f"{server.name}: {part}, %", 100 * got[part] / total, 100 * want[part] / response,
                           slack=points)
    test.figures.close(f"{server.name}: the answer's stall, s", stalled, 0, slack=RELATIVE * response)
    # The order of readings is undefined: the values may lag one reading of the probe request behind.
    lagging = delays.wants(server.log, times[0] - INTERVAL, times[-1] - INTERVAL)[1]
    test.figures.close(f"{server.name}: sum of the parts, s", total,
                       min(response, lagging, key=lambda s: abs(s - total)), rel=RELATIVE)
    check_response(test, daemon, server, begin, end)
    check_samples(test, daemon, server, want, times)


def show(daemon, server, begin, end):
    """Prints what was dispatched, reading by reading."""
    rows = {part: dict(delays.readings(daemon, server.name, f"latency-in_{part}", begin, end)) for part in delays.METRICS}
    times = sorted(rows["cpu"])
    for before, moment in zip([begin] + times, times):
        want, response = delays.wants(server.log, before, moment)
        shares = (f"{part} {1e3 * rows[part].get(moment, 0):.2f} ({1e3 * want[part]:.2f})" for part in delays.METRICS)
        print(f"note: {server.name} {moment - begin:.1f} s, ms: of {1e3 * response:.2f}: " + " ".join(shares))


def sampled(daemon, times):
    """Runs of the sampler per second."""
    metric = max((name for name in daemon.metrics("self") if name.startswith("operations_per_second-sample_delay")),
                 default=None)  # all_threads, or serving_threads where the kernel permits it
    rows = [row[1] for row in daemon.rows("self", metric) if times[0] < row[0] <= times[-1]] if metric else []
    return sum(rows) / len(rows) if rows else 0.0


def check_present(test, daemon, server, begin, end):
    """All parts have series, and those with a large share of the time are above 0."""
    seen = {part: [row[1] for row in daemon.rows(server.name, f"latency-in_{part}")] for part in delays.METRICS}
    test.equal(f"{server.name}: parts without a value", [part for part, values in seen.items() if not values], [])
    test.equal(f"{server.name}: values below 0", [(part, value) for part, values in seen.items() for value in values
                                                  if value < 0], [])
    want, response = delays.wants(server.log, begin, end)
    if server.name in UNKNOWN:
        want = {"async": response - want["socket"]}
    elif server.name in WORKERS:
        want["queue"], want["async"] = want["async"], 0.0
    for part, seconds in want.items():
        if seconds / response >= PRESENT:
            most = max(seen[part], default=0)
            test.true(f"{server.name}: {part}, {100 * seconds / response:.1f} % of the time", most > 0, most)
    if server.name == STARVED:
        for what, values in (("truth", want), ("ours", {part: sum(values) for part, values in seen.items()})):
            test.equal(f"{server.name}: largest part, {what}", max(values, key=values.get), "runqueue")


def make(test, name, disk, upstream):
    """(server, connections, mixture)"""
    architecture, workers, connections, mixture = CASES[name]
    if not disk:
        mixture = " ".join(word for word in mixture.split() if word.split("=")[0] not in ("disk", "fault"))
    return delays.Server(test, name, architecture, workers, CPU, upstream), connections, mixture


def all_at_once(test, daemon, names, disk, upstream):
    """All servers share the CPU, so only the presence of parts is checked."""
    servers = [make(test, name, disk, upstream) for name in names]
    begin = time.time()
    try:
        while time.time() < begin + PATIENCE:
            for server, connections, mixture in servers:
                server.order(connections, 3000, FEW_SECONDS, mixture)
            for server, *_ in servers:
                server.result()
            # With too few samples there are no series yet.
            if all("latency-in_cpu" in daemon.metrics(server.name) for server, *_ in servers):
                break
        for server, *_ in servers:
            check_present(test, daemon, server, begin, time.time())
    finally:
        for server, *_ in servers:
            server.stop()


def one_by_one(test, daemon, names, disk, upstream):
    for name in names:
        server, connections, mixture = make(test, name, disk, upstream)
        try:
            begin = time.time()
            server.order(connections, 3000, SECONDS, mixture)
            result = server.result()
            end = time.time()
            daemon.row_after(server.name, delays.RESPONSE, end - INTERVAL)
            grown = server.log.grown(begin, end + 1)
            test.figures.close(f"{server.name}: response time by its log and by its clients, s",
                               grown["response"] / grown["requests"], result["response"], rel=2 * RELATIVE)
            missed = test.figures.missed
            check(test, daemon, server, begin, end)
            if test.figures.missed > missed:
                show(daemon, server, begin, end)
        finally:
            server.stop()


def main():
    names = [name for name in CASES if not sys.argv[1:] or name in sys.argv[1:]]
    with Test(limit=180) as test:
        daemon = test.collectd(delays.services(*(name for name in names)) +
                               delays.probe(FREQUENCY, BUDGET), interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        disk = delays.has_disk(test)
        upstream = delays.Upstream(test)
        competitor = test.load("delay", "competitor", CPU, 2000, 6000, name="kt_competitor")
        (one_by_one if test.measures else all_at_once)(test, daemon, names, disk, upstream)
        competitor.kill()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Delays of services without requests, of idle services and of slow requests; values that are withheld; and samplers
with many threads, and with threads that come and go.

Truth: the load's clocks (load_delay.c), and its orders.
"""

import os
import time

import delays
from lib import SLOWNESS, Test, without

WHOLE, SHORT = 1, 0.5 if SLOWNESS < 2 else 1  # intervals, s: where figures are measured, and otherwise
PRESENT = 0.1  # share of the threads that must be seen
FEW_S = 0.05   # seconds in requests that give too few samples, at 100 a second
PATIENCE = 60 * SLOWNESS
POINTS = 3 if SLOWNESS == 1 else 6
THREADS = 6
THREAD_POINTS = 5 if SLOWNESS == 1 else 10  # percent of all threads
ALONE = "spin=500 lock=2000 disk=3000 upstream=4000 sleep=3000 pipe=2000 fault=2000"
RATES = {"blkio": ("disk",), "memory": ("memory",), "lock": ("lock",), "upstream": ("upstream",), "client": ("client",),
         "pipe": ("pipe",), "sleep": ("sleep",), "other": ("other",), "timed_wait": (), "child": (), "event": (), "stopped": ()}
SLOW = ("cpu", "runqueue", "disk", "memory", "lock", "upstream", "client", "pipe", "sleep", "other")
MANY = 2000


def values(daemon, service, metric, begin, end):
    return [row[1] for row in daemon.rows(service, metric) if begin < row[0] <= end]


def average(numbers):
    return sum(numbers) / len(numbers) if numbers else 0.0


class Alone:
    """Threads that work without requests."""

    def __init__(self, test, upstream, disk):
        path = os.path.join(test.dir, "alone")
        mixture = ALONE if disk else " ".join(word for word in ALONE.split() if word[:4] not in ("disk", "faul"))
        self.upstream = f"delay_rate-upstream-127.0.0.1:{upstream.port}"
        self.load = test.load("delay", "alone", THREADS, path, os.path.join(test.disk, "alone.file"), upstream.port,
                              mixture, name="kt_alone")
        while not os.path.exists(path) or os.path.getsize(path) < delays.LOG.size:
            time.sleep(0.05)
        self.log = delays.Log(path)

    def check(self, test, daemon):
        """Compares the delays. A thread that replies by a pipe waits for orders in one, and sleeps before the reply."""
        begin = time.time()
        rows = daemon.wait_rows("alone", "delay_rate-delay-blkio", 5, begin)
        times = [row[0] for row in rows]
        grown = self.log.grown(times[0], times[-1])
        seconds = times[-1] - times[0]
        want = {name: sum(grown[part] + grown["aside_" + part] for part in parts) / seconds
                for name, parts in RATES.items()}
        want["sleep"] += grown["pipe"] / seconds
        want["pipe"] += THREADS - grown["pipe"] / seconds
        for name in RATES:
            got = average(values(daemon, "alone", f"delay_rate-delay-{name}", times[0], times[-1]))
            if want[name] >= PRESENT * THREADS:
                test.true(f"without requests: {name}, of {want[name]:.2f} threads", got > 0, got)
            test.figures.close(f"without requests: {name}, threads", got, want[name],
                               slack=THREAD_POINTS / 100 * THREADS)
        named = {metric: average(values(daemon, "alone", metric, times[0], times[-1]))
                 for metric in daemon.metrics("alone") if metric.startswith("delay_rate-upstream-")}
        test.equal("without requests: upstreams", sorted(named), [self.upstream])
        test.figures.close("without requests: of the upstream by its address, threads", named.get(self.upstream, 0),
                           average(values(daemon, "alone", "delay_rate-delay-upstream", times[0], times[-1])), rel=0.05)
        absent = [metric for metric in daemon.metrics("alone") if metric.startswith("latency-in_")]
        test.equal("without requests: parts of a request's time", absent, [])

    def stop(self):
        self.log.stop()
        self.load.kill()


def check_idle(test, daemon, names, begin):
    """Without requests there are no values, not even old ones."""
    for name in names:
        found = [metric for metric in daemon.metrics(name)
                 if metric.startswith(("latency-in_", "percent-slow_")) and values(daemon, name, metric, begin, 1e12)]
        test.equal(f"idle: {name}: parts of a request's time", found, [])


def check_slow(test, daemon, server, cause, mixture):
    """Some requests are slow, all for one reason. A window may have no sample of them."""
    begin, metric = time.time(), f"percent-slow_{cause}"
    # The first values may be of a window that began earlier.
    first = begin + 3 * daemon.interval
    while time.time() < begin + PATIENCE and not any(values(daemon, server.name, metric, first, 1e12)):
        server.order(8, 3000, 7 * daemon.interval, mixture)
        server.result()
        daemon.row_after(server.name, delays.RESPONSE, time.time() - daemon.interval)
    rows = {part: values(daemon, server.name, f"percent-slow_{part}", first, 1e12) for part in SLOW}
    got = {part: average(shares) for part, shares in rows.items()}
    print(f"note: slow {mixture}: " + ", ".join(f"{part} {'/'.join(f'{share:.1f}' for share in shares)}"
                                                for part, shares in rows.items()))
    test.true(f"slow requests: {cause}", got[cause] > 0, got[cause])
    test.within(f"slow requests: all parts of {cause}, %, at most", sum(got.values()), 0, 100.1)
    test.figures.within(f"slow requests: {cause}, %", got[cause], 80, 100)
    test.figures.close("slow requests: all parts, %", sum(got.values()), 100, slack=10)


def check_few(test, daemon, server):
    """With too few samples there are no shares yet: the window spans several readings."""
    begin = time.time()
    server.order(1, 500000, 3 * daemon.interval, "sleep=2000")
    server.result()
    end = time.time()
    daemon.row_after(server.name, delays.RESPONSE, end - daemon.interval)
    spent = server.log.grown(begin, end)["response"]
    if spent > FEW_S:
        test.left_out("few samples", f"the requests have taken {spent:.1f} s")
        return
    for part in ("in_sleep", "in_cpu"):
        test.equal(f"few samples: {part}",
                   values(daemon, server.name, f"latency-{part}", begin + daemon.interval, end), [])


def sampler(daemon, kind, begin, end):
    metrics = [name for name in daemon.metrics("self") if name.startswith(f"{kind}-sample_delay")]
    return average(values(daemon, "self", metrics[0], begin, end)) if metrics else 0.0


def check_many(test, daemon, budget):
    """A process of many threads."""
    many = test.load("task", name="kt_many")
    many.ask(f"threads {MANY}")
    begin = time.time()
    time.sleep(3 * daemon.interval)
    rows = daemon.wait_rows("many", "delay_rate-delay-other", 2, begin + daemon.interval)
    waiting = {name: average(values(daemon, "many", f"delay_rate-delay-{name}", begin + daemon.interval, rows[-1][0]))
               for name in RATES}
    print("note: many: " + ", ".join(f"{name} {value:.1f}" for name, value in waiting.items()))
    test.figures.close("many threads: all states, threads", sum(waiting.values()), MANY + 1, rel=0.02)
    share, samples = (sampler(daemon, kind, begin + daemon.interval, rows[-1][0])
                    for kind in ("percent", "operations_per_second"))
    if test.figures.within("many threads: looks a second", samples, 1, float("inf")):
        print(f"note: many: a look takes {share / 100 / samples / MANY * 1e6:.2f} us a thread, with {MANY} threads")
    test.figures.within("many threads: share of a CPU, %", share, 0, budget * 1.3)
    many.end()


def check_brief(test, daemon, server):
    """Short-lived threads do not change the values of a server."""
    churn = test.load("churn", "threads", 20000, 50, 100, name="kt_churn")
    begin = time.time()
    server.order(4, 3000, 6 * daemon.interval, "sleep=8000 spin=200")
    churn.say("go")
    server.result()
    end = time.time()
    daemon.row_after(server.name, delays.RESPONSE, end - daemon.interval)
    begin += 2.5 * daemon.interval
    want, response = delays.wants(server.log, begin, end)
    got = delays.mean(delays.readings(daemon, server.name, "latency-in_sleep", begin, end), server.log)
    test.figures.close("beside brief threads: sleep, s", got or 0.0, want["sleep"], slack=POINTS / 100 * response)
    churn.kill()


def check_disabled(test):
    daemon = test.collectd(delays.services("few") + without("delay", "request"), interval=SHORT)
    daemon.wait_rows("self", "duration-read_process", 3)
    found = [name for name in daemon.metrics("self") if "delay" in name]
    test.equal("disabled: its figures in ebpf-self", found, [])
    test.stop(daemon)


def main():
    with Test(limit=180) as test:
        names = ("alone", "few", "slow", "pool", "many", "churn")
        daemon = test.collectd(delays.services(*names) + delays.probe(100, 50, "percent-slow_*", "delay_rate-*"),
                               interval=WHOLE if test.measures else SHORT)
        daemon.wait_rows("self", "duration-read_request", 1)
        test.equal("complaints at the start", daemon.complaints(), [])
        disk = delays.has_disk(test)
        upstream = delays.Upstream(test)
        began = time.time()
        few, pool = (delays.Server(test, name, "pool", 4, upstream=upstream) for name in ("few", "pool"))
        slow = delays.Server(test, "slow", "thread", 0, upstream=upstream)
        alone = Alone(test, upstream, disk)
        try:
            alone.check(test, daemon)
            check_idle(test, daemon, ("few", "pool", "slow"), began)
            check_slow(test, daemon, slow, "lock", "spin=300 lock=30000/10")
            # An interval without requests ends the window; else it would have samples of both causes.
            daemon.wait_rows("self", "duration-read_delay", 3, time.time())
            check_slow(test, daemon, slow, "upstream", "spin=300 upstream=30000/30")
            check_few(test, daemon, few)
            if test.measures:
                check_brief(test, daemon, pool)
                check_many(test, daemon, 50)
            idle_from = time.time() + 2 * daemon.interval
            time.sleep(4 * daemon.interval)
            check_idle(test, daemon, ("few", "pool", "slow"), idle_from)
            check_disabled(test)
        finally:
            for one in (few, pool, slow, alone):
                one.stop()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin's own figures: they are there, and they are plausible.

Truth: bpftool, the number of services in the data, the forks that the kernel has counted over the same time, and
bounds of common sense.
"""

import json
import subprocess
import time

import lib
from lib import Test

INTERVAL = 2
# Programs' runs are sampled, 50 ms an interval: of so many forks some 25 fall into samples, at random and in bursts.
FORKS, FACTOR = 1000, 4
SECOND, MICROSECOND, MIB = 1.0, 1e-6, 1 << 20


def programs(pid):
    """The BPF programs that a process holds, as bpftool tells of them."""
    out = subprocess.run([lib.BPFTOOL, "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout
    held = lib.bpf_objects_of(pid)
    return [entry for entry in json.loads(out) if ("prog", entry["id"]) in held]


def missed(pid):
    return sum(entry.get("recursion_misses", 0) for entry in programs(pid))


def check_missed(test, daemon):
    """What the kernel has run no program for, before a reading and after it."""
    low = missed(daemon.process.pid)
    moment = daemon.row_after("self", "total_events-missed_services", time.time())[0]
    got = sum(daemon.row_after("self", metric, moment - INTERVAL / 2)[1] for metric in daemon.metrics("self")
              if metric.startswith("total_events-missed_"))
    test.within("events missed", got, low, missed(daemon.process.pid))


def forks():
    """Processes and threads begun since boot."""
    with open("/proc/stat", encoding="ascii") as stat:
        return next(int(line.split()[1]) for line in stat if line.startswith("processes "))


def last(daemon, metric):
    return daemon.wait_rows("self", metric)[-1][1]


def services(daemon, moment):
    """How many were dispatched in the interval around this moment."""
    return sum(any(abs(row[0] - moment) < INTERVAL / 2 for row in daemon.rows(subject, "ps_count"))
               for subject in daemon.subjects() - {"self"})


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(interval=INTERVAL)
        # Some 200 forks a second where nothing slows it, all the while.
        storm = test.load("storm", 4000, 1, 0, name="kt_storm")
        storm.say("go")
        began, forks_before = time.time(), forks()
        daemon.wait_rows("self", "objects-services", 4, began, seconds=30)
        while forks() - forks_before < FORKS:
            time.sleep(INTERVAL / 4)
        running = daemon.wait_rows("self", "operations_per_second-run_service_fork", 4, began)
        fork_rate = (forks() - forks_before) / (time.time() - began)
        metrics = daemon.metrics("self")
        held = programs(daemon.process.pid)
        check_missed(test, daemon)
        storm.kill()
        # The kernel cuts names to 15 characters; bpftool may know the rest.
        named = {metric[len("operations_per_second-run_"):][:15] for metric in metrics
                 if metric.startswith("operations_per_second-run_")}
        test.equal("programs that have a rate", sorted(named), sorted({entry["name"][:15] for entry in held}))
        for metric in sorted(metrics):
            if metric.startswith("duration-run_"):
                most = SECOND if "walk" in metric or "scan" in metric else 100 * MICROSECOND * lib.SLOWNESS
                # The csv plugin writes microseconds: less is zero.
                test.within(f"{metric}, s", last(daemon, metric), 0, most)
        test.within("duration-read_process, s", last(daemon, "duration-read_process"), MICROSECOND, SECOND / 5)
        # The plugin's own first reading may come before that of the probe.
        durations = [row[1] for row in daemon.rows("self", "duration-read_process")]
        test.true("no duration of a reading that was not", all(durations))
        test.equal("count-tier_process", last(daemon, "count-tier_process"), 1)
        test.within("memory-maps_process, bytes", last(daemon, "memory-maps_process"), 4096, 64 * MIB)
        test.within("operations_per_second-run_service_fork, mean", sum(row[1] for row in running) / len(running),
                    fork_rate / FACTOR, fork_rate * FACTOR)
        for metric in metrics:
            if metric.startswith("total_events-refused"):
                test.equal(metric, last(daemon, metric), 0)
        test.true("total_events-refused_process is there", "total_events-refused_process" in metrics)
        # The plugin's own reading and that of the probe are not the same moment: names come and go between them.
        when, number = daemon.rows("self", "objects-services")[-3]
        shown = [services(daemon, when + later) for later in (-INTERVAL, 0, INTERVAL)]
        test.within("objects-services", number, min(shown) - 2, max(shown) + 2)
        test.within("objects-services_other", last(daemon, "objects-services_other"), 0, 256)


if __name__ == "__main__":
    main()

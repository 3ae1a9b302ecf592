#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin's own figures: they are there, and they are plausible.

Truth: bpftool, the number of services in the data, the rate of a load of our own, and bounds of common sense.
"""

import json
import subprocess
import threading
import time

import lib
from lib import Test

INTERVAL = 2
SECOND, MICROSECOND, MIB = 1.0, 1e-6, 1 << 20


def programs(pid):
    """Names of the BPF programs that a process holds."""
    out = subprocess.run([lib.BPFTOOL, "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout
    held = lib.bpf_objects_of(pid)
    return {entry["name"] for entry in json.loads(out) if ("prog", entry["id"]) in held}


def last(daemon, metric):
    return daemon.wait_rows("self", metric)[-1][1]


def main():
    with Test(limit=60) as test:
        daemon = test.collectd(interval=INTERVAL)
        # Some 200 forks a second where nothing slows it, all the while.
        storm = test.load("storm", 4000, 1, 0, name="kt_storm")
        storm.say("go")
        done = threading.Thread(target=storm.hear, daemon=True)
        done.start()
        daemon.wait_rows("self", "objects-services", 4, time.time(), seconds=30)
        metrics = daemon.metrics("self")
        running = daemon.rows("self", "operations_per_second-run_service_fork")
        held = programs(daemon.process.pid)
        done.join()
        # The kernel cuts names to 15 characters; bpftool may know the rest.
        named = {metric[len("operations_per_second-run_"):][:15] for metric in metrics
                 if metric.startswith("operations_per_second-run_")}
        test.equal("programs that have a rate", sorted(named), sorted(name[:15] for name in held))
        for metric in sorted(metrics):
            if metric.startswith("duration-run_"):
                most = SECOND if "walk" in metric or "scan" in metric else 100 * MICROSECOND
                # The csv plugin writes microseconds: less is zero.
                test.within(f"{metric}, s", last(daemon, metric), 0, most)
        test.within("duration-read_process, s", last(daemon, "duration-read_process"), MICROSECOND, SECOND / 5)
        test.equal("count-tier_process", last(daemon, "count-tier_process"), 1)
        test.within("memory-maps_process, bytes", last(daemon, "memory-maps_process"), 4096, 64 * MIB)
        forks = sum(row[1] for row in running) / len(running)
        test.within("operations_per_second-run_service_fork, mean", forks, 50 / lib.SLOWNESS, 5000)
        for metric in metrics:
            if metric.startswith("total_events-refused"):
                test.equal(metric, last(daemon, metric), 0)
        test.true("total_events-refused_process is there", "total_events-refused_process" in metrics)
        row = daemon.rows("self", "objects-services")[-2]
        shown = {subject for subject in daemon.subjects() - {"self"}
                 if any(abs(one[0] - row[0]) < INTERVAL / 2 for one in daemon.rows(subject, "ps_count"))}
        # The plugin's own reading and that of the probe are not the same moment.
        test.close("objects-services", row[1], len(shown), slack=2)
        test.within("objects-services_other", last(daemon, "objects-services_other"), 0, 256)
        storm.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin's own figures: they are there, and they are plausible.

Truth: bpftool, the number of services in the data, the forks that the kernel has counted over the same time, and
bounds of common sense.
"""

import os
import re
import statistics
import threading
import time

import bpf_objects
import lib
import truth
from lib import Test, without

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2
SAMPLE = 0.2  # s
# Of the forks some 100 fall into a sample, in bursts.
FACTOR = 3
RUNS = "operations_per_second-run_"
RATE = RUNS + "services-service_fork"
SYSCTL = "/proc/sys/kernel/bpf_stats_enabled"
SUMMARY = re.compile(r"services: (\d+) \((\d+) of Service blocks, (\d+) units, users and containers, (\d+) command names\); "
                     r"series of probes: (\d+) so far, up to (\d+) of each service")
SECOND, MICROSECOND, MIB = 1.0, 1e-6, 1 << 20


def programs(pid):
    """The BPF programs that a process holds, as bpftool tells of them."""
    return bpf_objects.show("prog", bpf_objects.numbers("prog", pid))


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


class Watch(threading.Thread):
    """Looks every few milliseconds whether a process has the kernel's run statistics on."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.moments, self.finished = pid, [], threading.Event()
        self.start()

    def run(self):
        while not self.finished.wait(0.01):
            if self._lasts():
                self.moments.append(time.time())

    def _lasts(self):
        directory = f"/proc/{self.pid}/fd"
        for fd in os.listdir(directory):
            try:
                if "bpf-stats" in os.readlink(os.path.join(directory, fd)):
                    return True
            except FileNotFoundError:
                pass
        return False

    def end(self):
        """When it had."""
        self.finished.set()
        self.join()
        return self.moments


def fork_rate(test, daemon):
    """What the sample says that the first readings tell of, against what the kernel has counted in any such time until
    then."""
    counted = truth.Sampler(forks, every=0.01)
    rows = daemon.wait_rows("self", RATE, 3)
    counted.stop()
    curve = counted.curve()
    rates = [(curve.at(moment + SAMPLE) - curve.at(moment)) / SAMPLE for moment in curve.times
             if curve.covers(moment + SAMPLE)]
    # A busy machine may begin no process in such a time, but always switches between some.
    runs = {metric: daemon.rows("self", metric)[0][1] for metric in daemon.metrics("self") if metric.startswith(RUNS)}
    test.true(f"{RUNS}*: there have been some", any(runs.values()), runs)
    test.figures.within(RATE, rows[0][1], min(rates, default=0) / FACTOR, max(rates, default=0) * FACTOR)
    test.equal("what readings tell until the next sample", {row[1] for row in rows}, {rows[0][1]})


def set_sysctl(text):
    with open(SYSCTL, "r+", encoding="ascii") as file:
        before = file.read()
        file.seek(0)
        file.write(text)
    return before


def check_others(test):
    """Somebody else has the statistics on: their figures without the switch."""
    before = set_sysctl("1")
    test.at_end(lambda: set_sysctl(before))
    daemon = test.collectd(interval=INTERVAL)
    watch = Watch(daemon.process.pid)
    fork_rate(test, daemon)
    test.equal("moments in which the plugin has the statistics on as well", watch.end(), [])
    test.stop(daemon)


def last(daemon, metric):
    return daemon.wait_rows("self", metric)[-1][1]


def services(daemon, moment):
    """How many were dispatched in the interval around this moment."""
    return sum(any(abs(row[0] - moment) < INTERVAL / 2 for row in daemon.rows(subject, "ps_count"))
               for subject in daemon.subjects() - {"self"})


def reported(daemon):
    """The figures of the message about services and series, and how often it is there."""
    found = [match for match in map(SUMMARY.search, daemon.log()) if match]
    return [int(number) for match in found for number in match.groups()], len(found)


def check_summary(test):
    """What the log says of services and series, against what was dispatched."""
    daemon = test.collectd("""
  ServicesFrom "none"
  <Service "one">
    Process "kt_one"
  </Service>
  <Service "none">
    Process "kt_none"
  </Service>
""" + without("disk"), interval=INTERVAL)
    load = test.load("task", name="kt_one")
    daemon.wait_rows("self", "count-tier_services", 5)
    series = {subject: len(daemon.metrics(subject)) for subject in daemon.subjects() - {"self"}}
    figures, times = reported(daemon)
    test.equal("services, of blocks, units, command names, and how often it is told", (figures[:4], times), ([2, 2, 0, 0], 1))
    test.equal("series of probes", figures[4], sum(series.values()))
    test.within("series of a service", max(series.values()), 1, figures[5])
    load.end()
    test.stop(daemon)


def main():
    with Test(limit=120) as test:
        # Some 500 forks a second where nothing slows it, all the while.
        storm = test.load("storm", 100000, 4, 0, name="kt_storm")
        storm.say("go")
        daemon = test.collectd(interval=INTERVAL)
        watch = Watch(daemon.process.pid)
        fork_rate(test, daemon)
        moments = watch.end()
        test.figures.true("the plugin has had the statistics on", moments)
        # A thread that sleeps for the sample may wake up late, but no reading comes between.
        test.figures.within("for how long, s", moments[-1] - moments[0] if moments else 0, 0, INTERVAL / 2 * lib.SLOWNESS)
        metrics = daemon.metrics("self")
        loaded = programs(daemon.process.pid)
        check_missed(test, daemon)
        # The kernel cuts names to 15 characters; bpftool may know the rest.
        named = {metric.rpartition("-")[2][:15] for metric in metrics
                 if metric.startswith("operations_per_second-run_")}
        test.equal("programs that have a rate", sorted(named), sorted({entry["name"][:15] for entry in loaded}))
        for metric in sorted(metrics):
            if metric.startswith("duration-run_"):
                most = SECOND if "walk" in metric or "scan" in metric else 100 * MICROSECOND * lib.SLOWNESS
                # The csv plugin writes microseconds: less is zero.
                test.within(f"{metric}, s", last(daemon, metric), 0, SECOND)
                test.figures.within(f"{metric}, s, at most", last(daemon, metric), 0, most)
        # The plugin's own first reading may come before that of the probe.
        durations = [row[1] for row in daemon.rows("self", "duration-read_process")]
        test.within("duration-read_process, s", statistics.median(durations), MICROSECOND, 10 * SECOND)
        test.figures.within("duration-read_process, s, at most", statistics.median(durations), 0, SECOND / 5)
        test.true("no duration of a reading that was not", all(durations))
        test.equal("count-tier_process", last(daemon, "count-tier_process"), 1)
        test.within("memory-maps_process, bytes", last(daemon, "memory-maps_process"), 4096, 64 * MIB)
        for metric in metrics:
            if metric.startswith("total_events-refused"):
                test.equal(metric, last(daemon, metric), 0)
        test.true("total_events-refused_process is there", "total_events-refused_process" in metrics)
        # The plugin's own reading and that of the probe are not the same moment: names come and go between them.
        when, number = daemon.rows("self", "objects-services")[-3]
        shown = [services(daemon, when + later) for later in (-INTERVAL, 0, INTERVAL)]
        test.within("objects-services", number, 1, 256)
        test.figures.within("objects-services, by their series", number, min(shown) - 2, max(shown) + 2)
        test.within("objects-services_other", last(daemon, "objects-services_other"), 0, 256)
        test.stop(daemon)
        check_others(test)
        storm.kill()
        check_summary(test)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""One workload under rising load, and all that is known of it afterwards, but for what is in the RRD files."""

import contextlib
import dataclasses
import glob
import json
import os
import shutil
import statistics

from store import Collector, Store

SHARES = (0.25, 0.4, 0.7, 0.85, 1.0, 1.3)
ARRIVALS = {"poisson": 1, "bursty": 16}  # how many requests are due at once, at Poisson moments


@dataclasses.dataclass
class Pace:
    """How long everything takes, in seconds."""
    interval: int = 1
    level: float = 4.5    # a half more than whole readings, as it begins right after one
    maximum: float = 1
    shares: tuple = SHARES


def cpu_seconds(pid):
    """Of a process and its descendants, with those that have ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            ticks = sum(map(int, stat.read().rpartition(")")[2].split()[11:15]))
    except FileNotFoundError:
        return 0
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(cpu_seconds, children(pid)))


def children(pid):
    pids = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
            pids += map(int, file.read().split())
    return pids


def maximum(workload, pace, shares_cpu):
    """Answers per second of its CPU, when there are always requests. Other work on the machine hardly changes it. Where
    the client has the same CPU, answers per second by the clock."""
    rates = []
    for _ in range(3):
        before = cpu_seconds(workload.pid)
        said = workload.load(0, pace.maximum)
        used = said["end"] - said["begin"] if shares_cpu else cpu_seconds(workload.pid) - before
        rates.append(said["latency"]["count"] / used)
    return statistics.median(rates)


def level(workload, collector, pace, share, most, batch):
    said = workload.load(round(share * most, 3), pace.level, batch)
    return {"share": share, "offered": share * most, "client": said, "after": collector.settled(),
            "server": workload.server_log()}


def climb(workload, collector, pace, most, batch):
    levels = []
    for share in pace.shares:
        before = levels[-1]["after"] if levels else collector.settled()
        levels.append({"before": before, **level(workload, collector, pace, share, most, batch)})
        latency = levels[-1]["client"]["latency"]
        print(f"  {share:4.0%} of {most:,.0f}/s: {latency['count']:,} answered, p99 {1e3 * latency['p99']:.3f} ms",
              flush=True)
    return levels


def measure(name, workload_type, site, pace, most=None):
    """Leaves a directory site.results/NAME with a result for each kind of arrivals and the RRD files. most: not as measured,
    but this."""
    site.dir = os.path.join(site.results, name)
    shutil.rmtree(site.dir, ignore_errors=True)
    os.makedirs(site.dir)
    os.chmod(site.dir, 0o755)
    store = Store(site.dir, name, pace.interval)
    with workload_type(site) as workload:
        with Collector(store, workload.pid, site) as collector:
            workload.load(0, workload.warm_s)
            collector.settled()
            most = most or maximum(workload, pace, site.shares_cpu)
            workload.server_log()
            levels = {arrivals: climb(workload, collector, pace, most, ARRIVALS[arrivals]) for arrivals in site.arrivals}
            readings, complaints = collector.readings(), collector.complaints()
    for arrivals, climbed in levels.items():
        result = {"name": name, "title": workload.title, "like": workload.like,
                  "network": site.network, "arrivals": arrivals, "shares_cpu": site.shares_cpu,
                  "kernel": os.uname().release, "interval": pace.interval, "most": most,
                  "levels": climbed, "readings": readings, "complaints": complaints}
        with open(os.path.join(site.dir, f"{arrivals}.json"), "w", encoding="utf-8") as file:
            json.dump(result, file)

# SPDX-License-Identifier: MIT
"""One workload under rising load, and all that is known of it afterwards, but for what is in the RRD files."""

import dataclasses
import json
import os
import shutil
import sys
import time

from store import Daemon, Store, tidy

SHARES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3)
RESULT = "levels.json"


@dataclasses.dataclass
class Pace:
    """How long everything takes, in seconds."""
    interval: int = 1
    level: int = 10
    maximum: int = 3
    shares: tuple = SHARES

    @property
    def rest(self):
        """Between levels: as long as it takes until all is counted and read."""
        return 2.5 * self.interval


def say(text):
    print(text, flush=True)


def maximum(workload, pace):
    """Answers per second when there are always requests, the better of two tries; the first fills stores and caches."""
    best = 0
    for _ in range(3):
        said = workload.load(0, pace.maximum)
        best = max(best, said["latency"]["count"] / (said["end"] - said["begin"]))
    return best


def level(workload, pace, share, most):
    time.sleep(pace.rest)
    said = workload.load(round(share * most, 3), pace.level)
    time.sleep(pace.rest)
    return {"share": share, "offered": share * most, "client": said, "server": workload.server_log()}


def measure(name, workload_type, site, pace, rates=None):
    """Leaves a directory site.results/NAME with the result and the RRD files. rates: not as measured, but these."""
    site.dir = os.path.join(site.results, name)
    shutil.rmtree(site.dir, ignore_errors=True)
    os.makedirs(site.dir)
    os.chmod(site.dir, 0o755)
    store = Store(site.dir, name, pace.interval)
    with workload_type(site) as workload:
        with Daemon(store, workload.pid, site.collectd, site.build, site.client_cpus) as daemon:
            workload.load(0, 1)
            daemon.wait_series("total_requests")
            most = rates or maximum(workload, pace)
            workload.server_log()
            levels = []
            for share in pace.shares:
                levels.append(level(workload, pace, share, most))
                client = levels[-1]["client"]
                say(f"  {share:4.0%} of {most:,.0f}/s: {client['latency']['count']:,} answered, "
                    f"p99 {1e3 * client['latency']['p99']:.3f} ms")
            log = daemon.log()
    tidy(site.dir)
    result = {"name": name, "title": workload.title, "alternates": workload.alternates, "like": workload.like,
              "network": site.network, "kernel": os.uname().release, "interval": pace.interval, "most": most,
              "levels": levels, "complaints": [line for line in log.splitlines() if "[error]" in line]}
    with open(os.path.join(site.dir, RESULT), "w", encoding="utf-8") as file:
        json.dump(result, file)
    sys.stdout.flush()
    return result

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What belongs to no service: under "other" it is counted as a whole, or "other" has no series. With ServicesFrom "none"
some probes pass over all processes but those of Service blocks, so they have none.

Truth: the processes, memory and files that this test, which is of no Service block, starts and uses.
"""

import mmap
import os
import signal
import time

from lib import SLOWNESS, WITH_TRACEFS, Test, in_mounts
from tables import described
from test_all import block, probes
from truth import PAGE

INTERVAL = 0.5 if SLOWNESS < 2 else 1
FORKS = 300  # of which every second one is killed
EXECS = 30
PAGES = 4096
MAPS = 200
FAILED = 3

# Probes that pass over what belongs to no service, as collectd-ebpf(5) says.
WITHOUT_OTHER = {"delay", "files", "functions", "offcpu", "poll", "profile", "request", "sched", "tcp"}

# What the load does at least, by series and data source.
LOAD = {
    "lifecycle": {"fork_rate": FORKS + EXECS, "total_events-execs": EXECS, "total_events-exits": FORKS + EXECS,
                  "total_events-exits_failed": FORKS // 2, "total_events-exits_by_signal": FORKS // 2,
                  "total_events-signals_sent": FORKS // 2, "total_events-exit_by_signal-SIGUSR1": FORKS // 2},
    "memory": {"vmpage_action-alloc": PAGES, "total_events-fault_write": PAGES, "total_operations-mmap": MAPS,
               "total_bytes-mmap": MAPS * PAGE, "total_operations-kmem_cache_alloc": FORKS},
    "pagecache": {"cache_operation-page_dirtied": PAGES, "cache_operation-page_new": PAGES, "cache_result-page_hit": PAGES},
    "process": {"total_events-processes_started": FORKS + EXECS, "total_events-processes_ended": FORKS + EXECS},
}
# The probe that counts these for the machine, too.
OF_MACHINE = ("fork_rate", "total_events-execs", "total_events-exits", "total_events-exits_by_signal")
SHARE_MIN = 0.9  # of the machine's; the rows are not read at the same moment


def use_processes():
    for number in range(FORKS):
        pid = os.fork()
        if not pid:
            if number % 2:
                os._exit(FAILED)
            signal.pause()
        if not number % 2:
            os.kill(pid, signal.SIGUSR1)
        os.waitpid(pid, 0)
    for _ in range(EXECS):
        os.waitpid(os.spawnv(os.P_NOWAIT, "/bin/true", ["true"]), 0)


def use_memory():
    for _ in range(MAPS):
        mmap.mmap(-1, PAGE).close()
    with mmap.mmap(-1, PAGES * PAGE) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(memory), PAGE):
            memory[at] = 1


def use_file(path):
    with open(path, "wb", buffering=0) as file:
        for _ in range(PAGES):
            file.write(bytes(PAGE))
    with open(path, "rb", buffering=0) as file:
        while file.read(64 * PAGE):
            pass
    os.unlink(path)


def of_services(wanted):
    """{TYPE[-INSTANCE] of a series of services: probe}"""
    return {name: probe["probe"] for probe in described() if probe["probe"] in wanted
            for table in probe["tables"] for one in table["series"] for name in one["files"]
            if table["subject"].startswith("service") or "service" in str(table["labels"])}


def probe_of(metric, series):
    """The probe of a series, behind whose name there may be those of labels. None: of a file, or of the machine."""
    while metric and metric not in series:
        metric = metric.rpartition("-")[0]
    return series.get(metric)


def value_at(daemon, subject, metric, moment):
    """The sum of the data sources at the last reading until then; 0: there was none."""
    rows = [row for row in daemon.rows(subject, metric) if row[0] <= moment]
    return sum(rows[-1][1:]) if rows else 0


def grown(daemon, subjects, metric, begin, end):
    return sum(value_at(daemon, subject, metric, end) - value_at(daemon, subject, metric, begin) for subject in subjects)


def count(test, services_from, wanted):
    text = f'  ServicesFrom {services_from}\n  <Service "mine">\n    Process "kt_mine"\n  </Service>\n'
    daemon = test.collectd(text + "".join(block(*probe) for probe in wanted.items()), interval=INTERVAL,
                           collect=tuple(wanted), wrap=in_mounts(WITH_TRACEFS))
    load = test.load("task", name="kt_mine")
    begin = daemon.wait_rows("mine", "total_events-exits", 3, time.time())[-1][0]
    use_processes()
    use_memory()
    use_file(os.path.join(test.disk, "file"))
    end = daemon.wait_rows("mine", "total_events-exits", 4, time.time())[2][0]
    load.end()
    services = daemon.subjects() - set(wanted) - {"self"}
    for probe, least in LOAD.items():
        for metric, number in least.items():
            sources = grown(daemon, services, metric, begin, end)
            test.within(f"{services_from}: {probe}: {metric} of all services", sources, number, float("inf"))
    for metric in OF_MACHINE:
        whole = grown(daemon, ["lifecycle"], metric, begin, end)
        test.within(f"{services_from}: {metric} of all services, of the {whole} of the machine",
                    grown(daemon, services, metric, begin, end), whole * SHARE_MIN, float("inf"))
    return daemon


def main():
    with Test(limit=150) as test:
        wanted = probes()
        series = of_services(wanted)
        test.equal("probes without other that have no series of services", WITHOUT_OTHER - set(series.values()), set())
        daemon = count(test, '"none"', wanted)
        found = {metric: probe_of(metric, series) for metric in daemon.metrics("other")}
        test.equal("series of other that is not counted", {metric for metric, probe in found.items() if probe in WITHOUT_OTHER},
                   set())
        test.equal("probes with series of other", {probe for probe in found.values() if probe} & set(LOAD), set(LOAD))
        test.stop(daemon)
        test.stop(count(test, '"containers" "units" "commands"', wanted))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""A CPU that others have, and one that a cgroup may not have."""

import databases
from case import Case, run_queue_seconds
from group import Group
from process import Process

HOGS = 4
QUOTA, PERIOD = 20000, 100000   # us


class Starved(Case, databases.Postgres):
    """Its selects take some milliseconds of CPU time."""
    asks = ("postgres-sum", 0)
    causes = {"postgresql": "runqueue"}
    rate = 40
    connections = 8
    healthy = f"{connections} clients ask for the sum of many rows, {rate} times a second together."
    truth_name = "the kernel's `schedstat` of its processes"
    truths = {truth_name: ("postgresql", ("runqueue", "socket"))}
    note = ("A process that a request wakes waits for a CPU before it can receive: until then the request is in the "
            "`socket`. The kernel's figure has both.")

    def counters(self):
        return {self.truth_name: run_queue_seconds([self.pid])}


class Neighbour(Starved):
    name = "postgresql-neighbour"
    title = "PostgreSQL: others have the CPU"
    broken = f"{HOGS} processes that compute run on the service's only CPU."
    command = f"for i in $(seq {HOGS}); do taskset -c 0 sh -c 'while :; do :; done' & done"
    hogs = ()

    def break_it(self):
        self.hogs = [Process(["sh", "-c", "while :; do :; done"], self.site.server_cpus, self.site.nice)
                     for _ in range(HOGS)]

    def mend(self):
        for hog in self.hogs:
            hog.end()
        self.hogs = ()

    def __exit__(self, *error):
        self.mend()
        super().__exit__(*error)


class Quota(Starved):
    name = "postgresql-quota"
    title = "PostgreSQL: a CPU quota"
    broken = f"The service's cgroup may use {QUOTA // 1000} ms of CPU time in {PERIOD // 1000} ms."
    command = f"echo {QUOTA} {PERIOD} >/sys/fs/cgroup/NAME/cpu.max"
    group = None

    def start(self):
        self.group = Group("cpu")
        return super().start()

    def connect(self):
        client = super().connect()
        self.group.enter([self.pid])
        return client

    def _limit(self, quota):
        if self.group.is_v1:
            self.group.write("cpu.cfs_quota_us", -1 if quota is None else quota)
        else:
            self.group.write("cpu.max", f"{'max' if quota is None else quota} {PERIOD}")

    def break_it(self):
        self._limit(QUOTA)

    def mend(self):
        self._limit(None)

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.group:
            self.group.remove()


CASES = (Neighbour, Quota)

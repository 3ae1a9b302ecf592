# SPDX-License-Identifier: MIT
"""A CPU that others have, and one that a cgroup may not have."""

import databases
import web
from case import Brief, Case, run_queue_seconds
from group import Group
from process import Process

HOGS = 4
QUOTA, PERIOD = 20000, 100000   # us


class Starved(Case, databases.Postgres):
    """Its selects take some milliseconds of CPU time."""
    asks = ("postgres-sum", 0)
    causes = {"postgresql": "runqueue"}
    connections = 8
    truth_name = "the kernel's `schedstat` of its processes"
    truths = {truth_name: ("postgresql", ("runqueue",))}

    def counters(self):
        return {self.truth_name: run_queue_seconds([self.pid])}


class Hogs(Case):
    """Others that have the CPU."""
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


class Neighbour(Hogs, Starved):
    name = "postgresql-neighbour"
    title = "PostgreSQL: others have the CPU"
    rate = 40
    healthy = f"{Starved.connections} clients ask for the sum of many rows, {rate} times per second in total."


class EventLoop(Hogs, Brief):
    """Whatever has arrived is received at once when the thread gets the CPU."""
    truth_name = "the client's clock: next to nothing of this is work"
    rate = 5000
    connections = 50
    healthy = f"{connections} clients ask, {rate} times per second in total."

    def truth(self, before, after, said):
        return {self.truth_name: said["latency"]["average"]}


class Memcached(EventLoop, databases.Memcached):
    name = "memcached-neighbour"
    title = "memcached: others have the CPU"
    asks = ("memcached", 10, 1)
    causes = {"memcached": "runqueue"}
    truths = {EventLoop.truth_name: ("memcached", ("runqueue",))}


class Redis(EventLoop, databases.Redis):
    name = "redis-neighbour"
    title = "Redis: others have the CPU"
    asks = ("redis", 10, 1)
    causes = {"redis": "runqueue"}
    truths = {EventLoop.truth_name: ("redis", ("runqueue",))}


class Nginx(EventLoop, web.Nginx):
    name = "nginx-neighbour"
    title = "nginx: others have the CPU"
    causes = {"nginx": "runqueue"}
    truths = {EventLoop.truth_name: ("nginx", ("runqueue",))}


class Quota(Starved):
    name = "postgresql-quota"
    title = "PostgreSQL: a CPU quota"
    rate = 100
    healthy = f"{Starved.connections} clients ask for the sum of many rows, {rate} times per second in total."
    broken = f"The service's cgroup may use {QUOTA // 1000} ms of CPU time in each {PERIOD // 1000} ms."
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


CASES = (Neighbour, Quota, Memcached, Redis, Nginx)

# SPDX-License-Identifier: MIT
"""Loads of six services under which no alert may fire: normal, bursty, and with a batch at night.

A load says what is asked of a service as (requests per second, seconds), one after the other; 0 is as many as are answered.
"""

import os
import random
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MEASURE = os.path.join(HERE, "..", "measure")
sys.path += [os.path.join(MEASURE, room) for room in ("accuracy", "cost")]

import databases  # noqa: E402
import web  # noqa: E402
from need import Missing  # noqa: E402
from process import Process  # noqa: E402
from workload import Workload  # noqa: E402

MINUTE, WARM_S = 60, 1
BATCH_MAX_S, BATCHES = 300, 4   # of a batch; parts of the time, each of which ends with one


class ShopLoad(Workload):
    title = "a Python service, 8 threads"
    asks = ("http", 0)
    connections = 8

    def start(self):
        return self.serve(sys.executable, os.path.join(HERE, "shop.py"), "shop", self.port, talks=True)


# {name of the service: (how it is started, requests per second)}
SERVICES = {"nginx": (web.Nginx, 50), "redis": (databases.Redis, 20), "memcached": (databases.Memcached, 20),
            "postgresql": (databases.Postgres, 20), "mariadb": (databases.MariaDb, 20), "shop": (ShopLoad, 20)}


def normal(rate):
    """Minutes differ, by a factor of three at most."""
    while True:
        yield rate * random.uniform(0.5, 1.5), 20


def bursty(rate):
    """Some seconds of as much as can be had, after a minute of little."""
    while True:
        yield rate / 4, random.uniform(0.5 * MINUTE, 1.5 * MINUTE)
        yield 0, random.uniform(2, 6)


LOADS = {"normal": normal, "bursty": bursty, "batch": normal}
# {alert: what these loads lack, so that it cannot fire}
NO_INPUT = {"EbpfSaturatedSoon": "a past of two days", "EbpfSlowerThanYesterday": "a past of a day", "EbpfErrors": "Response lines",
            "EbpfCpuThrottled": "a CPU limit", "EbpfMemoryLimitNear": "a memory limit", "EbpfOomKill": "a memory limit",
            "EbpfUpstreamSlow": "an upstream"}


class QuietSite:
    """Where the services run, as the workloads of tests/measure/accuracy want it."""
    patience, loses, nice = 1, False, None
    server_cpus = client_cpus = None

    def __init__(self, directory, build):
        self.dir, self.build = directory, build

    def built(self, name):
        return os.path.join(self.build, "tests", "measure", "accuracy", name)


class Six:
    """The services, as long as it is entered. missing: [why one is not there, ...]"""

    def __init__(self, build, names=SERVICES):
        self.home = tempfile.TemporaryDirectory(prefix="ebpf-quiet.", dir="/var/tmp")
        os.chmod(self.home.name, 0o755)
        self.site = QuietSite(self.home.name, build)
        self.names, self.running, self.missing, self.errors = names, {}, [], []
        self.batch = None

    def __enter__(self):
        try:
            for name in self.names:
                self._start(name, SERVICES[name][0])
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, name, kind):
        service = kind(self.site)
        try:
            self.running[name] = service.__enter__()
        except Missing as missing:
            self.missing.append(str(missing))
            return
        service.load(0, WARM_S)     # on all connections, before nginx closes those that have had no request for a minute
        with open(self._pid_path(name), "w", encoding="ascii") as file:
            file.write(f"{service.pid}\n")

    def __exit__(self, *_error):
        if self.batch:
            self.batch.process.kill()
            self.batch.process.wait()
        for service in self.running.values():
            service.__exit__()
        self.home.cleanup()

    def _pid_path(self, name):
        return os.path.join(self.home.name, f"{name}.pid")

    def configuration(self):
        """Service blocks."""
        return "".join(f'<Service "{name}">\n  PidFile "{self._pid_path(name)}"\n</Service>\n'
                       for name in (*self.running, "night"))

    def load(self, kind, seconds):
        """Begins a load of that kind, and returns the threads that make it."""
        end = time.monotonic() + seconds
        threads = [threading.Thread(target=self._ask, args=(name, LOADS[kind], end), daemon=True) for name in self.running]
        if kind == "batch":
            threads.append(threading.Thread(target=self._night, args=(seconds, end), daemon=True))
        for thread in threads:
            thread.start()
        return threads

    def _ask(self, name, load, end):
        try:
            for rate, seconds in load(SERVICES[name][1]):
                left = end - time.monotonic()
                if left < 1:
                    return
                self.running[name].load(rate, round(min(seconds, left), 1))
        except Exception as error:  # pylint: disable=broad-except
            self.errors.append(f"{name}: {error!r}")

    def _night(self, seconds, end):
        batch = min(BATCH_MAX_S, seconds / BATCHES / 2)
        for _ in range(BATCHES):
            time.sleep(max(0.0, min(seconds / BATCHES - batch, end - time.monotonic())))
            self.batch = Process([sys.executable, os.path.join(HERE, "batch.py"), batch, self.home.name])
            with open(self._pid_path("night"), "w", encoding="ascii") as file:
                file.write(f"{self.batch.pid}\n")
            self.batch.process.wait()

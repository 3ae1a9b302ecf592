# SPDX-License-Identifier: MIT
"""What the sampler of the probe delay takes of a machine with many threads, and how soon it names what is slow there.

Few threads serve: two requests are in progress all the time. Their time is nearly all of one part, and from time to time of
another one: a fault begins. It is named when that part is the largest that is dispatched.
"""

import contextlib
import itertools
import math
import os
import random
import time

from daemon import Daemon
from process import Process, threads_of_machine
from statistic import Estimate

SERVICE = "served"
IN_PROGRESS = 2
STEP_S = 1  # between inspections of what is dispatched
FAULTS = {"sleep": "sleep=10000", "upstream": "upstream=100000"}
# The samplers of requests; the first that there is counts. Before Linux 6.2, all threads are sampled for them.
SAMPLERS = ("serving_threads", "all_threads")


class Server:
    """A server, its upstream and its client (tests/kernel/load_delay.c)."""

    def __init__(self, site, stack):
        program = os.path.join(site.build, "tests", "kernel", "load_delay")
        server = os.path.join(site.dir, SERVICE)  # its command name
        if not os.path.lexists(server):
            os.symlink(program, server)

        def start(*command):
            process = Process(command, talks=True)
            stack.callback(process.end, 0)
            return process

        upstream = start(program, "upstream").hear()
        port = start(server, "server", "thread", 0, -1, f"{server}.log", f"{server}.file", upstream).hear()
        self._client = start(program, "client", port)

    def serve(self, mixture, seconds):
        """Requests for that long."""
        self._client.ask(f"{IN_PROGRESS} 0 {seconds:f} {mixture}")


class Figures:
    """What a daemon has dispatched last."""

    def __init__(self, daemon):
        self._daemon = daemon
        self._series = daemon.series()

    def _values(self, begin):
        found = {name[len(begin):]: self._daemon.value(name) for name in self._series if name.startswith(begin)}
        return {name: value for name, value in found.items() if math.isfinite(value)}

    def largest_part(self):
        parts = self._values(f"ebpf-{SERVICE}/latency-in_")
        return max(parts, key=parts.get, default=None)

    def sampling(self):
        """(samples a second, percent of one CPU, seconds of a sample), None: not yet"""
        rates, shares, durations = (self._values(f"ebpf-self/{figure}-sample_delay-") for figure in
                                    ("operations_per_second", "percent", "duration"))
        name = next((name for name in SAMPLERS if name in rates), None)
        return (rates[name], sum(shares.values()), durations[name]) if name in durations else None


class Sampling:
    """Of a machine with so many threads. rate, percent, sample_s: of the intervals; named_s: how long it took until each fault
    was named; unnamed_s: how long the last one was there and was not."""

    def __init__(self, site, size, seconds, interval):
        self.size = size
        self._readings = {}
        self.named_s, self.unnamed_s = [], 0
        with contextlib.ExitStack() as stack:
            self._fill(site, stack)
            server = Server(site, stack)
            with Daemon(site, site.ebpf(), interval, probe="delay") as daemon:
                self._watch(daemon, server, time.monotonic() + seconds)
        self.rate, self.percent, self.sample_s = map(Estimate, zip(*self._readings))

    def _fill(self, site, stack):
        """Up to so many threads, with those of the machine."""
        more = self.size - threads_of_machine()
        if more > 0:
            stack.enter_context(Process([site.program("threads"), more], talks=True)).hear()
        self.threads = threads_of_machine()

    def _watch(self, daemon, server, end):
        for part, mixture in itertools.cycle(FAULTS.items()):
            begin = time.monotonic()
            while self._inspect(daemon) != part:
                if time.monotonic() > end:
                    self.unnamed_s = time.monotonic() - begin
                    return
                server.serve(mixture, STEP_S)
            self.named_s.append(time.monotonic() - begin)
            server.serve(mixture, random.uniform(0, daemon.interval))  # so that faults begin at any time of an interval

    def _inspect(self, daemon):
        """The largest part."""
        figures = Figures(daemon)
        sampling = figures.sampling()
        if sampling:
            self._readings[sampling] = True
        return figures.largest_part()

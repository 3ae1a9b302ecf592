# SPDX-License-Identifier: MIT
"""What one reading of all processes costs: this plugin, collectd's `processes`, and a loop over a hash map.

All of them run side by side over the same processes and are read in turns, so that whatever else the machine does meets
them alike. A daemon's cost is the CPU time that all its threads use within one interval.
"""

import contextlib
import os
import re
import time

from daemon import Daemon
from process import Process
from statistic import Estimate

INTERVAL_S = 2  # collectd's `processes` needs most of a second for 10,000
WARM_UP = 2  # the first reading meets everything for the first time
QUIET = 0.15  # this part of an interval before a reading, the one before is over

UNSAMPLED = '  <Probe "delay">\n    Enable false\n  </Probe>\n'  # looks at threads all the time, not at readings alone
PROCESSES = "LoadPlugin processes"
PROCESSES_ALL = PROCESSES + '\n<Plugin processes>\n  ProcessMatch "all" "."\n</Plugin>'


class DaemonReading:
    """A daemon reads when it is time; what it has used is asked for in between."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.begin = daemon.ready - QUIET * INTERVAL_S
        self.used_ns = 0

    def read(self):
        before, self.used_ns = self.used_ns, self.daemon.cpu_ns()
        return self.used_ns - before


class LoopReading:
    def __init__(self, loop):
        self.loop = loop
        self.begin = time.monotonic()

    def read(self):
        return int(self.loop.ask())


def alternate(sources, count):
    """The costs of so many readings of each in nanoseconds, by name."""
    last = max(source.begin for source in sources.values())
    cycles = []
    for name, source in sources.items():
        late = int((last - source.begin) // INTERVAL_S) + 1
        cycles += [(source.begin + (late + i) * INTERVAL_S, name) for i in range(WARM_UP + count)]
    costs_ns = {name: [] for name in sources}
    for due, name in sorted(cycles):
        time.sleep(max(0, due - time.monotonic()))
        costs_ns[name].append(sources[name].read())
    return {name: costs[WARM_UP:] for name, costs in costs_ns.items()}


def slab_kib():
    """Memory that the kernel has for objects of its own and cannot give back."""
    with open("/proc/meminfo", encoding="ascii") as file:
        words = dict(re.findall(r"^(\w+):\s+(\d+)", file.read(), re.M))
    return int(words["SUnreclaim"]) + int(words["Percpu"])


class Reading:
    """All that was measured over one number of processes."""

    def __init__(self, site, size, count):
        self.size = size
        self.count = count
        with contextlib.ExitStack() as stack:
            stack.enter_context(Process([site.program("processes"), size], talks=True)).hear()
            self.processes = sum(name.isdigit() for name in os.listdir("/proc"))
            loop = stack.enter_context(Process([site.program("hash_loop"), self.processes], talks=True))
            daemons = self._start(site, stack)
            sources = {name: DaemonReading(daemon) for name, daemon in daemons.items()}
            sources["hash"] = LoopReading(loop)
            self._rounds_ns = alternate(sources, count)
            self.memory_kib = {name: daemon.memory_kib() for name, daemon in daemons.items()}
            self.series = {name: len(daemon.series()) for name, daemon in daemons.items()}
            self._ask(daemons["ebpf"])
        self.costs_ns = {name: Estimate(costs) for name, costs in self._rounds_ns.items()}

    def _start(self, site, stack):
        daemons = {}
        for name, block in (("none", ""), ("ebpf", site.ebpf()), ("unsampled", site.ebpf(UNSAMPLED)), ("processes", PROCESSES),
                            ("processes_all", PROCESSES_ALL)):
            slab = slab_kib()
            daemons[name] = stack.enter_context(Daemon(site, block, INTERVAL_S))
            time.sleep(INTERVAL_S / 5)  # so that they do not read at the same moment
            if name == "ebpf":
                self.slab_kib = slab_kib() - slab
                self.start_s = daemons[name].start_s
        return daemons

    def _ask(self, ebpf):
        maps = [name for name in ebpf.series() if name.startswith("ebpf-self/memory-maps_")]
        self.maps_kib = sum(map(ebpf.value, maps)) / 1024
        self.services = int(ebpf.value("ebpf-self/objects-services"))

    def times_cheaper(self, than):
        return Estimate(other / own for other, own in zip(self._rounds_ns[than], self._rounds_ns["unsampled"]))

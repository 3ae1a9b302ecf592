# SPDX-License-Identifier: MIT
"""What an event costs with nothing, with the plugin, with a probe and with a tool: in turns, the order changing with each
round. All that is compared is of the same round."""

import contextlib
import os
import statistics
import subprocess
import time
from typing import NamedTuple

from daemon import Daemon
from process import WITH_TRACEFS, Process, threads_cpu_ns
from programs import bpf_objects, programs_of, run_total
from statistic import Estimate
from tool import Tool, Unavailable

CPU = "0"
RUNS = 3  # that counts which was disturbed least
RUNS_LEAST = 0.1  # of programs per event
SETTLED_S = 0.4  # the first reading is over, and its sample of run times
SETUPS = ("nothing", "engine", "probe", "tool")
ALONE = ("nothing", "probe")

BLOCK = """\
  MaxOverhead 100
  <Service "{service}">
    Process "{service}"
  </Service>
{off}"""
PROBE = """\
  <Probe "{probe}">
    Enable true
{lines}  </Probe>
"""


def configuration(site, pair, probe=True):
    """The text of the plugin's block: of all probes this one, or none, and the service that makes the events."""
    off = "".join(f'  <Probe "{name}">\n    Enable false\n  </Probe>\n' for name in site.probes()
                  if not probe or name != pair.probe)
    text = BLOCK.format(service=pair.service, off=off)
    return text + (PROBE.format(probe=pair.probe, lines=pair.lines.replace("EVENT", site.program("event"))) if probe else "")


class Events:
    """So many, made: ns of CPU time for each, of the process that makes them and of its children."""

    def __init__(self, site, event, count):
        command = [site.program("event"), event, str(count), CPU, site.file()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            self.pid = process.pid
            said = process.communicate()[0]
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)}: status {process.returncode}")
        self.ns = float(said)


def empty_run_ns(site):
    """What the run statistics say of an empty program: their own time."""
    command = [site.program("kinds"), os.path.join(site.build, "tests/measure/cost/bpf/kinds.bpf.o"), CPU]

    def ask():
        with Process(WITH_TRACEFS + command, talks=True) as process:
            return float(process.ask("tp_btf").split()[1])

    return statistics.median(ask() for _ in range(RUNS))


class Cost(NamedTuple):
    """Nanoseconds of CPU time of an event: all of it, and what the process that watches has of it; by the run statistics,
    runs of BPF programs, and nanoseconds in them without the statistics' own."""

    all: float
    own: float
    runs: float
    in_programs: float


class Rounds:
    def __init__(self, site, pair, rounds, empty_ns, size=1, starts=None):
        """empty_ns: empty_run_ns(); size: times as many events as usual; starts: so many, of which each has its share of
        the rounds; else one a round."""
        self.site, self.pair, self.empty_ns = site, pair, empty_ns
        self.events = max(2, int(pair.count * size))
        self.setups = SETUPS if pair.command else ALONE
        starts = starts or rounds
        self.cells = [cells for i in range(starts) for cells in self._round(i % len(self.setups), rounds // starts)]
        if self.runs("probe").median < RUNS_LEAST:
            raise Unavailable("the programs of the probe do not run")

    def _round(self, cycle, times):
        """One start of each."""
        measured = {name: self._measure(name, times) for name in self.setups[cycle:] + self.setups[:cycle]}
        return [{name: costs[i] for name, costs in measured.items()} for i in range(times)]

    @contextlib.contextmanager
    def _on(self, name):
        if name == "nothing":
            yield None
        elif name == "tool":
            with Tool(self.site, list(self.pair.command)) as tool:
                yield tool.pid
        else:
            probe = name == "probe"
            text = self.site.ebpf(f'  SymbolHelper "{self.site.build}/ebpf-symbols"\n'
                                  + configuration(self.site, self.pair, probe))
            # So long an interval that no reading falls into a measurement.
            with Daemon(self.site, text, interval=3600, wrap=WITH_TRACEFS,
                        probe=self.pair.probe if probe else None) as daemon:
                time.sleep(SETTLED_S)
                yield daemon.process.pid

    def _measure(self, name, times):
        with self._on(name) as pid:
            return [self._cost(pid) for _ in range(times)]

    def _cost(self, pid):
        begin_ns = threads_cpu_ns(pid) if pid else 0
        cost_ns = min(Events(self.site, self.pair.event, self.events).ns for _ in range(RUNS))
        own_ns = (threads_cpu_ns(pid) - begin_ns) / RUNS / self.events if pid else 0
        return Cost(cost_ns + own_ns, own_ns, *(self._runs(pid) if pid else (0, 0)))

    def _runs(self, pid):
        ids = programs_of(pid)
        with bpf_objects.run_statistics():
            before = run_total(ids)
            Events(self.site, self.pair.event, self.events)
            runs, ns = (now - then for then, now in zip(before, run_total(ids)))
        return runs / self.events, (ns - runs * self.empty_ns) / self.events

    def without(self):
        return Estimate(cells["nothing"].all for cells in self.cells)

    def added(self, name):
        """More than with nothing, in the same round."""
        return Estimate(cells[name].all - cells["nothing"].all for cells in self.cells)

    def own(self, name):
        return Estimate(cells[name].own for cells in self.cells)

    def runs(self, name):
        """Of BPF programs; of the probe's without the engine's."""
        return Estimate(self._less_engine(cells, name, "runs") for cells in self.cells)

    def in_programs(self, name):
        return Estimate(self._less_engine(cells, name, "in_programs") for cells in self.cells)

    def excess_in_programs(self, times):
        """Time in the probe's programs, less so many times that in the tool's."""
        return Estimate(self._less_engine(cells, "probe", "in_programs") - times * cells["tool"].in_programs
                        for cells in self.cells)

    def excess_added(self, times):
        """CPU time that the probe adds, less so many times what the tool adds."""
        return Estimate(cells["probe"].all - cells["nothing"].all - times * (cells["tool"].all - cells["nothing"].all)
                        for cells in self.cells)

    @staticmethod
    def _less_engine(cells, name, figure):
        engine = getattr(cells["engine"], figure) if name == "probe" and "engine" in cells else 0
        return getattr(cells[name], figure) - engine

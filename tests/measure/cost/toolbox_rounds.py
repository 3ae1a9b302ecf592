# SPDX-License-Identifier: MIT
"""What an event costs with nothing, with the plugin, with a probe and with a program of libbpf-tools: in turns, the
order changing with each round. All that is compared is of the same round."""

import contextlib
import subprocess
import sys
import time

from daemon import Daemon
from process import WITH_TRACEFS, threads_cpu_ns
from programs import programs_of, run_total, statistics_on
from statistic import Estimate
from tool import Tool
from toolbox import SERVICE

CPU = "0"
RUNS = 3  # that counts which was disturbed least
SETTLED_S = 0.4  # the first reading is over, and its sample of run times
SETUPS = ("nothing", "engine", "probe", "tool")

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
    text = BLOCK.format(service=SERVICE, off=off)
    return text + (PROBE.format(probe=pair.probe, lines=pair.lines) if probe else "")


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


class Cost:
    """of_events: what those pay who make them; own: the program that watches, meanwhile."""

    def __init__(self, of_events, own):
        self.own = own
        self.all = of_events + own


class Rounds:
    def __init__(self, site, pair, count, size=1):
        """size: times as many events as usual."""
        self.site, self.pair, self.count = site, pair, count
        self.events = max(2, int(pair.count * size))
        self.runs = {}  # by variant: runs per event and nanoseconds of them, by the run statistics
        for name in SETUPS[1:]:
            with self._on(name) as pid, statistics_on():
                self.runs[name] = self._time_runs(pid)
        self.cells = []
        for i in range(count):
            cycle = i % len(SETUPS)
            self.cells.append({name: self._measure(name) for name in SETUPS[cycle:] + SETUPS[:cycle]})
            print(".", end="", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def _on(self, name):
        if name == "nothing":
            yield None
        elif name == "tool":
            with Tool(self.site, list(self.pair.command)) as tool:
                yield tool.pid
        else:
            probe = name == "probe"
            text = self.site.ebpf(configuration(self.site, self.pair, probe))
            # So long an interval that no reading falls into a measurement.
            with Daemon(self.site, text, interval=3600, wrap=WITH_TRACEFS,
                        probe=self.pair.probe if probe else None) as daemon:
                time.sleep(SETTLED_S)
                yield daemon.process.pid

    def _measure(self, name):
        with self._on(name) as pid:
            begin_ns = threads_cpu_ns(pid) if pid else 0
            cost_ns = min(Events(self.site, self.pair.event, self.events).ns for _ in range(RUNS))
            own_ns = threads_cpu_ns(pid) - begin_ns if pid else 0
        return Cost(cost_ns, own_ns / RUNS / self.events)

    def _time_runs(self, pid):
        ids = programs_of(pid)
        before = run_total(ids)
        Events(self.site, self.pair.event, self.events)
        after = run_total(ids)
        return [(now - then) / self.events for then, now in zip(before, after)]

    def without(self):
        return Estimate(cells["nothing"].all for cells in self.cells)

    def added(self, name):
        """More than with nothing, in the same round."""
        return self.excess(name, 0, "nothing")

    def own(self, name):
        return Estimate(cells[name].own for cells in self.cells)

    def excess(self, name, times, other):
        """What one adds, less so many times what the other adds."""
        return Estimate(cells[name].all - cells["nothing"].all - times * (cells[other].all - cells["nothing"].all)
                        for cells in self.cells)

# SPDX-License-Identifier: MIT
"""A server under each variant in turns, at several loads, round after round; the order changes each time.

All that is compared is of the same round.
"""

import subprocess
import sys
import time

import setup
from programs import programs_of, run_counts, statistics_on
from server import CPU, STREAMS, Pair
from statistic import Estimate

SETTLED_S = 0.3  # the first reading, and the sample of run times with it, is over
LOADS = {"half": 0.5, "usual": 0.7, "full": 0}  # of the throughput of full load, 0: as fast as the answers come
SPANS = 4  # of each load; that counts whose server was disturbed least
MESSAGES = 20000
CALLS = 100000
TAILS_OF = ("nothing", "probe", "floor")
TAILS = 3  # times the rounds: the 99th percentile differs more from span to span than CPU time


def event_ns(site, kind, count):
    """What a process pays for that is nobody's: the run that was disturbed least."""
    command = [site.program("event"), kind, str(count), str(CPU)]
    return min(float(subprocess.run(command, capture_output=True, text=True, check=True).stdout) for _ in range(3))


class Rounds:
    """All that was measured of one server."""

    def __init__(self, site, name, count, span_s):
        self.site = site
        self.name = name
        self.count = count
        self.span_s = span_s
        self.setups = setup.setups(site)
        self.cells = []  # of each round: {(variant, load): what the client and /proc say}
        self.runs = {}  # by variant and program: nanoseconds of a run with what measuring takes, and runs per exchange
        with Pair(site, name) as pair:
            self.full = max(pair.order(0, span_s)["throughput"] for _ in range(3))
            for i in range(count):
                self.cells.append(self._round(pair, i))
                print(".", end="", file=sys.stderr, flush=True)
            self.tails = [self._tail(pair, i) for i in range(TAILS * count)]
            self._time_programs(pair)
        print(f" {name}", file=sys.stderr)

    def _round(self, pair, i):
        cells = {}
        cycle = i % len(self.setups)
        for name in self.setups[cycle:] + self.setups[:cycle]:
            with setup.on(name, self.site, pair):
                time.sleep(SETTLED_S)
                for load, cell in self._measure(pair).items():
                    cells[name, load] = cell
        return cells

    def _tail(self, pair, i):
        """99th percentiles at the usual load."""
        found = {}
        cycle = i % len(TAILS_OF)
        for name in TAILS_OF[cycle:] + TAILS_OF[:cycle]:
            with setup.on(name, self.site, pair):
                time.sleep(SETTLED_S)
                found[name] = self._quietest(pair, LOADS["usual"] * self.full)["p99"]
        return found

    def _quietest(self, pair, rate):
        spans = [pair.order(rate, self.span_s) for _ in range(SPANS)]
        best = min(spans, key=lambda span: span["server_ns"])
        return {**best, "throughput": max(span["throughput"] for span in spans),
                "p99": min(span["p99"] for span in spans)}

    def _measure(self, pair):
        cells = {load: self._quietest(pair, part * self.full) for load, part in LOADS.items()}
        with pair.together():
            cells["together"] = self._quietest(pair, 0)
        cells["message"] = {"ns": event_ns(self.site, "message", MESSAGES)}
        cells["syscall"] = {"ns": event_ns(self.site, "syscall", CALLS)}
        return cells

    def _time_programs(self, pair):
        for name in [name for name in self.setups if name not in ("nothing", "bpftrace")]:
            with setup.on(name, self.site, pair) as process, pair.together():
                time.sleep(SETTLED_S)
                for program, cell in self._time_runs(pair, programs_of(process.pid)).items():
                    self.runs[name, program] = cell

    def _time_runs(self, pair, ids):
        with statistics_on():
            spans = [self._span_runs(pair, ids) for _ in range(SPANS)]
        return {program: min(span[program] for span in spans) for program in set.intersection(*map(set, spans))}

    def _span_runs(self, pair, ids):
        before = run_counts(ids)
        exchanges = pair.order(0, self.span_s)["count"]
        cells = {}
        for program, (count, time_ns) in run_counts(ids).items():
            runs = count - before[program][0]
            # Others run now and then; one call may have several exchanges.
            if runs > exchanges / (2 * STREAMS):
                cells[program] = (time_ns - before[program][1]) / runs, runs / exchanges
        return cells

    def figure(self, name, load, key):
        return Estimate(cells[name, load][key] for cells in self.cells)

    def added(self, name, load, key):
        """More than with nothing, in the same round."""
        return Estimate(cells[name, load][key] - cells["nothing", load][key] for cells in self.cells)

    def excess(self, name, times, other, load, key):
        """What one adds, less so many times what the other adds."""
        return Estimate(cells[name, load][key] - cells["nothing", load][key]
                        - times * (cells[other, load][key] - cells["nothing", load][key]) for cells in self.cells)

    def tail(self, name):
        """99th percentile at the usual load, more than with nothing."""
        return Estimate(found[name] - found["nothing"] for found in self.tails)

    def tail_of_nothing(self):
        return Estimate(found["nothing"] for found in self.tails)

    def ratio(self, name, load, key):
        """Times what it is with nothing, in the same round."""
        return Estimate(cells[name, load][key] / cells["nothing", load][key] for cells in self.cells)

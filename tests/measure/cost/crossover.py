# SPDX-License-Identifier: MIT
"""A server and its client at full load on one CPU, under each variant in turns, with nothing before and after each: what
differs from minute to minute is in both. The order changes with each round."""

import statistics
import subprocess
import time

import setup
from programs import bpf_objects, programs_of, run_counts
from samples import Samples
from server import CPU, STREAMS

SETTLED_S = 0.3  # the first reading, and the sample of run times with it, is over
EVENTS = {"message": 10000, "syscall": 100000}


def event_ns(site, kind, count):
    """What a process of no service pays."""
    command = [site.program("event"), kind, str(count), str(CPU)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def full(pair, spans, span_s):
    """Of the span that was disturbed least."""
    return min((pair.order(0, span_s) for _ in range(spans)), key=lambda span: span["both_ns"])


def own_ns(runs):
    """What the statistics themselves take of a run: hardly more is in that of an empty program."""
    return sum(ns * count for ns, count in runs.values()) / sum(count for _, count in runs.values())


def programs_ns(runs, own):
    """All that programs take of an exchange, without what the statistics take."""
    return sum((ns - own) * count for ns, count in runs.values())


class Crossover:
    """spans: that counts in which an exchange took least; half as many more are with the kernel's run statistics. events: what
    processes of no service do, and how often, to be measured too. floor: the variant with empty programs. beside: a function
    of the round's number, for what else is measured in each turn."""

    def __init__(self, site, pair, names, count, spans, span_s, events, floor="floor", beside=lambda i: None):
        self.site, self.pair, self.names = site, pair, names
        self.spans, self.span_s = spans, span_s
        self.events, self.floor, self.measure_beside = events, floor, beside
        self.runs = {}  # {(variant, program): [(nanoseconds of a run with what the statistics take, runs per exchange)]}
        self.own = []  # nanoseconds of a run that the statistics take
        self.hook_set = 0  # of the probe
        self.beside = []  # of each round: {variant: (what it is with it, with nothing)}
        self.samples = Samples([self._round(i) for i in range(count)])

    def _round(self, i):
        found, runs, cycle = {}, {}, i % len(self.names)
        nothing, beside_nothing, beside = self._figures(), self.measure_beside(i), {}
        for name in self.names[cycle:] + self.names[:cycle]:
            with setup.on(name, self.site, self.pair) as running:
                time.sleep(SETTLED_S)
                figures = self._figures()
                runs[name] = self._time_runs(programs_of(running.pid))
                self.hook_set = self.hook_set or running.hook_set
                beside[name] = self.measure_beside(i), beside_nothing
            before, nothing = nothing, self._figures()
            found[name] = figures, {key: (before[key] + nothing[key]) / 2 for key in nothing}
        self._add_runs(runs, found)
        self.beside.append(beside)
        return found

    def _add_runs(self, runs, found):
        own = own_ns(runs[self.floor])
        self.own.append(own)
        for name, programs in runs.items():
            found[name][0]["programs_ns"], found[name][1]["programs_ns"] = programs_ns(programs, own), 0
            for program, cell in programs.items():
                self.runs.setdefault((name, program), []).append(cell)

    def _figures(self):
        with self.pair.together():
            best = full(self.pair, self.spans, self.span_s)
        return {**best, **{kind: event_ns(self.site, kind, count) for kind, count in self.events.items()}}

    def _time_runs(self, ids):
        """{program: (ns of a run, runs per exchange)}, of the span in which all took least."""
        with self.pair.together(), bpf_objects.run_statistics():
            return min((self._span_runs(ids) for _ in range(max(1, self.spans // 2))), key=lambda runs: programs_ns(runs, 0))

    def _span_runs(self, ids):
        before = run_counts(ids)
        exchanges = self.pair.order(0, self.span_s)["count"]
        cells = {}
        for program, (count, time_ns) in run_counts(ids).items():
            runs = count - before[program][0]
            # Others run now and then; one call may have several exchanges.
            if runs > exchanges / (2 * STREAMS):
                cells[program] = (time_ns - before[program][1]) / runs, runs / exchanges
        return cells

    def programs(self):
        """{(variant, program): (ns of a run, runs per exchange)}, medians"""
        return {which: tuple(statistics.median(column) for column in zip(*cells)) for which, cells in sorted(self.runs.items())}

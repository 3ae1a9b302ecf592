# SPDX-License-Identifier: MIT
"""Configurations of ebpf_exporter, converted and loaded by a collectd of their own, each series beside bpftool's dump of its
map: a counter beside the dumps before and after its reading, the buckets and the sum of a histogram beside what they grew by.
"""

import math
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [HERE, os.path.join(TOP, "tests", "kernel")]

import yaml  # noqa: E402

import bpf_objects  # noqa: E402
import collectd  # noqa: E402
import lib  # noqa: E402
import map_rows  # noqa: E402

PREFIX = "exporter-"
KERNEL_NAME = 15   # bytes of a map's name
ROUNDING = 0.01    # of rates, which histograms are compared by


class Example:
    """One of them: its configuration, its block, its maps in the kernel."""

    def __init__(self, path, objects, more=()):
        """more: lines of its Probe block that no configuration of the exporter has."""
        self.name = os.path.basename(path)[:-len(".yaml")]
        self.object = os.path.join(objects, self.name + ".bpf.o")
        with open(path, encoding="utf-8") as file:
            self.metrics = yaml.safe_load(file).get("metrics") or {}
        done = subprocess.run([os.path.join(TOP, "contrib", "ebpf-convert"), "--objects", objects, path],
                              capture_output=True, text=True, check=False)
        self.left_out = [line.split(": ", 2)[2] for line in done.stderr.splitlines()]
        more = "\n".join("    " + line for line in ("Rows 1024", *more))
        self.block = re.sub(r"(?m)^    Object .*$", lambda line: line[0] + "\n" + more,
                            "\n".join(done.stdout.splitlines()[1:-1]))
        self.compared = re.findall(r'<Table "(\w+)">', self.block)
        self.maps = {}

    def find_maps(self, kernel_maps):
        """Names in the kernel are cut: those that are the same stand there in the order of the object."""
        symbols = subprocess.run(["readelf", "-sW", self.object], capture_output=True, text=True, check=True).stdout
        words = [line.split() for line in symbols.splitlines() if " OBJECT " in line]
        placed = sorted((int(word[1], 16), word[7]) for word in words if len(word) == 8)
        for metric in self.compared:
            alike = [name for _, name in placed if name[:KERNEL_NAME] == metric[:KERNEL_NAME]]
            there = sorted(number for number, name in kernel_maps.items() if name == metric[:KERNEL_NAME])
            if metric in alike and len(there) == len(alike):
                self.maps[metric] = there[alike.index(metric)]

    def result(self):
        """As far as the converter says."""
        return {"name": self.name, "metrics": bool(self.metrics), "left_out": self.left_out, "state": "not converted"}

    def each(self):
        """(map, is a histogram, type and instance)"""
        for word in ("counters", "histograms"):
            for metric in self.metrics.get(word) or []:
                found = re.search(rf'<Table "{metric["name"]}">.*?Metric "([^" ]*)', self.block, re.DOTALL)
                if found:
                    yield metric, word == "histograms", found[1]


def batches(examples):
    """As few as no two in one have maps of the same name."""
    found = []
    for example in examples:
        names = {name[:KERNEL_NAME] for name in example.compared}
        for batch, taken in found:
            if not names & taken:
                batch.append(example)
                taken |= names
                break
        else:
            found.append(([example], names))
    return [batch for batch, _ in found]


class Figure:
    """What is compared of one example."""

    def __init__(self):
        self.equal, self.still, self.wrong = 0, 0, []

    def check(self, what, got, low, high, slack=0.0):
        """got: the most and the least that it may be."""
        fine = bool(got) and low - slack <= got[0] and got[-1] <= high + slack
        self.equal += fine
        self.still += fine and low == high
        if not fine:
            self.wrong.append(f"{what}: {got} instead of {low} .. {high}")


class Trial:
    """One collectd with some of the examples."""

    def __init__(self, directory, number, examples):
        empty = os.path.join(directory, "none")
        os.makedirs(empty, exist_ok=True)
        self.examples = examples
        self.interval = 2 if lib.SLOWNESS == 1 else 10
        self.early = self.interval / 2   # that a reading may be before its stamp, on a busy machine
        self.daemon = collectd.Daemon(lib.COLLECTD, directory, lib.BUILD, number,
                                      "  Buckets true\n" + "\n".join(example.block for example in examples),
                                      interval=self.interval, objects=empty, wrap=lib.in_mounts(lib.WITH_TRACEFS),
                                      preexec=lib.die_with_test)

    def _hook_set(self, example):
        """When it was dispatched last, and what."""
        found = self.daemon.rows("self", f"count-tier_{PREFIX}{example.name}")
        return found[-1] if found else (0, None)

    def _wait(self, moment=0.0):
        """Until readings are later than this."""
        give_up = time.monotonic() + 120 * lib.SLOWNESS
        while time.monotonic() < give_up and min(self._hook_set(example)[0] for example in self.examples) <= moment:
            if not self.daemon.running():
                raise RuntimeError("\n".join(self.daemon.log()[-20:]))
            time.sleep(0.5)

    def _find_maps(self):
        shown = bpf_objects.show("map", bpf_objects.numbers("map", self.daemon.process.pid))
        names = {one["id"]: one.get("name", "") for one in shown}
        for example in self.examples:
            example.find_maps(names)

    def _snapshot(self):
        """When it began, when it was over, and what all maps held."""
        began = time.time()
        dumps = {example.name: {metric: map_rows.dump(bpf_objects.BPFTOOL, number) for metric, number in example.maps.items()}
                 for example in self.examples}
        return began, time.time(), dumps

    def run(self, stir):
        """stir() makes them count."""
        self.daemon.start()
        try:
            self._wait()
            self._find_maps()
            snapshots = [self._snapshot()]
            stir()
            time.sleep(self.interval)
            snapshots.append(self._snapshot())
            # Each probe has two readings in between.
            self._wait(snapshots[1][1] + 3 * self.interval)
            snapshots.append(self._snapshot())
            return [self._result(example, snapshots) for example in self.examples]
        finally:
            self.daemon.stop()

    def _result(self, example, snapshots):
        result = example.result()
        if not self._hook_set(example)[1]:
            said = [line for line in self.daemon.complaints() if PREFIX + example.name + " " in line]
            return {**result, "state": "off", "why": said[:1]}
        figure = Figure()
        for metric, is_histogram, series in example.each():
            name = metric["name"]
            if name not in example.maps:
                figure.wrong.append(f"{name}: its map is not found")
                continue
            namer = map_rows.Series(metric, is_histogram)
            totals = [namer.totals(dumps[example.name][name]) for _, _, dumps in snapshots]
            if is_histogram:
                self._compare_histogram(figure, example, metric, series, snapshots, totals)
            else:
                self._compare_counter(figure, example, series, snapshots, totals)
        notes = [line for line in self.daemon.complaints() if PREFIX + example.name + ":" in line]
        state = "differs" if figure.wrong else "equal" if figure.equal else "nothing happened"
        return {**result, "state": state, "equal": figure.equal, "still": figure.still, "different": len(figure.wrong),
                "wrong": figure.wrong[:20], "notes": notes}

    def _rows(self, example, subject, metric):
        kind, _, instance = metric.partition("-")
        # As collectd cuts it.
        instance = instance.encode()[:127].decode("utf-8", "ignore")
        found = self.daemon.rows(subject or PREFIX + example.name, f"{kind}-{instance}")
        if kind != "bucket":
            return found
        # Rates are over the time since the previous reading, which may have been late.
        befores = [found[0][0] - self.interval, *(moment for moment, _ in found)] if found else []
        return [(moment, rate * (moment - before) / self.interval) for before, (moment, rate) in zip(befores, found)]

    def _compare_counter(self, figure, example, series, snapshots, totals):
        """At the reading between the last two dumps: the second one, as the first may have begun before it was over."""
        _, before, after = totals
        for (subject, instance, _), high in after.items():
            low = before.get((subject, instance, None), 0)
            metric = series + (f"-{instance}" if instance else "")
            got = [row[1] for row in self._rows(example, subject, metric) if snapshots[1][1] < row[0] < snapshots[2][0]]
            # What is new has no series yet.
            if low:
                figure.check(f"{subject or ''}/{metric}", got[1:2], low, high)

    def _compare_histogram(self, figure, example, metric, series, snapshots, totals):
        """What the buckets and the sum grew by since the first look, by the figures of whole readings."""
        first, before, after = totals
        scale = float(metric.get("bucket_multiplier") or 1)
        for subject, instance in {name[:2] for name in after}:
            def grown(key):
                return [total.get((subject, instance, key), 0) - first.get((subject, instance, key), 0)
                        for total in (before, after)]

            whole = series + (f"-{instance}" if instance else "")
            counts = {}
            for key, name in self._buckets(metric, whole):
                found = self._rows(example, subject, name)
                # A rate is of the time between two stamps, which are to the millisecond.
                self._check_growth(figure, f"{subject or ''}/{name}", found, self.interval, snapshots, grown(key), 0.5)
                for moment, rate in found:
                    counts[moment] = counts.get(moment, 0) + rate
            sums = [(moment, value * counts.get(moment, 0))
                    for moment, value in self._rows(example, subject, whole + "-average") if not math.isnan(value)]
            # The csv plugin writes six decimals.
            coarse = self.interval * sum(counts.values()) * 1e-6 / scale
            self._check_growth(figure, f"{subject or ''}/{whole}-average", sums, self.interval / scale, snapshots, grown(key + 1),
                               1 + coarse)

    def _check_growth(self, figure, what, found, factor, snapshots, bounds, slack):
        if not bounds[0]:
            return
        end = [*(row[0] for row in found if snapshots[1][1] < row[0]), snapshots[2][0], snapshots[2][0]][1]
        got = [factor * sum(row[1] for row in found if begin < row[0] <= end)
               for begin in (snapshots[0][0], snapshots[0][1] + self.interval + self.early)]
        figure.check(what, got, *bounds, slack + ROUNDING * bounds[1])

    @staticmethod
    def _buckets(metric, series):
        """The keys of buckets, and their series."""
        scale = float(metric.get("bucket_multiplier") or 1)
        bound = {"exp2": lambda key: 2 ** key, "exp2zero": lambda key: 2 ** (key - 1) if key else 0}.get(
            metric["bucket_type"], lambda key: key)
        keys = metric.get("bucket_keys") or range(metric["bucket_min"], metric["bucket_max"] + 1)
        edges = [0, *(bound(key) * scale for key in keys[:-1]), float("inf")]
        return [(int(key), f"bucket-{series}-{edges[position]:g}_{edges[position + 1]:g}") for position, key in enumerate(keys)]

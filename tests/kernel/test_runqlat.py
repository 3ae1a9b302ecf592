#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run-queue latency, time on CPUs and migrations, by service and of the machine.

Truth: what the kernel counts of each thread, /proc/PID/task/*/{schedstat,sched}, before and after a load whose threads
sleep then; the machine's context switches, /proc/stat; and, where they are installed, what runqlat and cpudist of
libbpf-tools see of the same load at the same time.
"""

import json
import math
import os
import re
import shutil
import subprocess
import time

import bpf_objects
import truth
from lib import SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
CONF = """
  <Service "runs">
    Process "kt_runs"
  </Service>
  <Probe "sched">
    Enable true
    Collect "*"
    Option "cpus"
  </Probe>
  # Whose rows are in maps of the same names.
""" + without("request", "delay", "disk", "poll")
FIRST_ROW = 2       # of services, see bpf/lib/services/service.h
SUB = 16            # buckets of a power of two, see bpf/lib/hist.h
BUCKET = 0.033      # an average by buckets may be off by so much
SPIN_MS, TOOL_SPIN_MS = 100, 400
TOOLS = {"runqlat": "wait", "cpudist": "run"}
TOOL_SECONDS = 8
SHORT_US = 64
ROW = "latency-runqueue-average"


# --- what the kernel and the probe count ---

def kernel_counts(pid):
    """Of all threads: runs, ns waited, ns run, migrations."""
    total = [0, 0, 0, 0]
    for tid in os.listdir(f"/proc/{pid}/task"):
        ran, waited, runs = map(int, truth.proc(f"{pid}/task/{tid}", "schedstat").split())
        moved = re.search(r"se\.nr_migrations *: *(\d+)", truth.proc(f"{pid}/task/{tid}", "sched"))
        total = [a + b for a, b in zip(total, (runs, waited, ran, int(moved.group(1))))]
    return total


class Maps:
    """The probe's own, as bpftool sees them."""

    def __init__(self, daemon):
        shown = bpf_objects.show("map", bpf_objects.numbers("map", daemon.process.pid))
        self.ids = {entry["name"]: str(entry["id"]) for entry in shown if "name" in entry}
        sizes = {entry["name"]: entry["max_entries"] for entry in shown if "name" in entry}
        self.shards = sizes["sched_services"] // sizes["slot_owners"]

    def dump(self, name):
        return json.loads(subprocess.run([bpf_objects.BPFTOOL, "-j", "map", "dump", "id", self.ids[name]],
                                         capture_output=True, text=True, check=True).stdout)

    def service(self):
        """What the probe has counted of the one service, in the shards of its slot."""
        slot = self.dump("row_slots")[FIRST_ROW]["formatted"]["value"]
        rows = self.dump("sched_services")[slot * self.shards:(slot + 1) * self.shards]
        return self._together(row["formatted"]["value"] for row in rows)

    def machine(self):
        return self._together(one["value"] for one in self.dump("sched_machine")[0]["formatted"]["values"])

    @staticmethod
    def _together(rows):
        total = {"wait": [], "run": [], "migrations": 0}
        for row in rows:
            for word in ("wait", "run"):
                buckets = row[word]["bucket"]
                total[word] = [a + b for a, b in zip(total[word] or [0] * len(buckets), buckets)]
            total["migrations"] += row["migrations"]
        return total


def lower(index):
    power = index // SUB
    return index if power == 0 else (SUB + index % SUB) << (power - 1)


def total(buckets):
    return sum(count * (lower(i) + lower(i + 1) - 1) / 2 for i, count in enumerate(buckets))


def growth(before, after):
    return {"wait": [b - a for a, b in zip(before["wait"], after["wait"])],
            "run": [b - a for a, b in zip(before["run"], after["run"])],
            "migrations": after["migrations"] - before["migrations"]}


# --- the tests ---

def asleep(pid):
    return all(truth.proc(f"{pid}/task/{tid}", "stat").rpartition(")")[2].split()[0] == "S"
               for tid in os.listdir(f"/proc/{pid}/task"))


def snapshot(maps, load):
    """What the kernel and the probe count while all threads sleep."""
    while True:
        time.sleep(0.02)
        before = kernel_counts(load.pid)
        if asleep(load.pid):
            counted = maps.service()
            if kernel_counts(load.pid) == before:
                return before, counted


def requested(maps, load, text):
    """The growth of both by one request."""
    kernel, begin = snapshot(maps, load)
    load.ask(text)
    kernel_after, after = snapshot(maps, load)
    return [b - a for a, b in zip(kernel, kernel_after)], growth(begin, after)


def exact(test, what, maps, load, text):
    (runs, waited, ran, moved), got = requested(maps, load, text)
    test.equal(f"{what}: waits", sum(got["wait"]), runs)
    test.equal(f"{what}: runs", sum(got["run"]), runs)
    test.close(f"{what}: ns waited", total(got["wait"]), waited, rel=BUCKET, slack=runs)
    test.figures.close(f"{what}: ns run", total(got["run"]), ran, rel=BUCKET, slack=runs)
    test.equal(f"{what}: migrations", got["migrations"], moved)
    return runs, waited, ran


def contention(test, daemon, maps):
    """N threads on one CPU: each waits while N - 1 others have their turns."""
    threads = 4
    load = test.load("runs", threads, truth.CPUS - 1, name="kt_runs")
    daemon.wait_rows("self", "duration-read_sched", 3, time.time())
    begin = time.time()
    runs, waited, ran = exact(test, f"{threads} threads on one CPU", maps, load, f"spin {SPIN_MS}")
    test.figures.within(f"{threads} threads on one CPU: time waited by time run", waited / ran, 0.9 * (threads - 1),
                        float("inf"))
    daemon.wait_rows("self", "duration-read_sched", 2, time.time())
    averages = [row[1] for row in daemon.rows("runs", ROW) if row[0] > begin and row[1] > 0]
    test.true("the average as dispatched", averages, averages)
    test.figures.within("the average as dispatched, s, most", max(averages), 0.8 * waited / runs / 1e9,
                        3 * waited / runs / 1e9)
    exact(test, "threads that sleep", maps, load, "sleep 500")
    exact(test, "threads that yield", maps, load, "yield 2000")
    load.end()


def moved(test, daemon, maps):
    """More threads than CPUs, which the scheduler moves while they wait: a wait on two CPUs is one."""
    load = test.load("runs", 2 * truth.CPUS + 1, name="kt_runs")
    daemon.wait_rows("self", "duration-read_sched", 3, time.time())
    for _ in range(2):
        exact(test, "threads on any CPU", maps, load, f"spin {SPIN_MS}")
        exact(test, "threads on any CPU that sleep", maps, load, "sleep 500")
    load.end()


def switches():
    with open("/proc/stat", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("ctxt"))


def switches_of_init():
    """In whose context kernels of some sandboxes run no BPF program (tracing.py)."""
    total = 0
    for tid in os.listdir("/proc/1/task"):
        status = dict(line.split(":", 1) for line in truth.proc(f"1/task/{tid}", "status").splitlines())
        total += int(status["voluntary_ctxt_switches"]) + int(status["nonvoluntary_ctxt_switches"])
    return total


def hook_runs(maps):
    return next(sum(one["value"] for one in entry["formatted"]["values"]) for entry in maps.dump("run_counters"))


def machine(test, daemon, maps):
    load = test.load("runs", 2 * truth.CPUS, name="kt_runs")
    daemon.wait_rows("self", "duration-read_sched", 3, time.time())
    of_init = switches_of_init()
    snapshots = [(switches(), hook_runs(maps), switches())]
    before, own = maps.machine(), kernel_counts(load.pid)
    load.ask("sleep 5000")
    after, own_after = maps.machine(), kernel_counts(load.pid)
    snapshots.append((switches(), hook_runs(maps), switches()))
    of_init = switches_of_init() - of_init
    low, high = snapshots[1][0] - snapshots[0][2], snapshots[1][2] - snapshots[0][0]
    test.within("runs of the hook, and context switches", snapshots[1][1] - snapshots[0][1], low - of_init, high)
    got = growth(before, after)
    test.within("waits of the machine", sum(got["wait"]), own_after[0] - own[0], high)
    # A CPU may be between the two when it is looked at.
    test.close("as many runs", sum(got["run"]), sum(got["wait"]), slack=2 * truth.CPUS)
    daemon.wait_rows("sched", ROW, 2, time.time())
    for cpu in sorted(os.sched_getaffinity(0)):
        for kind in ("woken", "preempted"):
            test.true(f"cpu{cpu}: threads that were {kind}", daemon.wait_rows(f"cpu{cpu}", f"latency-runqueue-{kind}-average", 1))
    load.end()


# --- the tools ---

def tool_counts(text):
    """{lower bound in us: count}"""
    return {int(low): int(count) for low, count in re.findall(r"^ *(\d+) *-> *\d+ *: *(\d+) ", text, re.M)}


def by_power(buckets):
    """The same of ours: of a bucket that a bound divides, to each side what is its share."""
    found = {}
    for i, count in enumerate(buckets):
        low, high = lower(i) / 1000, lower(i + 1) / 1000
        while count and low < high:
            power = max(0, math.floor(math.log2(low))) if low >= 1 else 0
            end = min(high, 2.0 ** (power + 1))
            bound = 2 ** power if power else 0
            found[bound] = found.get(bound, 0) + count * (end - low) / (lower(i + 1) / 1000 - lower(i) / 1000)
            low = end
    return found


def compared(test, tool, said, got, runs):
    """Shares of each power of two. What is short is one: who goes on at once has waited for nothing by the kernel's clock,
    which it does not read again then, and of the tools' own time there is more than of that."""
    theirs, ours = tool_counts(said), by_power(got)
    count = sum(theirs.values())
    test.figures.close(f"{tool}: count, and the kernel's", count, runs, rel=0.01, slack=10)
    for bound in [0] + sorted(bound for bound in theirs.keys() | ours.keys() if bound >= SHORT_US):
        mine, other = (sum(n for low, n in counts.items() if low == bound or not bound and low < SHORT_US)
                       for counts in (ours, theirs))
        test.figures.close(f"{tool}: percent from {bound} us", 100 * mine / sum(got), 100 * other / count, slack=2)


def attached(process):
    """It makes large maps first."""
    give_up = time.monotonic() + 30 * SLOWNESS
    while not bpf_objects.numbers("link", process.pid) and time.monotonic() < give_up:
        time.sleep(0.1)
    time.sleep(0.5)


def tools(test, daemon, maps):
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        test.left_out("shares as libbpf-tools see them", f"{' and '.join(missing)} not installed")
        return
    load = test.load("runs", 2 * truth.CPUS + 1, name="kt_runs")
    daemon.wait_rows("self", "duration-read_sched", 3, time.time())
    # Of runs that end with a sleep cpudist counts none.
    for text, names in ((f"spin {TOOL_SPIN_MS}", ("runqlat", "cpudist")), ("sleep 3000", ("runqlat",))):
        running = {tool: subprocess.Popen([tool, "-p", str(load.pid), str(math.ceil(TOOL_SECONDS * SLOWNESS)), "1"],
                                          stdout=subprocess.PIPE, text=True) for tool in names}
        for process in running.values():
            attached(process)
        (runs, *_), got = requested(maps, load, text)
        for tool, process in running.items():
            said = process.communicate()[0]
            compared(test, f"{text.split()[0]}: {tool}", said, got[TOOLS[tool]], runs)
    load.end()


def main():
    with Test(limit=150) as test:
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_sched", 2)
        maps = Maps(daemon)
        contention(test, daemon, maps)
        moved(test, daemon, maps)
        machine(test, daemon, maps)
        test.equal("refused", daemon.rows("self", "total_events-refused_sched")[-1][1], 0)
        test.equal("complaints", daemon.complaints(), [])
        if test.measures:
            tools(test, daemon, maps)


if __name__ == "__main__":
    main()

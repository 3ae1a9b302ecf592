# SPDX-License-Identifier: MIT
"""The rows of what collectd and the machine pay, and what is wanted of them."""

import rows
from daemon import BY_COMMAND
from report import EVENTS, estimate, named, number
from sampling import IN_PROGRESS

OTHERS = {"processes_all": "processes with ProcessMatch", "processes": "processes", "hash": "a loop over a hash map"}
READING_MS = {"ebpf": 16, "unsampled": 15}
TIMES_CHEAPER = {"processes_all": 30, "processes": 10}
NAMED_S = 60
# An empty walk takes 0.4 us a thread, a look-up of its storage as much again.
WALK_TIMES = 1.4
ADDED_KIB = 12 * 1024
START_S = 1
START_CPU_S = 0.5
EVENTS_OF_TASKS = ("fork", "exec")
# The cheapest hook adds 100 ns to a switch; one on any system call adds 38 ns to all of them.
EVENTS_NS = {"switch": 50, "syscall": 20, "fork": 2000}


def _at_most(what, value, limit, unit):
    rows.add(what, estimate(value, unit=unit, sign="+"), f"at most {limit:,}{unit}", value.at_most(limit))


def _reading(reading, wanted):
    name = f"reading, {reading.size:,} processes"
    for source, label in (("ebpf", "with"), ("unsampled", "without")):
        cost, limit = reading.costs_ns[source], READING_MS[source]
        rows.add(f"{name}: {label} the probe delay", estimate(cost, 1e-6, " ms"),
                 *((f"at most {limit} ms", cost.at_most(limit * 1e6)) if wanted else ()))
    for source, label in OTHERS.items():
        times = reading.times_cheaper(source)
        limit = TIMES_CHEAPER.get(source) if wanted else None
        rows.add(f"{name}: times cheaper than {label}", estimate(times),
                 *((f"at least {limit}", times.at_least(limit)) if limit else ()))


def _sampling(sampling):
    name = f"sampling, {sampling.size:,} threads"
    rows.add(f"{name}: samples a second", estimate(sampling.rate))
    rows.add(f"{name}: part of one CPU", estimate(sampling.percent, unit=" %"))
    rows.add(f"{name}: a sample", estimate(sampling.sample_s, 1e3, " ms"))


def _named(sampling):
    """The slowest one decides; the last one only if it was late already."""
    late = sampling.unnamed_s > NAMED_S or not sampling.named_s
    rows.add(f"sampling, {sampling.size:,} threads, {IN_PROGRESS} requests in progress: until a fault is named", named(sampling),
             f"at most {NAMED_S} s", rows.judge(not late and max(sampling.named_s) <= NAMED_S))


def _walk(walk):
    rows.add("walk over sleeping threads: times an empty one", estimate(walk.ratio), f"at most {WALK_TIMES}",
             walk.ratio.at_most(WALK_TIMES))
    rows.add("walk over sleeping threads: a thread", estimate(walk.walk_ns, 1e-3 / walk.tasks, " us"))
    rows.add("empty walk: a thread", estimate(walk.empty_ns, 1e-3 / walk.tasks, " us"))


def _events(starts):
    for kind, label in EVENTS.items():
        cost = starts.compare(lambda start, kind=kind: start.events_ns[kind])
        if kind in EVENTS_NS:
            _at_most(f"{label}: added", cost.added, EVENTS_NS[kind], " ns")
        else:
            rows.add(f"{label}: added", estimate(cost.added, 1e-3, " us", "+"))
        if kind in EVENTS_OF_TASKS:
            rows.add(f"{label}: added part", estimate(cost.percent, unit=" %", sign="+"))


def _optional_events(polls, softirqs):
    added = polls.compare(lambda start: start.events_ns["syscall"]).added
    rows.add("system call, probe poll by syscalls: added", estimate(added, unit=" ns", sign="+"))
    message = softirqs.compare(lambda start: start.events_ns["message"])
    rows.add("message over loopback, probe softirq: added", estimate(message.added, unit=" ns", sign="+"))
    rows.add("message over loopback, probe softirq: added part", estimate(message.percent, unit=" %", sign="+"))


def _start(starts, loads, last):
    _at_most("start, by the clock: added", starts.compare(lambda start: start.start_s).added, START_S, " s")
    _at_most("start, CPU: added", starts.compare(lambda start: start.start_cpu_s).added, START_CPU_S, " s")
    rows.add(f"start, by the clock, with {last.size:,} processes", f"{number(last.start_s)} s")
    rows.add("start, CPU: to load all programs", estimate(loads.all.load_ns, 1e-6, " ms"))
    rows.add("start: instructions of all programs", f"{loads.all.instructions:,}")
    rows.add("start: instructions that the verifier processes", f"{loads.all.processed:,}")


def _memory(starts, last):
    for i, (name, figure) in enumerate((("VmRSS", lambda start: start.resident_kib), ("Pss", lambda start: start.share_kib))):
        added = starts.compare(figure).added
        rows.add(f"memory of collectd, {name} after the start: added", estimate(added, 1 / 1024, " MiB", "+"))
        kib = last.memory_kib["ebpf"][i] - last.memory_kib["none"][i]
        wanted = (f"at most {ADDED_KIB // 1024} MiB", rows.judge(kib <= ADDED_KIB)) if name == "VmRSS" else ()
        rows.add(f"memory of collectd, {name} with {last.size:,} processes: added", f"{number(kib / 1024, '+')} MiB", *wanted)
    rows.add("memory of the kernel, maps", f"{number(last.maps_kib / 1024)} MiB")
    rows.add(f"memory of the kernel, all its objects with {last.size:,} processes: added", f"{number(last.slab_kib / 1024, '+')} MiB")
    rows.add("memory of the kernel, all its objects: added, a process", f"{number(last.slab_kib / last.processes, '+')} KiB")


def _texts(texts):
    for name, (open_us, _, opened_us) in texts.files.items():
        path = name.split()[0]
        rows.add(f"file {path}, kept open: one reading", estimate(open_us, unit=" us"))
        rows.add(f"file {path}, opened: one reading", estimate(opened_us, unit=" us"))
    if texts.cgroup_us:
        rows.add("cgroups of services: to find one", estimate(texts.cgroup_us, unit=" us"))


def _disk(disk):
    for name, figures in disk.items():
        rows.add(f"InfluxDB: {name}, bytes a value", number(figures.value))
        rows.add(f"InfluxDB: {name}, a series and day", f"{number(figures.day / 1000)} kB")


def add(found):
    """found: Measured, of run."""
    last = found.readings[-1]
    rows.add("configuration", f"`{BY_COMMAND}`, not the default")
    for reading in found.readings:
        _reading(reading, reading is last)
    for sampling in found.samplings:
        _sampling(sampling)
    _named(found.samplings[-1])
    _walk(found.walk)
    _events(found.starts)
    _optional_events(found.polls, found.softirqs)
    _texts(found.texts)
    _start(found.starts, found.loads, last)
    _memory(found.starts, last)
    _disk(found.disk)

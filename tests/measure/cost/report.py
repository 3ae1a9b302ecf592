# SPDX-License-Identifier: MIT
"""The page of what collectd and the machine pay: a head, and tables as plain text."""

import os
import re

import rows
from sampling import IN_PROGRESS
from statistic import Estimate

LABEL = 56

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Costs of collectd and the machine

`make measure PARTS=daemon` writes this page, as root. Everything is measured in turns with and without the plugin, or one way
against the other. Figures are CPU time, except where they say "by the clock". They are medians; the brackets contain the true
median with 95 % confidence. The configuration is the default, except that only command names are services. Values go as far as
the daemon's cache.

- The probe `delay` samples threads between the readings, independently of the interval. From Linux 6.2 on it samples the
  threads that serve requests, and all threads of services only if a metric needs them. Older kernels always sample all
  threads. With few processes this may cost more than the readings of all other probes. `MaxSampling` limits it: if a sample
  takes longer, there are fewer samples.
- A walk passes over the tasks that have not run since the last one. Most of it is then the kernel's own way through the list.
  With few processes, most of a reading is collectd's work for each value. Fewer services make it cheaper: use `Service` blocks
  and `ServicesFrom "none"`.
- No probe that is on by default hooks context switches or all system calls. Start and exit of a process are hooked.
  [cost-requests.md](cost-requests.md) has the costs of calls on sockets, [cost-hooks.md](cost-hooks.md) those of each kind of
  hook.
- Most of a start is the kernel's verifier. It follows each path through a program whose state differs from those before. A
  branch, a loop over bytes on the stack and a call of a static function cost as much again for each path that leads to them;
  a global function is verified once. For each pointer that a program loads from a task, on each path, newer kernels search
  the names of all their types.
- Tables are mapped into collectd, so its VmRSS contains a part of the kernel's memory of maps, which counts twice.
"""

SOURCES = {
    "ebpf": "this plugin, with its samples between the readings",
    "unsampled": "this plugin without the probe delay",
    "processes_all": 'processes, ProcessMatch "all" "."',
    "processes": "processes, not configured",
    "hash": "hash map, get-next-key and look-up",
    "none": "collectd without a plugin",
}
EVENTS = {
    "switch": "context switch",
    "syscall": "system call (getppid)",
    "fork": "fork + exit",
    "exec": "fork + exec + exit",
}


def line(label, cells=(), widths=(24, 24, 24)):
    print((f"  {label:<{LABEL}}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths))).rstrip())


def compared(label, cells):
    line(label, cells, (10, 10, 28))


def heading(text):
    print()
    print(text)


def number(value, sign=""):
    """Three digits, or all of an integral part. sign: "+" for that of any."""
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:{sign},.{digits}f}"


def estimate(value, factor=1, unit="", sign=""):
    median, low, high = (number(figure * factor, sign) for figure in (value.median, value.low, value.high))
    return f"{median}{unit} [{low}, {high}]"


def comparison(label, figures):
    compared(label, [number(figures.without.median), number(figures.loaded.median), estimate(figures.added)])


def _first(path, pattern):
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(pattern, file.read(), re.M)
    return found.group(1) if found else "unknown"


def machine(site):
    print(f"Linux {os.uname().release.split('-')[0]} {os.uname().machine}, {os.cpu_count()} CPUs "
          f"({_first('/proc/cpuinfo', r'^model name.*: (.*)')}), collectd {site.version}")


def readings(found):
    heading(f"One reading, CPU milliseconds of all threads of the daemon ({found[0].count} readings each, in turns)")
    line("", [f"{reading.size:,} processes" for reading in found])
    line("in total on the machine", [f"{reading.processes:,}" for reading in found])
    for name, label in SOURCES.items():
        line(label, [estimate(reading.costs_ns[name], 1e-6) for reading in found])
    line("series of this plugin; of processes, ProcessMatch",
         [f"{reading.series['ebpf']:,}; {reading.series['processes_all']}" for reading in found])
    for name in ("processes_all", "processes", "hash"):
        line(f"without delay against {SOURCES[name]}", ["1 : " + estimate(reading.times_cheaper(name)) for reading in found])


def named(sampling):
    """How long it took until faults were named: as an estimate, of fewer than six from the fastest to the slowest."""
    return estimate(Estimate(sampling.named_s), unit=" s") if sampling.named_s else f"not within {number(sampling.unnamed_s)} s"


def samplings(found):
    heading(f"The sampler of the probe delay, with {IN_PROGRESS} requests in progress all the time")
    line("", [f"{sampling.size:,} threads" for sampling in found])
    line("in total on the machine", [f"{sampling.threads:,}" for sampling in found])
    line("samples a second", [estimate(sampling.rate) for sampling in found])
    line("percent of one CPU, of all samplers", [estimate(sampling.percent) for sampling in found])
    line("a sample, CPU milliseconds", [estimate(sampling.sample_s, 1e3) for sampling in found])
    line("seconds until a fault is named, by the clock", [""] * (len(found) - 1) + [named(found[-1])])


def walk(found):
    heading(f"One walk over {found.tasks:,} threads, nearly all asleep, CPU milliseconds ({found.count} walks each, in turns)")
    line("empty: it reads nothing", [estimate(found.empty_ns, 1e-6)])
    line("of the engine, for process and request", [estimate(found.walk_ns, 1e-6)])
    line("the walk against the empty one", ["1 : " + estimate(found.ratio)])


def events(starts):
    heading(f"One event, CPU nanoseconds ({starts.count} starts of collectd without and with the plugin, in turns)")
    compared("", ["without", "with", "added"])
    for kind, label in EVENTS.items():
        comparison(label, starts.compare(lambda start, kind=kind: start.events_ns[kind]))


def syscalls(starts):
    heading(f"With polls by Option \"syscalls\", CPU nanoseconds ({starts.count} starts, in turns)")
    compared("", ["without", "with", "added"])
    comparison(EVENTS["syscall"], starts.compare(lambda start: start.events_ns["syscall"]))


def softirqs(starts):
    heading(f"With the probe softirq, CPU nanoseconds ({starts.count} starts, in turns)")
    compared("", ["without", "with", "added"])
    each = starts.compare(lambda start: start.softirqs).loaded.median
    comparison(f"message over loopback ({each:.2f} software interrupts)", starts.compare(lambda start: start.events_ns["message"]))


def start(starts, reading):
    heading("Start of collectd, milliseconds until it is initialised")
    compared("", ["without", "with", "added"])
    comparison("by the clock", starts.compare(lambda one: 1e3 * one.start_s))
    comparison("CPU time", starts.compare(lambda one: 1e3 * one.start_cpu_s))
    compared(f"by the clock, once, with {reading.processes:,} processes", ["", number(1e3 * reading.start_s)])


def loads(found):
    heading(f"What the kernel takes to load the BPF programs that are on by default ({found.count} starts)")
    line("", ["instructions", "processed (1)", "CPU milliseconds"])
    programs = sorted(found.programs.items(), key=lambda item: -item[1].load_ns.median)
    for name, program in [*programs, ("all together", found.all)]:
        line(name, [f"{program.instructions:,}", f"{program.processed:,}", estimate(program.load_ns, 1e-6)])
    print("  (1) by the verifier, which follows each path through a program")


def memory(starts, found):
    heading("Memory of collectd, KiB")
    compared("", ["without", "with", "added"])
    comparison("VmRSS after the start", starts.compare(lambda one: one.resident_kib))
    comparison("Pss after the start", starts.compare(lambda one: one.share_kib))
    for reading in found:
        without, loaded = reading.memory_kib["none"], reading.memory_kib["ebpf"]
        for i, kind in enumerate(("VmRSS", "Pss")):
            compared(f"{kind} with {reading.series['ebpf']:,} series of {reading.services} services",
                     [number(figure) for figure in (without[i], loaded[i], loaded[i] - without[i])])
    heading("Memory of the kernel, KiB")
    compared("maps, as the kernel counts them", ["", number(found[-1].maps_kib)])
    compared(f"growth of all its objects, with {found[-1].processes:,} processes", ["", number(found[-1].slab_kib)])


def texts(found):
    heading("One reading of a file of the kernel, with its rows, CPU microseconds")
    line("", ["kept open", "the kernel's part", "opened each time"])
    for name, figures in found.files.items():
        line(name, [estimate(figure) for figure in figures])


def disk(found):
    heading("A value every 10 s in InfluxDB, after compaction, bytes on the disk")
    line("", ["a value", "a series and day"])
    for name, figures in found.items():
        line(name, [number(figures.value), number(figures.day)])


def write(site, found):
    """The page. found: Measured, of run."""
    with rows.page("cost-daemon.md"):
        print(HEAD)
        print("```")
        machine(site)
        readings(found.readings)
        samplings(found.samplings)
        walk(found.walk)
        events(found.starts)
        syscalls(found.polls)
        softirqs(found.softirqs)
        texts(found.texts)
        start(found.starts, found.readings[-1])
        loads(found.loads)
        memory(found.starts, found.readings)
        if found.disk:
            disk(found.disk)
        print("```")

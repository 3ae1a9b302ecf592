# SPDX-License-Identifier: MIT
"""The tables, as plain text that can go into a document as it is."""

import os
import re

from kinds import KINDS, TIMES_OFF

LABEL = 56

SOURCES = {
    "ebpf": "this plugin, with what it samples in between",
    "unsampled": "this plugin without the probe delay, which does",
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


def line(label, cells=(), widths=(20, 20, 20)):
    print((f"  {label:<{LABEL}}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths))).rstrip())


def compared(label, cells):
    line(label, cells, (10, 10, 28))


def heading(text):
    print()
    print(text)


def number(value):
    """Three digits, or all of an integral part."""
    digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
    return f"{value:,.{digits}f}"


def estimate(value, factor=1):
    return f"{number(value.median * factor)} [{number(value.low * factor)}, {number(value.high * factor)}]"


def comparison(label, figures):
    compared(label, [number(figures.without.median), number(figures.loaded.median), estimate(figures.added)])


def _first(path, pattern):
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(pattern, file.read(), re.M)
    return found.group(1) if found else "unknown"


def machine(site):
    print(f"Linux {os.uname().release} {os.uname().machine}, {os.cpu_count()} CPUs "
          f"({_first('/proc/cpuinfo', r'^model name.*: (.*)')}), collectd {site.version}")
    print(f"load average of the minute before: {os.getloadavg()[0]:.1f}")
    print("Figures are medians, in brackets what holds the true median with 95 % confidence.")


def readings(found):
    heading(f"One reading, CPU milliseconds of all threads of the daemon ({found[0].count} readings each, in turns)")
    line("", [f"{reading.size:,} processes" for reading in found])
    line("with those of the machine", [f"{reading.processes:,}" for reading in found])
    for name, label in SOURCES.items():
        line(label, [estimate(reading.costs_ns[name], 1e-6) for reading in found])
    line("series of this plugin; of processes, ProcessMatch",
         [f"{reading.series['ebpf']:,}; {reading.series['processes_all']}" for reading in found])
    for name in ("processes_all", "processes", "hash"):
        line(f"the latter against {SOURCES[name]}", [f"1 : {reading.times_cheaper(name):.1f}" for reading in found])


def walk(found):
    heading(f"One walk over {found.tasks:,} threads, nearly all asleep, CPU milliseconds ({found.count} walks each, in turns)")
    line("that looks at none", [estimate(found.empty_ns, 1e-6)])
    line("of the engine, for process and request", [estimate(found.walk_ns, 1e-6)])
    line("the one against the other", ["1 : " + estimate(found.ratio)])


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


def kinds(found):
    widths = (10, 28, 12, 8, 12)
    heading(f"What a hook costs by its kind, an empty program on it, CPU nanoseconds per event ({found.count} turns without "
            "and with)")
    line("", ["without", "added", "engine (1)", "runs", "a run (2)"], widths)
    for kind, one in found.found.items():
        cells = [number(one.reckoned_ns), f"{one.runs:.2f}", number(one.run_ns)] if one.runs_here() else []
        line(KINDS[kind], [number(one.without.median), estimate(one.added), *cells], widths)
    for kind, reason in found.unavailable.items():
        line(KINDS[kind], [f"not here: {reason}"], (20,))
    print("  (1) what plugin/probe/hook_cost.c takes for it, to reckon what a probe costs")
    print("  (2) by the kernel's run statistics, which leave out the hook; of themselves they have "
          f"{min(one.statistics_ns for one in found.found.values()):.0f} in it, as the engine takes it")
    for kind, one in found.found.items():
        if one.runs_here() and one.off():
            print(f"  hook_cost.c is off by more than {TIMES_OFF} times: {KINDS[kind]}")


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
    print("  (1) by the verifier, which follows each way through a program until it knows where that leads")


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

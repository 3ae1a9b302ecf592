# SPDX-License-Identifier: MIT
"""The tables, as plain text that can go into a document as it is."""

import os
import re

LABEL = 54
COLUMN = 27

READERS = {
    "ebpf": "this plugin",
    "processes_all": 'collectd\'s processes, ProcessMatch "all" "."',
    "processes": "collectd's processes, not configured",
    "hash": "hash map, get-next-key and look-up per process",
    "none": "collectd without a plugin",
}
EVENTS = {"switch": "context switch", "syscall": "system call", "fork": "fork + exit",
          "exec": "fork + exec + exit"}


def line(label, cells=()):
    print((f"  {label:<{LABEL}}" + "".join(f"{cell:>{COLUMN}}" for cell in cells)).rstrip())


def heading(text, cells=()):
    print()
    print(text)
    if cells:
        line("", cells)


def number(value, digits):
    return f"{value:,.{digits}f}"


def estimate(value, digits, factor=1):
    low, high = (number(bound * factor, digits) for bound in (value.low, value.high))
    return f"{number(value.median * factor, digits)} [{low}, {high}]"


def _first(path, pattern):
    with open(path, encoding="utf-8", errors="replace") as file:
        found = re.search(pattern, file.read(), re.M)
    return found.group(1) if found else "unknown"


def machine(site):
    print(f"Linux {os.uname().release} {os.uname().machine}, {os.cpu_count()} CPUs "
          f"({_first('/proc/cpuinfo', r'^model name.*: (.*)')}), collectd {site.version}")
    print(f"load average of the minute before: {os.getloadavg()[0]:.1f}")
    print("All figures are medians, in brackets what holds the true median with 95 % confidence.")


def readings(found):
    heading(f"One reading, CPU milliseconds of all threads of the daemon ({found[0].count} readings each, in turns)",
            [f"{reading.size:,} more processes" for reading in found])
    line("processes of the machine", [f"{reading.processes:,}" for reading in found])
    for name, label in READERS.items():
        line(label, [estimate(reading.costs_ns[name], 2, 1e-6) for reading in found])
    for name in ("processes_all", "processes", "hash"):
        line(f"{READERS[name].partition(', get')[0]}: times the cost",
             [number(reading.times_cheaper(name), 1) for reading in found])
    line("this plugin by the clock (its duration-read_process)", [number(reading.wall_ns / 1e6, 2) for reading in found])


def events(starts):
    heading(f"One event, CPU nanoseconds ({starts.count} starts of collectd without and with the plugin, in turns)",
            ["without", "with", "added"])
    for kind, label in EVENTS.items():
        figures = starts.compare(lambda start, kind=kind: start.events_ns[kind])
        line(label, [estimate(figure, 0) for figure in (figures.without, figures.loaded, figures.added)])


def start(starts, reading):
    heading("Start of collectd", ["without", "with", "added"])
    for attribute, label in (("start_s", "until it is initialised, milliseconds"),
                             ("start_cpu_s", "CPU milliseconds")):
        figures = starts.compare(lambda one, attribute=attribute: 1e3 * getattr(one, attribute))
        line(label, [estimate(figure, 0) for figure in (figures.without, figures.loaded, figures.added)])
    line(f"once, with {reading.processes:,} processes, milliseconds", ["", number(1e3 * reading.start_s, 0)])


def memory(starts, found):
    heading("Memory of collectd, KiB", ["without", "with", "added"])
    for attribute, label in (("resident_kib", "VmRSS after the start"), ("share_kib", "Pss after the start")):
        figures = starts.compare(lambda one, attribute=attribute: getattr(one, attribute))
        line(label, [estimate(figure, 0) for figure in (figures.without, figures.loaded, figures.added)])
    for reading in found:
        without, loaded = reading.memory_kib["none"], reading.memory_kib["ebpf"]
        where = f"after {reading.count} readings, {reading.services} services, {reading.series:,} series"
        for i, kind in enumerate(("VmRSS", "Pss")):
            line(f"{kind} {where}", [number(figure, 0) for figure in (without[i], loaded[i], loaded[i] - without[i])])
    heading("Memory of the kernel, KiB")
    line("maps, as the kernel counts them", [number(found[-1].maps_kib, 0)])
    line(f"all objects, with {found[-1].processes:,} processes", [number(found[-1].slab_kib, 0)])

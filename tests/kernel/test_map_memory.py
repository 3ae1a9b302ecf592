#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The kernel memory of all maps of the plugin, with all probes and no configuration.

Truth: the kernel's figures, in the daemon's /proc/PID/fdinfo. Storages of sockets and tasks grow with their number, so
there is a limit for the size of one element.
"""

import os
import re

import bpf_objects
import truth
from lib import Test

BOOT = "possible_cpus=64"
MIB = 1 << 20
FEW_CPUS, FEW_LIMIT = 2, 8 * MIB
MANY_CPUS, MANY_LIMIT = 64, 32 * MIB
STORAGE_LIMIT = 8192  # bytes for a socket or a task; a socket that serves datagrams needs most


def possible_cpus():
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as file:
        return int(re.search(r"\d+$", file.read().strip()).group()) + 1


def memory(pid):
    """{id of the map: bytes}"""
    found = {}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            text = truth.proc(pid, f"fdinfo/{fd}")
        except FileNotFoundError:  # was closed meanwhile
            continue
        words = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        if "map_type" in words:  # without this, it is an iterator over the map
            found[int(words["map_id"])] = int(words["memlock"])
    return found


def shown(number):
    return bpf_objects.show("map", {number})[0]


def main():
    with Test(limit=60) as test:
        cpus = possible_cpus()
        daemon = test.collectd('ServicesFrom "containers" "units" "commands"', interval=1)  # as by default
        daemon.wait_rows("self", "memory-maps_request")
        maps = {number: (shown(number), size) for number, size in memory(daemon.process.pid).items()}
        for entry, size in sorted(maps.values(), key=lambda pair: -pair[1])[:8]:
            print(f"     {entry['name']}: {size / 1024:.0f} KiB")
        test.true("the row map is among them", any(entry["name"] == "requests" for entry, _ in maps.values()))
        total = sum(size for _, size in maps.values())
        test.within(f"bytes of {len(maps)} maps with {cpus} possible CPUs", total, 1,
                    FEW_LIMIT if cpus <= FEW_CPUS else MANY_LIMIT * max(1, cpus / MANY_CPUS))
        for entry, _ in maps.values():
            if entry["type"] in ("sk_storage", "task_storage"):
                test.within(f"bytes of {entry['name']} for each that has one", entry["bytes_value"], 1, STORAGE_LIMIT)


if __name__ == "__main__":
    main()

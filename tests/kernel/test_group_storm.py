#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""10,000 containers are made and removed: the number of series stays bounded, a configured unit gets its series, the
map in the kernel has no cgroup that was removed, and the daemon's memory does not grow.

Truth: the cgroups that were made, /proc, and the map in the kernel.
"""

import json
import os
import struct
import subprocess
import time

import bpf_objects
import truth
from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test, without

INTERVAL = 0.5 if SLOWNESS < 2 else 1
CONTAINERS = 10000 if SLOWNESS < 2 else 1000
AT_ONCE = CONTAINERS // 20
MAX_SERVICES = 40
MAX_NEW = 30

CONF = f"""
  ServicesFrom "containers" "units" "commands"
  MaxServices {MAX_SERVICES}
  MaxNewServices {MAX_NEW}
  <Service "late">
    Unit "kt_late.service"
  </Service>
""" + without("request", "poll")


def hierarchy():
    """The number of the hierarchy of the controller pids; 0: the unified one."""
    with open("/proc/self/cgroup", encoding="ascii") as lines:
        words = [line.split(":") for line in lines]
    return next((int(number) for number, controllers, _ in words if "pids" in controllers.split(",")), 0)


def known_groups(number):
    """The inode numbers of the map's cgroups of this hierarchy; both are at the start of its keys."""
    dump = subprocess.run([bpf_objects.BPFTOOL, "-j", "map", "dump", "id", str(number)], capture_output=True,
                          check=True).stdout
    keys = [struct.unpack_from("=QI", bytes(int(byte, 16) for byte in entry["key"])) for entry in json.loads(dump)]
    return {inode for inode, of in keys if of == hierarchy()}


def groups_below(path):
    return {entry.inode() for entry in os.scandir(path) if entry.is_dir()}


def resident(daemon):
    return truth.memory(daemon.process.pid)[1]


def main():
    with Test(limit=240) as test:
        root = controller_root("pids") or unified_root()
        if not root:
            raise Skip("no cgroups are mounted")
        groups = Cgroups(root)
        test.at_end(groups.remove)
        base = f"kt-storm-{os.getpid()}"
        path = groups.make(base)
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("other", "ps_count", 2)
        number = bpf_objects.map_number(daemon.process.pid, "service_groups")
        subjects = daemon.subjects()
        load = test.load("group", name="kt_storm")
        sizes, most, ours = [], 0, set()
        for begin in range(0, CONTAINERS, AT_ONCE):
            load.ask(f"come {path} {begin} {AT_ONCE}")
            come = groups_below(path)
            most = max(most, len(come & known_groups(number)))
            ours |= come
            # The first ones exist for long enough to have series.
            daemon.wait_rows("other", "ps_count", 1 if begin else 5, time.time())
            load.ask("go")
            if begin >= CONTAINERS // 4:
                sizes.append(resident(daemon))
        test.true("cgroups that the kernel remembered at once", most >= AT_ONCE, most)
        test.equal("cgroups that it remembers when they are gone", ours & known_groups(number), set())
        groups.make(base + "/" + test.own("kt_late.service"))
        late = test.load("task", name="kt_late")
        groups.enter(base + "/" + test.own("kt_late.service"), late.pid)
        rows = daemon.wait_rows("late", "ps_count", 2, time.time())
        test.equal("a unit that is configured, and comes then: ps_count", list(rows[-1][1:]), [1, 1])
        late.end()
        new = daemon.subjects() - subjects
        test.within("new subjects", len(new), 2, MAX_NEW)
        half = len(sizes) // 2
        test.true("resident size of the daemon, bytes: no more than a tenth later on",
                  max(sizes[half:]) < 1.1 * max(sizes[:half]), sizes)
        load.end()


if __name__ == "__main__":
    main()

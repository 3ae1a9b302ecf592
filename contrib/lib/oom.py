# SPDX-License-Identifier: MIT
"""Whether the kernel kills processes in our cgroup for lack of memory, and which limit is the reason. The cgroup may be one of
version 1 or 2."""

import os
import re

from kernel import read
from unit import BYTES

CGROUPS = "/sys/fs/cgroup"
# (directory of the hierarchy, file of the limit, file of the number of kills)
VERSIONS = {"": ((CGROUPS, "memory.max", "memory.events"), (f"{CGROUPS}/unified", "memory.max", "memory.events")),
            "memory": ((f"{CGROUPS}/memory", "memory.limit_in_bytes", "memory.oom_control"),)}
NO_LIMIT = 1 << 62      # version 1 has the last page below 2^63


def _own():
    """(path, directory, file of the limit, file of kills) of our cgroup with a memory controller; None: there is none"""
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for hierarchy, limit, kills in (one for word in controllers.split(",") for one in VERSIONS.get(word, ())):
            if os.path.exists(hierarchy + os.path.join(path, kills)):
                return path, hierarchy, limit, kills
    return None


def _limits():
    """(bytes, path) of each limit on our cgroup, and on those that it is in"""
    path, hierarchy, limit, _ = _own() or ("", "", "", "")
    while path:
        text = read(hierarchy + os.path.join(path, limit)) or ""
        if text.isdecimal() and int(text) < NO_LIMIT:
            yield int(text), path
        path = path.rpartition("/")[0]


def kills():
    """How often it has happened in our cgroup; without one, on the machine."""
    path, hierarchy, _, name = _own() or ("", "/proc", "", "vmstat")
    found = re.search(r"^oom_kill ([0-9]+)$", read(hierarchy, path.lstrip("/"), name) or "", re.M)
    return int(found[1]) if found else 0


def reason():
    size, path = min(_limits(), default=(0, ""))
    return f"the memory limit of {path} is {BYTES.write(size)}" if size else "the machine has no memory left"

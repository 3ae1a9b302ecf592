# SPDX-License-Identifier: MIT
"""Private cgroups of a test in the hierarchies of this machine."""

import os
import time

import truth
from lib import Skip


def mounts():
    return [line.split() for line in truth.proc("self", "mounts").splitlines()]


def unified_root():
    """The mount point of cgroup2, or None."""
    return next((mount[1] for mount in mounts() if mount[2] == "cgroup2"), None)


def controller_root(controller):
    """The mount point of a controller's own hierarchy (v1), or None."""
    return next((mount[1] for mount in mounts() if mount[2] == "cgroup" and controller in mount[3].split(",")), None)


class Cgroups:
    """Cgroups below one root."""

    def __init__(self, root=None):
        self.root = root or unified_root()
        if self.root is None:
            raise Skip("no cgroup2 is mounted")
        self.made = []

    def path(self, name):
        return os.path.join(self.root, name)

    def make(self, name):
        os.mkdir(self.path(name))
        self.made.append(self.path(name))
        return self.path(name)

    def enter(self, name, pid):
        with open(os.path.join(self.path(name), "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(pid))

    def remove(self):
        for path in reversed(self.made):
            for _ in range(100):
                try:
                    os.rmdir(path)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.05)

# SPDX-License-Identifier: MIT
"""Cgroups of a test's own, in the hierarchies that this machine has."""

import os
import time

import truth
from lib import Skip


def mounts():
    return [line.split() for line in truth.proc("self", "mounts").splitlines()]


def unified_root():
    """Where cgroup2 is mounted; None: nowhere."""
    return next((mount[1] for mount in mounts() if mount[2] == "cgroup2"), None)


def controller_root(controller):
    """Where a controller has a hierarchy of its own (v1); None: nowhere."""
    return next((mount[1] for mount in mounts() if mount[2] == "cgroup" and controller in mount[3].split(",")), None)


class Cgroups:
    """Directories below one root."""

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

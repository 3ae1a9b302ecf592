# SPDX-License-Identifier: MIT
"""A cgroup with one controller, in a hierarchy of its own (v1) or in the unified one."""

import contextlib
import os
import time

from case import read, tasks
from cgroups import controller_root, unified_root
from need import Missing


class Group:
    """v2_controllers: names there; "": what each cgroup has."""

    def __init__(self, controller, v2_controllers=None):
        root = controller_root(controller)
        self.is_v1 = root is not None
        if not self.is_v1:
            controllers = (controller if v2_controllers is None else v2_controllers).split()
            root = unified_root()
            if not root or {*controllers} - {*read(os.path.join(root, "cgroup.controllers")).split()}:
                raise Missing(f"no cgroup may have the controllers {' '.join(controllers)}")
            with open(os.path.join(root, "cgroup.subtree_control"), "w", encoding="ascii") as file:
                file.write(" ".join(f"+{one}" for one in controllers))
        self.path = os.path.join(root, f"ebpf-why.{os.getpid()}")
        os.mkdir(self.path)

    def enter(self, pids):
        """With their descendants."""
        for task in tasks(pids):
            # Threads of one process: the first takes the others with it.
            with contextlib.suppress(ProcessLookupError):
                self.write("cgroup.procs", os.path.basename(task))

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(f"{value}\n")

    def read(self, name):
        return read(os.path.join(self.path, name))

    def remove(self):
        for _ in range(100):
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.05)
        return None

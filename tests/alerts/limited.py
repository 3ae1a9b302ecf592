# SPDX-License-Identifier: MIT
"""What a fault needs of the machine: a cgroup that has limits, and a disk that can be slow."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import threading
import time

MIB = 1 << 20
PERIOD_US = 100000
FREEZE, THAW = 0xC0045877, 0xC0045878   # of linux/fs.h
FROZEN_S, THAWED_S = 0.4, 0.005
DISK_MIB = 64
UNIFIED, OLD = "/sys/fs/cgroup", "/sys/fs/cgroup/{}/{}"


def is_old(controller):
    """Is it in a hierarchy of its own (cgroup v1)?"""
    return os.path.exists(OLD.format(controller, "cgroup.procs"))


def write_text(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(text))


class Limits:
    """The cgroup NAME of the controllers cpu and memory, of either version, until it is closed."""

    CONTROLLERS = "cpu", "memory"

    def __init__(self, name):
        self.paths = {one: OLD.format(one, name) if is_old(one) else os.path.join(UNIFIED, name) for one in self.CONTROLLERS}
        for controller, path in self.paths.items():
            if not is_old(controller):
                write_text(os.path.join(UNIFIED, "cgroup.subtree_control"), f"+{controller}")
            os.makedirs(path, exist_ok=True)

    def enter(self, pid):
        for path in set(self.paths.values()):
            write_text(os.path.join(path, "cgroup.procs"), pid)

    def cpu(self, percent):
        """percent: of one CPU"""
        quota = percent * PERIOD_US // 100
        name, text = ("cpu.cfs_quota_us", quota) if is_old("cpu") else ("cpu.max", f"{quota} {PERIOD_US}")
        write_text(os.path.join(self.paths["cpu"], name), text)

    def memory(self, mib):
        name = "memory.limit_in_bytes" if is_old("memory") else "memory.max"
        write_text(os.path.join(self.paths["memory"], name), mib * MIB)

    def close(self):
        """Once no process is in it."""
        for path in set(self.paths.values()):
            for _ in range(100):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
                    break
                time.sleep(0.05)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class FreezingDisk:
    """A file system on a disk (a loop device) whose writes wait, once it is slow: the file of that disk is in a file system
    that is frozen most of the time.

    path: the directory of its files; device: its name, as sdb."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="ebpf-disk.", dir="/var/tmp")
        self.mounts, self.devices = [], []
        self.ended, self.rhythm = threading.Event(), None
        try:
            self.lower = self._add(self.home, "lower", 2 * DISK_MIB)
            self.path = self._add(self.lower, "disk", DISK_MIB)
        except BaseException:
            self.close()
            raise
        self.device = os.path.basename(self.devices[-1])

    def _add(self, directory, name, mib):
        """Where a new disk is mounted, whose file is in this directory."""
        image, path = os.path.join(directory, name + ".image"), os.path.join(self.home, name)
        with open(image, "wb") as file:
            file.truncate(mib * MIB)
        self.devices.append(output_of("losetup", "--find", "--show", image))
        output_of("mkfs.ext4", "-q", "-F", "-O", "^has_journal", self.devices[-1])
        os.mkdir(path)
        output_of("mount", self.devices[-1], path)
        self.mounts.append(path)
        return path

    def slow(self):
        self.ended.clear()
        self.rhythm = threading.Thread(target=self._freeze_often, daemon=True)
        self.rhythm.start()

    def fast(self):
        self.ended.set()
        if self.rhythm:
            self.rhythm.join()

    def _freeze_often(self):
        descriptor = os.open(self.lower, os.O_RDONLY)
        while not self.ended.is_set():
            fcntl.ioctl(descriptor, FREEZE, 0)
            try:
                self.ended.wait(FROZEN_S)
            finally:
                fcntl.ioctl(descriptor, THAW, 0)
            time.sleep(THAWED_S)
        os.close(descriptor)

    def close(self):
        self.fast()
        for path, device in zip(reversed(self.mounts), reversed(self.devices)):
            output_of("umount", "--lazy", path)
            output_of("losetup", "--detach", device)
        shutil.rmtree(self.home, ignore_errors=True)

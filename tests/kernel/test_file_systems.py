#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operations on files by file system: ext4, xfs, btrfs and overlayfs, all at the same time.

Truth: known numbers of known calls in a directory of each (load_files.c).
"""

import itertools
import os
import shutil
import subprocess
import time

import disks
from lib import Test
from test_files import WITH_READS, ask, settled, start_all, value

SIZES = {"ext4": 64, "xfs": 300, "btrfs": 256}  # MiB: the least that each needs, nearly all of it a hole
MEMORY = 512 * disks.MIB
PAGE = 4096
COUNTS = {"open": 7, "fsync": 3}
BY_FUNCTIONS = {"read": 3, "write": 6, "rename": 3, "delete": 2}  # not known at tracepoints of system calls


def on_disk(test, kind):
    """Mounts a file system on a loop device; returns its directory, or None."""
    if not shutil.which(disks.MAKE[kind][0]):
        test.left_out(kind, f"{disks.MAKE[kind][0]} is not installed")
        return None
    disk = disks.loop(test, disks.memory(test, f"{kind}.memory", MEMORY), SIZES[kind] * disks.MIB)
    try:
        return disks.mounted(test, disk, kind, kind)
    except subprocess.CalledProcessError as error:
        test.left_out(kind, error.stderr.strip())
        return None


def overlay(test):
    """Mounts an overlay of directories in memory; returns its directory, or None."""
    where = disks.memory(test, "overlay.memory", 16 * disks.MIB)
    parts = {part: os.path.join(where, part) for part in ("lowerdir", "upperdir", "workdir")}
    for path in parts.values():
        os.mkdir(path)
    path = test.mkdir("overlay")
    try:
        disks.run("mount", "-t", "overlay", "-o", ",".join(f"{part}={of}" for part, of in parts.items()), "none", path)
    except subprocess.CalledProcessError as error:
        test.left_out("overlay", error.stderr.strip())
        return None
    test.last_things.insert(0, lambda: disks.run("umount", path))
    return path


def use(load, directory):
    path = os.path.join(directory, "synced")
    for line in (f"calls 1 {directory}", f"sync 3 {path}", f"write {PAGE} {path}", f"read {PAGE} {path}"):
        ask(load, line)


def slow(kind, operation):
    return f"total_operations-slow-{operation}-{kind}"


def main():
    with Test(limit=120) as test:
        paths = {kind: on_disk(test, kind) for kind in SIZES} | {"overlay": overlay(test)}
        paths = {kind: path for kind, path in paths.items() if path}
        test.true("file systems", len(paths) > 1, list(paths))
        daemons = start_all(test)
        load = test.load("files", name="kt_fslow")
        settled(daemons)
        begin = time.time()
        before = {(hook_set, *name): value(daemon, "slow", slow(*name)) for hook_set, daemon in daemons.items()
                  for name in itertools.product(paths, COUNTS | BY_FUNCTIONS)}
        for path in paths.values():
            use(load, path)
        end = time.time()
        for hook_set, daemon in daemons.items():
            known = COUNTS | BY_FUNCTIONS if hook_set in WITH_READS else COUNTS
            for kind in paths:
                # Each row is awaited: that of a new series may be written late.
                got = {of: daemon.row_after("slow", slow(kind, of), end)[1] - before[hook_set, kind, of] for of in known}
                test.equal(f"hook set {hook_set}: {kind}", got, known)
                for of in known:
                    daemon.wait_rows("slow", f"latency-operation-{of}-{kind}-average", 1, begin)
                test.equal(f"hook set {hook_set}: {kind}: what these hooks do not know",
                           {of for of in BY_FUNCTIONS if of not in known and value(daemon, "slow", slow(kind, of))}, set())
        load.end()
        for hook_set, daemon in daemons.items():
            test.equal(f"hook set {hook_set}: complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

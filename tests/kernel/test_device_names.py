#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of block devices on a machine with NVMe multipath and device-mapper: requests of a path count for its device, after
hundreds of loop devices, too. A volume has its own name, also when it is renamed, and when another one gets its number.
DiskName "by-id" takes links of udev.

Truth: requests that this test makes; /sys/block/DEVICE/stat of the paths.
"""

import os
import re
import subprocess
import time

import disks
import mapper
import test_loops
from disks import MIB, READS, Disk
from lib import Skip, Test
from test_disk import COMPLETED, counts, reading

NVME_PATHS = "2"
INTERVAL = 1
SECTORS = 2048
ID = "nvme-uuid.9f2d4a6c-1f33-4b1c-8f0f-6b2f7c0f4d11"
BUSY = "disk_io_time"
FORGOTTEN = 15  # readings after which a name that is no longer one has no values


def find_nvme():
    """The device that the paths lead to."""
    subprocess.run(["modprobe", "nvme"], capture_output=True, check=False)
    for _ in range(50):
        names = os.listdir("/sys/block")
        heads = [name for name in names if re.fullmatch(r"nvme\d+n1", name)]
        if heads and sum("c" in name.removeprefix("nvme") for name in names if name.startswith("nvme")) == int(NVME_PATHS):
            return Disk("/dev/" + heads[0])
        time.sleep(0.2)
    raise Skip("this machine was not booted with --nvme-paths")


def reads_of_paths():
    return sum(Disk("/dev/" + name).stat()[READS] for name in os.listdir("/sys/block") if re.match(r"nvme\d+c", name))


def paths_count_for_device(test, daemon, disk):
    before = counts(daemon, disk.name, COMPLETED, reading(daemon))[0]
    truth = reads_of_paths()
    disks.read_directly(disk.path, 100)
    test.equal("reads by paths", reads_of_paths() - truth, 100)
    test.equal("reads of the device", counts(daemon, disk.name, COMPLETED, reading(daemon))[0] - before, 100)
    test.equal("devices by number", [name for name in daemon.subjects() if re.fullmatch(r"\d+:\d+", name)], [])


def read_volume(daemon, kernel, name):
    """Reads until there is a value under this name."""
    path = "/dev/" + kernel
    end = time.monotonic() + 30
    while time.monotonic() < end and BUSY not in daemon.metrics(name):
        disks.read_directly(path, 200)
        time.sleep(INTERVAL / 4)
    return BUSY in daemon.metrics(name)


def volumes_have_names(test, daemon, disk):
    if not mapper.available():
        test.left_out("volumes", "there is no dm-mod here")
        return
    kernel = mapper.create("vg0-root", disk.device(), SECTORS)
    test.true("a volume", read_volume(daemon, kernel, "vg0-root"))
    mapper.rename("vg0-root", "vg0-boot")
    test.true("renamed", read_volume(daemon, kernel, "vg0-boot"))
    mapper.remove("vg0-boot")
    test.equal("the number of another one", mapper.create("vg0-home", disk.device(), SECTORS), kernel)
    test.true("another one", read_volume(daemon, kernel, "vg0-home"))
    daemon.wait_rows("self", "duration-read_disk", FORGOTTEN, time.time())
    last = {name: daemon.rows(name, BUSY)[-1][0] for name in ("vg0-root", "vg0-boot", "vg0-home")}
    test.equal("names with values", [name for name in last if last[name] > time.time() - 4 * INTERVAL], ["vg0-home"])
    test.equal("names of the kernel", [name for name in daemon.subjects() if name.startswith("dm-")], [])
    mapper.remove("vg0-home")


def names_by_id(test, disk):
    """With a link as udev makes it; this machine has no udev. The rows of maps and of files have the same name."""
    os.makedirs("/dev/disk/by-id", exist_ok=True)
    for link in ("nvme-QEMU_NVMe_Ctrl_shared", ID):
        os.symlink("../../" + disk.name, "/dev/disk/by-id/" + link)
    daemon = test.collectd('  DiskName "by-id" "dm"\n' + test_loops.ONLY, interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_disk", 2)
    disks.read_directly(disk.path, 100)
    test.equal("reads by id", counts(daemon, ID, COMPLETED, reading(daemon))[0], 100)
    test.equal("by another name", [name for name in daemon.subjects() if name == disk.name or name.startswith("nvme-Q")], [])
    test.equal("by id: complaints", daemon.complaints(), [])
    test.stop(daemon)


def main():
    with Test(limit=300) as test:
        disk = find_nvme()
        where = disks.memory(test, "memory", 4 * MIB)
        many = disks.loops(test, where, test_loops.LOOPS)
        daemon = test.collectd(test_loops.ONLY, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_disk", 2)
        test_loops.read_loops(test, daemon, many)
        paths_count_for_device(test, daemon, disk)
        volumes_have_names(test, daemon, disk)
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        names_by_id(test, disk)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sizes of requests, merged requests, discards and the time with requests, of a loop device.

Truth: a load that submits requests of known sizes, alone and in batches that the kernel merges; BLKDISCARD; and
/sys/block/DEVICE/stat. As in test_disk, requests whose end no program sees may be missing.
"""

import fcntl
import math
import os
import struct

import disks
from disks import (BUSY_MS, DISCARDED_SECTORS, DISCARDS, MIB, READS, READS_MERGED, WEIGHTED_MS, WRITES, WRITES_MERGED)
from lib import SLOWNESS, Test
from test_disk import COMPLETED, COMPLETED_BYTES, OTHERS, SECTOR, Growth, counts, reading, transfer

INTERVAL = 0.2 if SLOWNESS < 2 else 0.5
CONF = OTHERS + """
  Buckets true
  Percentile 50
  <Probe "disk">
    Collect "disk_ops-completed" "disk_octets-completed" "disk_merged" "disk_io_time"
    Collect "bytes-disk_request-*" "total_operations-discard" "total_bytes-discard"
  </Probe>
"""
SIZES = {4096: 3, 12288: 2, 65536: 5, 262144: 1}  # bytes: requests
BATCH, BATCHED = 8, 8192
BLKDISCARD = 0x1277
DISCARD = "total_operations-discard", "total_bytes-discard"


def total_bytes(daemon, disk, metric, begin):
    """The sum of all sizes: the average of each reading times its samples."""
    rows = daemon.rows(disk.name, f"{metric}-average")
    return sum(row[1] * sum(daemon.samples(disk.name, metric, row[0] - 0.001, row[0]).values())
               for row in rows if row[0] > begin and not math.isnan(row[1]))


def begin_of(daemon, disk, grown):
    """The time of the reading from which on it has grown."""
    return daemon.row_after(disk.name, COMPLETED, grown.begin)[0]


def sizes_counted(test, what, daemon, disk, grown, wants):
    """wants: {size: requests}, of reads and of writes."""
    begin = begin_of(daemon, disk, grown)
    for at, operation in enumerate(("read", "write")):
        metric = f"bytes-disk_request-{operation}"
        found = daemon.samples(disk.name, metric, begin)
        missing = grown.missing(disk, operation)
        for size, want in wants.items():
            low = 2 ** (size.bit_length() - 1)
            # The names of buckets have six digits.
            got = sum(count for bound, count in found.items() if math.isclose(bound, low, rel_tol=1e-5))
            test.within(f"{what}: {operation}s of {size} bytes", got, want - missing, want)
        test.equal(f"{what}: sizes of {operation}s, and how many there were", sum(found.values()),
                   grown[disk.name, COMPLETED][at])
        test.close(f"{what}: sum of the sizes of {operation}s", total_bytes(daemon, disk, metric, begin),
                   grown[disk.name, COMPLETED_BYTES][at], slack=0.5)


def sizes(test, daemon, load, disk):
    with Growth(test, daemon, (disk.name, COMPLETED), (disk.name, COMPLETED_BYTES)) as grown:
        for size, number in SIZES.items():
            transfer(load, "direct", number, size, disk.path)
    sizes_counted(test, "alone", daemon, disk, grown, SIZES)


def merged(test, daemon, load, disk):
    """Requests that one call submits side by side become one; the kernel and the load say of how many."""
    disk.set("nomerges", 0)
    with Growth(test, daemon, (disk.name, COMPLETED), (disk.name, COMPLETED_BYTES), (disk.name, "disk_merged")) as grown:
        before = disk.stat()
        transfer(load, "batch", BATCH, BATCHED, disk.path)
        after = disk.stat()
    stat = [b - a for a, b in zip(before, after)]
    test.equal("merged: requests that the kernel counts", [stat[READS], stat[WRITES]], [1, 1])
    test.equal("merged: how many, by the kernel", [stat[READS_MERGED], stat[WRITES_MERGED]], 2 * [BATCH - 1])
    test.equal("merged", grown[disk.name, "disk_merged"], [stat[READS_MERGED], stat[WRITES_MERGED]])
    sizes_counted(test, "merged", daemon, disk, grown, {BATCH * BATCHED: 1})


def discard(disk, byte_count, number):
    fd = os.open(disk.path, os.O_RDWR)
    for at in range(number):
        fcntl.ioctl(fd, BLKDISCARD, struct.pack("QQ", at * byte_count, byte_count))
    os.close(fd)


def discards(test, daemon, disk):
    with Growth(test, daemon, *((disk.name, metric) for metric in DISCARD), (disk.name, COMPLETED)) as grown:
        before = disk.stat()
        discard(disk, MIB, 3)
        after = disk.stat()
    stat = [b - a for a, b in zip(before, after)]
    operations, byte_count = (grown[disk.name, metric][0] for metric in DISCARD)
    missing = grown.missing(disk, "discard")
    test.equal("discards as the kernel counts them", [stat[DISCARDS], stat[DISCARDED_SECTORS] * SECTOR], [3, 3 * MIB])
    test.within("discards", operations, 3 - missing, 3)
    test.equal("discarded bytes", byte_count, operations * MIB)
    found = daemon.samples(disk.name, "bytes-disk_request-discard", begin_of(daemon, disk, grown))
    test.equal("discards: sizes", sum(found.values()), operations)
    test.equal("discards: writes", grown[disk.name, COMPLETED][1], stat[WRITES])


def busy(daemon, disk):
    """Twice the same, as the daemon and the kernel say it while the device is idle."""
    return counts(daemon, disk.name, "disk_io_time", reading(daemon)), [disk.stat()[field] for field in (BUSY_MS, WEIGHTED_MS)]


def times(test, daemon, load, disk):
    before = busy(daemon, disk)
    transfer(load, "direct", 400, 65536, disk.path)
    got, want = ([b - a for a, b in zip(*both)] for both in zip(before, busy(daemon, disk)))
    test.equal("time with requests, and of all of them, ms", got, want)


def main():
    with Test(limit=90) as test:
        disk = disks.loop(test, disks.memory(test, "memory", 64 * MIB), 32 * MIB)
        load = test.load("io", name="kt_load")
        daemon = test.collectd(CONF, interval=INTERVAL)
        # Series begin with what they count; what comes later is growth.
        daemon.wait_rows("self", "duration-read_disk", 2)
        transfer(load, "direct", 1, 4096, disk.path)
        discard(disk, MIB, 1)
        sizes(test, daemon, load, disk)
        merged(test, daemon, load, disk)
        discards(test, daemon, disk)
        times(test, daemon, load, disk)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""300 loop devices with requests: the first 64 have rows, requests of the others are refused, and disks have their series.

Truth: requests that this test makes; /sys/block.
"""

import os
import re
import shutil

import disks
from disks import MIB
from lib import SLOWNESS, Test
from test_disk import COMPLETED, OTHERS, counts, reading

INTERVAL = 0.5 if SLOWNESS < 2 else 1
LOOPS, ROWS = 300, 64
REFUSED = "self", "total_events-refused_disk"
ONLY = OTHERS + """
  Percentile 50
  <Probe "disk">
    Collect "disk_ops-completed" "disk_io_time" "errors-disk"
  </Probe>
"""


def loop_subjects(daemon, metric):
    return [name for name in daemon.subjects() if re.fullmatch(r"loop\d+", name) and metric in daemon.metrics(name)]


def read_loops(test, daemon, many):
    reading(daemon)
    for disk in many:
        disks.read_directly(disk.path, 2)
    moment = reading(daemon)
    with_rows = loop_subjects(daemon, COMPLETED)
    test.equal("loop devices with rows", len(with_rows), ROWS)
    test.equal("reads of each", {counts(daemon, name, COMPLETED, moment)[0] for name in with_rows}, {2})
    # Each of the two maps refuses each request.
    test.within("refused", counts(daemon, *REFUSED, moment)[0], 2 * 2 * (LOOPS - ROWS), 4 * 2 * LOOPS)


def disk_below(path):
    """The disk of a file system; None: it has none."""
    device = os.stat(path).st_dev
    link = os.path.realpath(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    if not os.path.exists(link):
        return None
    return disks.Disk("/dev/" + os.path.basename(os.path.dirname(link) if os.path.exists(link + "/partition") else link))


def disk_has_series(test, daemon):
    where = test.make_dir("/var/tmp")
    test.at_end(lambda: shutil.rmtree(where))
    path, disk = os.path.join(where, "file"), disk_below(where)
    if not disk:
        test.left_out("a disk", "/var/tmp is on none")
        return
    with open(path, "wb") as file:
        file.write(bytes(4096))
        os.fsync(file.fileno())
    before, stat = counts(daemon, disk.name, COMPLETED, reading(daemon))[0], disk.stat()
    disks.read_directly(path, 50)
    grown = counts(daemon, disk.name, COMPLETED, reading(daemon))[0] - before
    test.within(f"reads of {disk.name}", grown, 50, 50 + disk.stat()[disks.READS] - stat[disks.READS])
    test.true(f"time of {disk.name} with requests", "disk_io_time" in daemon.metrics(disk.name))


def main():
    with Test(limit=120) as test:
        where = disks.memory(test, "memory", 4 * MIB)
        many = disks.loops(test, where, LOOPS)
        daemon = test.collectd(ONLY, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_disk", 2)
        read_loops(test, daemon, many)
        disk_has_series(test, daemon)
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads and writes: calls, bytes, and bytes that went to storage; nothing is lost when a process ends.

Truth: /proc/PID/io of the child that made them, read when it is a zombie and its counts are final, and of its idle
parent, to whose counts the kernel adds the child's when it is reaped; the child's arguments.
"""

import os
import time

import truth
from lib import SLOWNESS, Test

INTERVAL = 0.2 if SLOWNESS < 2 else 1
BOOKS = 16 * truth.PAGE  # bytes of a file system's metadata, which count for a process that writes
CONF = """
  <Service "io">
    Process "kt_io"
  </Service>
  <Service "stress">
    Process "kt_stress"
  </Service>
"""

METRICS = {"io_octets": ("rchar", "wchar"), "io_ops": ("syscr", "syscw"), "disk_octets": ("read_bytes", "write_bytes")}


def exact(test, daemon, load, how, number, size, path):
    """Compares the transfers of one child, between a reading before its fork and one after it was reaped."""
    moment = time.time()
    before = {metric: daemon.row_after("io", metric, moment) for metric in METRICS}
    parent = truth.io(load.pid)
    child_pid = int(load.ask(f"{how} {number} {size} {path}"))
    truth.wait_state(child_pid, "Z")
    child = truth.io(child_pid)
    load.ask("reap")
    truth.wait_state(load.pid, "S")
    moment = time.time()
    for metric, keys in METRICS.items():
        row = daemon.row_after("io", metric, moment)
        now = truth.io(load.pid)
        want = [now[key] - parent[key] for key in keys]
        test.equal(f"{how} {number} x {size}: {metric}", [b - a for a, b in zip(before[metric][1:], row[1:])], want)
    return child


def of_children(pid, key):
    total = 0
    for worker in truth.children(pid):
        try:
            total += truth.io(worker)[key]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return total


def stress(test, daemon):
    """Compares all transfers of stress and its children. It is a zombie when its final counts are read."""
    load = test.stress("--hdd", "1", "--io", "1", "--hdd-bytes", "64M", "-t", "9" if test.measures else "2")
    if not load:
        return
    begin = truth.io(load.pid)
    if test.measures:
        meanwhile(test, daemon, load)
    os.waitid(os.P_PID, load.pid, os.WEXITED | os.WNOWAIT)
    end, moment = truth.io(load.pid), time.time()
    for metric, keys in METRICS.items():
        row = daemon.row_after("stress", metric, moment)
        for key, got in zip(keys, row[1:]):
            test.within(f"stress --hdd 1 --io 1, in all: {metric} {key}", got, end[key] - begin[key], end[key])
    load.wait()


def meanwhile(test, daemon, load):
    """Compares transfers while stress runs."""
    time.sleep(0.5)
    curves = {}
    for keys in METRICS.values():
        for key in keys:
            curves[key] = truth.Sampler(lambda key=key: of_children(load.pid, key), every=0.005)
    time.sleep(7.5)
    for sampler in curves.values():
        sampler.stop()
    for metric, keys in METRICS.items():
        for at, key in enumerate(keys, 1):
            curve = curves[key].curve()
            rows = [row for row in daemon.rows("stress", metric)
                    if curve.covers(row[0]) and not daemon.at_cycle(row[0])]
            first, last = rows[0], rows[-1]
            # A child of stress writes 1 MiB at a time, and /proc is read every few milliseconds.
            test.figures.between(f"stress --hdd 1 --io 1: {metric} {key}",
                                 last[at] - first[at], curve.growth(first[0], last[0]), rel=0.01,
                                 slack=1 << 20 if "_octets" in metric else 1)


def main():
    with Test(limit=80) as test:
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",))
        load = test.load("io", name="kt_io")
        daemon.wait_rows("io", "io_octets", 2)
        truth.wait_state(load.pid, "S")
        path = os.path.join(test.disk, "file")
        child = exact(test, daemon, load, "write", 3000, 1000, path)
        test.equal("write: the child's own count", [child["wchar"], child["syscw"]], [3000 * 1000, 3000])
        child = exact(test, daemon, load, "read", 2000, 1500, path)
        test.equal("read: the child's own count", [child["rchar"], child["syscr"]], [2000 * 1500, 2000])
        child = exact(test, daemon, load, "direct", 500, 8192, path)
        test.equal("direct: bytes read, by the child's own count", child["read_bytes"], 500 * 8192)
        # The file system may write metadata, too.
        test.within("direct: bytes written, by the child's own count", child["write_bytes"], 500 * 8192, float("inf"))
        test.figures.within("direct: bytes written, at most", child["write_bytes"], 500 * 8192, 500 * 8192 + BOOKS)
        stress(test, daemon)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of block devices: their number, bytes and times, and which service submits them, whatever runs at their end.

Truth: loads that read and write known bytes past the page cache; /sys/block/DEVICE/stat; the number of failed writes;
biolatency; fio's report of its requests in JSON; a device of known times (null_blk). A test probe
(tests/bpf/completions.bpf.c) counts requests for the process that runs at their end, which is never the one that
submitted them here: a kernel thread ends the requests of loop devices, or they end on a CPU where something else runs.

On some kernels no program sees the ends in the context of init's threads (tracing.py). The kernel's trace has them: only
these may be missing.
"""

import collections
import errno
import json
import math
import mmap
import os
import re
import shutil
import signal
import subprocess
import time

import disks
import lib
from cgroups import Cgroups
from disks import FLUSHES, MIB, READ_MS, READ_SECTORS, READS, WRITE_MS, WRITES, WRITTEN_SECTORS
from lib import SLOWNESS, Test, without
from tracing import Trace

INTERVAL = 0.2 if SLOWNESS < 2 else 1
SECTOR = 512
COMPLETIONS = os.path.join(lib.BUILD, "tests", "bpf", "completions.bpf.o")
OTHERS = without("delay", "process", "request")
CONF = OTHERS + f"""
  <Service "first">
    Process "kt_first"
  </Service>
  <Service "second">
    Process "kt_second"
  </Service>
  <Service "busy">
    Process "kt_busy"
  </Service>
  <Service "dirtier">
    Cgroup "kt_dirtier"
  </Service>
  <Service "fio">
    Process "kt_fio"
  </Service>
  <Probe "disk">
    Option "services"
  </Probe>
  <Probe "completions">
    Object "{COMPLETIONS}"
  </Probe>
"""
CSV_S = 0.6e-6  # the csv plugin writes whole microseconds
OPS, BYTES = "disk_ops-submitted", "disk_octets-submitted"
COMPLETED, COMPLETED_BYTES = "disk_ops-completed", "disk_octets-completed"
MISSED = "self", "total_events-missed_disk"  # a program does not run in an interrupt of its own run
END = re.compile(r"(\d+:\d+) (\w+) \(.*\) \d+ \+ (\d+)")  # the end of a request in the trace


def reading(daemon):
    """Waits until a whole reading is written that began after the call. Returns the time of the call."""
    moment = time.time()
    daemon.wait_rows("self", "duration-read_disk", 2, moment)
    daemon.wait_rows("self", "duration-read_disk", 1, moment)
    return moment


def counts(daemon, subject, metric, moment):
    """The values of the first reading after this moment; zeros: there is no series yet."""
    if metric not in daemon.metrics(subject):
        return [0, 0]
    return list(daemon.row_after(subject, metric, moment)[1:])


def operation_of(letters):
    """Of a request, by its letters in the trace."""
    if letters.startswith("FF"):
        return "flush"
    return "read" if "R" in letters else "discard" if "D" in letters else "write"


class Growth:
    """with Growth(test, daemon, (subject, metric), ...) as grown: by how much each grew meanwhile, and how much may be
    missing."""

    def __init__(self, test, daemon, *series):
        self.test, self.daemon, self.series = test, daemon, (*series, MISSED)
        self.trace = Trace(test, "block/block_rq_complete", kib=8192)
        self.begin, self.before, self.grown = 0, {}, {}

    def __enter__(self):
        self.trace.__enter__()
        self.begin = reading(self.daemon)
        self.before = {one: counts(self.daemon, *one, self.begin) for one in self.series}
        return self

    def __exit__(self, kind, *_):
        if not kind:
            moment = reading(self.daemon)
            for one, before in self.before.items():
                after = counts(self.daemon, *one, moment)
                self.grown[one] = [b - a for a, b in zip(before, after)]
        self.trace.__exit__()
        if not kind:
            self.test.equal("events that the trace has lost", self.trace.lost, 0)
            self._count_unseen()

    def _count_unseen(self):
        """Counts requests, and their bytes, whose end no program has seen, by device and kind."""
        self.unseen, self.byte_count = collections.Counter(), collections.Counter()
        ends = [END.match(event.text.replace(",", ":", 1)) for event in self.trace.events]
        self.largest = max((int(end[3]) * SECTOR for end in ends if end), default=0)
        for event in self.trace.unseen:
            end = END.match(event.text.replace(",", ":", 1))
            if end:
                of = end[1], operation_of(end[2])
                self.unseen[of] += 1
                self.byte_count[of] += int(end[3]) * SECTOR

    def __getitem__(self, one):
        return self.grown[one]

    def missing(self, disk, operation):
        """Requests that no program may have seen."""
        return self.unseen[disk.device(), operation] + self.grown[MISSED][0]

    def missing_bytes(self, disk, operation):
        return self.byte_count[disk.device(), operation] + self.grown[MISSED][0] * self.largest


def transfer(load, how, number, size, path):
    load.ask(f"{how} {number} {size} {path}")
    load.ask("reap")


def all_counted(test, what, grown, series, disk, numbers, size):
    """Compares reads and writes, `numbers` of each, of `size` bytes."""
    ops, byte_count = series
    for at, operation in enumerate(("read", "write")):
        want, missing = numbers[at], grown.missing(disk, operation)
        test.within(f"{what}: {operation}s", grown[ops][at], want - missing, want)
        test.equal(f"{what}: bytes of {operation}s", grown[byte_count][at], size * grown[ops][at])


def of_disk(disk):
    return (disk.name, COMPLETED), (disk.name, COMPLETED_BYTES)


def of_service(name):
    return (name, OPS), (name, BYTES)


def devices(test, daemon, first, disk):
    """Compares with the load and with the kernel's counts, which include the write that asks for a flush."""
    number, size, name = 400, 8192, disk.name
    flushes = (name, "total_operations-flush")
    with Growth(test, daemon, *of_disk(disk), flushes, *of_service("first")) as grown:
        before = disk.stat()
        transfer(first, "direct", number, size, disk.path)
        after = disk.stat()
    stat = [b - a for a, b in zip(before, after)]
    all_counted(test, name, grown, of_disk(disk), disk, (number, number), size)
    all_counted(test, "submitted", grown, of_service("first"), disk, (number, number), size)
    test.within(f"{name}: flushes", grown[flushes][0], 1 - grown.missing(disk, "flush"), 1)
    test.equal("reads and writes as the kernel counts them", [stat[READS], stat[WRITES] - 1], [number, number])
    test.equal("bytes likewise", [stat[READ_SECTORS] * SECTOR, stat[WRITTEN_SECTORS] * SECTOR], 2 * [number * size])
    test.equal("flushes likewise", stat[FLUSHES], 1)


def total_s(daemon, of, count, begin):
    """The sum of all times: the averages of a histogram times the growth of the count at each reading."""
    subject, metric, source = count
    rows = daemon.rows(subject, metric)
    averages = {row[0]: row[1] for row in daemon.rows(*of) if not math.isnan(row[1])}
    return sum((b[source] - a[source]) * averages.get(b[0], 0) for a, b in zip(rows, rows[1:]) if b[0] > begin)


def times(test, daemon, first, disk):
    """Time queued plus time in service is the time that the kernel counts, and the time that the service waits."""
    begin, before = reading(daemon), disk.stat()
    transfer(first, "direct", 1000, 65536 // 4, disk.path)
    after = disk.stat()
    reading(daemon)
    for at, (operation, field) in enumerate((("read", READ_MS), ("write", WRITE_MS)), 1):
        ops = (disk.name, COMPLETED, at)
        parts = [total_s(daemon, (disk.name, f"latency-disk_{part}-{operation}-average"), ops, begin)
                 for part in ("queued", "service")]
        kernel_s = (after[field] - before[field]) / 1e3
        test.true(f"{operation}: time in service", parts[1] > 0, parts[1])
        test.figures.close(f"{operation}: s queued and in service", sum(parts),
                           kernel_s, rel=0.1, slack=0.01)
        own_s = total_s(daemon, ("first", f"latency-disk_{operation}-average"), ("first", OPS, at), begin)
        test.true(f"{operation}: time of the service", own_s > 0, own_s)
        test.figures.close(f"{operation}: s of the service", own_s, kernel_s, rel=0.1, slack=0.01)


def biolatency(disk):
    """Starts biolatency, and then ends it and yields [(count, shortest s, longest s)] for a device."""
    trace = subprocess.Popen(["stdbuf", "-oL", "biolatency", "-D"], stdout=subprocess.PIPE, text=True)
    yield trace.stdout.readline()
    trace.send_signal(signal.SIGINT)
    part = trace.communicate()[0].partition(f"disk = {disk.name}")[2].partition("disk =")[0]
    yield [(int(count), int(low) / 1e6, (int(high) + 1) / 1e6)
           for low, high, count in re.findall(r"(\d+) -> (\d+) +: (\d+)", part)]


def peer(test, daemon, first, disk):
    """Compares with biolatency of libbpf-tools, under the same load."""
    if not shutil.which("biolatency"):
        test.left_out("the same load by biolatency", "biolatency of libbpf-tools is not installed")
        return
    number, seen = 1000, biolatency(disk)
    test.contains("biolatency looks", next(seen), "Tracing")
    with Growth(test, daemon) as grown:
        transfer(first, "direct", number, 4096, disk.path)
    buckets = next(seen)
    missing = sum(grown.missing(disk, operation) for operation in ("read", "write", "flush"))
    test.within("requests, and a flush, by biolatency", sum(count for count, _, _ in buckets), 2 * number + 1 - missing,
                2 * number + 1)
    total = sum(total_s(daemon, (disk.name, f"latency-disk_service-{operation}-average"),
                        (disk.name, COMPLETED, at), grown.begin)
                for at, operation in enumerate(("read", "write"), 1))
    flush_s = daemon.rows(disk.name, "latency-disk_service-flush-average")
    total += next((row[1] for row in reversed(flush_s) if not math.isnan(row[1])), 0)
    test.figures.between("s in service, by the bounds of its buckets", total,
                         [sum(count * bound[at] for count, *bound in buckets) for at in (0, 1)],
                         slack=CSV_S * (2 * number + 1), rel=0.05 * lib.SLOWNESS)


def fio(test, daemon, disk, number, least_s=0):
    """Compares with fio's requests. They take no longer than fio's waits, which include the wait for a CPU."""
    path = shutil.which("fio")
    if not path:
        test.left_out("requests as fio counts them", "fio is not installed")
        return
    name = test.own("kt_fio")
    program = shutil.copy(path, os.path.join(test.dir, name))
    words = [program, f"--name={name}", f"--filename={disk.path}", "--direct=1", "--rw=randrw", "--bs=4k", "--ioengine=psync",
             "--norandommap", "--randseed=1", "--size=32m", "--invalidate=0", f"--number_ios={number}", "--output-format=json"]
    with Growth(test, daemon, *of_disk(disk), ("fio", OPS)) as grown:
        said = disks.run(*words)
    job = json.loads(said[said.index("{"):])["jobs"][0]
    numbers = [job[operation]["total_ios"] for operation in ("read", "write")]
    all_counted(test, "fio", grown, of_disk(disk), disk, numbers, 4096)
    for at, operation in enumerate(("read", "write")):
        count, clat_s = numbers[at], job[operation]["clat_ns"]["mean"] / 1e9
        test.within(f"fio: {operation}s", count, number / 4, number)
        test.equal(f"fio: bytes of {operation}s", job[operation]["io_bytes"], 4096 * count)
        # Pages of the program and its libraries may be read from another disk meanwhile.
        test.within(f"fio: {operation}s submitted", grown["fio", OPS][at], count - grown.missing(disk, operation),
                    float("inf"))
        own_s = sum(total_s(daemon, (disk.name, f"latency-disk_{part}-{operation}-average"),
                            (disk.name, COMPLETED, at + 1), grown.begin) for part in ("queued", "service"))
        test.true(f"fio: time of {operation}s", own_s > 0, own_s)
        test.figures.within(f"fio: s of a {operation}", own_s / count, least_s or 0.1 * clat_s, clat_s + 2 * CSV_S)


def spinning(test):
    """Keeps every CPU busy."""
    return [test.load("spin", test.mkdir("spins"), 1, 30, 1000, cpu, name="kt_busy") for cpu in os.sched_getaffinity(0)]


def always_another(test, daemon, load, disk, number):
    """Who waits for a request sleeps at its end, so another task runs then, each time."""
    spins = spinning(test)
    interrupted = {name: (name, "derive-interrupted") for name in ("first", "busy")}
    with Growth(test, daemon, *of_service("first"), ("busy", OPS), *interrupted.values()) as grown:
        transfer(load, "direct", number, 4096, disk.path)
    for spin in spins:
        spin.process.kill()
    print(f"note: bytes whose end has met who only works: {grown[interrupted['busy']][0]} of {2 * number * 4096}")
    # The process may not have slept yet.
    test.figures.equal(f"{disk.name}: bytes whose end has met who submits", grown[interrupted["first"]][0], 0)
    all_counted(test, f"{disk.name}: submitted", grown, of_service("first"), disk, (number, number), 4096)
    test.equal(f"{disk.name}: submitted by who only works", grown["busy", OPS], [0, 0])


def blame(test, daemon, loads, own_disks):
    """Two services at once, and every CPU busy: each has its requests, whichever task runs at their end."""
    want = {"first": (3000, 4096), "second": (500, 16384)}
    series = [one for name in want for one in (*of_service(name), (name, "derive-interrupted"))]
    spins = spinning(test)
    with Growth(test, daemon, *series, ("busy", OPS), ("busy", "derive-interrupted")) as grown:
        for (name, (number, size)), disk in zip(want.items(), own_disks):
            loads[name].ask(f"direct {number} {size} {disk.path}")
        for name in want:
            loads[name].ask("reap")
    for spin in spins:
        spin.process.kill()
    for (name, (number, size)), disk in zip(want.items(), own_disks):
        all_counted(test, name, grown, of_service(name), disk, (number, number), size)
        wrong = grown[name, "derive-interrupted"][0]
        test.figures.within(f"{name}: bytes whose end has met it, of {2 * number * size}", wrong, 0, number * size)
    test.equal("who only works has submitted nothing", grown["busy", OPS], [0, 0])
    print(f"note: bytes whose end has met who only works: {grown['busy', 'derive-interrupted'][0]}")


def failures(test, daemon):
    """Some writes fail, as the file system of the loop device's file is full."""
    disk = disks.loop(test, disks.memory(test, "small", 2 * MIB), 4 * MIB)
    page, failed = mmap.mmap(-1, MIB // 2), 0
    with Growth(test, daemon, (disk.name, "errors-disk-write"), (disk.name, COMPLETED)) as grown:
        fd = os.open(disk.path, os.O_RDWR | os.O_DIRECT)
        for at in range(8):
            try:
                os.pwrite(fd, page, at * len(page))
            except OSError as error:
                failed += error.errno in (errno.EIO, errno.ENOSPC)
        os.close(fd)
    missing = grown.missing(disk, "write")
    test.within("writes that failed", failed, 1, 7)
    test.within("failures", grown[disk.name, "errors-disk-write"][0], failed - missing, failed)
    test.within("writes, failed or not", grown[disk.name, COMPLETED][1], 8 - missing, 8)


def without_statistics(test, daemon, first, disk):
    """A device whose statistics are off in the kernel."""
    disk.set("iostats", 0)
    with Growth(test, daemon, *of_disk(disk), *of_service("first")) as grown:
        before = disk.stat()
        transfer(first, "direct", 300, 4096, disk.path)
        after = disk.stat()
    disk.set("iostats", 1)
    all_counted(test, "iostats 0", grown, of_disk(disk), disk, (300, 300), 4096)
    all_counted(test, "iostats 0: submitted", grown, of_service("first"), disk, (300, 300), 4096)
    test.equal("iostats 0: as the kernel counts them", after[READS] - before[READS], 0)
    own_s = total_s(daemon, ("first", "latency-disk_read-average"), ("first", OPS, 1), grown.begin) / 300
    test.true("iostats 0: time of reads", own_s > 0, own_s)
    test.figures.within("iostats 0: s of a read", own_s, 1e-6, 0.1)


def write_back(test, daemon, load, service, mounted):
    """Dirty pages are written back after their process has ended."""
    disk, where = mounted
    number, size = 2000, 4096
    all_bytes = number * size
    path = os.path.join(where, f"of_{load.name}.{time.monotonic_ns()}")
    written = (service, BYTES), ("disk", BYTES + "-writeback"), ("busy", BYTES)
    with Growth(test, daemon, *written) as grown:
        transfer(load, "dirty", number, size, path)
        disks.run("sync", "-f", path)
    return all_bytes - grown.missing_bytes(disk, "write"), all_bytes, [grown[one][-1] for one in written]


def nobody(test, daemon, load, mounted):
    least, all_bytes, (own, kernel, busy) = write_back(test, daemon, load, "second", mounted)
    test.equal("written back: of whom no cgroup tells", own, 0)
    # This includes the dirty pages of others.
    test.within("written back: for nobody in particular", kernel, least, float("inf"))
    test.figures.within("written back: for others", kernel - all_bytes, least - all_bytes, 256 * MIB)
    test.equal("written back: of who only works", busy, 0)


def cgroups_write_back(test, daemon, mounted, hook_set):
    """Pages belong to a cgroup2: by the memory controller, and by the I/O controller where it is on."""
    groups = Cgroups()
    with open(os.path.join(groups.root, "cgroup.controllers"), encoding="ascii") as words:
        known = words.read().split()
    if not {"memory", "io"} <= set(known):
        test.left_out("write-back by cgroup", f"cgroup2 has {known}: the kernel does not tell whose pages these are")
        return
    control = os.path.join(groups.root, "cgroup.subtree_control")
    for controllers in (["memory"], ["memory", "io"]):
        for word in controllers:
            with open(control, "w", encoding="ascii") as file:
                file.write("+" + word)
        if "io" not in controllers and hook_set > 1:
            test.left_out("write-back by the memory controller", "this hook set asks the controller of I/O alone")
            continue
        load = test.load("io", name="kt_third")
        name = test.own("kt_dirtier")
        groups.make(name)
        groups.enter(name, load.pid)
        least, all_bytes, (own, _, busy) = write_back(test, daemon, load, "dirtier", mounted)
        test.within(f"written back: of the cgroup, by {controllers}", own, least, all_bytes + MIB)
        test.equal("written back: of who only works", busy, 0)
        load.end()
        groups.remove()


def of_known_time(test, daemon, what, disk, grown, queued_s):
    """Compares the times of a device that takes 20 ms."""
    reads = disk.name, COMPLETED, 1
    got = {part: total_s(daemon, (disk.name, f"latency-disk_{part}-read-average"), reads, grown.begin)
           / grown[disk.name, COMPLETED][0] for part in ("queued", "service")}
    test.within(f"{what}: s in service, at least", got["service"], 0.97 * 0.02, float("inf"))
    test.figures.within(f"{what}: s in service", got["service"], 0.02, 0.03)
    test.figures.within(f"{what}: s queued", got["queued"], *queued_s)


def known_times(test, daemon, loads):
    """A device that takes 20 ms for each request, one at a time, and ends it in a timer interrupt. With two services, one
    waits for the other."""
    disk = disks.null_blk(test, irqmode=2, completion_nsec=20000000, nr_devices=1, gb=1, submit_queues=1,
                          hw_queue_depth=1)
    if disk is None:
        test.left_out("a device of known times", "there is no null_blk here")
        return
    disk.set("scheduler", "mq-deadline")
    with Growth(test, daemon, *of_disk(disk), *of_service("first")) as grown:
        transfer(loads["first"], "direct", 50, 4096, disk.path)
    all_counted(test, "alone", grown, of_disk(disk), disk, (50, 50), 4096)
    of_known_time(test, daemon, "alone", disk, grown, (0, 0.003))
    own = total_s(daemon, ("first", "latency-disk_read-average"), ("first", OPS, 1), grown.begin)
    test.figures.within("alone: s of the service's read", own / grown["first", OPS][0], 0.02, 0.035)
    with Growth(test, daemon, *of_disk(disk)) as grown:
        for load in loads.values():
            load.ask(f"direct 50 4096 {disk.path}")
        for load in loads.values():
            load.ask("reap")
    all_counted(test, "together", grown, of_disk(disk), disk, (100, 100), 4096)
    of_known_time(test, daemon, "together", disk, grown, (0.01, 0.03))
    fio(test, daemon, disk, 50, 0.02)
    always_another(test, daemon, loads["first"], disk, 25)
    most = max(row[1] for row in daemon.rows(disk.name, "pending_operations") if row[0] > grown.begin)
    test.within("together: most requests in flight at a reading", most, 0, 2)
    test.figures.equal("together: most requests in flight at a reading", most, 2)


def without_option(test, disk):
    """By default there are series of devices, and none of services."""
    daemon = test.collectd(OTHERS + '  <Service "first">\n    Process "kt_first"\n  </Service>\n', interval=INTERVAL)
    first = test.load("io", name="kt_first")
    daemon.wait_rows("self", "duration-read_disk", 2)
    with Growth(test, daemon, *of_disk(disk)) as grown:
        transfer(first, "direct", 200, 4096, disk.path)
    all_counted(test, "without option", grown, of_disk(disk), disk, (200, 200), 4096)
    test.equal("without option: series of services", [(subject, metric) for subject in daemon.subjects()
                                                      for metric in daemon.metrics(subject) if "submitted" in metric], [])
    test.equal("without option: complaints", daemon.complaints(), [])
    first.end()
    test.stop(daemon)


def main():
    with Test(limit=180) as test:
        where = disks.memory(test, "memory", 256 * MIB)
        disk, other = disks.loop(test, where, 64 * MIB), None
        os.rename(os.path.join(where, "file"), os.path.join(where, "first"))
        other = disks.loop(test, where, 64 * MIB)
        without_option(test, disk)
        daemon = test.collectd(CONF, interval=INTERVAL)
        loads = {name: test.load("io", name="kt_" + name) for name in ("first", "second")}
        daemon.wait_rows("self", "duration-read_disk", 2)
        hook_set = int(daemon.rows("self", "count-tier_disk")[-1][1])
        for each in (disk, other):
            transfer(loads["first"], "direct", 10, 4096, each.path)
        devices(test, daemon, loads["first"], disk)
        times(test, daemon, loads["first"], disk)
        peer(test, daemon, loads["first"], disk)
        fio(test, daemon, disk, 1000)
        disk.set("rq_affinity", 0)  # a kernel thread ends requests where it runs
        always_another(test, daemon, loads["first"], disk, 200)
        disk.set("rq_affinity", 1)
        blame(test, daemon, loads, (disk, other))
        without_statistics(test, daemon, loads["first"], other)
        failures(test, daemon)
        known_times(test, daemon, loads)
        mounted = other, disks.mounted(test, other, "mounted")
        nobody(test, daemon, loads["second"], mounted)
        cgroups_write_back(test, daemon, mounted, hook_set)
        test.equal("refused", daemon.rows("self", "total_events-refused_disk")[-1][1], 0)
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)


if __name__ == "__main__":
    main()

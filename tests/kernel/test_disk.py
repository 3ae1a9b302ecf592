#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests of block devices: how many, how many octets, how long; and who submits them, whoever runs when they end.

Truth: loads that read and write known octets past the page cache; /sys/block/DEVICE/stat; how many writes failed;
biolatency; what fio says in JSON of its own requests; a device of known times (null_blk). What a probe counts that
blames the process which it meets at the end of a request (tests/bpf/completions.bpf.c) shows that this is another one
here, one request after the other always: requests of loop devices are ended by a kernel thread, or on a CPU where
something else runs.
"""

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
from lib import Test

SECTOR = 512
COMPLETIONS = os.path.join(lib.BUILD, "tests", "bpf", "completions.bpf.o")
CONF = f"""
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
OPS, OCTETS, COMPLETED = "disk_ops-submitted", "disk_octets-submitted", "disk_ops-completed"


def reading(daemon):
    """Wait until what was counted before is written: of two readings, all of the first."""
    moment = time.time()
    daemon.wait_rows("self", "duration-read_disk", 2, moment)
    daemon.wait_rows("self", "duration-read_disk", 1, moment)
    return moment


def counts(daemon, subject, metric, moment):
    """At the first reading after this moment; nothing yet: zeros."""
    if metric not in daemon.metrics(subject):
        return [0, 0]
    return list(daemon.row_after(subject, metric, moment)[1:])


class Growth:
    """with Growth(daemon, (subject, metric), ...) as grown: what each grew by meanwhile."""

    def __init__(self, daemon, *series):
        self.daemon, self.series = daemon, series
        self.begin, self.before, self.grown = 0, {}, {}

    def __enter__(self):
        self.begin = reading(self.daemon)
        self.before = {one: counts(self.daemon, *one, self.begin) for one in self.series}
        return self

    def __exit__(self, kind, *_):
        if kind:
            return
        moment = reading(self.daemon)
        for one, before in self.before.items():
            after = counts(self.daemon, *one, moment)
            self.grown[one] = [b - a for a, b in zip(before, after)]

    def __getitem__(self, one):
        return self.grown[one]


def transfer(load, how, number, size, path):
    load.ask(f"{how} {number} {size} {path}")
    load.ask("reap")


def devices(test, daemon, first, disk):
    """As many as the load makes, and as the kernel counts; of flushes it counts the write that asks for one, too."""
    number, size, name = 400, 8192, disk.name
    ops, octets, flushes = (name, COMPLETED), (name, "disk_octets-completed"), (name, "total_operations-flush")
    with Growth(daemon, ops, octets, flushes, ("first", OPS), ("first", OCTETS)) as grown:
        before = disk.stat()
        transfer(first, "direct", number, size, disk.path)
        after = disk.stat()
    stat = [b - a for a, b in zip(before, after)]
    test.equal(f"{name}: reads and writes", grown[ops], [number, number])
    test.equal(f"{name}: octets", grown[octets], [number * size, number * size])
    test.equal(f"{name}: flushes", grown[flushes][0], 1)
    test.equal("reads and writes as the kernel counts them", [stat[READS], stat[WRITES] - 1], grown[ops])
    test.equal("octets likewise", [stat[READ_SECTORS] * SECTOR, stat[WRITTEN_SECTORS] * SECTOR], grown[octets])
    test.equal("flushes likewise", stat[FLUSHES], grown[flushes][0])
    test.equal("submitted: reads and writes", grown["first", OPS], [number, number])
    test.equal("submitted: octets", grown["first", OCTETS], [number * size, number * size])


def total_s(daemon, of, count, begin):
    """All that a histogram's averages add up to, by how much the count grew at each reading."""
    subject, metric, source = count
    rows = daemon.rows(subject, metric)
    averages = {row[0]: row[1] for row in daemon.rows(*of) if not math.isnan(row[1])}
    return sum((b[source] - a[source]) * averages.get(b[0], 0) for a, b in zip(rows, rows[1:]) if b[0] > begin)


def times(test, daemon, first, disk):
    """Queued and in service are together what the kernel counts from begin to end; so is what the service waits."""
    begin, before = reading(daemon), disk.stat()
    transfer(first, "direct", 1000, 65536 // 4, disk.path)
    after = disk.stat()
    reading(daemon)
    for at, (operation, field) in enumerate((("read", READ_MS), ("write", WRITE_MS)), 1):
        ops = (disk.name, COMPLETED, at)
        parts = [total_s(daemon, (disk.name, f"latency-disk_{part}-{operation}-average"), ops, begin)
                 for part in ("queued", "service")]
        kernel_s = (after[field] - before[field]) / 1e3
        test.close(f"{operation}: s queued ({parts[0]:.4f}) and in service ({parts[1]:.4f})", sum(parts), kernel_s,
                   rel=0.1, slack=0.01)
        own_s = total_s(daemon, ("first", f"latency-disk_{operation}-average"), ("first", OPS, at), begin)
        test.close(f"{operation}: s of the service", own_s, kernel_s, rel=0.1, slack=0.01)


def biolatency(disk):
    """[(count, shortest s, longest s)] of what it has seen of a device, once it is told to end."""
    trace = subprocess.Popen(["biolatency", "-D"], stdout=subprocess.PIPE, text=True)
    time.sleep(2 * lib.SLOWNESS)
    yield
    trace.send_signal(signal.SIGINT)
    part = trace.communicate()[0].partition(f"disk = {disk.name}")[2].partition("disk =")[0]
    yield [(int(count), int(low) / 1e6, (int(high) + 1) / 1e6)
           for low, high, count in re.findall(r"(\d+) -> (\d+) +: (\d+)", part)]


def peer(test, daemon, first, disk):
    """What libbpf-tools show of the same load."""
    if not shutil.which("biolatency"):
        print("note: biolatency (libbpf-tools) is not installed, its part is left out")
        return
    number, seen = 1000, biolatency(disk)
    next(seen)
    begin = reading(daemon)
    transfer(first, "direct", number, 4096, disk.path)
    reading(daemon)
    buckets = next(seen)
    test.equal("requests, and a flush, by biolatency", sum(count for count, _, _ in buckets), 2 * number + 1)
    total = sum(total_s(daemon, (disk.name, f"latency-disk_service-{operation}-average"),
                        (disk.name, COMPLETED, at), begin)
                for at, operation in enumerate(("read", "write"), 1))
    flush_s = daemon.rows(disk.name, "latency-disk_service-flush-average")
    total += next((row[1] for row in reversed(flush_s) if not math.isnan(row[1])), 0)
    test.between("s in service, by the bounds of its buckets", total,
                 [sum(count * bound[at] for count, *bound in buckets) for at in (0, 1)],
                 slack=CSV_S * (2 * number + 1), rel=0.05 * lib.SLOWNESS)


def fio(test, daemon, disk, number, least_s=0):
    """As many requests as fio has made, and none longer than fio has waited for it: that includes the way back to a CPU."""
    path = shutil.which("fio")
    if not path:
        print("note: fio is not installed, its part is left out")
        return
    name = test.own("kt_fio")
    program = shutil.copy(path, os.path.join(test.dir, name))
    words = [program, f"--name={name}", f"--filename={disk.path}", "--direct=1", "--rw=randrw", "--bs=4k", "--ioengine=psync",
             "--norandommap", "--randseed=1", "--size=32m", "--invalidate=0", f"--number_ios={number}", "--output-format=json"]
    ops, octets = (disk.name, COMPLETED), (disk.name, "disk_octets-completed")
    with Growth(daemon, ops, octets, ("fio", OPS)) as grown:
        said = disks.run(*words)
    job = json.loads(said[said.index("{"):])["jobs"][0]
    for at, operation in enumerate(("read", "write")):
        theirs = job[operation]
        count, clat_s = theirs["total_ios"], theirs["clat_ns"]["mean"] / 1e9
        test.within(f"fio: {operation}s", count, number / 4, number)
        test.equal(f"fio: {operation}s and octets", [grown[ops][at], grown[octets][at]], [count, theirs["io_bytes"]])
        # Pages of the program itself may come from another disk meanwhile.
        test.within(f"fio: {operation}s submitted", grown["fio", OPS][at], count, 2 * number)
        own_s = sum(total_s(daemon, (disk.name, f"latency-disk_{part}-{operation}-average"), (*ops, at + 1), grown.begin)
                    for part in ("queued", "service"))
        test.within(f"fio: s of a {operation}", own_s / count, least_s or 0.1 * clat_s, clat_s + 2 * CSV_S)


def spinning(test):
    """Somebody who works on every CPU."""
    return [test.load("spin", test.mkdir("spins"), 1, 30, 1000, cpu, name="kt_busy") for cpu in os.sched_getaffinity(0)]


def always_another(test, daemon, load, disk, number):
    """Whoever waits for a request sleeps when it ends: its end meets somebody else each time."""
    spins = spinning(test)
    series = [(name, metric) for name in ("first", "busy") for metric in (OPS, "derive-interrupted")]
    with Growth(daemon, *series) as grown:
        transfer(load, "direct", number, 4096, disk.path)
    for spin in spins:
        spin.process.kill()
    print(f"note: octets whose end has met who only works: {grown['busy', 'derive-interrupted'][0]} of {2 * number * 4096}")
    test.equal(f"{disk.name}: octets whose end has met who submits", grown["first", "derive-interrupted"][0], 0)
    test.equal(f"{disk.name}: submitted", grown["first", OPS], [number, number])
    test.equal(f"{disk.name}: submitted by who only works", grown["busy", OPS], [0, 0])


def blame(test, daemon, loads, own_disks):
    """Two services at once, with others on every CPU: all is theirs, whoever is there at the end."""
    want = {"first": (3000, 4096), "second": (500, 16384)}
    series = [(name, metric) for name in want for metric in (OPS, OCTETS, "derive-interrupted")]
    spins = spinning(test)
    with Growth(daemon, *series, ("busy", OPS), ("busy", "derive-interrupted")) as grown:
        for (name, (number, size)), disk in zip(want.items(), own_disks):
            loads[name].ask(f"direct {number} {size} {disk.path}")
        for name in want:
            loads[name].ask("reap")
    for spin in spins:
        spin.process.kill()
    # A program is not run by an interrupt of its own run: those are told, and no more may be missing.
    missed = int(daemon.rows("self", "total_events-missed_disk")[-1][1])
    for name, (number, size) in want.items():
        ops, octets = grown[name, OPS], grown[name, OCTETS]
        test.true(f"{name}: reads and writes, but for {missed} that no program saw: {ops}",
                  number - missed <= min(ops) and max(ops) <= number)
        test.equal(f"{name}: octets", octets, [size * each for each in ops])
        wrong = grown[name, "derive-interrupted"][0]
        test.within(f"{name}: octets whose end has met it, of {2 * number * size}", wrong, 0, number * size)
    test.equal("who only works has submitted nothing", grown["busy", OPS], [0, 0])
    print(f"note: octets whose end has met who only works: {grown['busy', 'derive-interrupted'][0]}")


def failures(test, daemon):
    """A device whose file finds no room."""
    disk = disks.loop(test, disks.memory(test, "small", 2 * MIB), 4 * MIB)
    page, failed = mmap.mmap(-1, MIB // 2), 0
    with Growth(daemon, (disk.name, "errors-disk-write"), (disk.name, COMPLETED)) as grown:
        fd = os.open(disk.path, os.O_RDWR | os.O_DIRECT)
        for at in range(8):
            try:
                os.pwrite(fd, page, at * len(page))
            except OSError as error:
                failed += error.errno in (errno.EIO, errno.ENOSPC)
        os.close(fd)
    test.within("writes that failed", failed, 1, 7)
    test.equal("failures", grown[disk.name, "errors-disk-write"][0], failed)
    test.equal("writes, failed or not", grown[disk.name, COMPLETED][1], 8)


def without_statistics(test, daemon, first, disk):
    """Where the kernel counts nothing."""
    disk.set("iostats", 0)
    with Growth(daemon, (disk.name, COMPLETED), ("first", OPS)) as grown:
        before = disk.stat()
        transfer(first, "direct", 300, 4096, disk.path)
        after = disk.stat()
    disk.set("iostats", 1)
    test.equal("iostats 0: reads and writes", grown[disk.name, COMPLETED], [300, 300])
    test.equal("iostats 0: submitted", grown["first", OPS], [300, 300])
    test.equal("iostats 0: as the kernel counts them", after[READS] - before[READS], 0)
    own_s = total_s(daemon, ("first", "latency-disk_read-average"), ("first", OPS, 1), grown.begin) / 300
    test.within("iostats 0: s of a read", own_s, 1e-6, 0.1)


def write_back(test, daemon, load, service, where):
    """What is left in the page cache, and written when who has left it is gone."""
    number, size = 2000, 4096
    all_octets = number * size
    path = os.path.join(where, f"of_{load.name}.{time.monotonic_ns()}")
    written = (service, OCTETS), ("disk", OCTETS + "-writeback"), ("busy", OCTETS)
    with Growth(daemon, *written) as grown:
        transfer(load, "dirty", number, size, path)
        disks.run("sync", "-f", path)
    return all_octets, [grown[one][-1] for one in written]


def nobody(test, daemon, load, where):
    all_octets, (own, kernel, busy) = write_back(test, daemon, load, "second", where)
    test.equal("written back: of whom no cgroup tells", own, 0)
    test.within("written back: for nobody in particular", kernel, all_octets, all_octets + 256 * MIB)
    test.equal("written back: of who only works", busy, 0)


def cgroups_write_back(test, daemon, where, tier):
    """cgroup2 tells whose pages they are: by the memory controller, and by that of I/O where it is on."""
    groups = Cgroups()
    with open(os.path.join(groups.root, "cgroup.controllers"), encoding="ascii") as words:
        known = words.read().split()
    if not {"memory", "io"} <= set(known):
        print(f"note: cgroup2 has {known}: the kernel does not tell here whose pages are written back")
        return
    control = os.path.join(groups.root, "cgroup.subtree_control")
    for controllers in (["memory"], ["memory", "io"]):
        for word in controllers:
            with open(control, "w", encoding="ascii") as file:
                file.write("+" + word)
        if "io" not in controllers and tier > 1:
            print("note: this tier asks the controller of I/O alone")
            continue
        load = test.load("io", name="kt_third")
        name = test.own("kt_dirtier")
        groups.make(name)
        groups.enter(name, load.pid)
        all_octets, (own, _, busy) = write_back(test, daemon, load, "dirtier", where)
        test.within(f"written back: of the cgroup, by {controllers}", own, all_octets, all_octets + MIB)
        test.equal("written back: of who only works", busy, 0)
        load.end()
        groups.remove()


def mean_s(daemon, disk, part, begin, count):
    return total_s(daemon, (disk.name, f"latency-disk_{part}-read-average"), (disk.name, COMPLETED, 1), begin) / count


def known_times(test, daemon, loads):
    """A device that takes 20 ms for each request, one at a time, and ends it by a timer's interrupt. Of two services one
    waits for the other."""
    disk = disks.null_blk(test, irqmode=2, completion_nsec=20000000, nr_devices=1, gb=1, submit_queues=1,
                          hw_queue_depth=1)
    if disk is None:
        print("note: there is no null_blk here, its part is left out")
        return
    disk.set("scheduler", "mq-deadline")
    begin = reading(daemon)
    transfer(loads["first"], "direct", 100, 4096, disk.path)
    reading(daemon)
    test.within("alone: s in service", mean_s(daemon, disk, "service", begin, 100), 0.02, 0.03)
    test.within("alone: s queued", mean_s(daemon, disk, "queued", begin, 100), 0, 0.003)
    own = total_s(daemon, ("first", "latency-disk_read-average"), ("first", OPS, 1), begin) / 100
    test.within("alone: s of the service's read", own, 0.02, 0.035)
    begin = reading(daemon)
    for load in loads.values():
        load.ask(f"direct 100 4096 {disk.path}")
    for load in loads.values():
        load.ask("reap")
    reading(daemon)
    test.within("together: s in service", mean_s(daemon, disk, "service", begin, 200), 0.02, 0.03)
    test.within("together: s queued", mean_s(daemon, disk, "queued", begin, 200), 0.01, 0.03)
    fio(test, daemon, disk, 100, 0.02)
    always_another(test, daemon, loads["first"], disk, 25)
    test.equal("together: most requests in flight at a reading",
               max(row[1] for row in daemon.rows(disk.name, "pending_operations") if row[0] > begin), 2)


def without_option(test, disk):
    """By default: what devices do, and nobody is asked who it was."""
    daemon = test.collectd('  <Service "first">\n    Process "kt_first"\n  </Service>\n', interval=1)
    first = test.load("io", name="kt_first")
    daemon.wait_rows("self", "duration-read_disk", 2)
    with Growth(daemon, (disk.name, COMPLETED)) as grown:
        transfer(first, "direct", 200, 4096, disk.path)
    test.equal("without option: reads and writes", grown[disk.name, COMPLETED], [200, 200])
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
        daemon = test.collectd(CONF, interval=1)
        loads = {name: test.load("io", name="kt_" + name) for name in ("first", "second")}
        daemon.wait_rows("self", "duration-read_disk", 2)
        tier = int(daemon.rows("self", "count-tier_disk")[-1][1])
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
        mounted = disks.mounted(test, other, "mounted")
        nobody(test, daemon, loads["second"], mounted)
        cgroups_write_back(test, daemon, mounted, tier)
        test.equal("refused", daemon.rows("self", "total_events-refused_disk")[-1][1], 0)
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The probe memory: stalls for reclaim, compactions, and by options pages, objects, faults and mappings, by service.

Truth: the kernel's own trace of the load's process; what the load was told to map and touch; its faults in /proc; and
/proc/vmstat of the whole machine. That the machine itself is short of memory is tried where it has little and nobody
else has to suffer, under emulation.
"""

import glob
import math
import os
import shutil
import subprocess
import time

import truth
from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, WITH_TRACEFS, Skip, Test, die_with_test, in_mounts, without
from tracing import Trace, durations, percentile

INTERVAL = 0.2 if SLOWNESS < 2 else 1
MIB = 1 << 20
LIMIT_MIB, FILE_MIB = 16, 64
TOUCHED_MIB, TIMES = 16, 20
OBJECTS = 1000
SMALL_MIB = 3000    # a machine with less may be made short of memory,
SHORT_MIB = 64      # by so much
RESERVE = "/proc/sys/vm/min_free_kbytes"

CONF = """
  ServicesFrom "commands"
  MaxServices 1000
""" + without("poll", "request") + """
  <Service "eater">
    Process "kt_eater"
  </Service>
  <Service "reader">
    Process "kt_reader"
  </Service>
  <Service "packer">
    Process "kt_packer"
  </Service>
  <Service "idle">
    Process "kt_idle"
  </Service>
  <Probe "memory">
    Enable true
%s  </Probe>
"""
OPTIONS = "".join(f'    Option "{name}"\n' for name in ("pages", "kmalloc", "faults", "mappings"))


def last(daemon, subject, metric):
    return daemon.rows(subject, metric)[-1][1] if metric in daemon.metrics(subject) else 0


def settled(daemon):
    daemon.wait_rows("self", "duration-read_memory", 2, time.time())


def grown(daemon, subject, metrics, work):
    """{metric: growth by this work}, and what the work gave."""
    settled(daemon)
    before = {metric: last(daemon, subject, metric) for metric in metrics}
    result = work()
    settled(daemon)
    return {metric: last(daemon, subject, metric) - before[metric] for metric in metrics}, result


# --- stalls

class Limited:
    """A cgroup with a limit of memory."""

    def __init__(self, test):
        old = controller_root("memory")
        root = old or unified_root()
        if not root:
            raise Skip("no memory cgroups")
        self.groups, self.name = Cgroups(root), test.own("kt_limited")
        test.at_end(self.groups.remove)
        if not old:
            with open(os.path.join(root, "cgroup.subtree_control"), "w", encoding="ascii") as file:
                file.write("+memory")
        path = os.path.join(self.groups.make(self.name), "memory.limit_in_bytes" if old else "memory.max")
        with open(path, "w", encoding="ascii") as file:
            file.write(str(LIMIT_MIB * MIB))

    def run(self, argv):
        """Waits until it is in the cgroup, and then for its end. Returns its pid."""
        process = subprocess.Popen(["sh", "-c", 'read line; exec "$@"', "sh", *argv], stdin=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_test)
        self.groups.enter(self.name, process.pid)
        process.communicate(b"\n")
        return process.pid


def program(test, source, name):
    """A copy of an installed program, under this command name."""
    path = os.path.join(test.disk, test.own(name))
    shutil.copy(shutil.which(source), path)
    return path


def libraries():
    """Files of the machine's own, the largest first."""
    found = {os.path.realpath(path) for path in glob.glob("/usr/lib/*/lib*.so*")}
    return sorted(filter(os.path.isfile, found), key=os.path.getsize, reverse=True)


def cold_file(test):
    """One that is not in memory. What is written where files are in memory alone would stay there."""
    path = os.path.join(test.disk, "file")
    if subprocess.check_output(["stat", "-f", "-c", "%T", test.disk], text=True).strip() in ("tmpfs", "overlayfs"):
        path = libraries()[0]
        if os.path.getsize(path) < 2 * LIMIT_MIB * MIB:
            raise Skip(f"no file of {2 * LIMIT_MIB} MiB to read")
    else:
        with open(path, "wb") as file:
            file.write(os.urandom(MIB) * FILE_MIB)
            os.fsync(file.fileno())
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    return path


def stalls(test, daemon):
    """A reader in a cgroup that holds a part of what it reads."""
    group, path, dd = Limited(test), cold_file(test), program(test, "dd", "kt_reader")
    metrics = "total_operations-reclaim_cgroup", "total_operations-reclaim_direct", "vmpage_action-reclaimed"

    def read():
        with Trace(test, "vmscan/mm_vmscan_memcg_reclaim_begin", "vmscan/mm_vmscan_memcg_reclaim_end") as seen:
            pid = group.run([dd, f"if={path}", "of=/dev/null", "bs=64k"])
        return [event for event in seen.events if event.pid == pid]

    got, events = grown(daemon, "reader", metrics, read)
    ends = [event for event in events if event.name.endswith("end")]
    test.within("stalls for its limit, by the trace", len(ends), 10, 1000000)
    test.equal("stalls for its limit", got["total_operations-reclaim_cgroup"], len(ends))
    test.equal("stalls for the machine's want", got["total_operations-reclaim_direct"], 0)
    test.equal("pages that they freed", got["vmpage_action-reclaimed"],
               sum(int(event.text.partition("nr_reclaimed=")[2]) for event in ends))
    taken = [seconds for _, _, seconds in durations(events, "mm_vmscan_memcg_reclaim_begin", "mm_vmscan_memcg_reclaim_end",
                                                    lambda event: event.pid)]
    seen = [row[1] for row in daemon.rows("reader", "latency-reclaim-percentile-50") if row[1] > 0]
    test.true("their median at a reading", seen, seen)
    test.figures.within("their median at a reading, s", seen[-1], 0.5 * percentile(taken, 10),
                        1.5 * percentile(taken, 90))


def compactions(test, daemon):
    """Who asks for them has them."""
    shell = program(test, "dash" if shutil.which("dash") else "sh", "kt_packer")
    metrics = "total_operations-compaction", "total_time_in_ms-compaction"

    def pack():
        with Trace(test, "compaction/mm_compaction_begin", "compaction/mm_compaction_end") as seen:
            process = subprocess.Popen([shell, "-c", "echo 1 >/proc/sys/vm/compact_memory; true"], preexec_fn=die_with_test)
            process.wait()
        return durations([event for event in seen.events if event.pid == process.pid], "mm_compaction_begin",
                         "mm_compaction_end", lambda event: event.pid)

    if not os.path.exists("/proc/sys/vm/compact_memory"):
        test.left_out("compactions", "this kernel does not compact")
        return
    got, taken = grown(daemon, "packer", metrics, pack)
    test.within("compactions, by the trace", len(taken), 1, 1000)
    test.equal("compactions", got["total_operations-compaction"], len(taken))
    test.figures.close("ms in compactions", got["total_time_in_ms-compaction"],
                       1e3 * sum(seconds for *_, seconds in taken), rel=0.05, slack=2)


def vmstat(prefix):
    with open("/proc/vmstat", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(prefix))


def meminfo(name):
    """MiB"""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name + ":")) // 1024


def read_files():
    """So that there is something to reclaim, half of the memory if there is so much to read."""
    left = meminfo("MemTotal") * MIB // 2
    for path in libraries():
        with open(path, "rb") as file:
            left -= len(file.read())
        if left < 0:
            break


def direct(test, daemon, eater):
    """The machine wants more free memory than it has, while others ask for some."""
    total = meminfo("MemTotal")
    if SLOWNESS < 2 or total > SMALL_MIB:
        test.left_out("direct reclaims", f"this machine has {total} MiB and others who need them")
        return
    with open(RESERVE, encoding="ascii") as file:
        usual = file.read()
    before = vmstat("allocstall")

    def eat():
        read_files()
        with open(RESERVE, "w", encoding="ascii") as file:
            file.write(str(1024 * (meminfo("MemFree") + SHORT_MIB)))
        eater.ask(f"spike {SHORT_MIB} 0")
        with open(RESERVE, "w", encoding="ascii") as file:
            file.write(usual)

    got, _ = grown(daemon, "eater", ("total_operations-reclaim_direct",), eat)
    everyone = sum(last(daemon, subject, "total_operations-reclaim_direct") for subject in daemon.subjects())
    stalls_of_all = vmstat("allocstall") - before
    test.within("direct reclaims by the load", got["total_operations-reclaim_direct"], 0, stalls_of_all)
    # None where kswapd is fast enough for the load.
    test.figures.within("direct reclaims by the load", got["total_operations-reclaim_direct"], 1, math.inf)
    test.close("direct reclaims of all, as /proc/vmstat counts", everyone, stalls_of_all, rel=0.05, slack=2)


# --- options

def faults_of(pid):
    fields = truth.stat(pid)
    return int(fields[10]) + int(fields[12])


def touched(test, daemon, eater):
    """Pages that are touched in known numbers, and unmapped again."""
    faults = [f"total_events-fault_{kind}" for kind in ("read", "write", "protection", "instruction", "kernel")]
    metrics = ["vmpage_action-alloc", "vmpage_action-free", "total_operations-mmap", "total_operations-munmap",
               "total_bytes-mmap", "total_bytes-munmap", *faults]

    def touch():
        before = faults_of(eater.pid)
        for _ in range(TIMES):
            eater.ask(f"spike {TOUCHED_MIB} 0")
        return faults_of(eater.pid) - before

    machine = vmstat("pgalloc_"), vmstat("pgfree")
    got, faulted = grown(daemon, "eater", metrics, touch)
    machine = vmstat("pgalloc_") - machine[0], vmstat("pgfree") - machine[1]
    pages, byte_count = TIMES * TOUCHED_MIB * MIB // truth.PAGE, TIMES * TOUCHED_MIB * MIB
    test.equal("mappings and their bytes", [got[metric] for metric in metrics[2:6]], [TIMES, TIMES, byte_count, byte_count])
    test.within("pages allocated", got["vmpage_action-alloc"], pages, min(1.05 * pages, machine[0]))
    test.within("pages freed", got["vmpage_action-free"], 0.95 * pages, min(1.05 * pages, machine[1]))
    test.close("faults of all kinds", sum(got[metric] for metric in faults), faulted, slack=5)
    test.close("faults by writes", got["total_events-fault_write"], pages, slack=5)


def snapshot(daemon):
    """Pages allocated and freed: of the machine before, of all services, of the machine after."""
    machine = vmstat("pgalloc_"), vmstat("pgfree")
    settled(daemon)
    services = [sum(last(daemon, subject, metric) for subject in daemon.subjects())
                for metric in ("vmpage_action-alloc", "vmpage_action-free")]
    return machine, services, (vmstat("pgalloc_"), vmstat("pgfree"))


def whole_machine(test, daemon, eater):
    """Every page of the machine counts for somebody, but for those asked for in bulk."""
    first = snapshot(daemon)
    for _ in range(TIMES):
        eater.ask(f"spike {2 * TOUCHED_MIB} 0")
    second = snapshot(daemon)
    own = TIMES * 2 * TOUCHED_MIB * MIB // truth.PAGE
    for number, what in enumerate(("allocated", "freed")):
        got, most = second[1][number] - first[1][number], second[2][number] - first[0][number]
        test.within(f"pages {what} on the machine", got, 0.95 * own, most)
        test.figures.within(f"pages {what} on the machine", got, 0.95 * (second[0][number] - first[2][number]), most)


def objects(test, daemon, eater):
    """Of one process, outside of interrupts."""
    names = ("kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free")
    metrics = [f"total_operations-{name}" for name in names] + ["total_bytes-kmalloc", "total_bytes-kmem_cache_alloc"]

    def work():
        with Trace(test, *(f"kmem/{name}" for name in names), pids=[eater.pid]) as seen:
            eater.ask(f"events {OBJECTS}")
            eater.ask("spike 1 1")
        return [event for event in seen.events if event.pid == eater.pid and not event.interrupt]

    settled(daemon)
    got, events = grown(daemon, "eater", metrics, work)
    wanted = {name: [event.fields() for event in events if event.name == name] for name in names}
    wanted["kfree"] = [event for event in wanted["kfree"] if event["ptr"].strip("0")]
    for name in names:
        test.within(f"{name}, by the trace", len(wanted[name]), OBJECTS, 100 * OBJECTS)
        test.close(name, got[f"total_operations-{name}"], len(wanted[name]), rel=0.02, slack=4)
    test.close("kmalloc: bytes", got["total_bytes-kmalloc"], sum(int(event["bytes_alloc"]) for event in wanted["kmalloc"]),
               rel=0.02, slack=4096)
    test.close("kmem_cache_alloc: bytes", got["total_bytes-kmem_cache_alloc"],
               sum(int(event["bytes_req"]) for event in wanted["kmem_cache_alloc"]), rel=0.02, slack=4096)


def main():
    with Test(limit=180) as test:
        eater, idle = test.load("memory", name="kt_eater"), test.load("memory", name="kt_idle")
        plain = test.collectd(CONF % "", interval=INTERVAL)
        plain.wait_rows("self", "duration-read_memory", 2)
        stalls(test, plain)
        compactions(test, plain)
        direct(test, plain, eater)
        test.equal("without options: series of what they are for", [metric for metric in plain.metrics("eater") if metric.startswith(
            ("vmpage_action-alloc", "total_operations-kmalloc", "total_events-fault", "total_operations-mmap"))], [])
        test.equal("complaints", plain.complaints(), [])
        test.stop(plain)
        daemon = test.collectd(CONF % OPTIONS, interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS))
        daemon.wait_rows("self", "duration-read_memory", 2)
        eater.ask(f"spike {TOUCHED_MIB} 0")
        touched(test, daemon, eater)
        objects(test, daemon, eater)
        whole_machine(test, daemon, eater)
        for metric in ("vmpage_action-alloc", "total_operations-mmap", "total_events-fault_write"):
            test.within(f"of a service that sleeps: {metric}", last(daemon, "idle", metric), 0, 10)
        test.equal("complaints", daemon.complaints(), [])
        eater.end()
        idle.end()


if __name__ == "__main__":
    main()

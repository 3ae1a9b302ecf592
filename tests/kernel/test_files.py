#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files: what services open, create, rename and delete, and how long that takes, with each hook set that this kernel
has, all of them at once.

Truth: known numbers of known calls, and the clock of the program that makes them (load_files.c); strace -c and opensnoop
of the same program; the kernel's list of mounts; how long an open of a FIFO has to wait.
"""

import os
import re
import shutil
import signal
import threading
import time

import truth
from lib import SLOWNESS, WITH_TRACEFS, Load, Test, in_mounts, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
SERIES = {"opens": "total_operations-open", "failed": "errors-open", "created": "total_operations-create",
          "deleted": "total_operations-delete", "renamed": "total_operations-rename"}
SERVICES = ("one", "two", "slow", "traced")
HOOK_SETS = (1, 2, 3, 4, 5)
WITH_READS = (1, 2, 3, 4)
WITH_VECTORS = (1, 3)
NEEDS_OPTION = (5,)
UNAVAILABLE = "Operation not permitted|the running kernel lacks a function"
CONF = without("process", "request", "delay") + \
    "".join(f'<Service "{name}">\n Process "kt_f{name}"\n</Service>\n' for name in SERVICES)
ALL = 1           # ns: threshold of slow calls, low enough to count each
THRESHOLD = 0.1   # s
READ_SIZE, READS = 4096, 500


def start(test, hook_set, option=True, slow_ns=ALL):
    words = 'Option "syscalls"\n' if option else ""
    return test.collectd(f'{CONF}<Probe "files">\n Enable true\n HookSet {hook_set}\n {words} Option "operations"\n'
                         f' Parameter "slow_ns" {slow_ns}\n</Probe>\n', interval=INTERVAL, wrap=in_mounts(WITH_TRACEFS),
                         collect=("files",))


def hook_set_of(daemon):
    return int(daemon.wait_rows("self", "count-tier_files")[-1][1])


def start_all(test):
    """A daemon for each hook set that this kernel has. That of the system calls is available everywhere."""
    daemons = {hook_set: start(test, hook_set) for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if hook_set_of(daemon) == hook_set:
            continue
        off = [line for line in daemon.log() if "probe files is off: " in line]
        test.true(f"hook set {hook_set} is unavailable: {off}", any(re.search(UNAVAILABLE, line) for line in off))
        test.true(f"hook set {hook_set} may be missing", hook_set not in NEEDS_OPTION)
        test.stop(daemons.pop(hook_set))
    return daemons


def without_option(test, hook_sets):
    daemon = start(test, NEEDS_OPTION[0], option=False)
    test.equal("without the option: hook set", hook_set_of(daemon), min(set(hook_sets) - set(NEEDS_OPTION), default=0))
    test.true("without the option: the log names it", any('it needs Option "syscalls"' in line for line in daemon.log()))
    test.stop(daemon)


def file_system(path):
    """The type of the file system with the longest mount point above the path."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        points = [line.split()[1:3] for line in mounts]
    path = os.path.realpath(path)
    return max((len(point), kind) for point, kind in points
               if os.path.commonpath([point, path]) == point)[1]


def settled(daemons):
    """Waits until all that happened before the call has been read."""
    now = time.time()
    for daemon in daemons.values():
        daemon.wait_rows("self", "duration-read_files", 2, now)


def value(daemon, service, metric):
    rows = daemon.rows(service, metric)
    return rows[-1][1] if rows else 0


def values(daemon, service, names):
    return {name: value(daemon, service, metric) for name, metric in names.items()}


def missed(daemon):
    """Runs that the kernel has skipped: while a program is preempted, it does not run for another thread there."""
    return value(daemon, "self", "total_events-missed_files")


def grown(daemons, service, names, act):
    """({hook set: {name: growth}}, the result of act())"""
    settled(daemons)
    before = {hook_set: values(daemon, service, names) for hook_set, daemon in daemons.items()}
    result = act()
    settled(daemons)
    return {hook_set: {name: now - before[hook_set][name] for name, now in values(daemon, service, names).items()}
            for hook_set, daemon in daemons.items()}, result


def ask(load, line):
    load.say(line)
    return load.result()["ns"]


def use(load, directory, n):
    """Makes the calls that known() counts. Opening an existing file with O_CREAT creates none."""
    for word, number in (("make", n), ("open", 2 * n), ("again", n), ("miss", 3 * n), ("rename", n), ("delete", n)):
        for _ in range(number // n):
            ask(load, f"{word} {n} {directory}")
    ask(load, f"calls 1 {directory}")


def known(n):
    return {"opens": 7 * n + 4, "failed": 3 * n, "created": n + 2, "deleted": n + 2, "renamed": n + 3}


def two_services(test, daemons):
    loads = {name: test.load("files", name=f"kt_f{name}") for name in ("one", "two")}
    numbers = {"one": 200, "two": 330}

    def act():
        threads = [threading.Thread(target=use, args=(load, test.mkdir(name), numbers[name]))
                   for name, load in loads.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    settled(daemons)
    before = {(hook_set, name): values(daemon, name, SERIES) for hook_set, daemon in daemons.items() for name in loads}
    missed_before = {hook_set: missed(daemon) for hook_set, daemon in daemons.items()}
    act()
    settled(daemons)
    for (hook_set, name), counts in before.items():
        now, reported = values(daemons[hook_set], name, SERIES), missed(daemons[hook_set]) - missed_before[hook_set]
        got, want = {key: now[key] - counts[key] for key in now}, known(numbers[name])
        test.true(f"hook set {hook_set}, {name}: {want}, less at most {reported} that the kernel has withheld",
                  all(want[key] - reported <= got[key] <= want[key] for key in want), got)
    for load in loads.values():
        load.end()


def syncs(test, daemons, load):
    """fsync on a disk: their number, and their time by the sum and by the histogram."""
    path, kind = os.path.join(test.disk, "synced"), file_system(test.disk)
    names = {"count": f"total_operations-slow-fsync-{kind}", "ms": f"total_time_in_ms-slow-fsync-{kind}"}
    counts, ns = grown(daemons, "slow", names, lambda: ask(load, f"sync 100 {path}"))
    for hook_set, got in counts.items():
        test.equal(f"hook set {hook_set}: fsync and fdatasync on {kind}", got["count"], 100)
        # The program's time includes the hooks of the other hook sets.
        test.within(f"hook set {hook_set}: ms in them", got["ms"], 0, ns / 1e6 + 1)
        test.figures.close(f"hook set {hook_set}: ms in them", got["ms"], ns / 1e6, rel=0.02 * SLOWNESS, slack=2)
        seen = daemons[hook_set].rows("slow", f"latency-operation-fsync-{kind}-average")
        longest = max(row[1] for row in seen if row[1] == row[1])
        test.within(f"hook set {hook_set}: average of them at a reading, s", longest, 1e-6, 1.04 * ns / 1e9)
    if test.measures:
        averages(test, daemons, load, path, kind)


def averages(test, daemons, load, path, kind):
    """The average of two syncs that are alone in their interval, by the histogram."""
    for hook_set, daemon in daemons.items():
        begin = daemon.wait_rows("self", "duration-read_files", 1, time.time())[-1][0]
        ns = ask(load, f"sync 2 {path}")
        end = time.time()
        got = daemon.row_after("slow", f"latency-operation-fsync-{kind}-average", end)[1]
        if end - begin < daemon.interval / 2:
            test.figures.close(f"hook set {hook_set}: average of 2 syncs, s", got, ns / 2e9, rel=0.04, slack=1e-4 * SLOWNESS)
        else:
            test.left_out(f"hook set {hook_set}: average of 2 syncs", "they took more than an interval")


def reads(test, daemons, load):
    """Only reads of regular files count: the program also reads its orders from a pipe, byte by byte."""
    path, kind = os.path.join(test.disk, "file"), file_system(test.disk)
    with open(path, "wb") as file:
        file.write(bytes(READ_SIZE * READS))
    for word, operation, hook_sets in (("read", "read", WITH_READS), ("vectors", "read", WITH_VECTORS),
                                   ("write", "write", WITH_READS)):
        names = {"count": f"total_operations-slow-{operation}-{kind}",
                 "ms": f"total_time_in_ms-slow-{operation}-{kind}"}
        counts, ns = grown(daemons, "slow", names, lambda word=word: ask(load, f"{word} {READ_SIZE} {path}"))
        for hook_set, got in counts.items():
            test.equal(f"hook set {hook_set}: {word}", got["count"], READS if hook_set in hook_sets else 0)
            if hook_set in hook_sets:
                test.within(f"hook set {hook_set}: {word}, ms at most", got["ms"], 0, ns / 1e6 + 1)
                test.figures.within(f"hook set {hook_set}: {word}, ms", got["ms"], 0.2 * ns / 1e6 - 1, ns / 1e6 + 1)


def asleep(pid):
    """Waits until the process sleeps. Returns how often it has fallen asleep."""
    while truth.stat(pid)[3] != "S":
        time.sleep(0.001)
    status = dict(line.split(":", 1) for line in truth.proc(pid, "status").splitlines())
    return int(status["voluntary_ctxt_switches"])


def slow_open(test, load, hook_set):
    """Opening a FIFO waits for a reader: for less than the threshold, and for more."""
    daemon = start(test, hook_set, slow_ns=int(THRESHOLD * 1e9))
    daemons = {hook_set: daemon}
    hook_set_of(daemon)
    directory = test.mkdir("fifo")
    fifo, kind = os.path.join(directory, "fifo"), file_system(directory)
    os.mkfifo(fifo)
    names = {"count": f"total_operations-slow-open-{kind}", "ms": f"total_time_in_ms-slow-open-{kind}",
             "opens": SERIES["opens"]}

    def after(seconds):
        def act():
            before = asleep(load.pid)
            load.say(f"wait 1 {fifo}")
            while asleep(load.pid) == before:  # it still waits for the order, not for the FIFO
                time.sleep(0.001)
            time.sleep(seconds)
            os.close(os.open(fifo, os.O_RDONLY))
            return load.result()["ns"]
        return act

    got, ns = grown(daemons, "slow", names, after(THRESHOLD / 2))
    test.equal("opens", got[hook_set]["opens"], 1)
    test.within(f"slow opens, of one that took {ns / 1e6:.1f} ms at most", got[hook_set]["count"], 0, ns >= THRESHOLD * 1e9)
    got, ns = grown(daemons, "slow", names, after(2 * THRESHOLD))
    test.equal(f"one that took {ns / 1e6:.1f} ms is slow", [got[hook_set]["count"], got[hook_set]["opens"]], [1, 1])
    test.within("ms that it took", got[hook_set]["ms"], 2 * THRESHOLD * 1e3 - 1, ns / 1e6 + 1)
    test.figures.close("ms that it took", got[hook_set]["ms"], ns / 1e6, rel=0.01, slack=1)
    end = time.time()
    got, ns = grown(daemons, "slow", names, after(2 * THRESHOLD))
    seen = [row[1] for row in daemon.rows("slow", "latency-file-percentile-99") if row[0] > end and row[1] == row[1]]
    test.equal("intervals with an operation", len(seen), 1)
    test.within("the 99th percentile in it, s", max(seen), 2 * THRESHOLD * 0.96, ns / 1e9 * 1.04)
    test.equal("slow of what else there was", [metric for metric in daemon.metrics("slow") if "-slow-" in metric
                                              and f"-open-{kind}" not in metric], [])
    test.stop(daemon)


def traced(test, daemons):
    """Compares all opens of a program, those of its loader included, with strace."""
    if not shutil.which("strace"):
        test.left_out("opens as strace counts them", "strace is not installed")
        return
    summary = os.path.join(test.dir, "strace")
    load = Load(["strace", "-c", "-o", summary, "-e", "trace=openat,open,creat,openat2,unlink,unlinkat,rename,renameat2",
                 test.program("files", "kt_ftraced")])
    use(load, test.mkdir("traced"), 50)
    load.end()
    settled(daemons)
    with open(summary, encoding="ascii") as file:
        lines = [re.match(r"\s*\S+\s+\S+\s+\S+\s+(\d+)\s+(?:(\d+)\s+)?(\w+)$", line) for line in file]
    calls = {line.group(3): (int(line.group(1)), int(line.group(2) or 0)) for line in lines if line}
    opens = [calls.get(name, (0, 0)) for name in ("open", "openat", "openat2", "creat")]
    want = {"opens": sum(count for count, _ in opens), "failed": sum(errors for _, errors in opens)}
    test.true("strace has counted", want["opens"] > 350, want["opens"])
    for hook_set, daemon in daemons.items():
        got = values(daemon, "traced", SERIES)
        test.equal(f"hook set {hook_set}: opens as strace -c counts them", {key: got[key] for key in want}, want)


def snooped(test, daemons, load, n=100):
    """Compares with opensnoop of libbpf-tools, at the same time and for the same program. It does not see creat and
    openat2."""
    if not shutil.which("opensnoop"):
        test.left_out("opens as opensnoop sees them", "opensnoop of libbpf-tools is not installed")
        return
    snoop = Load(in_mounts(WITH_TRACEFS) + ["stdbuf", "-oL", "opensnoop", "-n", test.own("kt_fslow")])
    test.contains("opensnoop looks", snoop.hear(), "PID")
    counts, _ = grown(daemons, "slow", SERIES, lambda: use(load, test.mkdir("snooped"), n))
    snoop.process.send_signal(signal.SIGINT)
    seen = [line.split() for line in snoop.process.stdout.read().splitlines()]
    errors = sum(words[2] == "-1" for words in seen)
    snoop.end()
    for hook_set, got in counts.items():
        for what, count, lines in (("opens", got["opens"] - 2, len(seen)), ("failed", got["failed"], errors)):
            test.within(f"hook set {hook_set}: {what}, as opensnoop sees them, which may lose some", lines, 0, count)
            test.figures.within(f"hook set {hook_set}: {what}, as opensnoop sees them", lines, 0.99 * count, count)


def main():
    with Test(limit=150) as test:
        daemons = start_all(test)
        two_services(test, daemons)
        load = test.load("files", name="kt_fslow")
        syncs(test, daemons, load)
        reads(test, daemons, load)
        traced(test, daemons)
        snooped(test, daemons, load)
        slow_open(test, load, max(daemons))
        without_option(test, daemons)
        load.end()
        for hook_set, daemon in daemons.items():
            test.equal(f"hook set {hook_set}: refused", value(daemon, "self", "total_events-refused_files"), 0)
            test.equal(f"hook set {hook_set}: complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

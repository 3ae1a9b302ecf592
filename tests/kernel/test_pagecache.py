#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page cache: hits, misses, new and dirtied pages of services, and what leaves it, by each set of hooks that this
kernel has, all of them at once.

Truth: mincore(2), which says what of a file is in memory; the size of what is read and written; /proc/vmstat.
"""

import ctypes
import mmap
import os
import time

from lib import LIBC, SLOWNESS, Test, without
from test_oom import LIMIT, MIB, Cgroup
from truth import PAGE

INTERVAL = 0.2 if SLOWNESS < 2 else 1
PAGES = 2048
HOOK_SETS = (1, 2, 3)
WITH_HITS = (1, 2)
MISSING = "Operation not permitted", "the running kernel lacks"
SERIES = {"hits": "cache_result-page_hit", "misses": "cache_result-page_miss", "mapped": "cache_result-page_miss_mapped",
          "new": "cache_operation-page_new", "dirtied": "cache_operation-page_dirtied"}
UNUSED = {"unused": "cache_result-page_unused"}
RATIO = "cache_ratio-page_hit"
REMOVED = {"reclaimed": "cache_eviction-page_reclaimed", "dropped": "cache_eviction-page_dropped"}
VMSTAT = {"workingset_refault_file": "vmpage_action-refault_file", "nr_dirtied": "vmpage_action-dirtied",
          "nr_written": "vmpage_action-written"}
CONF = without("process", "request", "delay") + """
  <Service "user">
    Process "kt_puser"
  </Service>
  <Service "bystander">
    Process "kt_pquiet"
  </Service>
"""


def start(test, hook_set):
    return test.collectd(f'{CONF}<Probe "pagecache">\n Enable true\n HookSet {hook_set}\n</Probe>\n', interval=INTERVAL,
                         collect=("pagecache",))


def hook_set_of(daemon):
    return int(daemon.wait_rows("self", "count-tier_pagecache")[-1][1])


def start_all(test):
    """The hook sets that this kernel has. The last is available everywhere."""
    daemons = {hook_set: start(test, hook_set) for hook_set in HOOK_SETS}
    for hook_set, daemon in list(daemons.items()):
        if hook_set_of(daemon) == hook_set:
            continue
        off = [line for line in daemon.log() if "probe pagecache is off: " in line]
        test.true(f"hook set {hook_set} is unavailable: {off}", any(word in line for line in off for word in MISSING))
        test.true(f"hook set {hook_set} may be missing", hook_set != HOOK_SETS[-1])
        test.stop(daemons.pop(hook_set))
    test.true("hook sets", daemons, list(daemons))
    return daemons


class File:
    """Of so many pages, on a disk."""

    def __init__(self, test, name, pages=PAGES):
        self.path, self.pages = os.path.join(test.disk, name), pages
        with open(self.path, "wb") as file:
            file.write(os.urandom(pages * PAGE))

    def forget(self):
        """Nothing of it is in memory any more."""
        fd = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)

    def resident(self):
        """How many of its pages are in memory."""
        LIBC.mmap.restype = ctypes.c_void_p
        LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
        LIBC.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
        LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        fd, found = os.open(self.path, os.O_RDONLY), ctypes.create_string_buffer(self.pages)
        at = LIBC.mmap(None, self.pages * PAGE, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
        os.close(fd)
        if LIBC.mincore(at, self.pages * PAGE, found):
            raise OSError("mincore")
        LIBC.munmap(at, self.pages * PAGE)
        return sum(byte & 1 for byte in found.raw[:self.pages])


def settled(daemons):
    now = time.time()
    for daemon in daemons.values():
        daemon.wait_rows("self", "duration-read_pagecache", 2, now)


def values(daemon, subject, names):
    rows = {name: daemon.rows(subject, metric) for name, metric in names.items()}
    return {name: found[-1][1] if found else 0 for name, found in rows.items()}


def grown(daemons, subject, names, act):
    """{hook set: {name: growth}}"""
    settled(daemons)
    before = {hook_set: values(daemon, subject, names) for hook_set, daemon in daemons.items()}
    act()
    settled(daemons)
    return {hook_set: {name: now - before[hook_set][name] for name, now in values(daemon, subject, names).items()}
            for hook_set, daemon in daemons.items()}


def use(load, how, size, file):
    """How many of its pages were in memory then: others on the machine may want that memory."""
    present = file.resident()
    load.say(f"{how} {size} {file.path}")
    load.result()
    return present


def check(test, daemons, load, how, size, file, want):
    """want: of the pages that were in memory, what is to grow."""
    present = []
    for hook_set, got in grown(daemons, "user", SERIES, lambda: present.append(use(load, how, size, file))).items():
        expected = {name: 0 for name in SERIES} | want(present[0])
        if hook_set not in WITH_HITS:
            expected["hits"] = 0
        test.equal(f"hook set {hook_set}: {how} {size} bytes at a time, {present[0]} pages in memory", got, expected)
    return present[0]


def read(present):
    return {"hits": present, "misses": PAGES - present}


def forget(test, file):
    file.forget()
    test.equal("pages in memory after the file was forgotten", file.resident(), 0)


def ratio(test, daemons, begin, want):
    for hook_set in set(daemons) & set(WITH_HITS):
        seen = [row[1] for row in daemons[hook_set].rows("user", RATIO) if row[0] > begin and row[1] == row[1]]
        test.close(f"hook set {hook_set}: mean of the ratio, %", sum(seen) / len(seen), want, slack=0.01)


def reads(test, daemons, load, file):
    for size in (PAGE, 16 * PAGE, 256 * PAGE):
        forget(test, file)
        check(test, daemons, load, "read", size, file, read)
        begin = time.time()
        present = check(test, daemons, load, "read", size, file, read)
        test.within("pages in memory, at the second time", present, PAGES / 4, PAGES)
        if present == PAGES:
            ratio(test, daemons, begin, 100)
    forget(test, file)
    check(test, daemons, load, "touch", PAGE, file, lambda present: {"mapped": PAGES - present})


def parts(test, daemons, load, file):
    """Half of the file is there."""
    forget(test, file)
    with open(file.path, "rb", buffering=0) as there:
        os.posix_fadvise(there.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for at in range(0, PAGES // 2):
            os.pread(there.fileno(), PAGE, at * PAGE)
    test.within("pages in memory", file.resident(), PAGES // 4, PAGES - 1)
    check(test, daemons, load, "read", PAGE, file, read)


def read_ahead(test, daemons, load, file):
    """What is brought in and read is used; what is brought in alone is not, which is known two readings later."""
    for how, size in (("read", PAGE), ("ahead", PAGES * PAGE)):
        def act(how=how, size=size):
            use(load, how, size, file)
            settled(daemons)

        forget(test, file)
        got = grown(daemons, "user", UNUSED, act)
        present = file.resident()
        test.true(f"{how}: pages in memory", present, present)
        for hook_set in set(daemons) & set(WITH_HITS):
            # Others may have taken the memory of some since.
            low, high = (present, PAGES) if how == "ahead" else (0, 0)
            test.within(f"hook set {hook_set}: {how}: pages that are not used", got[hook_set]["unused"], low, high)


def write(present):
    return {"dirtied": PAGES, "new": PAGES - present}


def writes(test, daemons, load, file):
    check(test, daemons, load, "write", 16 * PAGE, file, write)
    forget(test, file)
    check(test, daemons, load, "write", 16 * PAGE, file, write)


def removals(test, daemons, file):
    """Others' files may leave memory meanwhile."""
    present = []

    def act():
        present.append(file.resident())
        forget(test, file)

    for hook_set, got in grown(daemons, "pagecache", REMOVED, act).items():
        test.true("pages were in memory", present[0] > PAGES / 4, present[0])
        test.within(f"hook set {hook_set}: dropped", got["dropped"], present[0], float("inf"))


def reclaim(test, daemons):
    """In a memory cgroup with less memory than the file has, the page cache gives some back."""
    file, cgroup = File(test, "large", 2 * LIMIT * MIB // PAGE), Cgroup(test)
    forget(test, file)
    load = test.load("files", name="kt_puser")
    cgroup.write("cgroup.procs", load.pid)

    def act():
        for _ in range(2):
            use(load, "read", 16 * PAGE, file)

    for hook_set, got in grown(daemons, "pagecache", REMOVED, act).items():
        test.within(f"hook set {hook_set}: reclaimed", got["reclaimed"], 2 * file.pages - LIMIT * MIB // PAGE, float("inf"))
    load.end()


def vmstat():
    with open("/proc/vmstat", encoding="ascii") as file:
        return {name: int(number) for name, number in map(str.split, file) if name in VMSTAT}


def machine(test, daemons):
    """What the kernel has counted between two readings, each of which was between two looks."""
    for hook_set, daemon in daemons.items():
        snapshots = []
        for _ in range(2):
            before, begin = vmstat(), time.time()
            rows = {name: daemon.row_after("pagecache", metric, begin)[1] for name, metric in VMSTAT.items()}
            snapshots.append((before, rows, vmstat()))
            File(test, "more").forget()
        (low, first, high), (low_again, second, high_again) = snapshots
        for name in VMSTAT:
            test.within(f"hook set {hook_set}: {name}", second[name] - first[name], max(0, low_again[name] - high[name]),
                        high_again[name] - low[name])


def main():
    with Test(limit=150) as test:
        daemons = start_all(test)
        load = test.load("files", name="kt_puser")
        quiet = test.load("files", name="kt_pquiet")
        file = File(test, "file")
        reads(test, daemons, load, file)
        parts(test, daemons, load, file)
        read_ahead(test, daemons, load, file)
        writes(test, daemons, load, file)
        removals(test, daemons, file)
        machine(test, daemons)
        load.end()
        quiet.end()
        for hook_set, daemon in daemons.items():
            test.equal(f"hook set {hook_set}: refused", values(daemon, "self", {"": "total_events-refused_pagecache"}), {"": 0})
            test.equal(f"hook set {hook_set}: complaints", daemon.complaints(), [])
            if hook_set not in WITH_HITS:
                test.equal(f"hook set {hook_set}: hits are not shown", [metric for metric in daemon.metrics("user")
                                                               if "page_hit" in metric or "unused" in metric], [])
        reclaim(test, daemons)


if __name__ == "__main__":
    main()

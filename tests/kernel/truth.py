# SPDX-License-Identifier: MIT
"""Truth that does not come from the plugin: /proc, the logs of load programs, and the kernel's process connector."""

import bisect
import mmap
import os
import socket
import struct
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
CPUS = os.sysconf("SC_NPROCESSORS_ONLN")


# /proc

def proc(pid, name):
    with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
        return file.read()


def stat(pid):
    """The fields of /proc/PID/stat, numbered as in proc(5): [3] is the state."""
    head, _, tail = proc(pid, "stat").rpartition(")")
    return [None, head.split(" ", 1)[0], head.partition("(")[2], *tail.split()]


def start_ticks(pid):
    return int(stat(pid)[22])


def wait_state(pid, states):
    """Waits until all threads sleep (S) or have ended (Z): the kernel's counts are complete then."""
    while any(stat(f"{pid}/task/{tid}")[3] not in states for tid in os.listdir(f"/proc/{pid}/task")):
        time.sleep(0.01)


def io(pid):
    return {key: int(value) for key, value in (line.split(": ") for line in proc(pid, "io").splitlines())}


def memory(pid):
    """VM size and resident size in bytes."""
    size, resident = proc(pid, "statm").split()[:2]
    return int(size) * PAGE, int(resident) * PAGE


def schedstat(pid):
    """CPU time and run-queue wait in ns, summed over the living threads."""
    run = wait = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            fields = proc(f"{pid}/task/{tid}", "schedstat").split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        run += int(fields[0])
        wait += int(fields[1])
    return run, wait


# The error of utime + stime, each of which is rounded down to a tick.
CPU_STEP = 2 * 1000000 // os.sysconf("SC_CLK_TCK")


def cpu_us(pid):
    """CPU time in us of all threads, including those that have ended; too low by up to CPU_STEP."""
    return (int(stat(pid)[14]) + int(stat(pid)[15])) * CPU_STEP // 2


def children(pid):
    found = []
    for tid in os.listdir(f"/proc/{pid}/task"):
        found += map(int, proc(f"{pid}/task/{tid}", "children").split())
    return found


# Curves: a value that is known at some moments, interpolated at others

class Curve:
    """times and values increase; between two records the value is interpolated linearly."""

    def __init__(self, times, values):
        self.times, self.values = times, values

    def covers(self, moment):
        return self.times[0] <= moment <= self.times[-1]

    def at(self, moment):
        right = bisect.bisect_left(self.times, moment)
        if right == 0:
            return self.values[0]
        if right == len(self.times):
            return self.values[-1]
        t0, t1 = self.times[right - 1], self.times[right]
        v0, v1 = self.values[right - 1], self.values[right]
        return v0 + (v1 - v0) * (moment - t0) / (t1 - t0)

    def bounds(self, moment):
        """(lowest, highest) possible value at this moment, however late the observer was. A value was read before its
        time was; of the second record after the moment, the value was read after the moment, too."""
        right = bisect.bisect_right(self.times, moment)
        return self.values[max(0, right - 1)], self.values[min(right + 1, len(self.values) - 1)]

    def growth(self, begin, end):
        """(least, most) growth between two moments."""
        (begin_low, begin_high), (end_low, end_high) = self.bounds(begin), self.bounds(end)
        return max(0, end_low - begin_high), end_high - begin_low


class CpuLog:
    """The log of a load program's threads (struct cpu_record in load_spin.c)."""

    RECORD = struct.Struct("=QQ")

    def __init__(self, directory):
        self.threads = [self._read(os.path.join(directory, name)) for name in os.listdir(directory)]

    def _read(self, path):
        with open(path, "rb") as file:
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
                end = self._records(data) * self.RECORD.size
                records = list(self.RECORD.iter_unpack(data[:end]))
        return Curve([record[0] / 1e9 for record in records], [record[1] / 1e3 for record in records])

    def _records(self, data):
        """The records up to the first that is zero: they are written in order."""
        low, high = 0, len(data) // self.RECORD.size
        while low < high:
            middle = (low + high) // 2
            if self.RECORD.unpack_from(data, middle * self.RECORD.size)[0]:
                low = middle + 1
            else:
                high = middle
        return low

    def used_us(self, begin, end):
        """(least, most) CPU time that all threads used between two moments, in us."""
        return [sum(ends) for ends in zip(*(thread.growth(begin, end) for thread in self.threads))]

    def covers(self, moment):
        return all(thread.covers(moment) for thread in self.threads)


class Sampler:
    """Calls a function repeatedly in a thread and stores its results with the time of day."""

    def __init__(self, function, every=0.002):
        self.function, self.every = function, every
        self.times, self.values = [], []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ended.is_set():
            try:
                value = self.function()
            except (FileNotFoundError, ProcessLookupError):
                return
            now = time.time()
            self.values.append(value)
            self.times.append(now)  # appended last: a reader that sees it sees the value, too
            self.ended.wait(self.every)

    def stop(self):
        self.ended.set()
        self.thread.join()

    def curve(self, pick=lambda value: value):
        times = self.times[:]
        return Curve(times, [pick(value) for value in self.values[:len(times)]])


# The process connector: every fork, exec and exit of the machine

class Processes:
    """with Processes() as seen: ...

    A process is a fork whose child leads its thread group. Forks are stored as (time, pid, parent), execs and
    exits as (time, pid).
    """

    NETLINK_CONNECTOR, CN_IDX_PROC, LISTEN = 11, 1, 1
    FORK, EXEC, EXIT = 0x1, 0x2, 0x80000000
    HEAD = struct.Struct("=IHHII" "IIIIHH" "IIQ")  # nlmsghdr, cn_msg, proc_event

    def __init__(self):
        self.forks, self.execs, self.exits = [], [], []
        self.lost = False
        self.closing = False

    def __enter__(self):
        # The clock of the kernel's time stamps.
        self.offset = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, self.NETLINK_CONNECTOR)
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 256 << 20)  # SO_RCVBUFFORCE
        self.socket.bind((0, self.CN_IDX_PROC))
        self.socket.send(struct.pack("=IHHII" "IIIIHH" "I", 40, 3, 0, 0, os.getpid(),
                                     self.CN_IDX_PROC, 1, 0, 0, 4, 0, self.LISTEN))
        self.socket.settimeout(0.1)
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()
        return self

    def _listen(self):
        while True:
            try:
                self._keep(self.socket.recv(4096))
            except TimeoutError:
                if self.closing:
                    return
            except OSError:
                self.lost = True  # ENOBUFS

    def _keep(self, data):
        head = self.HEAD.unpack_from(data)
        what, stamp = head[11], head[13] / 1e9 + self.offset
        pid, group, *child = struct.unpack_from("=IIII", data, self.HEAD.size)
        if what == self.FORK and child[0] == child[1]:
            self.forks.append((stamp, child[0], group))
        elif what == self.EXEC:
            self.execs.append((stamp, group))
        elif what == self.EXIT and pid == group:
            self.exits.append((stamp, pid))

    def __exit__(self, *_):
        """Reads the events that the kernel has already sent."""
        self.closing = True
        self.thread.join()
        self.socket.close()


def between(events, begin, end):
    return [event for event in events if begin <= event[0] < end]

# SPDX-License-Identifier: MIT
"""What the tests of receivers share: samples of conf/, receivers that can hang and be gone, and comparisons.

The truth is what the csv plugin of the same collectd has written: values as the ebpf plugin dispatched them.
"""

import bisect
import math
import os
import shutil
import signal
import socket
import subprocess
import time

from e2e import TOP

import collectd
import lib

# Few series, so that each can be compared: what no service has is "other".
SERVICE = """
  <Service "web">
    Process "kt_web"
  </Service>"""


def need(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        raise lib.Skip(f"not installed: {' '.join(missing)}")


def sample(name, places):
    """The text of conf/NAME with other ports and paths: {text of the sample: text for here}.

    Each must be in the sample; what the sample says beyond that is what is tested.
    """
    with open(os.path.join(TOP, "conf", name), encoding="utf-8") as file:
        text = file.read()
    for there, here in places.items():
        if there not in text:
            raise ValueError(f"conf/{name} does not say {there}")
        text = text.replace(there, here)
    return text


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def free_ports(count, kind=socket.SOCK_STREAM):
    """As text. Bound together, so that they differ."""
    sockets = [socket.socket(socket.AF_INET, kind) for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [str(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", int(port))) == 0


def wait_until(what, condition, seconds=40):
    give_up = time.monotonic() + seconds * lib.SLOWNESS
    while not (result := condition()):
        if time.monotonic() > give_up:
            raise TimeoutError(f"{what}: not after {seconds} s")
        time.sleep(0.05)
    return result


class Receiver:
    """A server of the test's own."""

    def __init__(self, directory, argv, ready):
        """ready: function that tells whether it can be spoken to."""
        self.argv, self.ready = argv, ready
        self.log = os.path.join(directory, os.path.basename(argv[0]) + ".log")
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True, preexec_fn=lib.die_with_test)
        wait_until(f"{self.argv[0]} starts", self._started)

    def _started(self):
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise RuntimeError(f"{self.argv[0]} ended (status {self.process.returncode}): {log.read()[-2000:]}")
        return self.ready()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def hang(self, seconds):
        self.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.process.send_signal(signal.SIGCONT)


class Traffic:
    """The service "web", that answers requests as long as the test lasts."""

    def __init__(self, test):
        self.server = test.load("request", "server", "tcp", "", name="kt_web")
        self.client = test.load("request", "client", "tcp", self.server.hear(), 4, name="kt_ask")
        self.client.hear()
        requests, size, pieces, parts, part_size, work_us, call = 1000000, 200, 1, 1, 1000, 10000, 0
        self.client.say(f"{requests} {size} {pieces} {parts} {part_size} {work_us} {call}")


def wait_readings(daemon, count):
    return daemon.wait_rows("web", "total_requests", count, after=time.time())


class Absence:
    """A receiver that hangs for a while, and later is gone for a while.

    begin, end: of the time observed; hung, gone: spans in it; lost: those of which values may be missing.
    """

    def __init__(self, daemon, receiver, lag=0.0, pulls=False, seconds=0):
        """lag: for how long the receiver keeps values in memory alone; pulls: it asks for the newest values; seconds: of
        each absence, else some intervals."""
        interval = daemon.interval
        self.begin = wait_readings(daemon, 3)[0][0]
        hung = time.time()
        receiver.hang(seconds or 2 * interval)
        self.hung = (hung, time.time())
        wait_readings(daemon, 2)
        gone = time.time()
        receiver.kill()
        time.sleep(seconds or 3 * interval)
        receiver.start()
        # A packet that is not full waits for values of the next reading, which may be late, as all else may.
        self.gone = (gone - 2 * interval - lag - 0.5, time.time() + 2 * interval + 1)
        # collectd throws away what it has not yet sent when it ends.
        self.end = wait_readings(daemon, 8)[-3][0]
        self.pulls = pulls
        self.lost = [(hung - interval, self.hung[1]), self.gone] if pulls else [self.gone]

    def may_miss(self, stamp):
        return not self.begin <= stamp <= self.end or any(begin <= stamp <= end for begin, end in self.lost)

    def check_steady(self, test, daemon):
        """Readings neither stay away nor take longer than while the receiver was there."""
        rows = daemon.rows("self", "duration-read_process")
        present = [row[1] for row in rows if not any(begin <= row[0] <= end for begin, end in (self.hung, self.gone))]
        for what, (begin, end) in (("hangs", self.hung), ("is gone", self.gone)):
            absent = [row[1] for row in rows if begin <= row[0] <= end]
            due = (end - begin) / daemon.interval
            test.within(f"readings while the receiver {what}", len(absent), int(due) - 1, due + 2)
            test.within(f"least time of a reading while it {what}, s", min(absent), 0, max(present) + 0.001)


def dispatched(daemon):
    """{(subject, metric, data source): (kind, [(time, value), ...])}"""
    types, found = collectd.read_types(), {}
    for subject in daemon.subjects():
        for metric in daemon.metrics(subject):
            rows = daemon.rows(subject, metric)
            for i, (source, kind) in enumerate(types[metric.partition("-")[0]]):
                found[subject, metric, source] = (kind, [(row[0], row[1 + i]) for row in rows])
    return found


def same(a, b):
    """Counters are exact; the csv plugin has 6 decimals of gauges."""
    return a == b or math.isclose(a, b, rel_tol=2e-15, abs_tol=5.1e-7)


def near(stamps, stamp, tolerance):
    """Index of the nearest of sorted stamps, or None."""
    after = bisect.bisect_left(stamps, stamp)
    beside = [i for i in (after - 1, after) if 0 <= i < len(stamps)]
    best = min(beside, key=lambda i: abs(stamps[i] - stamp), default=None)
    return best if best is not None and abs(stamps[best] - stamp) <= tolerance else None


def compare(test, daemon, stored, absence, resolution):
    """Values that were stored are those that were dispatched, and none is missing but of the time without receiver.

    stored: {(subject, metric, data source): [(time, value), ...]}; resolution: of its times, s.
    """
    foreign, different, missing, count = [], [], [], 0
    for name, (kind, truth) in dispatched(daemon).items():
        truth = [(stamp, value) for stamp, value in truth if not math.isnan(value)]
        stamps = [stamp for stamp, _ in truth]
        arrived = set()
        for stamp, value in stored.get(name, []):
            i = near(stamps, stamp, resolution)
            if i is None:
                foreign.append((*name, stamp, value))
            elif not same(truth[i][1], value):
                different.append((*name, stamp, value, truth[i][1]))
            arrived.add(i)
        # The zero that a new counter begins with is followed by the next value at once.
        begins = absence.pulls and kind == "DERIVE" and [value for _, value in truth[:1]] == [0]
        missing += [(*name, stamp) for i, stamp in enumerate(stamps)
                    if i not in arrived and not (begins and i == 0) and not absence.may_miss(stamp)]
        count += len(arrived)
    test.within("values that arrived and were compared", count, 500, math.inf)
    test.equal("values that nobody dispatched", foreign[:3], [])
    test.equal("values that differ from what was dispatched", different[:3], [])
    test.equal("values that are missing", missing[:3], [])
    test.equal("series that nobody dispatched", sorted(set(stored) - set(dispatched(daemon)))[:3], [])
    check_growth(test, daemon, stored, absence)


def check_growth(test, daemon, stored, absence):
    """The time without receiver costs no request: counters arrive as they are."""
    truth = dict(dispatched(daemon)["web", "total_requests", "value"][1])
    rows = [(stamp, value) for stamp, value in sorted(stored["web", "total_requests", "value"])]
    test.true("requests arrived before and after the time without receiver",
              rows[0][0] < absence.gone[0] and rows[-1][0] > absence.gone[1])
    ends = [truth[min(truth, key=lambda known, stamp=stamp: abs(known - stamp))] for stamp in (rows[0][0], rows[-1][0])]
    test.equal("requests from first to last value stored", int(rows[-1][1] - rows[0][1]), ends[1] - ends[0])
    test.within("requests of that time", ends[1] - ends[0], 100, math.inf)

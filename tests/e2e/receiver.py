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


def sample(name, substitutions):
    """The text of conf/NAME with other ports and paths: {text of the sample: text for here}.

    Each must be in the sample; what the sample says beyond that is what is tested.
    """
    with open(os.path.join(TOP, "conf", name), encoding="utf-8") as file:
        text = file.read()
    for there, here in substitutions.items():
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


def listens(address):
    """address: a port of this machine, or the path of a socket. Those that a killed server has left behind do not count."""
    is_path = str(address).startswith("/")
    with socket.socket(socket.AF_UNIX if is_path else socket.AF_INET) as one:
        return one.connect_ex(address if is_path else ("127.0.0.1", int(address))) == 0


def wait_until(what, condition, seconds=60):
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


def wait_readings(daemon, count, after=0.0):
    """After this moment, else after now."""
    return daemon.wait_rows("web", "total_requests", count, after or time.time())


class Store:
    """Where a receiver keeps what comes from a daemon.

    get(): {(subject, metric, data source): [(time, value), ...]}
    """

    def __init__(self, daemon, get, resolution=0.001, pulls=False):
        """resolution: of its times, s; pulls: the receiver asks for the newest values."""
        self.daemon, self.get, self.resolution, self.pulls = daemon, get, resolution, pulls

    def latest(self):
        return max((row[0] for row in self.get().get(("web", "total_requests", "value"), [])), default=0)

    def wanted(self, moment, lost=(0, 0)):
        """{series: time of its last value until this moment, but for what may be lost}"""
        return {name: max((stamp for stamp, value in rows if stamp <= moment and not lost[0] < stamp <= lost[1]
                           and not math.isnan(value)), default=0)
                for name, (_, rows) in dispatched(self.daemon).items()}

    def late(self, wanted):
        """The series of which that has not arrived."""
        found = self.get()
        return [name for name, stamp in wanted.items()
                if max((row[0] for row in found.get(name, [])), default=0) < stamp - self.resolution]

    def wait(self, moment, lost):
        """Until all has arrived that was dispatched until then; it has been written when there is more."""
        wait_readings(self.daemon, 1, moment)
        wanted = self.wanted(moment, lost)
        wait_until("all of a reading arrives", lambda: not self.late(wanted))


class Absence:
    """A receiver that hangs for a while, and later is gone for a while.

    begin, end: of the time observed, all of which has arrived but for the span gone, of which values may be missing.
    hung: when the receiver hung, away: when it did not run.
    """

    def __init__(self, daemon, receiver, *stores, seconds=0):
        """seconds: of each absence, else some intervals."""
        self.daemon, self.stores, self.unheard = daemon, stores, (0, 0)
        seconds = seconds or max(2 * daemon.interval, 1)
        self.begin = wait_readings(daemon, 2)[0][0]
        hung = time.time()
        receiver.hang(seconds)
        self.hung = (hung, time.time())
        last = self._wait_stored()
        killed = time.time()
        receiver.kill()
        time.sleep(seconds)
        receiver.start()
        self.away = (killed, time.time())
        wait_until("values arrive again", lambda: all(store.latest() > self.away[1] for store in stores))
        self.unheard = (last, max(store.latest() for store in stores) + daemon.interval / 2)
        # collectd throws away what it has not yet sent when it ends.
        wait_readings(daemon, 1)
        self.end = self._wait_stored()

    def _wait_stored(self):
        """Until a reading after now has arrived; its time."""
        moment = wait_readings(self.daemon, 1)[0][0]
        for store in self.stores:
            store.wait(moment, self.unheard)
        return moment

    def may_miss(self, stamp):
        return not self.begin <= stamp <= self.end or self.unheard[0] < stamp <= self.unheard[1]

    def check_steady(self, test, daemon):
        """Readings neither stay away nor take longer than while the receiver was there."""
        rows = daemon.rows("self", "duration-read_process")
        present = [row[1] for row in rows if not any(begin <= row[0] <= end for begin, end in (self.hung, self.unheard))]
        for what, (begin, end) in (("hangs", self.hung), ("is gone", self.away)):
            absent = [row[1] for row in rows if begin <= row[0] <= end]
            due = (end - begin) / daemon.interval
            if test.true(f"there are readings while the receiver {what}", absent, len(absent)):
                test.figures.within(f"readings while the receiver {what}", len(absent), int(due) - 1, due + 2)
                test.figures.within(f"least time of a reading while it {what}, s", min(absent), 0, max(present) + 0.001)


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


def compare(test, daemon, store, absence):
    """Values that were stored are those that were dispatched, and none is missing but of the time without receiver. One
    that pulls may be late for a value."""
    stored = store.get()
    foreign, different, missing, count = [], [], [], 0
    for name, (kind, truth) in dispatched(daemon).items():
        truth = [(stamp, value) for stamp, value in truth if not math.isnan(value)]
        stamps = [stamp for stamp, _ in truth]
        arrived = set()
        for stamp, value in stored.get(name, []):
            i = near(stamps, stamp, store.resolution)
            if i is None:
                foreign.append((*name, stamp, value))
            elif not same(truth[i][1], value):
                different.append((*name, stamp, value, truth[i][1]))
            arrived.add(i)
        # The zero that a new counter begins with is followed by the next value at once.
        begins = store.pulls and kind == "DERIVE" and [value for _, value in truth[:1]] == [0]
        missing += [(*name, stamp) for i, stamp in enumerate(stamps)
                    if i not in arrived and not (begins and i == 0) and not absence.may_miss(stamp)]
        count += len(arrived)
    test.within("values that arrived and were compared", count, 500, math.inf)
    test.equal("values that nobody dispatched", foreign[:3], [])
    test.equal("values that differ from what was dispatched", different[:3], [])
    (test.figures if store.pulls else test).equal("values that are missing", missing[:3], [])
    test.equal("series of which nothing has arrived", store.late(store.wanted(absence.end, absence.unheard))[:3], [])
    test.equal("series that nobody dispatched", sorted(set(stored) - set(dispatched(daemon)))[:3], [])
    check_growth(test, daemon, stored, absence)


def check_growth(test, daemon, stored, absence):
    """The time without receiver costs no request: counters arrive as they are."""
    truth = dict(dispatched(daemon)["web", "total_requests", "value"][1])
    rows = [(stamp, value) for stamp, value in sorted(stored["web", "total_requests", "value"])]
    test.true("requests arrived before and after the time without receiver",
              rows[0][0] < absence.away[0] and rows[-1][0] > absence.away[1])
    ends = [truth[min(truth, key=lambda known, stamp=stamp: abs(known - stamp))] for stamp in (rows[0][0], rows[-1][0])]
    test.equal("requests from first to last value stored", int(rows[-1][1] - rows[0][1]), ends[1] - ends[0])
    test.within("requests of that time", ends[1] - ends[0], 100, math.inf)

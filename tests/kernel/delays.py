# SPDX-License-Identifier: MIT
"""A server that logs the parts of its requests' time (load_delay.c), its upstream and its clients."""

import os
import struct

import truth

# In the order of enum part in delay_work.h.
PARTS = ("socket", "cpu", "runqueue", "disk", "memory", "lock", "upstream", "client", "sleep", "async", "pipe", "other")
METRICS = PARTS + ("queue",)  # latency-in_*
LOG = struct.Struct(f"=3q{len(PARTS)}q{len(PARTS)}qq")
SEND_WAIT = "gauge-send_wait"
RESPONSE = "latency-response-average"


def services(*names):
    return "".join(f'<Service "{name}">\n Process "kt_{name}"\n</Service>\n' for name in names)


def probe(frequency, budget, *collect):
    words = " ".join(f'"{word}"' for word in ("default",) + collect)
    return f'<Probe "delay">\n Frequency {frequency}\n Budget {budget}\n Collect {words}\n</Probe>\n'


def has_disk(test):
    """Whether the file system supports direct I/O."""
    path = os.path.join(test.disk, "direct")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT))
    except OSError:
        test.left_out("reads of the disk", f"there is no O_DIRECT in {test.disk}")
        return False
    return True


class Log:
    """The server's log, interpolated at any moment."""

    def __init__(self, path):
        self.path = path
        self.sampler = truth.Sampler(self.read, every=0.01)

    def read(self):
        with open(self.path, "rb") as file:
            return LOG.unpack(file.read(LOG.size))

    def grown(self, begin, end):
        """{name: growth}: requests, response in seconds, and seconds of each part; with aside_ those of the holder;
        vain: of workers that waited for a CPU after an answer, or found their work taken."""
        names = ("requests", "response", "send") + PARTS + tuple("aside_" + part for part in PARTS) + ("vain",)
        found = {}
        for i, name in enumerate(names):
            curve = self.sampler.curve(lambda all_of_them, i=i: all_of_them[i])
            found[name] = (curve.at(end) - curve.at(begin)) / (1 if name == "requests" else 1e9)
        return found

    def stop(self):
        self.sampler.stop()


class Server:
    """name: of the service, whose command is kt_NAME"""

    def __init__(self, test, name, architecture, workers, cpu=-1, upstream=None):
        self.test, self.name = test, name
        path = os.path.join(test.dir, name)
        self.upstream = upstream or Upstream(test)
        self.load = test.load("delay", "server", architecture, workers, cpu, path, os.path.join(test.disk, f"{name}.file"),
                              self.upstream.port, name="kt_" + name)
        self.client = test.load("delay", "client", self.load.hear(), name="kt_client")
        self.log = Log(path)

    def order(self, connections, think_us, seconds, mixture):
        self.client.say(f"{connections} {think_us} {seconds} {mixture}")

    def result(self):
        return self.client.result()

    def stop(self):
        self.log.stop()
        self.client.kill()
        self.load.kill()


class Upstream:
    def __init__(self, test):
        self.load = test.load("delay", "upstream", name="kt_upstream")
        self.port = self.load.hear()


def readings(daemon, service, metric, begin, end):
    """(time, value) of the readings in this time. A value that repeats the one before belongs to the same window and is left
    out, unless it is 0, as of a part in any window."""
    rows = [row[:2] for row in daemon.rows(service, metric) if begin < row[0] < end]
    return rows[:1] + [row for before, row in zip(rows, rows[1:]) if row[1] != before[1] or not row[1]]


def mean(rows, log):
    """The mean per request, weighted by the requests between the readings. None if there are too few."""
    total = requests = 0
    for before, row in zip(rows, rows[1:]):
        count = log.grown(before[0], row[0])["requests"]
        total += row[1] * count
        requests += count
    return total / requests if requests else None


def wants(log, begin, end):
    """({part of METRICS: seconds per request}, response time in seconds) by the server's clocks, which do not tell a queue
    from what else is in no thread's hands."""
    grown = log.grown(begin, end)
    return {part: grown.get(part, 0) / grown["requests"] for part in METRICS}, grown["response"] / grown["requests"]

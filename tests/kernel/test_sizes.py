#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Histograms of sizes: averages are exact, and percentiles of round sizes, alone and mixed.

Truth: a process sends datagrams of known sizes; the length is an argument of send() of the C library.
"""

import math
import subprocess
import sys
import time

from lib import SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 0.5
CONF = without("poll", "request", "process") + """
  Percentile 50 99
  <Service "sender">
    Process "kt_sender"
  </Service>
  <Probe "functions">
    MaxOverhead 100
    <Function "sizes">
      Attach "uprobe:{0}:send"
      Argument 3 "histogram"
      Service "sender"
    </Function>
  </Probe>
"""
SENDER = """
import socket, sys
open("/proc/self/comm", "w").write("{0}")
near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
print(flush=True)
for line in sys.stdin:
    for size in map(int, line.split()):
        near.send(bytes(size))
        far.recv(size)
    print(flush=True)
"""
CASES = {
    "4096": (200 * [4096], {4096}),
    "12288": (200 * [12288], {12288}),
    "mixed": (60 * [4096] + 30 * [12288] + 10 * [1001], {4096, 12288, 992}),
}
CSV = 1e-6  # rounding of the csv plugin


def c_library():
    with open("/proc/self/maps", encoding="ascii") as maps:
        return next(line.split()[-1] for line in maps if "/libc.so" in line)


class Sender:
    def __init__(self, test):
        self.process = subprocess.Popen([sys.executable, "-c", SENDER.format(test.own("kt_sender"))], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.at_end(self.end)
        self.process.stdout.readline()

    def send(self, sizes):
        self.process.stdin.write(" ".join(map(str, sizes)) + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def values(daemon, metric, begin):
    """{time: value} of the readings since then, without those that have none."""
    return {row[0]: row[1] for row in daemon.rows("sender", metric) if row[0] > begin and not math.isnan(row[1])}


def read_after(daemon, moment):
    """Waits for a reading that began after this moment. Returns when its values were dispatched."""
    daemon.wait_rows("self", "duration-read_functions", 2, moment)
    return daemon.row_after("sender", "total_operations-function-sizes", moment)[0]


def sizes(test, daemon, sender, name):
    sent, wanted = CASES[name]
    begin = read_after(daemon, time.time())
    before = dict(daemon.rows("sender", "total_operations-function-sizes"))
    sender.send(sent)
    read_after(daemon, time.time())
    calls = sorted(daemon.rows("sender", "total_operations-function-sizes"))
    grown = {after[0]: after[1] - last[1] for last, after in zip(calls, calls[1:]) if after[0] > begin}
    averages = values(daemon, "gauge-argument-sizes-average", begin)
    test.equal(f"{name}: calls", calls[-1][1] - before[begin], len(sent))
    test.close(f"{name}: averages, by their calls", sum(average * grown[at] for at, average in averages.items()) / len(sent),
               sum(sent) / len(sent), rel=CSV)
    for percent in (50, 99):
        got = set(values(daemon, f"gauge-argument-sizes-percentile-{percent}", begin).values())
        test.true(f"{name}: percentile {percent}", got and got <= wanted, got)
    test.equal(f"{name}: the greatest", max(got), max(wanted))


def main():
    with Test(limit=60) as test:
        sender = Sender(test)
        daemon = test.collectd(CONF.format(c_library()), interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_functions", 2)
        sender.send([1])
        daemon.wait_rows("sender", "gauge-argument-sizes-average", 2)
        for name in CASES:
            sizes(test, daemon, sender, name)
        test.equal("complaints", [it for it in daemon.complaints() if "functions" in it], [])


if __name__ == "__main__":
    main()

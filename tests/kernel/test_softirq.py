#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Software interrupts of each kind on each CPU.

Truth: /proc/softirqs around the rows' time stamps; for the time, which CPUs the kernel says were in software
interrupts (/proc/stat), by its samples at each tick.
"""

import socket
import threading
import time

import truth
from lib import SLOWNESS, Test

CONF = """
  <Service "none">
    Process "kt_none"
  </Service>
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Enable false
  </Probe>
  <Probe "softirq">
    Enable true
  </Probe>
"""
SECONDS = 10
LATE = 0.25 * SLOWNESS
TICK_MS = 1000 / truth.TICK


def softirqs():
    """{(CPU, kind): count}"""
    with open("/proc/softirqs", encoding="ascii") as file:
        cpus, *lines = file.read().splitlines()
    found = {}
    for line in lines:
        kind, *counts = line.split()
        found |= {(cpu.lower(), kind[:-1]): int(count) for cpu, count in zip(cpus.split(), counts)}
    return found


def softirq_ms():
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[7]) * TICK_MS


def flood(end):
    """Datagrams to itself, which the receiver's software interrupt handles."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        while time.time() < end:
            for _ in range(100):
                sender.sendto(b"x" * 1000, receiver.getsockname())
            try:
                while True:
                    receiver.recv(2000)
            except BlockingIOError:
                pass


def sampled(daemon):
    """Rows of a series, as they were read while /proc was."""
    sampler = truth.Sampler(softirqs)
    before_ms = softirq_ms()
    end = time.time() + SECONDS * SLOWNESS
    threads = [threading.Thread(target=flood, args=(end,)) for _ in range(truth.CPUS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    daemon.wait_rows("self", "duration-read_softirq", 1, time.time())
    time.sleep(0.5)
    sampler.stop()
    return sampler, softirq_ms() - before_ms


def main():
    with Test(limit=60) as test:
        daemon = test.collectd(CONF, interval=1)
        daemon.wait_rows("self", "duration-read_softirq", 2)
        sampler, truth_ms = sampled(daemon)
        got_ms, compared = 0, 0
        for (cpu, kind), count in sorted(softirqs().items()):
            metric = f"irq-softirq-{kind}"
            if metric not in daemon.metrics(cpu):
                continue
            curve = sampler.curve(lambda value, key=(cpu, kind): value[key])
            rows = [row for row in daemon.rows(cpu, metric) if not daemon.at_turn(row[0]) and curve.covers(row[0])]
            if len(rows) < 2:
                continue
            first, last = rows[0], rows[-1]
            # A row is read some time after the moment that it is stamped with.
            grown = (curve.growth(first[0] + LATE, last[0])[0], curve.growth(first[0], last[0] + LATE)[1])
            test.between(f"{cpu}: {kind}, of {count}", last[1] - first[1], grown, rel=0.002, slack=2)
            compared += 1
            times = [row for row in daemon.rows(cpu, f"total_time_in_ms-softirq-{kind}") if first[0] <= row[0] <= last[0]]
            averages = dict((row[0], row[1]) for row in daemon.rows(cpu, f"duration-softirq-{kind}-average"))
            got_ms += times[-1][1] - times[0][1]
            mean = sum(averages[b[0]] * (b[1] - a[1]) for a, b in zip(rows, rows[1:]) if b[0] in averages and b[1] > a[1])
            # The csv plugin writes whole microseconds.
            test.close(f"{cpu}: {kind}, seconds by histogram and by sum", mean, (times[-1][1] - times[0][1]) / 1e3,
                       rel=0.05, slack=0.003 + 0.6e-6 * (last[1] - first[1]))
        test.within("CPUs and kinds that were compared", compared, 3 * truth.CPUS, 10 * truth.CPUS)
        # The kernel's own figure is of samples, about one in SQRT(n) off, and of its own view of whose time it is.
        test.close("ms in software interrupts", got_ms, truth_ms, rel=0.5, slack=200)
        test.equal("events that no program saw", daemon.rows("self", "total_events-missed_softirq")[-1][1], 0)
        test.equal("counters that fell", daemon.fallen(), [])
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Software interrupts of each kind, on each CPU and on all together.

Truth: for how many, /proc/softirqs, looked at all the while: a row was read after the moment that it is stamped with,
and before it was in the csv plugin's file. For the time, a timer of the kernel that works for a known time in software
interrupts of one kind; and which CPUs the kernel says were in any (/proc/stat), by its samples at each tick.
For the latency, raises and begins in the kernel's own trace.

Kernels of some sandboxes run no BPF program in the context of their own init's threads (tracing.py). What comes then is
allowed to be missing, as many as the trace of these has.
"""

import bisect
import collections
import os
import socket
import time

import lib
import truth
from lib import SLOWNESS, Test, without
from tracing import Trace, durations, init_threads, percentile

INTERVAL = 0.2 if SLOWNESS < 2 else 1
CONF = """
  <Service "none">
    Process "kt_none"
  </Service>
  <Probe "softirq">
    Enable true
  </Probe>
  <Probe "spin">
    Object "%s"
  </Probe>
""" % os.path.join(lib.BUILD, "tests", "bpf", "spin_softirq.bpf.o") + without("poll", "request")
BY_CPU = CONF.replace('Enable true', 'Enable true\n    Option "cpus"')
SPUN = BY_CPU.replace('Enable true', 'Enable true\n    Option "latency"')
READINGS = 15
TICK_MS = 1000 / truth.TICK
SPINS, SPIN_MS = 800, 0.5   # as the object has it
TIMER = "softirq-HRTIMER"
TALKS_S = 4
LATENCIES = 50  # of a kind on a CPU at a reading, that are compared
READ_S = 0.05   # from a reading's stamp until all is read, at most: what comes meanwhile may be in it or in the next


def softirqs():
    """{(CPU, kind): count}"""
    with open("/proc/softirqs", encoding="ascii") as file:
        cpus, *lines = file.read().splitlines()
    found = {}
    for line in lines:
        kind, *counts = line.split()
        found |= {(cpu.lower(), kind[:-1]): int(count) for cpu, count in zip(cpus.split(), counts)}
    return found


def cpu_ms():
    """In software interrupts, and with the hypervisor."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = file.readline().split()
    return int(fields[7]) * TICK_MS, int(fields[8]) * TICK_MS


def cpu_and_kind(event):
    """Of an event that has a kind."""
    return f"cpu{event.cpu}", event.text.partition("action=")[2].rstrip("]")


class Truth:
    """What the kernel said, and how many rows there were just before that."""

    def __init__(self, daemon, trace, cpu, metric):
        """trace: of init's threads, since before the daemon began."""
        self.daemon, self.trace, self.of = daemon, trace, (cpu, metric)
        self.sampler = truth.Sampler(self._snapshot)

    def _snapshot(self):
        rows = self.daemon.rows(*self.of)
        return len(rows), softirqs(), *cpu_ms()

    def stop(self):
        """Of each row that lies within: between which two looks it was read."""
        self.sampler.stop()
        self.trace.__exit__()
        self.unseen = collections.Counter(map(cpu_and_kind, self.trace.events))
        times, self.snapshots = self.sampler.times, self.sampler.values
        counts = [snapshot[0] for snapshot in self.snapshots]
        self.between = {}
        for number, row in enumerate(self.daemon.rows(*self.of)):
            before = bisect.bisect_right(times, row[0] - 0.0006) - 1
            after = bisect.bisect_right(counts, number)
            if before >= 0 and after < len(counts) and not self.daemon.at_cycle(row[0]):
                self.between[row[0]] = before, after

    def growth(self, begin, end, pick):
        """The least and the most that it grew by between the readings with these stamps."""
        (a, b), (c, d) = self.between[begin], self.between[end]
        a, b, c, d = (pick(self.snapshots[at]) for at in (a, b, c, d))
        return max(0, c - b), d - a


def known(rows, times):
    return [row for row in rows if row[0] in times]


def loaded(test, daemon, trace):
    """What the kernel said while there was load, of the timer too, and for some readings more."""
    daemon.wait_rows("self", "duration-read_softirq", 2)
    cpu = next(cpu for cpu, kind in softirqs() if f"irq-softirq-{kind}" in daemon.metrics(cpu))
    seen = Truth(daemon, trace, cpu, next(metric for metric in daemon.metrics(cpu) if metric.startswith("irq-")))
    floods = [test.load("flood", number) for number in os.sched_getaffinity(0)]
    daemon.wait_rows(*seen.of, READINGS, time.time())
    while daemon.wait_rows("spin", "derive-spins", 1)[-1][1] < SPINS:
        time.sleep(0.2)
    for flood in floods:
        flood.end()
    end = time.time()
    daemon.wait_rows("self", "duration-read_softirq", 2, end)
    daemon.wait_rows(*seen.of, 2, end)
    seen.stop()
    return seen


def counts(test, daemon, seen):
    """Each CPU and kind between any two readings. What is counted at its begin there is counted at its end here."""
    test.equal("events that the trace has lost", seen.trace.lost, 0)
    compared, wrong, readings = 0, [], sorted(seen.between)
    for cpu, kind in sorted(seen.snapshots[0][1]):
        rows = known(daemon.rows(cpu, f"irq-softirq-{kind}"), seen.between)
        if len(rows) < 2:
            continue
        compared += 1
        for a, b in [*zip(rows, rows[1:]), (rows[0], rows[-1])]:
            low, high = seen.growth(a[0], b[0], lambda snapshot, key=(cpu, kind): snapshot[1][key])
            if not low - seen.unseen[cpu, kind] - 1 <= b[1] - a[1] <= high + 1:
                wrong.append((cpu, kind, a, b, low, high))
        test.within(f"{cpu}: {kind}", b[1] - a[1], low - seen.unseen[cpu, kind] - 1, high + 1)
    test.equal("pairs of readings between which a count grew by more or less", wrong, [])
    test.within("readings that were compared", len(readings), READINGS // 3, 1000)
    test.within("CPUs and kinds that were compared", compared, 3 * truth.CPUS, 10 * truth.CPUS)
    apart = [seen.snapshots[after][1] for _, after in seen.between.values()], [seen.snapshots[before][1] for before, _ in seen.between.values()]
    print(f"note: in the context of init there were {sum(seen.unseen.values())} of any kind")
    print("note: between the looks around a reading there were "
          + " ".join(str(sum(a.values()) - sum(b.values())) for a, b in zip(*apart)) + " of any kind")


def histogram(test, daemon, cpu, kind):
    """Each histogram's average is that of as much time as was counted."""
    rows = daemon.rows(cpu, f"irq-softirq-{kind}")
    averages = dict(daemon.rows(cpu, f"duration-softirq-{kind}-average"))
    times = dict(daemon.rows(cpu, f"total_time_in_ms-softirq-{kind}"))
    grown = [(a[0], b[0], b[1] - a[1]) for a, b in zip(rows, rows[1:]) if b[1] > a[1] and b[0] in averages]
    # The csv plugin writes whole microseconds, and the counter is of whole milliseconds.
    test.close(f"{cpu}: {kind}, s by the histogram and by the sum", sum(averages[end] * count for _, end, count in grown),
               sum(times[end] - times[begin] for begin, end, _ in grown) / 1e3, rel=0.05,
               slack=sum(0.001 + 0.6e-6 * count for _, _, count in grown))


def timer(test, daemon, seen):
    """The work of the timer: all of it is in the time of its kind, and little else."""
    cpus = {cpu for cpu, kind in seen.snapshots[0][1] if f"irq-{TIMER}" in daemon.metrics(cpu)}
    spun_ms = daemon.rows("spin", "derive-spun")[-1][1] / 1e6
    test.within("ms that the timer's callback took", spun_ms, SPINS * SPIN_MS, float("inf"))
    test.figures.within("ms that the timer's callback took", spun_ms, SPINS * SPIN_MS, 10 * SPINS * SPIN_MS)
    # All of it began after the probe did, so that a first row has what there was until then.
    count = sum(daemon.rows(cpu, f"irq-{TIMER}")[-1][1] for cpu in cpus)
    least = SPINS - sum(seen.unseen[cpu, "HRTIMER"] for cpu in cpus)
    test.within("software interrupts of the timer, and others of its kind", count, least, float("inf"))
    test.figures.within("software interrupts of the timer, and others of its kind", count, least, SPINS + 0.1 * SPINS)
    got_ms = sum(daemon.rows(cpu, f"total_time_in_ms-{TIMER}")[-1][1] for cpu in cpus)
    test.within("ms in them, at least", got_ms, least * SPIN_MS - len(cpus), float("inf"))
    test.figures.within("ms in them", got_ms, least / SPINS * spun_ms - len(cpus), spun_ms * 1.03 + len(cpus))
    mean = spun_ms / SPINS / 1e3
    middle = [row[1] for cpu in cpus for row in daemon.rows(cpu, f"duration-{TIMER}-percentile-50")]
    test.figures.within("their median at a reading, at least", min(middle), SPIN_MS / 1e3 * 0.97, mean * 1.04)
    for cpu in cpus:
        histogram(test, daemon, cpu, "HRTIMER")


def all_time(test, daemon, seen):
    """The kernel's figure is of samples, about one in SQRT(n) off, of its own view of whose time it is, and without
    what the hypervisor takes meanwhile."""
    first, last = min(seen.between), max(seen.between)
    got_ms = 0
    for cpu, kind in seen.snapshots[0][1]:
        metric = f"total_time_in_ms-softirq-{kind}"
        rows = [row for row in daemon.rows(cpu, metric) if first <= row[0] <= last] if metric in daemon.metrics(cpu) else []
        got_ms += rows[-1][1] - rows[0][1] if rows else 0
    low, high = seen.growth(first, last, lambda snapshot: snapshot[2])
    stolen = seen.growth(first, last, lambda snapshot: snapshot[3])[1]
    test.true("ms in software interrupts", got_ms > 0, got_ms)
    test.figures.within("ms in software interrupts", got_ms, 0.5 * low - 200, 1.5 * high + 200 + stolen)


def talk():
    """Over loopback: each datagram is received in a software interrupt."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        for _ in range(LATENCIES):
            one.sendto(b"x", one.getsockname())
    time.sleep(0.2)


def snapshot(daemon):
    """({(CPU, kind): count} before, {kind: count by the plugin} after it, and after), all of one reading."""
    before, moment = softirqs(), time.time()
    daemon.wait_rows("self", "duration-read_softirq", 2, moment)
    counted = {metric.removeprefix("irq-softirq-"): next(row[1] for row in daemon.rows("softirq", metric) if row[0] > moment)
               for metric in daemon.metrics("softirq") if metric.startswith("irq-")}
    return before, counted, softirqs()


def all_cpus(test):
    """Without the option: each kind on all CPUs, and nothing by CPU."""
    daemon = test.collectd(CONF, interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_softirq", 2)
    with Trace(test, "irq/softirq_entry", pids=init_threads()) as of_init:
        talk()
        first = snapshot(daemon)
        talk()
        second = snapshot(daemon)
    test.equal("events that the trace has lost", of_init.lost, 0)
    unseen = collections.Counter(kind for _, kind in map(cpu_and_kind, of_init.events))
    for kind in first[1]:
        low, high = (sum(later[key] - count for key, count in earlier.items() if key[1] == kind)
                     for earlier, later in ((first[2], second[0]), (first[0], second[2])))
        test.within(f"all CPUs: {kind}", second[1][kind] - first[1][kind], low - unseen[kind] - truth.CPUS, high + truth.CPUS)
        histogram(test, daemon, "softirq", kind)
    test.true("all CPUs: kinds that were compared", {"NET_RX", "TIMER"} <= set(first[1]), first[1])
    test.equal("all CPUs: a CPU's", [subject for subject in daemon.subjects() if subject.startswith("cpu")], [])
    test.equal("complaints", daemon.complaints(), [])
    test.stop(daemon)


def latencies(test):
    """They are there of each kind that there is."""
    daemon = test.collectd(SPUN, interval=INTERVAL)
    talk()
    for number in os.sched_getaffinity(0):
        seen = daemon.wait_rows(f"cpu{number}", "latency-softirq-TIMER-average", 3)
        test.true(f"cpu{number}: latency", any(row[1] > 0 for row in seen), seen)
    test.equal("complaints", daemon.complaints(), [])
    test.stop(daemon)


def latencies_traced(test):
    """Each reading's figures against those of the same time in the kernel's trace, while the timer's work keeps others
    waiting."""
    daemon = test.collectd(SPUN, interval=1)
    # The first walks of the object are without work.
    daemon.wait_rows("spin", "derive-walks", 3)
    with Trace(test, "irq/softirq_raise", "irq/softirq_entry") as seen:
        give_up = time.monotonic() + TALKS_S
        while daemon.wait_rows("spin", "derive-spins", 1)[-1][1] < SPINS or time.monotonic() < give_up:
            talk()
    begin, end = seen.events[0].time, seen.events[-1].time
    daemon.wait_rows("self", "duration-read_softirq", 2, end)
    test.equal("events that the trace has lost", seen.lost, 0)
    waited = durations(seen.events, "softirq_raise", "softirq_entry", cpu_and_kind)
    means = []
    for cpu, kind in sorted({key for _, key, _ in waited}):
        average = daemon.rows(cpu, f"latency-softirq-{kind}-average")
        tail = dict(daemon.rows(cpu, f"latency-softirq-{kind}-percentile-95"))
        for before, row in zip(average, average[1:]):
            wanted = [s for at, key, s in waited if key == (cpu, kind) and before[0] < at < row[0]]
            if not begin < before[0] < row[0] < end or len(wanted) < LATENCIES or row[0] - before[0] > 1.5:
                continue
            means.append(row[1])
            what = f"{cpu}: {kind}: latency"
            late = READ_S * daemon.patience
            least, most = (sum(s for at, key, s in waited if key == (cpu, kind) and first < at < last) / len(wanted)
                           for first, last in ((before[0] + late, row[0]), (before[0], row[0] + late)))
            test.figures.within(f"{what}, mean", row[1], 0.8 * least - 1.5e-6, 1.2 * most + 1.5e-6)
            low, high = percentile(wanted, 93), percentile(wanted, 97)
            test.figures.within(f"{what}, percentile 95", tail[row[0]], 0.9 * low - 1.5e-6, 1.1 * high + 1.5e-6)
    test.figures.within("readings of latencies that were compared", len(means), 2, float("inf"))
    test.figures.within("the longest mean latency, s", max(means), 0.04 * SPIN_MS / 1e3, 10 * SPIN_MS / 1e3)
    test.equal("complaints", daemon.complaints(), [])


def main():
    with Test(limit=120) as test:
        trace = Trace(test, "irq/softirq_entry", pids=init_threads())
        trace.__enter__()
        daemon = test.collectd(BY_CPU, interval=INTERVAL)
        seen = loaded(test, daemon, trace)
        counts(test, daemon, seen)
        timer(test, daemon, seen)
        all_time(test, daemon, seen)
        for number in os.sched_getaffinity(0):
            histogram(test, daemon, f"cpu{number}", "NET_RX")
        test.equal("events that no program saw", daemon.rows("self", "total_events-missed_softirq")[-1][1], 0)
        test.equal("counters that fell", daemon.fallen(), [])
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        all_cpus(test)
        if test.measures:
            latencies_traced(test)
        else:
            latencies(test)


if __name__ == "__main__":
    main()

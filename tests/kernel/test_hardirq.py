#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hardware interrupts of each line, and vectors, on each CPU and on all together.

Truth: for the counts, /proc/interrupts before and after readings; for the times, the kernel's trace of the same handlers.
Some kernels run no BPF program in the context of init's threads (tracing.py): as many interrupts may be missing as their
trace has.
"""

import collections
import os
import time

import truth
from lib import SLOWNESS, Test, without
from tracing import Trace, durations, init_threads, percentile

INTERVAL = 0.2 if SLOWNESS < 2 else 1
CONF = """
  <Service "none">
    Process "kt_none"
  </Service>
""" + without("poll", "request") + """
  <Probe "hardirq">
    Enable true
    %s
  </Probe>
"""
SECONDS = 1
TRACED_S = 4
DURATIONS = 200
# By their names in /proc/interrupts.
VECTORS = {"LOC": ("local_timer",), "RES": ("reschedule",), "CAL": ("call_function", "call_function_single"),
           "IWI": ("irq_work",)}
VECTORS_BY_CPU = 'Option "vectors"\n    Option "cpus"'


def cleaned(name):
    return name.replace("-", "_")


def interrupts():
    """{(CPU, name): count} of lines, by the name of their handler, and of vectors, by their name in the file."""
    with open("/proc/interrupts", encoding="ascii") as file:
        cpus, *lines = file.read().splitlines()
    cpus, found = cpus.lower().split(), {}
    for line in lines:
        number, *words = line.split()
        counts = [int(word) for word in words[:len(cpus)] if word.isdigit()]
        is_line = number[:-1].isdigit()
        if len(counts) < len(cpus) or "," in line or not (is_line or number[:-1] in VECTORS):
            continue    # a sum of all CPUs, a shared line, or one without a hook
        name = words[-1] if is_line else number[:-1]
        for cpu, count in zip(cpus, counts):
            found[cpu, cleaned(name)] = found.get((cpu, cleaned(name)), 0) + count
    return found


def work(path, seconds=SECONDS):
    """Causes interrupts of a disk and between CPUs."""
    end = time.monotonic() + seconds
    with open(path, "wb", buffering=0) as file:
        while time.monotonic() < end:
            file.seek(0)
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            time.sleep(0.001)


def snapshot(daemon):
    """(interrupts before, {(CPU, line): count by the plugin}, interrupts after) for one reading."""
    before = interrupts()
    moment = time.time()
    daemon.wait_rows("self", "duration-read_hardirq", 2, moment)
    after = interrupts()
    counted = {}
    for subject in daemon.subjects():
        for metric in daemon.metrics(subject):
            if metric.startswith("irq-hardirq-"):
                rows = [row for row in daemon.rows(subject, metric) if row[0] > moment]
                if rows:
                    counted[subject, metric.removeprefix("irq-hardirq-")] = rows[0][1]
    return before, counted, after


def trace_of_init(test):
    """A trace of lines, and of those vectors that this kernel traces, in init's threads."""
    trace = Trace(test, "irq/irq_handler_entry", pids=init_threads())
    vectors = [f"irq_vectors/{vector}_entry" for names in VECTORS.values() for vector in names]
    trace.events_wanted += tuple(name for name in vectors if os.path.isdir(os.path.join(trace.root, "events", name)))
    return trace


def unseen(trace):
    """{(CPU, name): count} in the context of init's threads."""
    names = {f"{vector}_entry": name for name, vectors in VECTORS.items() for vector in vectors}
    return collections.Counter((f"cpu{event.cpu}", names.get(event.name) or cleaned(event.fields()["name"]))
                               for event in trace.events)


def folded(counted):
    """The sums over all CPUs, which the plugin has without the option."""
    found = collections.Counter()
    for (_, name), count in counted.items():
        found["hardirq", name] += count
    return found


def counts(test, first, second, missing, slack=1):
    """first, second: snapshots. The plugin's growth lies between the least and the greatest growth of the file."""
    compared = 0
    for cpu, name in sorted(first[0]):
        lines = VECTORS.get(name, (name,))
        low = second[0][cpu, name] - first[2][cpu, name]
        high = second[2][cpu, name] - first[0][cpu, name]
        if high < 20 or (name in VECTORS and not any((cpu, line) in second[1] for line in lines)):
            continue
        got = sum(second[1].get((cpu, line), 0) - first[1].get((cpu, line), 0) for line in lines)
        compared += 1
        test.within(f"{cpu}: {name}", got, low - missing[cpu, name] - slack, high + slack)
    return compared


def compare(test, daemon, by_cpu):
    """Compares the growth between two readings while there is work."""
    daemon.wait_rows("self", "duration-read_hardirq", 2)
    work(os.path.join(test.disk, "file"))
    with trace_of_init(test) as of_init:
        first = snapshot(daemon)
        work(os.path.join(test.disk, "file"))
        second = snapshot(daemon)
    test.equal("events that the trace has lost", of_init.lost, 0)
    snapshots, missing, slack = (first, second), unseen(of_init), 1
    if not by_cpu:
        snapshots = [(folded(before), counted, folded(after)) for before, counted, after in snapshots]
        missing, slack = folded(missing), truth.CPUS
        test.equal("without the option: whose series", {subject for subject, _ in second[1]}, {"hardirq"})
    test.within(f"lines and vectors that were compared, {'by CPU' if by_cpu else 'of all CPUs'}",
                counts(test, *snapshots, missing, slack), 2, 1000)


def all_ms(daemon):
    """{line: ms on all CPUs}"""
    found = {}
    for subject in daemon.subjects():
        for metric in daemon.metrics(subject):
            if metric.startswith("total_time_in_ms-hardirq-"):
                line = metric.removeprefix("total_time_in_ms-hardirq-")
                found[line] = found.get(line, 0) + daemon.rows(subject, metric)[-1][1]
    return found


def times(test, daemon):
    """Compares the line with most interrupts with the trace: the median of its handler, and the sum of its time."""
    daemon.wait_rows("self", "duration-read_hardirq", 2, time.time())
    spent = all_ms(daemon)
    with Trace(test, "irq/irq_handler_entry", "irq/irq_handler_exit") as seen:
        work(os.path.join(test.disk, "file"), TRACED_S)
    end = time.time()
    daemon.wait_rows("self", "duration-read_hardirq", 2, end)
    names = {event.fields()["irq"]: event.fields()["name"] for event in seen.events if event.name == "irq_handler_entry"}
    taken = durations(seen.events, "irq_handler_entry", "irq_handler_exit",
                      lambda event: (event.cpu, event.fields()["irq"]))
    test.equal("events that the trace has lost", seen.lost, 0)
    by_line = {}
    for at, (_, number), seconds in taken:
        by_line.setdefault(cleaned(names[number]), []).append((at, seconds))
    line, found = max(by_line.items(), key=lambda item: len(item[1]))
    rows, compared = daemon.rows("hardirq", f"duration-hardirq-{line}-percentile-50"), 0
    for before, row in zip(rows, rows[1:]):
        wanted = [seconds for at, seconds in found if before[0] < at < row[0]]
        if len(wanted) < DURATIONS or before[0] < found[0][0] or row[0] > found[-1][0]:
            continue
        compared += 1
        test.figures.close(f"{line}: median, s", row[1], percentile(wanted, 50), rel=0.25, slack=1e-6)
    test.figures.within("medians that were compared", compared, 1, float("inf"))
    # The readings include interrupts just before and after the trace.
    sum_ms = sum(1e3 * seconds for _, key, seconds in taken if cleaned(names[key[1]]) == line)
    test.figures.within(f"{line}: ms in its handler", all_ms(daemon)[line] - spent.get(line, 0),
                        0.7 * sum_ms - truth.CPUS, 1.5 * sum_ms + truth.CPUS)


def local_timer_ms(daemon, cpu):
    """Waits for a whole millisecond in the local timer; returns the time, 0 if there is none."""
    give_up = time.monotonic() + 30 * SLOWNESS
    while True:
        got = daemon.row_after(f"cpu{cpu}", "total_time_in_ms-hardirq-local_timer", time.time())[1]
        if got or time.monotonic() > give_up:
            return got


def main():
    with Test(limit=90) as test:
        # A median needs many interrupts in a reading.
        daemon = test.collectd(CONF % VECTORS_BY_CPU, interval=1 if test.measures else INTERVAL)
        compare(test, daemon, True)
        if test.measures:
            times(test, daemon)
        for cpu in range(truth.CPUS):
            got = local_timer_ms(daemon, cpu)
            test.true(f"cpu{cpu}: ms in the local timer", got > 0, got)
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        daemon = test.collectd(CONF % 'Option "vectors"', interval=INTERVAL)
        compare(test, daemon, False)
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        plain = test.collectd(CONF % "", interval=INTERVAL)
        plain.wait_rows("self", "duration-read_hardirq", 3)
        test.equal("without the option: vectors", [metric for subject in plain.subjects() for metric in plain.metrics(subject)
                                                  if metric.endswith("local_timer")], [])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""The document on the probes and the programs of libbpf-tools that say the same, in Markdown."""

import subprocess
import time

import report
from markdown import added, table, verdict
from statistic import ROUNDS_SURE

TIMES = 0.5
COUNT_PART = 0.01
SHARE_PART = 0.02
SHOWN_PART = 0.005  # a power of two with less of all in both has no line
UNITS = {1e-9: "ns", 1e-6: "us", 1e-3: "ms", 1: "s"}

HEAD = """\
# What the probes cost, and the programs of libbpf-tools

`make -s bench-toolbox` measures it, as root, and prints this page; `BENCH_FLAGS="--rounds=4 softirqs"` for fewer rounds
(10) and one of them. One thread makes the same event over and over on one CPU. In turns, in an order that changes with
each round, that is measured with

- nothing;
- this plugin in collectd with all probes off, so that its engine alone is there, which knows whose a process is;
- this plugin in collectd with the one probe on (no reading falls into a measurement);
- the program of libbpf-tools.

CPU time per event is that of the thread, with what interrupts it, and that of the process that watches, which in some
of these programs gets a record of each event. Of 3 runs that one counts which was disturbed least. "Added" is the
difference to nothing in the same round; figures are medians of the rounds, in brackets what holds the true median with
95 % confidence, of fewer than six rounds all from least to most. The kernel's run statistics are a second
measurement: the time in BPF programs, without the way into them and back, and with what measuring takes.

For counts and distributions both watch at once, so that short times have the programs of the other in them. The
plugin's are as a receiver gets them, from its series.

A hook costs what it costs, whoever uses it: some 90 ns at a tracepoint, 140 for the pair of a system call (`make bench`).
`softirqs`, `hardirqs` and `syscount` have the same hooks as this plugin and do little in them, so that most of what
either adds is the hooks, and half of it is out of reach. What is measured while both watch has the time of the other's
programs in it: of the shortest times, as those of `hardirqs`, shares move by a power of two. Why those of `runqlat`
below 8 us differ is in collectd-ebpf(5), the probe `sched`: it does not count the way of an idle CPU to its thread.
"""

IN_INSTRUCTIONS = """\
## Under another kernel

In an emulator whose clock goes by the instructions that it executes: figures are these, and no time.
"""


class Unit:
    """What figures are in; per_ns: how many of them are a nanosecond of the clock."""

    def __init__(self, name, per_ns=1):
        self.name = name
        self.per_ns = per_ns

    def figure(self, value):
        return f"{value.median * self.per_ns:,.0f}"

    def added(self, value):
        return added(value, self.per_ns)


def tool_name(pair):
    return pair.command[0]


def label(pair):
    return f"`{' '.join(pair.command)}`; {pair.probe}; {pair.event}"


def ratio(ours, theirs):
    return f"1 : {theirs / ours:.1f}" if ours > 0 and theirs > 0 else "-"


def costs(all_rounds, unit):
    def cells(rounds):
        ours, theirs = rounds.added("probe"), rounds.added("tool")
        return [unit.figure(rounds.without()), unit.added(rounds.added("engine")), unit.added(ours), unit.added(theirs),
                unit.figure(rounds.own("tool")), ratio(ours.median, theirs.median)]

    table(f"CPU time per event, {unit.name}; with nothing, and what is added",
          ["nothing", "engine alone", "with the probe", "libbpf-tools", "of that in its process", "this : libbpf-tools"],
          [(label(rounds.pair), cells(rounds)) for rounds in all_rounds])


def run_times(all_rounds, unit):
    def cells(rounds):
        ours, theirs = rounds.runs["probe"], rounds.runs["tool"]
        return [f"{runs:.1f}" if i == 0 else f"{runs * unit.per_ns:,.0f}" for name in ("engine", "probe", "tool")
                for i, runs in enumerate(rounds.runs[name])] + [ratio(ours[1], theirs[1])]

    table(f"Runs of BPF programs per event, and {unit.name} in them, by the kernel's run statistics",
          ["runs, engine", unit.name, "runs, with the probe", unit.name, "runs, libbpf-tools", unit.name,
           "this : libbpf-tools"],
          [(label(rounds.pair), cells(rounds)) for rounds in all_rounds])


def counts(all_results):
    table("How many there were, and how many each has counted",
          ["made", "this plugin", "libbpf-tools"],
          [(f"`{tool_name(results.pair)}`: {what}", [f"{true:,.0f}", f"{ours:,.0f}", f"{theirs:,.0f}"])
           for results in all_results for what, true, ours, theirs in results.counts])


def notes(all_results):
    for pair in [results.pair for results in all_results if results.pair.note]:
        print(f"\n`{tool_name(pair)}` {pair.note}")


def bound(seconds):
    unit = max((unit for unit in UNITS if unit <= seconds), default=min(UNITS))
    return f"{seconds / unit:,.4g} {UNITS[unit]}"


def shares(all_results):
    for results in all_results:
        for what, differences in results.shares:
            table(f"`{tool_name(results.pair)}`: {what}, percent of all by powers of two", ["this plugin", "libbpf-tools"],
                  [(f"{bound(lower)} to {bound(upper)}", [f"{100 * ours:.1f}", f"{100 * theirs:.1f}"])
                   for lower, upper, ours, theirs in differences if max(ours, theirs) >= SHOWN_PART])


def check_cost(rounds, unit):
    """Sure by the differences within each round."""
    excess = rounds.excess("probe", TIMES, "tool")
    enough = excess.count >= ROUNDS_SURE
    return verdict(f"{tool_name(rounds.pair)}: at most {TIMES:g} times what it adds: "
                   f"{unit.figure(rounds.added('probe'))} to {unit.figure(rounds.added('tool'))} {unit.name}, difference "
                   f"to {TIMES:g} times {unit.added(excess)}", enough and excess.high <= 0, enough and excess.low > 0)


def check_results(results):
    good = True
    for what, true, ours, theirs in results.counts:
        off = abs(ours - true)
        good &= verdict(f"{tool_name(results.pair)}, {what}: {true:,.0f} counted within {COUNT_PART:.0%}: {ours:,.0f}",
                        off <= COUNT_PART * true, off > COUNT_PART * true)
    for what, differences in results.shares if not results.pair.note else ():
        most = max((abs(ours - theirs) for _, _, ours, theirs in differences), default=1)
        good &= verdict(f"{tool_name(results.pair)}, {what}: the same share of each power of two within "
                        f"{100 * SHARE_PART:.0f} points: {100 * most:.1f}", most <= SHARE_PART, most > SHARE_PART)
    return good


def wanted(all_rounds, all_results, unit):
    print("\nWanted; undecided is where the true median may lie on either side:\n")
    good = True
    for rounds in all_rounds:
        good &= check_cost(rounds, unit)
    for results in all_results:
        good &= check_results(results)
    return good


def absent(reasons):
    if reasons:
        print("\nNot here:\n")
    for pair, reason in reasons:
        print(f"- {label(pair)}: {reason}")


def version():
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libbpf-tools"], capture_output=True, text=True,
                          check=False)
    return said.stdout or "of an unknown version"


def section(site, all_rounds, all_results, reasons, unit):
    report.machine(site)
    print(f"{time.strftime('%Y-%m-%d')}, libbpf-tools {version()}")
    if all_rounds:
        costs(all_rounds, unit)
        run_times(all_rounds, unit)
        counts(all_results)
        notes(all_results)
        shares(all_results)
    absent(reasons)
    return wanted(all_rounds, all_results, unit)

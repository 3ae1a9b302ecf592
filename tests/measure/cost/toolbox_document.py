# SPDX-License-Identifier: MIT
"""The page on the probes and the tools that say the same, in Markdown."""

import subprocess
import time

import report
from markdown import table

SHOWN_PART = 0.005  # a power of two with less of all in both has no line
UNITS = {1e-9: "ns", 1e-6: "us", 1e-3: "ms", 1: "s"}

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Costs of the probes and of the programs of libbpf-tools

`make measure PARTS=toolbox` writes this page, as root. One thread repeats the same event on one CPU. In turns, in an order that
changes with each round, that is measured with

- nothing;
- the plugin in collectd with all probes off: only its engine runs, which knows the service of each process;
- the plugin in collectd with this one probe on (no reading falls into a measurement);
- the program of libbpf-tools or, if that loads on no kernel here, a script for bpftrace that answers the same question.

Probes without such a program are measured with nothing and with the probe.

**CPU time** per event is that of the thread, with interrupts, and that of the watching process. In some of these programs it
gets a record of each event. The least disturbed of a few runs counts. "Added" is the difference to nothing in the same round.

**Time in the programs** comes from the kernel's run statistics, without the time of an empty program, which is their own
work. It leaves out the way into the program and back, and other work disturbs it least. The probe's time leaves out the
engine's. It decides the verdict: how much less than the tool the probe does. In an emulator CPU time is exact, and decides as
well. If both have the same hooks and do little in them, such as `softirqs`, `hardirqs` and `syscount`, most of what they add
is the hooks.

For **counts and distributions** both watch at once, so that short times contain the programs of the other. Shares of the
shortest, such as those of `hardirqs`, move by a power of two. The plugin's values are those that a receiver gets. `runqlat`
has other short times because the probe `sched` does not count how long an idle CPU takes to start its thread.
"""

EMULATED = """
## Under another kernel

The hooks that this kernel lacks, in an emulator whose clock advances with the instructions that it executes: the figures are
instructions, not time.
"""


def label(pair):
    command = f"`{' '.join(word.rpartition('/')[2] for word in pair.command)}`; " if pair.command else ""
    options = "".join(f", {line.strip()}" for line in pair.lines.splitlines() if "Option" in line or "Parameter" in line)
    return f"{command}{pair.probe}{options}; {pair.what or pair.event}"


def ratio(ours, theirs):
    return f"1 : {theirs / ours:.1f}" if ours > 0 and theirs > 0 else "-"


def with_tool(all_rounds):
    return [rounds for rounds in all_rounds if rounds.pair.command]


def costs(all_rounds, unit):
    def cells(rounds):
        ours, theirs = rounds.added("probe"), rounds.added("tool")
        return [unit.figure(rounds.without()), unit.added(rounds.added("engine")), unit.added(ours), unit.added(theirs),
                unit.figure(rounds.own("tool")), ratio(ours.median, theirs.median)]

    if with_tool(all_rounds):
        table(f"CPU time per event, {unit.name}: with nothing, and added to that",
              ["nothing", "engine alone", "with the probe", "tool", "of that in its process", "this : tool"],
              [(label(rounds.pair), cells(rounds)) for rounds in with_tool(all_rounds)])


def run_times(all_rounds, unit):
    def cells(rounds):
        ours, theirs = rounds.in_programs("probe"), rounds.in_programs("tool")
        return [f"{rounds.runs('probe').median:.1f}", unit.sure(ours), f"{rounds.runs('tool').median:.1f}",
                unit.sure(theirs), ratio(ours.median, theirs.median)]

    if with_tool(all_rounds):
        table(f"Runs of BPF programs per event, and {unit.name} in them",
              ["runs, the probe", unit.name, "runs, tool", unit.name, "this : tool"],
              [(label(rounds.pair), cells(rounds)) for rounds in with_tool(all_rounds)])


def alone(all_rounds, unit):
    def cells(rounds):
        return [unit.figure(rounds.without()), unit.added(rounds.added("probe")), f"{rounds.runs('probe').median:.1f}",
                unit.sure(rounds.in_programs("probe"))]

    found = [rounds for rounds in all_rounds if not rounds.pair.command]
    if found:
        table(f"Probes without such a tool: CPU time per event, and time in the programs, {unit.name}",
              ["nothing", "with the probe, added", "runs", "in the programs"],
              [(label(rounds.pair), cells(rounds)) for rounds in found])


def counts(all_results):
    cells = [(f"`{results.pair.name}`: {what}", [f"{true:,.0f}", f"{ours:,.0f}", f"{theirs:,.0f}"])
             for results in all_results for what, true, ours, theirs in results.counts]
    if cells:
        table("Events made, and events that each has counted", ["made", "this plugin", "tool"], cells)


def notes(all_results):
    for pair in [results.pair for results in all_results if results.pair.note]:
        print(f"\n`{pair.name}` {pair.note}")


def bound(seconds):
    unit = max((unit for unit in UNITS if unit <= seconds), default=min(UNITS))
    return f"{seconds / unit:,.4g} {UNITS[unit]}"


def shares(all_results):
    for results in all_results:
        for what, differences in results.shares:
            table(f"`{results.pair.name}`: {what}, percent of all by powers of two", ["this plugin", "tool"],
                  [(f"{bound(lower)} to {bound(upper)}", [f"{100 * ours:.1f}", f"{100 * theirs:.1f}"])
                   for lower, upper, ours, theirs in differences if max(ours, theirs) >= SHOWN_PART])


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
    costs(all_rounds, unit)
    run_times(all_rounds, unit)
    alone(all_rounds, unit)
    counts(all_results)
    notes(all_results)
    shares(all_results)
    absent(reasons)

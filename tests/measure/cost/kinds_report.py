# SPDX-License-Identifier: MIT
"""The rows and the page of what hooks cost by their kind."""

import markdown
import report
import rows
from kinds import KINDS
from statistic import Estimate

TIMES_OFF = 2
RARE = ("fentry", "fexit", "kprobe", "kretprobe")  # some kernels do not permit them
NS_PER_INSTRUCTION = 4  # of the emulator's clock

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Costs of a hook, by its kind

`make measure PARTS=hooks` writes this page, as root. One thread repeats the same event, in turns without a program and with
an empty one on a hook of this event. The difference is the way into a program and back. An event that a probe counts costs
this, and the probe's program in addition. Figures are nanoseconds of CPU time per event. They are medians; the brackets
contain the true median with 95 % confidence. Uprobes are on functions of the program that makes the events.

The kernel's run statistics leave out the hook, so the plugin cannot measure it. To estimate the cost of a probe, it uses the
values of `plugin/probe/hook_cost.c`: the column "assumed". "A run" is the time of an empty program in the run statistics,
most of which is their own work.
"""
EMULATED = """
The next table is of Linux {kernel}, in an emulator whose clock advances with the instructions that it executes. It has the
kinds that some kernels lack, and some of those above for comparison. "Times a tracepoint" can be compared with the same of
`hook_cost.c`, the column "assumed". Instructions leave out other work of the processor, which is most of a trap. So the
figures of uprobes are too low here.
"""


def within(value, low, high):
    """The verdict."""
    lower, upper = value.at_least(low), value.at_most(high)
    if rows.judge(False) in (lower, upper):
        return rows.judge(False)
    return upper if lower == rows.judge(True) else lower


def _add_compared(what, value, reckoned, unit):
    low, high = reckoned / TIMES_OFF, reckoned * TIMES_OFF
    rows.add(what, report.estimate(value, unit=unit),
             f"{report.number(low)} to {report.number(high)}{unit} (hook_cost.c within {TIMES_OFF} times)", within(value, low, high))


def _add_native(found):
    for kind, one in found.items():
        what = f"{KINDS[kind].removeprefix('... ')}: added"
        if one.runs_here():
            _add_compared(what, one.added, one.reckoned_ns, " ns")
        else:
            rows.add(what, report.estimate(one.added, unit=" ns"))
    runs = [one for one in found.values() if one.runs_here()]
    _add_compared("run of an empty program, by the run statistics", Estimate(one.run_ns for one in runs), runs[0].statistics_ns, " ns")


def _add_emulated(kernel, found):
    for kind, one in found.items():
        what, tracepoint = f"Linux {kernel}, instructions: {KINDS[kind]}, times a tracepoint", found["tracepoint"]
        if kind in RARE:
            _add_compared(what, one.times(tracepoint), one.times_reckoned(tracepoint), "")
        elif one is not tracepoint:
            rows.add(what, report.estimate(one.times(tracepoint)))


def _native(site, native):
    print()
    report.machine(site)
    table = []
    for kind, one in native.found.items():
        cells = [report.number(one.reckoned_ns), report.number(one.runs), report.number(one.run_ns)] if one.runs_here() else [""] * 3
        table.append((KINDS[kind], [report.number(one.without.median), report.estimate(one.added), *cells]))
    table += [(KINDS[kind], [f"not here: {reason}"] + [""] * 4) for kind, reason in native.unavailable.items()]
    markdown.table(f"{native.count} turns:", ("without", "added", "assumed", "runs", "a run"), table)


def _emulated(kernel, found):
    print(EMULATED.format(kernel=kernel), end="")
    tracepoint, table = found.found["tracepoint"], []
    for kind, one in found.found.items():
        table.append((KINDS[kind], [report.estimate(one.added, 1 / NS_PER_INSTRUCTION), report.estimate(one.times(tracepoint)),
                                    report.number(one.times_reckoned(tracepoint))]))
    table += [(KINDS[kind], [f"not there: {reason}", "", ""]) for kind, reason in found.unavailable.items()]
    markdown.table(f"{found.count} turns:", ("instructions added", "times a tracepoint", "assumed"), table)


def write(site, native, kernel, emulated, reason):
    """emulated: None if it could not be measured, for this reason."""
    with rows.page("cost-hooks.md"):
        print(HEAD, end="")
        _native(site, native)
        if emulated:
            _emulated(kernel, emulated)
        else:
            print(f"\nNot measured under Linux {kernel} in an emulator: {reason}.")
    _add_native(native.found)
    if emulated:
        _add_emulated(kernel, emulated.found)
    else:
        print(f"no rows of Linux {kernel}: {reason}")

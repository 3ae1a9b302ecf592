# SPDX-License-Identifier: MIT
"""The rows of a case: whether its cause is named, and how near the figures are to those of others."""

import math

import rows
from report import figures, ms, named
from split import BUDGET, FREQUENCY

NEAR = 0.1          # of what a figure is compared with
NAMED = 0.9         # of all faults
FREQUENCY_DEFAULT = 10  # SAMPLE of bpf/delay.bpf.c
CLOCKS = 0.5e-3     # s: the measured spans of a service and of the kernel differ by as much


def subject(case, service):
    return case.title if len(case.causes) == 1 else f"{case.title}: {service}"


def add_near(what, name, got, wanted, slack=0.0):
    """Beside a figure of another source, in seconds. name: (of what was got, of what is wanted)"""
    within = f"within {100 * NEAR:.0f} %" + (f" plus {1e3 * slack:g} ms" if slack else "")
    rows.add(what, f"{name[0]}: {ms(got)}", f"{name[1]}: {ms(wanted)}, {within}",
             rows.judge(abs(got - wanted) <= NEAR * wanted + slack))


def add_cause(run, service):
    true, ours = figures(run, service)
    rows.add(f"{subject(run.case, service)}: largest part",
             named(*run.largest(service)) + (f" ({ours}, in truth {true})" if true else ""), run.case.causes[service],
             rows.judge(run.names_cause(service)))


def add_truths(run):
    for truth, (service, parts) in run.case.truths.items():
        add_near(f"{subject(run.case, service)}: the part against the truth", (" + ".join(parts), truth),
                 run.total(service, "during", parts), run.phases["during"]["truth"][truth], CLOCKS)


def add(run):
    for service in run.case.causes:
        add_cause(run, service)
    run.case.add_rows(run)
    if not run.case.detailed:
        return
    add_truths(run)
    for service in run.case.causes:
        add_near(f"{subject(run.case, service)}: sum of the parts against the response time",
                 ("sum", "`latency-response-average`"), run.total(service, "during"), run.response(service, "during"))


def add_total(runs):
    """A case of several services is named if each of them is."""
    is_named = {run.case.title: all(map(run.names_cause, run.case.causes)) for run in runs}
    wanted = math.ceil(NAMED * len(runs))
    rows.add("configuration", f"`Frequency {FREQUENCY}` and `Budget {BUDGET}` for the probe `delay`, "
                              f"{FREQUENCY / FREQUENCY_DEFAULT:g} times the default samples")
    rows.add("faults named", rows.counted(is_named), f"at least {wanted}", rows.judge(sum(is_named.values()) >= wanted))
    misleading = [subject(run.case, service) for run in runs for service in run.case.causes if run.misleads(service)]
    rows.add("misleading", f"{len(misleading)}" + (f": {'; '.join(misleading)}" if misleading else ""), "0",
             rows.judge(not misleading))
    complaints = [f"{run.case.title}: {complaint}" for run in runs for complaint in run.result["complaints"]]
    rows.add("complaints of collectd", "; ".join(complaints) or "none", "none", rows.judge(not complaints))

# SPDX-License-Identifier: MIT
"""The rows of a case: whether its cause is named, and how near the figures are to those of others."""

import rows
from report import ms, named

NEAR = 0.1          # of what a figure is compared with
CLOCKS = 0.5e-3     # s: a service and the kernel do not begin and end at the same moment


def subject(case, service):
    return case.title if len(case.causes) == 1 else f"{case.title}: {service}"


def add_near(what, name, got, wanted, slack=0.0):
    """Beside a figure of another source, in seconds. name: (of what was got, of what is wanted)"""
    within = f"within {NEAR:.0%}".replace("%", " %") + (f" and {ms(slack)}" if slack else "")
    rows.add(what, f"{name[0]}: {ms(got)}", f"{name[1]}: {ms(wanted)}, {within}",
             rows.judge(abs(got - wanted) <= NEAR * wanted + slack))


def add_cause(run, service):
    cause = run.case.causes[service]
    part, share = run.largest(service)
    rows.add(f"{subject(run.case, service)}: largest part", named(part, share), cause,
             rows.judge(part == cause))


def add_truths(run):
    for truth, (service, parts) in run.case.truths.items():
        add_near(f"{subject(run.case, service)}: the part against the truth", (" + ".join(parts), truth),
                 run.total(service, "during", parts), run.phases["during"]["truth"][truth], CLOCKS)


def add(run):
    for service in run.case.causes:
        add_cause(run, service)
    add_truths(run)
    for service in run.case.causes:
        add_near(f"{subject(run.case, service)}: sum of the parts against the response time",
                 ("sum", "`latency-response-average`"), run.total(service, "during"), run.response(service, "during"))
    rows.add(f"{run.case.title}: complaints of collectd", "; ".join(run.result["complaints"]) or "none", "none",
             rows.judge(not run.result["complaints"]))

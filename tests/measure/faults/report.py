# SPDX-License-Identifier: MIT
"""Results as a document in Markdown."""

import math
import textwrap

import picture
import rows
from split import BUDGET, FREQUENCY, INTERVAL, TITLE, parts

UNKNOWN = "-"

HEAD = f"""\
<!-- SPDX-License-Identifier: MIT -->

# Why it is slow

`make measure PARTS=why` writes this page. It runs real services, breaks each of them in a known way, and shows what
ebpf-graph's picture "{TITLE}" says of it. The tables also have the client's own times, and the truth where the
service or the kernel knows it. [measured.md](../measured.md) has what is wanted of these figures.
"""
METHOD = f"""\
The service has one CPU; its clients and collectd have the others. Each case runs for {{before:.0f}} seconds without the fault
and {{during:.0f}} with it; those without a section below run half as long. collectd reads every {INTERVAL} seconds. The
probe `delay` samples {FREQUENCY} times per second (Frequency {FREQUENCY}, Budget {BUDGET}), because the time is short. By
default it samples less often: a figure that takes seconds here then takes minutes. The plugin's figures are those of its
whole windows within the client's time. "{UNKNOWN}" means that there was none.
"""
LINE = 120
LEAST = 1e-6    # s: a part of less time is not worth a line
PICTURES = "pictures/why/"


def digits(value):
    """Three, or at most as many decimals."""
    return f"{value:.{3 if value < 1 else 2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def ms(value):
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return UNKNOWN
    if 0 < value < LEAST:
        return f"< {digits(1e3 * LEAST)} ms"
    return "0 ms" if value == 0 else f"{digits(value)} s" if value >= 1 else f"{digits(1e3 * value)} ms"


def filled(text):
    return textwrap.fill(text, LINE, break_long_words=False, break_on_hyphens=False) + "\n"


def table(heads, body):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body]) + "\n"


def named(part, share):
    """The largest part."""
    return f"{part}, {100 * share:.0f} %" if part else UNKNOWN


def percents(shares):
    return ", ".join(f"{part} {share:.0f} %" for part, share in shares.items())


def figures(run, service):
    """(the truth, ours) of a service's parts with the fault; or of the shares in slow requests' time"""
    if service in run.case.slow:
        true, slow = run.case.slow[service], run.slow(service)
        return percents(true), percents({part: slow.get(part, math.nan) for part in true}) + " of slow requests"
    truth = run.phases["during"]["truth"]
    known = [(truth[what], run.total(service, "during", parts))
             for what, (of, parts) in run.case.truths.items() if of == service]
    return tuple(", ".join(map(ms, values)) for values in zip(*known)) or ("", "")


def verdict(run, service):
    if run.names_cause(service):
        return "yes"
    return f"{'misleading' if run.misleads(service) else 'no'}: {run.case.causes[service]}"


def summary(runs):
    lines = []
    for run in runs:
        client = " → ".join(ms(run.phases[phase]["latency"]["average"]) for phase in ("before", "during"))
        title = f"[{run.case.title}](#{anchor(run)})" if run.case.detailed else run.case.title
        for service in run.case.causes:
            lines.append([title, service, client, *(value or UNKNOWN for value in figures(run, service)),
                          named(*run.largest(service)), verdict(run, service)])
            client = ""
    return table(["case", "service", "client's response time, before → with the fault", "truth", "plugin",
                  "largest part with the fault", "names the cause"], lines)


def anchor(run):
    return "".join(letter for letter in run.case.title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def split_table(run, service):
    """Of one service: what the client says, only where it asks this one."""
    phases = ("before", "during")
    lines = []
    if service == next(iter(run.case.causes)):
        lines += [[f"client: {which}", *(ms(run.phases[phase]["latency"][key]) for phase in phases)]
                 for which, key in (("average", "average"), ("median", "p50"), ("99th percentile", "p99"))]
        lines += [[f"truth: {what}", *(ms(run.phases[phase]["truth"][what]) for phase in phases)]
                 for what in run.phases["during"]["truth"]]
    lines.append(["`latency-response-average`", *(ms(run.response(service, phase)) for phase in phases)])
    splits = [run.split(service, phase) for phase in phases]
    for part, series in parts().items():
        values = [split[part] for split in splits]
        if any(value >= LEAST for value in values):
            bold = "**" if part == run.largest(service)[0] else ""
            lines.append([f"{bold}`{series.file}`{bold}", *(f"{bold}{ms(value)}{bold}" for value in values)])
    lines.append(["sum of the parts", *(ms(run.total(service, phase)) for phase in phases)])
    return table([service, "before", "with the fault"], lines)


def section(run):
    case = run.case
    lines = [f"## {case.title}\n", filled(case.healthy), filled(f"**The fault.** {case.broken}"),
             f"```sh\n{case.command}\n```\n"]
    for service in case.causes:
        name = f"{case.name}{'' if len(case.causes) == 1 else '-' + service}.png"
        if picture.draw(run, service, rows.page_path(PICTURES + name)):
            lines.append(f"![{TITLE}: {service}](../{PICTURES}{name})\n")
        lines.append(split_table(run, service))
    truth_note = case.truth_note if run.phases["during"]["truth"] else ""
    lines += [filled(note) for note in (truth_note, case.note) if note]
    return "\n".join(lines)


def write(runs):
    """docs/measured/why-slow.md and its pictures."""
    sections = [section(run) for run in runs if run.case.detailed]
    kernels = ", ".join(sorted({run.kernel for run in runs}))
    longest = max(runs, key=lambda run: run.seconds("during"))
    method = METHOD.format(**{phase: longest.seconds(phase) for phase in ("before", "during")})
    with rows.page("why-slow.md"):
        print("\n".join([HEAD, filled(method), f"Linux {kernels}:\n", summary(runs), *sections]), end="")

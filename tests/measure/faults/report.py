# SPDX-License-Identifier: MIT
"""Results as a document in Markdown."""

import math
import os
import textwrap

import picture
from split import TITLE, parts

HEAD = f"""\
<!-- SPDX-License-Identifier: MIT -->

# Why it is slow

Written by `make why`, which runs real services, breaks each of them in a known way, and shows what ebpf-graph's
picture "{TITLE}" says of it. Beside it stand what the client measured with its own clock, and the
truth where the service or the kernel keeps it. `make why WHY_FLAGS="nginx-disk"` measures this case again.

Services have one CPU, their clients and collectd the others. The sampler runs 100 times a second here (Frequency 100,
Budget 5 of the probe `delay`), because the time of some tens of seconds has to do; by default it looks 10 times a
second, and what a figure here takes seconds for takes a minute. Readings are 2 s apart. What the
probe says is of its whole windows of 200 samples within the time of which the client speaks; -: there was none.
"""
UNKNOWN = "-"
LINE = 120


def ms(value):
    if isinstance(value, str):
        return value
    return UNKNOWN if value is None or math.isnan(value) else f"{1e3 * value:,.3g} ms"


def filled(text):
    return textwrap.fill(text, LINE, break_long_words=False, break_on_hyphens=False) + "\n"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def share(value):
    return "" if math.isnan(value) else f", {value:.0%}"


def summary(runs):
    rows = []
    for run in runs:
        client = " → ".join(ms(run.phases[phase]["latency"]["average"]) for phase in ("before", "during"))
        for service, cause in run.case.causes.items():
            part, part_share = run.largest(service)
            rows.append([f"[{run.case.title}](#{anchor(run)})", service, client, f"{part or UNKNOWN}{share(part_share)}",
                         "yes" if part == cause else f"no: {cause}"])
            client = ""
    return table(["case", "service", "client's response time", "largest part with the fault", "names the cause"], rows)


def anchor(run):
    return "".join(letter for letter in run.case.title.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def split_table(run, service):
    """Of one service: what the client says, only where it asks this one."""
    phases = ("before", "during")
    rows = []
    if service == next(iter(run.case.causes)):
        rows += [[f"client: {which}", *(ms(run.phases[phase]["latency"][key]) for phase in phases)]
                 for which, key in (("average", "average"), ("median", "p50"), ("99th percentile", "p99"))]
        rows += [[f"truth: {what}", *(ms(run.phases[phase]["truth"][what]) for phase in phases)]
                 for what in run.phases["during"]["truth"]]
    rows.append(["`latency-response-average`", *(ms(run.response(service, phase)) for phase in phases)])
    splits = [run.split(service, phase) for phase in phases]
    for part, series in parts().items():
        values = [split[part] for split in splits]
        if any(value > 0 for value in values):
            bold = "**" if part == run.largest(service)[0] else ""
            rows.append([f"{bold}`{series.file}`{bold}", *(f"{bold}{ms(value)}{bold}" for value in values)])
    sums = [sum(value for value in split.values() if not math.isnan(value)) or math.nan for split in splits]
    rows.append(["sum of the parts", *map(ms, sums)])
    return table([service, "before", "with the fault"], rows)


def section(run, directory):
    case = run.case
    lines = [f"## {case.title}\n", filled(case.healthy), filled(f"**The fault.** {case.broken}"),
             f"```sh\n{case.command}\n```\n"]
    for service in case.causes:
        name = f"{case.name}{'' if len(case.causes) == 1 else '-' + service}.png"
        if picture.draw(run, service, os.path.join(directory, name)):
            lines.append(f"![{TITLE}: {service}](pictures/why/{name})\n")
        lines.append(split_table(run, service))
    truth_note = case.truth_note if run.phases["during"]["truth"] else ""
    lines += [filled(note) for note in (truth_note, case.note) if note]
    return "\n".join(lines)


def write(runs, directory):
    """DIRECTORY/why-slow.md and the pictures below it. Returns its path."""
    pictures = os.path.join(directory, "pictures", "why")
    os.makedirs(pictures, exist_ok=True)
    path = os.path.join(directory, "why-slow.md")
    with open(path, "w", encoding="utf-8") as file:
        kernels = ", ".join(sorted({run.kernel for run in runs}))
        file.write("\n".join([HEAD, f"Linux {kernels}:\n", summary(runs), *(section(run, pictures) for run in runs)]))
    return path


def check(run):
    """Whether collectd had nothing to complain of, and every cause is named."""
    good = not run.result["complaints"]
    for complaint in run.result["complaints"]:
        print(f"MISSED  {run.case.name}: collectd: {complaint}")
    for service, cause in run.case.causes.items():
        part, part_share = run.largest(service)
        good &= part == cause
        print(f"{'ok    ' if part == cause else 'MISSED'}  {run.case.name}: {service}: {cause}; "
              f"largest: {part}{share(part_share)}")
    return good

# SPDX-License-Identifier: MIT
"""docs/measured/kernels.md: what each kernel of the list `kernels` offers to the probes, and which tests it leaves out."""

import os
import re

import hooks

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Kernels

`make check-long` writes this page. Its parts vm1 to vm5 run the kernel tests in virtual machines, under the kernels of Debian 12
and 13; [long-tests.md](long-tests.md) has the results. In addition, `tests/run` runs the tests of `tests/vm/short` there and
under the newest kernel of Debian's backports.

## Hook sets

The plugin tries the hook sets of a probe in the order of their numbers and uses the first that loads. Each cell names that hook
set and its kinds of hooks. After "also" are the other hook sets that the kernel offers, with the Option that they need. Hook
set 0 means that the probe is off.

"""
CELL = re.compile(r"(\d+) of \d+: [^;]*(?:; also (.*))?")


def read_list():
    """{kernel: ({test: reason why it is left out}, [test that alone is run, ...])}; an empty list: all are."""
    kernels = {}
    with open(os.path.join(HERE, "kernels"), encoding="utf-8") as lines:
        for line in lines:
            words = line.split(None, 2)
            if words and not line.startswith("#"):
                left_out, only = kernels.setdefault(words[0], ({}, []))
                if words[1:2] == ["only"]:
                    only += words[2].split()
                elif len(words) == 3:
                    left_out[words[1]] = words[2].strip()
    return kernels


def cell(probe, hook_set, offered):
    """The hook set of a probe, its hooks, and the other hook sets that there are."""
    hook_sets = hooks.hooks(probe)
    kinds = (", ".join(sorted(hook_sets[hook_set].kinds)) or "files, no hooks") if hook_set else "off"
    others = [f"{number} ({hook_sets[number].option()})" if hook_sets[number].option() else str(number)
              for number in offered if number not in (0, hook_set)]
    return f"{hook_set} of {len(hook_sets)}: {kinds}" + (f"; also {', '.join(others)}" if others else "")


def table(heads, rows):
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, ["---"] * len(heads), *rows))


def reasons(kernels):
    """A row for each test that is left out and each reason, with its kernels."""
    found = {}
    for series, (left_out, only) in kernels.items():
        for test, reason in () if only else left_out.items():
            found.setdefault((test, reason), []).append(series)
    return [(test, ", ".join(series), reason) for (test, reason), series in found.items()]


def page(offers, kernels):
    """offers: {kernel: {probe: (hook set in use, [hook set that is offered, ...])}}; kernels: as read_list() has them"""
    probes = sorted({probe for of_kernel in offers.values() for probe in of_kernel})
    return HEAD + table(("probe", *offers), [(probe, *(cell(probe, *of_kernel[probe]) if probe in of_kernel else "-"
                                                       for of_kernel in offers.values())) for probe in probes]) + \
        "\n## Tests that are not run\n\n" + table(("test", "kernel", "reason: the test"), reasons(kernels))


def read_offers(text):
    """The offers that this page was written from."""
    rows = [line.strip("| ").split(" | ") for line in text.partition("\n## Tests")[0].splitlines() if line.startswith("| ")]
    offers = {series: {} for series in rows[0][1:]}
    for probe, *cells in rows[2:]:
        for of_kernel, found in zip(offers.values(), map(CELL.fullmatch, cells)):
            if found:
                numbers = [int(number) for number in (found[1], *re.findall(r"(\d+)(?: \(\w+\))?(?:, |$)", found[2] or ""))]
                of_kernel[probe] = numbers[0], sorted(numbers)
    return offers

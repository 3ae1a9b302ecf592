#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/measured.md has a table of each part of `make measure`, each row with what was measured, its commit, date and machine;
documents name no part that there is not, and find all their figures there; verdicts are what they should be. Pages that programs
write are as these would write them."""

import os
import re
import sys

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TOP, room) for room in ("contrib/describe", "tests/vm", "tests/measure")]

import figures as said  # noqa: E402
import matrix  # noqa: E402
import measured  # noqa: E402
import rows  # noqa: E402
from measured_parts import PARTS  # noqa: E402
from statistic import Estimate  # noqa: E402

WHERE = re.compile(r"[0-9a-f]{7,40}, 20\d\d-\d\d-\d\d, \S.*")
VERDICT = re.compile(r"-|met|missed|not decided, needs [\d,]+ rounds")
NAMED = re.compile(r"make measure PARTS=(?:\"([\w ]+)\"|(\w+))")
MACHINE = "Linux 6.1, 2 CPUs (a | b)"
failed = 0


def complain(text):
    global failed
    failed += 1
    print(f"FAIL {text}")


def equal(what, got, wanted):
    if got != wanted:
        complain(f"{what}: got {got!r} want {wanted!r}")


def documents():
    found = [os.path.relpath(os.path.join(folder, name), TOP)
             for folder, _, names in os.walk(os.path.join(TOP, "docs")) for name in names]
    return ["README.md", *sorted(name for name in found if name.endswith((".md", ".pod")))]


def check_page():
    tables = measured.tables(os.path.join(TOP, "docs", "measured.md"))
    equal("parts of docs/measured.md", list(tables), list(PARTS))
    for part, text in tables.items():
        for line in text.splitlines()[2:]:
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if len(cells) != len(measured.COLUMNS) or not all(cells) or not VERDICT.fullmatch(cells[3]) or not WHERE.fullmatch(cells[4]):
                complain(f"docs/measured.md, {part}: {line}")


def text_of(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as file:
        return file.read()


def check_written(name, text, wanted):
    """The first line in which a page is not what its program writes."""
    pairs = zip([*text.splitlines(), None], [*wanted.splitlines(), None])
    for line, its_line in pairs:
        if line != its_line:
            complain(f"{name}: its program writes {its_line!r}, it has {line!r}")
            return


def check_pages():
    """What is not measured of a page is what its program writes."""
    kernels = text_of("docs/measured/kernels.md")
    check_written("kernels.md", kernels, matrix.page(matrix.read_offers(kernels), matrix.read_list()))


def check_names():
    for part in PARTS.values():
        if not os.access(os.path.join(TOP, "tests", "measure", part.command[0]), os.X_OK):
            complain(f"no program tests/measure/{part.command[0]}")
    for name in documents():
        with open(os.path.join(TOP, name), encoding="utf-8") as file:
            named = {word for words in NAMED.findall(file.read()) for word in " ".join(words).split()}
        if named - {*PARTS}:
            complain(f"{name}: no part of make measure: {' '.join(named - {*PARTS})}")


def check_said():
    page = said.Page(os.path.join(TOP, "docs", "measured.md"))
    for write in (said.readme, said.accuracy, said.costs, said.receivers):
        for line in write(page).splitlines():
            if "not measured" in line.lower():
                complain(f"{write.__name__}: {line}")


def check_table():
    """What is written is read back."""
    row = {"what": "a reading", "wanted": "", "got": "+3 ns [1, 5]", "verdict": ""}
    table = measured.table({"rows": [row], "commit": "0123456", "date": "2026-01-02", "machine": MACHINE})
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"measured.{os.getpid()}.md")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(measured.page(PARTS, {part: table if part == "requests" else "" for part in PARTS}))
        equal("tables", measured.tables(path), {"requests": table})
        equal("rows", measured.rows(path), {("requests", "a reading"): "+3 ns [1, 5]"})
    finally:
        os.unlink(path)


def check_verdicts():
    estimate = Estimate([8, 9, 10, 10, 11, 12])  # from least to most: of six values no narrower interval is sure
    equal("interval", (estimate.low, estimate.median, estimate.high), (8, 10, 12))
    equal("at most, above", estimate.at_most(12), rows.judge(True))
    equal("at most, below", estimate.at_most(7), rows.judge(False))
    equal("at least, below", estimate.at_least(8), rows.judge(True))
    equal("at least, above", estimate.at_least(13), rows.judge(False))
    equal("half as far as the interval reaches", estimate.at_most(11), "not decided, needs 24 rounds")
    equal("on the other side", estimate.at_least(9), "not decided, needs 24 rounds")
    equal("the limit itself", estimate.at_most(10), "not decided, needs 1,000,000 rounds")
    equal("few values", Estimate([1, 1, 1, 1, 1]).at_most(2), "not decided, needs 6 rounds")


check_page()
check_pages()
check_names()
check_said()
check_table()
check_verdicts()
sys.exit(1 if failed else 0)

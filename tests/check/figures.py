#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/measured.md has a table of each part of `make measure`, each row with what was measured, its commit, date and machine;
documents name no part that there is not, and find all their figures there; verdicts are what they should be. Pages that programs
write are as these would write them, and README names what a count lacks."""

import os
import re
import sys
import tempfile

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.dont_write_bytecode = True
ROOMS = ("contrib/describe", "contrib/lib", "tests/alerts", "tests/vm", "tests/kernel", "tests/measure", "tests/measure/servers",
         "tests/measure/accuracy", "tests/measure/cost")
sys.path[:0] = [os.path.join(TOP, room) for room in ROOMS]

import document as evidence_page  # noqa: E402
import figures as said  # noqa: E402
import matrix  # noqa: E402
import measured  # noqa: E402
import quiet_loads  # noqa: E402
import rows  # noqa: E402
import servers_page  # noqa: E402
from alerts import ALERTS  # noqa: E402
from measured_parts import PARTS  # noqa: E402
from statistic import Estimate  # noqa: E402

WHERE = re.compile(r"[0-9a-f]{7,40}, 20\d\d-\d\d-\d\d, \S.*")
VERDICT = re.compile(r"-|met|missed|not decided, needs [\d,]+ rounds")
NAMED = re.compile(r"make measure PARTS=(?:\"([\w ]+)\"|(\w+))")
MACHINE = "Linux 6.1, 2 CPUs (a | b)"
COUNT = re.compile(r"([\d,]+) of ([\d,]+)")
# {part: [(what, got, verdict), ...]}, and what README makes of it.
INVENTED = {
    "servers": [(f"{name}: {what}", got, verdict) for name, count, p50, p99, verdict in (
        ("nginx", "9 of 9 sent", "-50 %", "+0 %", "met"), ("redis", "8 of 9 sent", "-30 %", "-10 %", "missed"),
        ("php", "9 of 9 sent", "+1900 %", "+100 %", "met")) for what, got, verdict in (
            ("counted", count, verdict), ("p50 of responses", f"1 us, {p50}", ""), ("p99 of responses", f"1 us, {p99}", ""))] +
        [("puma: counted", "failed", "")],
    "evidence": [(f"{name}: {what}", got, verdict) for name, what, got, verdict in (
        ("go", "slack below 10 %, levels above the client's knee", "bursty +0, poisson +1", "met"),
        ("java", "slack below 10 %, levels above the client's knee", "bursty +0, poisson +2", "missed"),
        ("go", "poll idle below 10 %, levels above the client's knee", "not shown", "missed"),
        ("java", "poll idle below 10 %, levels above the client's knee", "not shown", "missed"),
        ("go", "response p50 against the client's, error", "bursty +0 %, poisson -50 %", ""),
        ("java", "response p50 against the client's, error", "bursty +0 %, poisson +0 %", ""),
        ("go", "capacity at 40 % of the load, error", "bursty +0.0 %, poisson -20.0 %", "met"),
        ("java", "capacity at 40 % of the load, error", "bursty +10.0 %, poisson -40.0 %", "missed"))],
    "why": [("configuration", "few samples", ""), ("faults named", "3 of 4; missed: Go: a mutex", "met")],
}
SAID = (
    ("Median response time, 3 servers", "0.70", "0.54", "16.14", "0.50, nginx", "20.00, php"),
    ("99th percentile of response times, 3 servers", "1.00", "0.92", "1.80", "0.90, redis", "2.00, php"),
    ("random arrivals, 2 services", "0.75", "0.55", "0.95", "0.50, go", "1.00, java"),
    ("The same, 16 requests at once, 2 services", "1.05", "1.01", "1.09", "1.00, go", "1.10, java"),
    ("every request is counted", "2 of 3", "redis: 8 of 9 sent; no result: puma"),
    ("(levels apart)", "1 of 2", "java: bursty +0, poisson +2"),
    ("`percent-poll_idle` does", "0 of 2", "go, java: not shown"),
    ("with few samples", "3 of 4", "Go: a mutex"),
)
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
    check_written("measured.md", text_of("docs/measured.md"), measured.page(PARTS, tables))


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
    evidence = [getattr(evidence_page, name) for name in ("REQUESTS", "SATURATION", "CAPACITY", "TRUTH", "CLIENTS")]
    for name, texts in (("servers.md", (servers_page.HEAD,)), ("evidence.md", evidence)):
        page = text_of(f"docs/measured/{name}")
        for text in texts:
            if f"{text}\n| " not in page:
                complain(f"{name}: its program writes, before a table, {text!r}")


def lacking(cells):
    """How many names a row has for what its count lacks, and how many are lacking; None: it counts nothing."""
    at = next((i for i, cell in enumerate(cells) if COUNT.fullmatch(cell)), None)
    if at is None:
        return None
    got, of = (int(number.replace(",", "")) for number in COUNT.fullmatch(cells[at]).groups())
    groups = [group.partition(": ") for group in "".join(cells[at + 1:at + 2]).split("; ")]
    return sum(len(names.split(", ")) for names, colon, _ in groups if colon and names != "no result"), of - got


def check_counts():
    equal("a count", rows.counted({"a": True, "b": False, "c": False}), "1 of 3; missed: b; c")
    equal("alerts without input that there are not", {*quiet_loads.NO_INPUT} - {alert.name for alert in ALERTS}, set())
    equal("a count that says nothing", lacking(["servers", "4 of 5"]), (0, 1))
    equal("a count with names", lacking(["servers", "4 of 7", "a, b: none; c: 1, 2; no result: d"]), (3, 3))
    for line in text_of("README.md").splitlines():
        names = lacking([cell.strip() for cell in line.strip("|").split(" | ")])
        if names and names[0] != names[1]:
            complain(f"README.md: {names[1]} lacking, {names[0]} named: {line}")


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


def check_accuracy():
    """README's table of a page whose figures are known."""
    found = {part: measured.table({"rows": [{"what": what, "wanted": "", "got": got, "verdict": verdict} for what, got, verdict in rows_],
                                   "commit": "0123456", "date": "2026-01-02", "machine": MACHINE}) for part, rows_ in INVENTED.items()}
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(measured.page(PARTS, {part: found.get(part, "") for part in PARTS}))
        file.flush()
        text = said.accuracy(said.Page(file.name))
    for row in SAID:
        if f"{' | '.join(row)} |\n" not in text:
            complain(f"README's accuracy: want {row} in\n{text}")


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
check_counts()
check_accuracy()
check_table()
check_verdicts()
sys.exit(1 if failed else 0)

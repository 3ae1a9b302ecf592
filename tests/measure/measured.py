# SPDX-License-Identifier: MIT
"""docs/measured.md: a table for each part."""

import re

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# What was measured

`make measure`, as root, writes this page; `make measure PARTS="{some}"` measures only these parts. Each figure is next to what
is wanted of it. Figures are medians; the brackets contain the true median with 95 % confidence. "Not decided" means that the
interval contains the limit; how many rounds would decide is an estimate. These figures decide nothing about a change: the tests
do that. [costs.md](costs.md) has the costs that matter on a machine.
"""
COLUMNS = ("what", "wanted", "got [95 %]", "verdict", "commit, date, machine")


def line(cells):
    return f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |\n"


def table(found):
    """found: as tests/measure/run keeps it."""
    where = f"{found['commit']}, {found['date']}, {found['machine']}"
    text = line(COLUMNS) + line(["---"] * len(COLUMNS))
    for row in found["rows"]:
        text += line((row["what"], row["wanted"] or "-", row["got"], row["verdict"] or "-", where))
    return text


def tables(path):
    """{part: its table as text}, of a page that there is."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return {}
    return dict(re.findall(r"^`make measure PARTS=(\w+)`.*?\n\n((?:^\|.*\n)+)", text, re.M))


def rows(path, column="got [95 %]"):
    """{(part, what): got}, or another column, of a page that there is."""
    return {(part, cells[0]): cells[COLUMNS.index(column)] for part, text in tables(path).items() for cells in
            ([cell.strip() for cell in row.strip("|\n").split(" | ")] for row in text.splitlines()[2:])}


def page(parts, found):
    """found: {part: its table}"""
    text = HEAD.format(some=" ".join(list(parts)[1:3]))
    for name, part in parts.items():
        details = " Details: " + ", ".join(f"[{page}](measured/{page})" for page in part.pages) + "." if part.pages else ""
        text += f"\n## {part.title}\n\n{part.text}\n\n`make measure PARTS={name}`.{details}\n\n"
        text += found[name] or "Not measured.\n"
    return text

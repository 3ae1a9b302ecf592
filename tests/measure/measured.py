# SPDX-License-Identifier: MIT
"""docs/measured.md: a table for each part."""

import re

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# What was measured

Written by `make measure`, as root; `make measure PARTS="{some}"` measures these parts alone. Each figure stands beside what is
wanted of it. Medians, in brackets what holds the true median with 95 % confidence. "Not decided" is where the limit lies
within; how many rounds would tell is reckoned from that. These figures decide nothing about a change: the tests do that.
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

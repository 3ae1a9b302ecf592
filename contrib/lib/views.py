# SPDX-License-Identifier: MIT
"""The views of the live display on a terminal. A view has a title and lines; a table also has a chosen row."""

import textwrap

import detail
import live
import table
from columns import COLUMNS
from text import printable

MOST = 3    # services of a layer, at most

# (key, function, short word), in the order of importance: the line of keys shows as many as fit.
KEYS = (("?", "help"), ("q", "quit"), ("/", "filter"), ("Enter", "one service"), ("t", "triage"), ("u", "upstreams"),
        ("s", "services"), ("p", "pause"), ("r", "reverse"), ("←→", "sort by"))
MEANINGS = {
    "?": "this page; any other key of a view leaves it", "q": "quit",
    "/": "filter: type a part of a name; Enter keeps it, Escape shows all again",
    "Enter": "details of the chosen service; Escape goes back", "t": "triage: each layer, the service to blame first",
    "u": "what services ask of others", "s": "the table of services", "p": "pause and resume, also by the space bar",
    "r": "reverse the order", "←→": "the column to sort by, also < and >"}


def key_line(width):
    """The line of keys, as many as fit."""
    line = ""
    for key, word in KEYS:
        more = f"{line}  {key} {word}".strip()
        if len(more) > width:
            break
        line = more
    return line


class View:
    """A view that can be scrolled."""
    backwards = False
    chosen = None       # the index of the chosen row of a table

    def update(self, rows):
        """Sets new values."""

    def move(self, way):
        """Sorts by another column. This view has only one order."""

    def step(self, way):
        """Chooses another row. Returns False here: there are no rows to choose."""
        return False

    def service(self):
        """The chosen row, or None."""


class Rows(View):
    """A sortable table."""

    def __init__(self, what, choose, of, sorted_by, backwards=False, without=""):
        """choose: function that selects from all rows; sorted_by: a column, or None for the name; without: the text if there are
        no rows"""
        self.what, self.choose, self.of, self.sorted_by, self.backwards = what, choose, of, sorted_by, backwards
        self.without = without
        self.rows = []
        self.shown = set()      # indices of columns that ever had a value: these stay visible
        self.filter = ""
        self.chosen = 0

    def update(self, rows):
        self.rows = self.choose(rows)
        self.shown |= set(table.filled([row.figures for row in self.rows], self.of))

    def _filtered(self):
        """The filtered rows, sorted."""
        rows = [row for row in self.rows if self.filter.lower() in row.title.lower()]
        return live.sort(rows, self.sorted_by, self.backwards, self.of)

    def title(self):
        filtered = f" with “{printable(self.filter)}”" if self.filter else ""
        return f"{len(self._filtered())} {self.what}{filtered}"

    def move(self, way):
        shown = [None, *(self.of[position] for position in sorted(self.shown))]
        position = shown.index(self.sorted_by) if self.sorted_by in shown else 0
        self.sorted_by = shown[(position + way) % len(shown)]

    def step(self, way):
        self.chosen = max(0, min(self.chosen + way, len(self._filtered()) - 1))
        return True

    def service(self):
        rows = self._filtered()
        return rows[min(self.chosen, len(rows) - 1)] if rows else None

    def lines(self, width):
        """(heading, which is not scrolled, if there are rows; lines of the rows)"""
        rows = self._filtered()
        if not rows:
            return None, [("row", f"no name contains {printable(self.filter)!r}" if self.rows else self.without)]
        self.step(0)
        heading, *lines = table.lines(live.lines(rows), sorted(self.shown), self.sorted_by,
                                      table.UP if self.backwards else table.DOWN, width, self.of,
                                      self.what.removesuffix("s"))
        return heading, [("chosen" if position == self.chosen else "row", line) for position, line in enumerate(lines)]


class Triage(View):
    """The triage, layer by layer."""

    def __init__(self):
        self.findings = {}

    def update(self, rows):
        self.findings = live.findings(rows)

    def title(self):
        return "triage" + "".join(f" of {printable(host)}" for host in self.findings if len(self.findings) == 1)

    def lines(self, width):
        return None, live.triage_lines(self.findings, MOST, width)


class Detail(View):
    """One service."""

    def __init__(self):
        self.rows, self.row = [], None

    def show(self, row):
        self.row = row
        self.update(self.rows)

    def update(self, rows):
        self.rows = rows
        if self.row:
            self.row = next((row for row in rows if (row.host, row.name) == (self.row.host, self.row.name)), self.row)

    def title(self):
        return "one service" + ("" if self.row in self.rows else ", which has no values any more")

    def lines(self, width):
        return None, detail.lines(self.row, self.rows, width)


class Help(View):
    """The keys and the columns."""

    def title(self):
        return "help"

    def lines(self, width):
        said = [("title", "Keys"), *(("row", f"  {key:<10}{MEANINGS[key]}") for key, _ in KEYS),
                ("row", "  ↑ ↓       the service before and after; PgUp, PgDn, Home"), ("row", ""), ("title", "Columns")]
        said += [("row", f"  {column.brief:<10}{' '.join((column.heading, column.below))}") for column in COLUMNS]
        said += [("row", ""), *(("row", line) for line in textwrap.wrap(
            "Bytes have powers of 1024: Ki, Mi, Gi; all else has powers of 1000. A dash is what is not known. ebpf-top(1) has more.",
            max(20, width)))]
        return None, said

# SPDX-License-Identifier: MIT
"""A table as plain text, by default of services. Columns without values are left out."""

import math
import shutil

from columns import COLUMNS
from text import printable

NAME = 16   # characters of a name that are shown on any terminal
DOWN, UP = "▾▴"


def filled(figures, of=COLUMNS):
    """The indices of the columns that have a value in at least one line."""
    return [place for place in range(len(of)) if any(not math.isnan(line[place]) for line in figures)]


def shorten(text, width):
    """Shortens a text in the middle: beginning and end of HOST/SERVICE and of a process's name say most."""
    tail = width // 2
    return text if len(text) <= width else text[:width - tail - 1] + "…" + text[-tail:]


def cells(figures, columns, of):
    return [printable(of[place].unit.short(figures[place])) for place in columns]


def room():
    """The width of the terminal, or COLUMNS of the environment; None if there is no limit."""
    return shutil.get_terminal_size((0, 0)).columns or None


def lines(rows, columns=None, marked=None, mark=DOWN, width=None, of=COLUMNS, heading="service"):
    """The table of (name, figures) rows. columns: the indices in `of` of the shown columns. marked: the column that the rows
    are sorted by. Within a width, names are shortened and the last columns are left out."""
    names = [printable(name) for name, _ in rows]
    if width:
        names = [shorten(name, max(NAME, width // 5)) for name in names]
    columns = columns or filled([figures for _, figures in rows], of)
    text = [[heading, *(mark * (of[place] is marked) + of[place].brief for place in columns)],
            *([name, *cells(figures, columns, of)] for name, (_, figures) in zip(names, rows))]
    widths = [max(map(len, column)) for column in zip(*text)]
    shown = list(range(len(widths)))
    others = [place for place in shown[1:] if of[columns[place - 1]] is not marked]
    while width and others and sum(widths[place] for place in shown) + 2 * (len(shown) - 1) > width:
        shown.remove(others.pop())
    return ["  ".join([line[0].ljust(widths[0]), *(line[place].rjust(widths[place]) for place in shown[1:])]).rstrip()
            for line in text]

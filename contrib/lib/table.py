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
    return [index for index in range(len(of)) if any(not math.isnan(line[index]) for line in figures)]


def shorten(text, width):
    """Shortens a text in the middle: beginning and end of HOST/SERVICE and of a process's name say most."""
    tail = width // 2
    return text if len(text) <= width else text[:width - tail - 1] + "…" + text[-tail:]


def cells(figures, columns, of):
    return [printable(of[index].unit.short(figures[index])) for index in columns]


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
    text = [[heading, *(mark * (of[index] is marked) + of[index].brief for index in columns)],
            *([name, *cells(figures, columns, of)] for name, (_, figures) in zip(names, rows))]
    widths = [max(map(len, column)) for column in zip(*text)]
    shown = list(range(len(widths)))
    others = [index for index in shown[1:] if of[columns[index - 1]] is not marked]
    while width and others and sum(widths[index] for index in shown) + 2 * (len(shown) - 1) > width:
        shown.remove(others.pop())
    return ["  ".join([line[0].ljust(widths[0]), *(line[index].rjust(widths[index]) for index in shown[1:])]).rstrip()
            for line in text]

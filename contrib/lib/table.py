# SPDX-License-Identifier: MIT
"""A table as plain text, of services unless something else is said. Columns without a value are left out."""

import math
import shutil

from columns import COLUMNS
from text import printable

NAME = 16   # characters of a name that there is always room for
DOWN, UP = "▾▴"


def filled(figures, of=COLUMNS):
    """Which columns have a value in one of the lines at least."""
    return [place for place in range(len(of)) if any(not math.isnan(line[place]) for line in figures)]


def shorten(text, width):
    """The begin and the end tell most: of HOST/SERVICE, of SERVICE and process."""
    tail = width // 2
    return text if len(text) <= width else text[:width - tail - 1] + "…" + text[-tail:]


def cells(figures, columns, of):
    return [printable(of[place].unit.short(figures[place])) for place in columns]


def room():
    """Characters of a line on this terminal, or as COLUMNS in the environment says; None: there is no end."""
    return shutil.get_terminal_size((0, 0)).columns or None


def lines(rows, columns=None, marked=None, mark=DOWN, width=None, of=COLUMNS, heading="service"):
    """The table of (name, figures) rows; columns: places in `of` of those that are shown. marked: the column that the rows
    are sorted by; within a width, names are shortened and the last of the others are left out."""
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

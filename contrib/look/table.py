# SPDX-License-Identifier: MIT
"""The table of services as plain text. Columns without a value are left out."""

import math

from columns import COLUMNS

NAME = 24   # characters of a service's name
MARK = "▾"


def filled(figures):
    """Which columns have a value in one of the lines at least."""
    return [place for place in range(len(COLUMNS)) if any(not math.isnan(line[place]) for line in figures)]


def shorten(text, width=NAME):
    return text if len(text) <= width else text[:width - 1] + "…"


def cells(figures, columns):
    return [COLUMNS[place].unit.short(figures[place]) for place in columns]


def lines(rows, columns=None, marked=None, width=None):
    """The table of (name, figures) rows. marked: the column that the rows are sorted by; within a width, the last of
    the others are left out."""
    columns = columns or filled([figures for _, figures in rows])
    text = [["service", *(MARK * (COLUMNS[place] is marked) + COLUMNS[place].heading for place in columns)],
            ["", *(COLUMNS[place].below for place in columns)],
            *([shorten(name), *cells(figures, columns)] for name, figures in rows)]
    widths = [max(map(len, column)) for column in zip(*text)]
    shown = list(range(len(widths)))
    others = [place for place in shown[1:] if COLUMNS[columns[place - 1]] is not marked]
    while width and others and sum(widths[place] for place in shown) + 2 * (len(shown) - 1) > width:
        shown.remove(others.pop())
    return ["  ".join([line[0].ljust(widths[0]), *(line[place].rjust(widths[place]) for place in shown[1:])]).rstrip()
            for line in text]

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
    """The table of (name, figures) rows. marked: the column that the rows are sorted by; within a width, the last
    columns are left out."""
    columns = columns or filled([figures for _, figures in rows])
    text = [["service", *(MARK * (COLUMNS[place] is marked) + COLUMNS[place].heading for place in columns)],
            ["", *(COLUMNS[place].below for place in columns)],
            *([shorten(name), *cells(figures, columns)] for name, figures in rows)]
    widths = [max(map(len, column)) for column in zip(*text)]
    while width and len(widths) > 1 and sum(widths) + 2 * (len(widths) - 1) > width:
        widths.pop()
    return ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:len(widths)], widths[1:])]).rstrip()
            for line in text]

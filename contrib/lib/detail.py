# SPDX-License-Identifier: MIT
"""The view of one service in ebpf-top: requests, percentiles, parts of their time, what its threads wait for, upstreams and
processes."""

import math

import live
import name
import table
import unit
from columns import COLUMNS, DETAILS, LATENCIES, UPSTREAM_COLUMNS, basis, latency_columns
from definitions import IN_REQUESTS, WAITED_FOR
from parts import largest_first
from text import printable

BAR = 24    # characters of a full bar


def _table(many, of, heading, width):
    if not many:
        return []
    first, *lines = table.lines(many, width=width, of=of, heading=heading)
    return [("heading", first), *(("row", line) for line in lines)]


def _parts(row, series, of):
    """A line with a bar for each part. of: the unit of the parts"""
    known = [(one, row.values[one.file, one.source] * one.scale) for one in series if (one.file, one.source) in row.values]
    amounts = {one.label: value for one, value in known}
    return [("row", f"{part.label:<12} {part.percent():>5}  {of.write(amounts[part.label]):>9}  "
             + "█" * max(1, round(BAR * part / 100))) for part in largest_first(known) if part > 0]


def _section(title, lines, otherwise=""):
    """A titled section; empty if there are neither lines nor `otherwise`."""
    if not lines and not otherwise:
        return []
    return [("row", ""), ("title", title), *(lines or [("note", otherwise)])]


def lines(row, rows, width):
    """(kind, text) of each line. rows: all rows, including those of its processes"""
    figures = [(column, column.of(row.values)) for column in DETAILS]
    said = [f"{column.brief} {column.unit.write(figure)}" for column, figure in figures if not math.isnan(figure)]
    found = [("title", printable(f"{row.host}/{row.title}")), ("row", "  ".join(said))]
    percentiles = [(of, [column.of(row.values) for column in latency_columns(of)]) for of in LATENCIES]
    percentiles = [one for one in percentiles if not all(map(math.isnan, one[1]))]
    found += _section("Latency", _table(percentiles, latency_columns("response"), "time", width),
                      "no request was answered in the last interval")
    based_on = basis(row.values)
    if not based_on or based_on.is_current:
        found += _section("Where a request's time goes, mean" + (f" ({based_on})" if based_on else ""),
                          _parts(row, IN_REQUESTS, unit.SECONDS))
    found += _section("What threads wait for, threads", _parts(row, WAITED_FOR, unit.THREADS))
    upstreams = live.sort(row.upstreams(), UPSTREAM_COLUMNS[0], of=UPSTREAM_COLUMNS)
    found += _section("Upstreams", _table([(one.label, one.figures) for one in upstreams], UPSTREAM_COLUMNS, "upstream", width))
    processes = [one for one in rows if one.host == row.host and one.parent == row.parent and one.name != one.parent]
    processes = live.sort(processes, next(column for column in COLUMNS if column.name == "cpu"))
    return found + _section("Processes", _table([(name.brief(one.name, one.parent), one.figures) for one in processes],
                                                COLUMNS, "process", width),
                            "PerProcess true in its Service block shows the busiest ones")

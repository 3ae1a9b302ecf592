# SPDX-License-Identifier: MIT
"""Tables of the pages as HTML."""

import math

import page
import unit
from columns import COLUMNS
from curve import CURRENT
from table import filled
from text import escape

ENDED = 300     # seconds without a value after which a service has ended, at least


def heading_of(column, is_order):
    order = ' aria-sort="descending"' if is_order else ""
    return f"<th{order}><button>{column.heading}<small>{column.below}</small></button></th>"


def cell(column, figure):
    """A cell, with the plain number for sorting."""
    number = "" if math.isnan(figure) else f' data-value="{figure:.6g}"'
    return f"<td{number}>{escape(column.unit.write(figure))}</td>"


def table(heading, of, rows, order):
    """rows: (name as HTML, figures), sorted by the column `order`; columns without values are left out"""
    indices = filled([figures for _, figures in rows], of)
    if not indices:
        return ""
    heads = "".join(heading_of(of[position], of[position].name == order) for position in indices)
    body = "".join(f"<tr><th>{named}</th>" + "".join(cell(of[position], figures[position]) for position in indices) + "</tr>\n"
                   for named, figures in rows)
    return ('<div class="wide"><table class="services"><thead><tr>'
            f"<th><button>{heading}</button></th>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>\n")


def link_to(service, title=""):
    """A link relative to the output folder, as all in files of data."""
    return f'<a href="{page.address(service)}">{escape(title or service.title)}</a>'


def age_of(subject):
    """A note for a service whose figures are older than two readings, else ""."""
    service, span = subject.service, subject.span
    step, newest = service.read_spans[span][0].step, min(service.newest, span.end)
    age = newest - min(service.updated, newest)
    if age > max(ENDED, 5 * step):
        return f"<small>ended {page.stamp(service.updated)}</small>"
    return f"<small>{unit.age(age)} ago</small>" if age > CURRENT * step else ""


def of_services(subjects):
    """(HTML, number of rows)"""
    rows = [(link_to(subject.service) + age_of(subject), [subject.figure(column) for column in COLUMNS])
            for subject in subjects if not subject.is_device]
    return table("service", COLUMNS, rows, "cpu"), len(rows)

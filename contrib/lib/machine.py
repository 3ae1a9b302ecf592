# SPDX-License-Identifier: MIT
"""The page of a machine: its triage, layer by layer, with charts. The texts come from triage.py."""

import functools
import os
import urllib.parse

import page
import triage
from chart import Chart
from curve import total
from definitions import GREY, PALETTE, Graph
from text import escape
from unit import SECONDS

MOST = 10           # rows of a table
UP = "../"          # from these pages


class SpanSubject:
    """A subject with its values in a span of time."""

    def __init__(self, service, span):
        self.service, self.span = service, span
        self.host = service.host
        self.name, self.title, self.is_device = service.name, service.title, service.is_device
        self.whole = self
        self.figure = functools.cache(self.figure)

    def curves(self, column):
        return self.service.curves(column.series, self.span)

    def figure(self, column):
        return column.evaluate(self.curves(column))


def subjects(services, span):
    """The subjects without processes, which are included in their services."""
    return [SpanSubject(service, span) for service in services if service.is_in(span) and not service.is_process]


def findings(services, spans):
    """The findings by span; spans without values are left out."""
    return {span: triage.inspect(found) for span in spans if (found := subjects(services, span))}


# --- parts of the page --------------------------------------------------------------------------

def address(host):
    return urllib.parse.quote(os.fsencode(f"{page.MACHINES}/{page.machine_name(host)}"))


def link_to(subject, up):
    return page.link_to(subject.whole.service, up, subject.title)


def sentence(finding, up):
    """The sentence of a finding, with a link to its subject."""
    return finding.sentence(lambda word, subject: link_to(subject, up) if subject else escape(word))


def anchor(finding, span):
    return f"{span.name}-{finding.layer.name}"


def summary(host, span, found, up=""):
    """A line for each layer, with a link to its section. up: the path from the page of a machine to that of all"""
    to = "" if up else escape(address(host))
    lines = "".join(f'<dt><a href="{to}#{anchor(finding, span)}">{finding.layer.title}</a></dt>'
                    f"<dd>{sentence(finding, up)}</dd>\n" for finding in found)
    return f'<dl class="triage">\n{lines}</dl>\n'


def table(of):
    rows = [(link_to(subject, UP), figures) for subject, figures in of.shown()[:MOST]]
    return page.table(of.heading, of.columns, rows, of.columns[0].name)


def chart(title, unit, curves, span, subjects_shown=()):
    """A chart; times have a logarithmic axis."""
    addresses = {subject.title: page.link(subject.whole.service, UP) for subject in subjects_shown}
    return Chart(Graph(title, unit, (), log=unit is SECONDS and all(curve.draw == "line" for curve in curves)), curves, span,
                 lambda curve: addresses.get(curve.label, ""))


def stacked(rank, services, span, colors):
    """A stack of all services, largest first; those without a colour are summed."""
    curves = [(service, rank.column.total(service.curves(rank.column), service.title, "stack",
                                          colors.get(service.name, GREY)))
              for service, amount in triage.by_amount(services, rank.column) if amount > 0]
    own = [curve for service, curve in curves if service.name in colors]
    others = [curve for service, curve in curves if service.name not in colors]
    return chart(rank.title, rank.column.unit, own + ([total(others, "all others", "stack", GREY)] if others else []), span,
                 services)


def lined(title, column, subjects_shown, span, colors):
    """A chart with a line for each subject that has a colour."""
    curves = [column.total(subject.curves(column), subject.title, "line", colors[subject.name])
              for subject in subjects_shown if subject.name in colors]
    return chart(title, column.unit, [curve for curve in curves if curve], span, subjects_shown)


def of_machine(devices, subject, span):
    """A chart of all columns that have the unit of the first."""
    columns = [column for column in devices.columns if column.unit == devices.column.unit]
    curves = [column.total(subject.curves(column), column.heading, "line", color)
              for column, color in zip(columns, PALETTE)]
    return chart(devices.title, devices.column.unit, [curve for curve in curves if curve], span)


def of_devices(table_of, span):
    devices, shown = table_of.rank, [subject for subject, _ in table_of.rows]
    if devices.instance:
        return [of_machine(devices, shown[0], span)]
    colors = dict(zip((subject.name for subject in shown), PALETTE))
    return [lined(title, column, shown, span, colors) for title, column in ((devices.title, devices.column), *devices.lines)]


def pictures(finding, span, colors):
    ranks = [rank for rank in (finding.rank, *finding.layer.also) if rank and rank.title]
    charts = [stacked(rank, finding.services, span, colors) for rank in ranks]
    charts += [lined(title, column, finding.services, span, colors) for title, column in finding.layer.lines]
    charts += [one for of in finding.tables if of.rank is not finding.rank for one in of_devices(of, span)]
    return page.grid([one for one in charts if one.curves])


def section(finding, span, colors):
    note = f'<p class="soft">{escape(finding.note)}</p>\n' if finding.note else ""
    hints = "".join(f'<p class="soft">{escape(probe.hint())}.</p>\n' for probe in finding.off)
    return (f'<h2 id="{anchor(finding, span)}">{finding.layer.title}</h2>\n<p class="finding">{sentence(finding, UP)}</p>\n'
            + "".join(map(table, finding.tables)) + note + pictures(finding, span, colors) + hints)


def pick_colors(found):
    """Name -> colour: first for the largest of each table in any span, then for the second ones."""
    tables = [of.rows for many in found.values() for finding in many for of in finding.tables[:1] if finding.rank]
    names = dict.fromkeys(rows[index][0].name for index in range(len(PALETTE)) for rows in tables if index < len(rows))
    return dict(zip(names, PALETTE))


def write(output, host, spans, found):
    """output: a Folder; found: the findings, by span"""
    colors = pick_colors(found)
    parts = [summary(host, span, found[span], UP) + "".join(section(finding, span, colors) for finding in found[span])
             if span in found else "" for span in spans]
    head = (f'<header><p><a href="{UP}index.html">All services</a></p>\n<h1>Triage of {escape(host)}</h1>\n'
            "<p class=\"soft\">Layer by layer, the service to blame first.</p></header>\n")
    with output.folder(page.MACHINES) as sheets:
        sheets.write(page.machine_name(host), page.document(f"Triage of {host}", head, spans, parts))

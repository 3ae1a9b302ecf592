# SPDX-License-Identifier: MIT
"""The triage of a machine for its page, layer by layer, and for the page of all services. The texts come from triage.py."""

import functools

import page
import tables
import triage
from chart import Chart
from curve import total
from definitions import GREY, PALETTE, Graph
from host import paint
from text import escape
from unit import SECONDS

MOST = 10           # rows of a table


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


def inspect(subjects):
    """The findings without processes, which are included in their services."""
    return triage.inspect([subject for subject in subjects if not subject.service.is_process])


# --- texts --------------------------------------------------------------------------------------

def link_to(subject):
    return tables.link_to(subject.whole.service, subject.title)


def sentence(finding):
    """The sentence of a finding, with a link to its subject."""
    return finding.sentence(lambda word, subject: link_to(subject) if subject else escape(word))


def table(of):
    rows = [(link_to(subject), figures) for subject, figures in of.shown()[:MOST]]
    return tables.table(of.heading, of.columns, rows, of.columns[0].name)


def text(finding):
    """The part of a layer in a machine's page, without its charts."""
    note = f'<p class="soft">{escape(finding.note)}</p>\n' if finding.note else ""
    hints = "".join(f'<p class="soft">{escape(probe.hint())}.</p>\n' for probe in finding.off)
    return f'<p class="finding">{sentence(finding)}</p>\n' + "".join(map(table, finding.tables)) + note + hints


# --- charts -------------------------------------------------------------------------------------

def chart(title, column, curves, subjects_shown=()):
    """A chart of one figure; times have a logarithmic axis."""
    links = {subject.title: page.address(subject.whole.service) for subject in subjects_shown}
    log = column.unit is SECONDS and all(curve.draw == "line" for curve in curves)
    return Chart(Graph(title, column.unit, column.series, log=log), curves, links)


def stacked(rank, services, colors):
    """A stack of all services, largest first; those without a colour are summed."""
    curves = [(service, rank.column.total(service.curves(rank.column), service.title, "stack",
                                          colors.get(service.name, GREY)))
              for service, amount in triage.by_amount(services, rank.column) if amount > 0]
    own = [curve for service, curve in curves if service.name in colors]
    others = [curve for service, curve in curves if service.name not in colors]
    return chart(rank.title, rank.column, own + ([total(others, "all others", "stack", GREY)] if others else []), services)


def lined(title, column, subjects_shown, colors):
    """A chart with a line for each subject that has a colour."""
    curves = [column.total(subject.curves(column), subject.title, "line", colors[subject.name])
              for subject in subjects_shown if subject.name in colors]
    return chart(title, column, [curve for curve in curves if curve], subjects_shown)


def of_machine(devices, subject):
    """A chart of all columns that have the unit of the first."""
    columns = [column for column in devices.columns if column.unit == devices.column.unit]
    curves = [column.total(subject.curves(column), column.heading, "line", color)
              for column, color in zip(columns, PALETTE)]
    return chart(devices.title, devices.column, [curve for curve in curves if curve])


def of_devices(table_of):
    devices, shown = table_of.rank, [subject for subject, _ in table_of.rows]
    if devices.instance:
        return [of_machine(devices, shown[0])]
    colors = dict(zip((subject.name for subject in shown), PALETTE))
    return [lined(title, column, shown, colors) for title, column in ((devices.title, devices.column), *devices.lines)]


def charts(finding, colors):
    """The charts of a layer."""
    ranks = [rank for rank in (finding.rank, *finding.layer.also) if rank and rank.title]
    found = [stacked(rank, finding.services, colors) for rank in ranks]
    found += [lined(title, column, finding.services, colors) for title, column in finding.layer.lines]
    found += [one for of in finding.tables if of.rank is not finding.rank for one in of_devices(of)]
    return [one for one in found if one.curves]


def pick_colors(findings):
    """Name -> colour: first for the largest of each table, then for the second ones."""
    tables_of = [of.rows for finding in findings for of in finding.tables[:1] if finding.rank]
    names = dict.fromkeys(rows[index][0].name for index in range(len(PALETTE)) for rows in tables_of if index < len(rows))
    return paint(list(names)[:len(PALETTE)])

# SPDX-License-Identifier: MIT
"""What collectd has of the services now."""

import itertools
import math
import time

import name
from columns import COLUMNS

# What the columns are made of; nothing else is asked for or kept.
WANTED = {series.file for column in COLUMNS for series in column.series}


class Trouble(Exception):
    """Nothing can be shown. The text says why, and what to do; may_pass: perhaps nothing but wait."""

    def __init__(self, text, may_pass=False):
        super().__init__(text)
        self.may_pass = may_pass


class Row:
    """A service with its figures, in the order of the columns."""

    def __init__(self, host, service, parent, values):
        """parent: the service of a process, or the service itself"""
        self.host, self.service, self.parent = host, service, parent
        self.figures = [column.of(values) for column in COLUMNS]

    def json(self):
        said = {"host": self.host, "service": self.service}
        for column, figure in zip(COLUMNS, self.figures):
            said |= column.json(figure)
        return said


def rows(services):
    """services: (host, service) -> values by file and data source"""
    known = {}
    for host, service in services:
        known.setdefault(host, set()).add(service)
    return [Row(host, service, name.parent(service, known[host]), values)
            for (host, service), values in services.items() if service != name.PLUGIN and values]


def common_domain(hosts):
    """What all of several hosts end with, from a dot on."""
    ends = zip(*(host.split(".")[:0:-1] for host in hosts))
    same = [labels[0] for labels in itertools.takewhile(lambda labels: len(set(labels)) == 1, ends)]
    return "".join("." + label for label in reversed(same)) if len(hosts) > 1 else ""


def lines(many):
    """(title, figures) of each, with the host where there are several."""
    hosts = {row.host for row in many}
    domain = common_domain(hosts)
    return [((row.host.removesuffix(domain) + "/" if len(hosts) > 1 else "") + name.brief(row.service, row.parent),
             row.figures) for row in many]


def sort(many, column, backwards=False):
    """By a column, or with None by name; what is unknown comes last in either direction."""
    def key(row):
        figure = row.figures[COLUMNS.index(column)]
        return math.isnan(figure), figure if backwards else -figure, row.host, row.service

    if column is None:
        return sorted(many, key=lambda row: (row.host, row.service), reverse=backwards)
    return sorted(many, key=key)


def document(many, source):
    """For --json: figures in seconds, bytes, percent and numbers per second; null where unknown."""
    return {"time": round(time.time(), 3), "source": source, "services": [row.json() for row in many]}

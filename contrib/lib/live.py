# SPDX-License-Identifier: MIT
"""The current values of services, from collectd."""

import functools
import itertools
import math
import time

import layers
import name
import tool
import triage
from columns import COLUMNS, SHOWN, UPSTREAM_COLUMNS
from definitions import SAMPLES
from parts import Dated
from text import printable
from unit import NBSP

# The series that the columns need; no others are requested or stored.
WANTED = {series.file for column in SHOWN for series in column.series}
WANTED |= {series.file for series in layers.SERIES}
PATTERNS = sorted(file for file in WANTED if "*" in file)


# The line about a machine: a column, and the texts before and after its sum.
SUMMED = tuple((column, before, after) for name, before, after in (
    ("requests", "", NBSP + "requests/s"), ("cpu", "CPU ", NBSP + "%"), ("waiting", "waiting for a CPU ", ""),
    ("memory", "memory ", ""), ("disk", "disk ", ""), ("processes", "", NBSP + "processes"))
    for column in (*COLUMNS, *layers.RUN_QUEUE.columns[:1]) if column.name == name)
NO_SERVICES = "the ebpf plugin has no values of services yet; its next reading brings them"


class Trouble(tool.Trouble):
    """Nothing can be shown. The text says why, and the remedy. may_pass: waiting may be enough."""

    def __init__(self, text, may_pass=False):
        super().__init__(text)
        self.may_pass = may_pass


def stored(file, value, moment, interval=math.nan):
    """The value as rows have it: the number of samples with its time, which is that of all that is computed from them."""
    return Dated(value, moment, interval) if file == SAMPLES.file else value


@functools.lru_cache(1 << 16)
def is_wanted(file):
    return file in WANTED or any(name.varying(pattern, file) is not None for pattern in PATTERNS)


class Row:
    """A service or a device with its figures."""

    def __init__(self, host, service, parent, values):
        """parent: the service of a process, or the service itself; values: by file and data source"""
        self.host, self.name, self.parent, self.values = host, service, parent, values
        self.figures = [column.of(values) for column in COLUMNS]
        self.is_device = layers.is_device(service, [file for file, _ in values])

    @property
    def title(self):
        return name.brief(self.name, self.parent)

    def figure(self, column):
        return column.of(self.values)

    def upstreams(self):
        """A row for each upstream."""
        found = {}
        for column in UPSTREAM_COLUMNS:
            for series in column.series:
                for (file, source), value in self.values.items():
                    if source == series.source and (label := name.varying(series.file, file)) is not None:
                        found.setdefault(label, {})[series.file, source] = value
        return [Upstream(self, label, values) for label, values in found.items()]

    def json(self):
        said = {"host": self.host, "service": self.name}
        for column, figure in zip(COLUMNS, self.figures):
            said |= column.json(figure)
        upstreams = [one.json() for one in sort(self.upstreams(), UPSTREAM_COLUMNS[0], of=UPSTREAM_COLUMNS)]
        return {**said, "upstreams": upstreams} if upstreams else said


class Upstream:
    """An upstream: a server to which a service sends requests."""

    def __init__(self, row, label, values):
        """values: by file, whose name has a `*` in place of the upstream"""
        self.row, self.host, self.name, self.label = row, row.host, row.name, label
        self.title = f"{row.title} → {label}"
        self.figures = [column.of(values) for column in UPSTREAM_COLUMNS]

    def json(self):
        said = {"upstream": self.label}
        for column, figure in zip(UPSTREAM_COLUMNS, self.figures):
            said |= column.json(figure)
        return said


def rows(services):
    """services: (host, service) -> values by file and data source"""
    known = {}
    for host, service in services:
        known.setdefault(host, set()).add(service)
    return [Row(host, service, name.parent(service, known[host]), values)
            for (host, service), values in services.items() if values]


def of_services(many):
    """The rows of the table of services."""
    files = {series.file for column in COLUMNS for series in column.series}
    return [row for row in many if not row.is_device and any(file in files for file, _ in row.values)]


def upstreams(many):
    return [upstream for row in many for upstream in row.upstreams()]


def findings(many):
    """The findings of each host. Processes are left out, as their service includes them."""
    hosts = {}
    for row in many:
        if row.name == row.parent:
            hosts.setdefault(row.host, []).append(row)
    return {host: triage.inspect(hosts[host]) for host in sorted(hosts)}


def triage_lines(found, most, width):
    """(kind, text) of each line. found: findings by host; most: services of a layer"""
    said = []
    for host, layers_of_host in found.items():
        said += [("heading", printable(host))] if len(found) > 1 else []
        said += [line for finding in layers_of_host for line in finding.lines(most, width)]
    return said


def summary(many):
    """A line about one or all machines: sums over the services."""
    of_hosts = [row for row in many if row.name == row.parent and not row.is_device]
    hosts = sorted({row.host for row in many})
    said = [printable(hosts[0]) if len(hosts) == 1 else f"{len(hosts)} hosts"]
    for column, before, after in SUMMED:
        amounts = [amount for row in of_hosts if not math.isnan(amount := row.figure(column))]
        said += [before + column.unit.write(sum(amounts)) + after] if amounts else []
    return "  ".join(said)


def common_domain(hosts):
    """The domain that all hosts share; "" for a single host."""
    ends = zip(*(host.split(".")[:0:-1] for host in hosts))
    same = [labels[0] for labels in itertools.takewhile(lambda labels: len(set(labels)) == 1, ends)]
    return "".join("." + label for label in reversed(same)) if len(hosts) > 1 else ""


def lines(many):
    """(title, figures) of each row; the title has the host if there are several."""
    hosts = {row.host for row in many}
    domain = common_domain(hosts)
    return [((row.host.removesuffix(domain) + "/" if len(hosts) > 1 else "") + row.title, row.figures) for row in many]


def sort(many, column, backwards=False, of=COLUMNS):
    """Sorts by a column or, with None, by name. Unknown values come last in either direction."""
    def key(row):
        figure = row.figures[of.index(column)]
        return math.isnan(figure), figure if backwards else -figure, row.host, row.title

    if column is None:
        return sorted(many, key=lambda row: (row.host, row.title), reverse=backwards)
    return sorted(many, key=key)


def said(source, **more):
    """For --json: figures in seconds, bytes, percent and numbers per second; null where unknown."""
    return {"time": round(time.time(), 3), "source": source, **more}


def document(many, source):
    return said(source, services=[row.json() for row in many])


def triage_document(many, source):
    return said(source, hosts=[{"host": host, "layers": [finding.json() for finding in found]}
                               for host, found in findings(many).items()])

# SPDX-License-Identifier: MIT
"""What is busy on a machine, layer by layer, and which service causes it: for ebpf-graph's page of a machine and for
ebpf-top. layers.py defines the layers.

A subject is a service or a device. It has host, name, title, is_device and figure(column), the one value that is stated
of it anywhere."""

import math
import re
import textwrap

from columns import Column
from layers import LAYERS, NOBODY, labelled
from parts import ShareUnit
from table import lines as table_lines
from table import shorten
from text import printable
from unit import NBSP, UNKNOWN

NAMED = 60      # characters of a name in a sentence
ENDLESS = 1 << 30
SHARE = Column("share", "share", "of all", "share", ShareUnit("percent"), ())


def by_amount(subjects, column):
    """(subject, amount) of each subject with a known amount, largest first."""
    amounts = [(subject, subject.figure(column)) for subject in subjects]
    known = [(subject, amount) for subject, amount in amounts if math.isfinite(amount) and amount >= 0]
    return sorted(known, key=lambda one: (-one[1], one[0].title))


def share(amount, ranked):
    whole = sum(amount for _, amount in ranked)
    return 100 * amount / whole if whole > 0 else 0


class Words:
    """The words of a text about a subject: its figures by the names of columns; with the prefix all_, the sums of all."""

    def __init__(self, subject, subjects, columns, **known):
        self.subject, self.subjects, self.known = subject, subjects, known
        self.columns = {column.name: column for column in columns}

    def __getitem__(self, word):
        if word in self.known:
            return self.known[word]
        column = self.columns[word.removeprefix("all_")]
        figure = (sum(amount for _, amount in by_amount(self.subjects, column)) if word.startswith("all_")
                  else self.subject.figure(column))
        return column.unit.write(figure)


def compose(says, words, mark):
    """A text with words in place of their names. [A part in brackets] is left out if one of its words is unknown.
    mark(word, subject): formats a word; subject: the one that it names, or None"""
    said = []
    for part in re.split(r"(\[[^]]*\]|{\w+})", says):
        inner = part[1:-1]
        if part.startswith("["):
            unknown = any(words[name] == UNKNOWN for name in re.findall(r"{(\w+)}", inner))
            said.append("" if unknown else compose(inner, words, mark))
        else:
            said.append(mark(words[inner], words.subject if inner == "name" else None) if part.startswith("{") else part)
    return "".join(said)


def plain(word, subject):
    """The mark() of a terminal."""
    return shorten(printable(word), NAMED) if subject else printable(word)


class Table:
    """A table of subjects with their figures, largest first."""

    def __init__(self, rank, heading, columns, rows, telling):
        """rank: the Rank it is sorted by; rows: (subject, figures); telling: a row is shown if it has a value in one of these
        columns"""
        self.rank, self.heading, self.columns, self.rows, self.telling = rank, heading, columns, rows, telling

    def json(self):
        return [{self.heading: subject.name, **{key: value for column, figure in zip(self.columns, figures)
                                                for key, value in column.json(figure).items()}}
                for subject, figures in self.rows]

    def shown(self):
        """The rows that have a value in one of the columns `telling`."""
        return [(subject, figures) for subject, figures in self.rows
                if any(figure > 0 for column, figure in zip(self.columns, figures) if column in self.telling)]


class Labelled:
    """A subject that is no service but has a part in the sum: a label of another subject's series."""
    is_device = False

    def __init__(self, whole, label, columns):
        """columns: those that it has"""
        self.whole, self.name, self.title, self.columns = whole, label, label, columns

    def figure(self, column):
        return self.whole.figure(labelled(column, self.name)) if column in self.columns else math.nan

    def curves(self, column):
        return self.whole.curves(labelled(column, self.name))


class Device:
    """A device, whose figures are not parts of a sum."""

    def __init__(self, whole, title):
        self.whole, self.name, self.title = whole, title, title
        self.figure = whole.figure

    def curves(self, column):
        return self.whole.curves(column)


class Finding:
    """What the triage has found in a layer."""

    def __init__(self, layer, subjects):
        self.layer = layer
        self.services = [subject for subject in subjects if not subject.is_device]
        self.services += [Labelled(subject, label, layer.labelled) for instance, label in layer.parts for subject in subjects
                          if subject.is_device and subject.name == instance]
        self.columns = ()   # of the table of services
        self.rank = next((rank for rank in layer.ranks if by_amount(self.services, rank.column)), None)
        self.note = layer.note if self.rank else ""
        self.off = [probe for probe in layer.probes if not probe.is_on(subjects)]
        self.clauses = []   # (text, Words), that of the rank first
        self.tables = []
        if self.rank:
            self._rank()
        for devices in layer.devices:
            self._add_device(devices, [Device(one, one.host if devices.instance else one.name) for one in subjects
                                 if one.is_device and devices.instance in ("", one.name)])

    def _rank(self):
        ranks = self.rank, *self.layer.also
        ranked = by_amount(self.services, self.rank.column)
        self.columns = *self.rank.columns, *self.layer.columns
        rows = [(subject, [amount, share(amount, ranked), *map(subject.figure, self.columns)]) for subject, amount in ranked]
        # Of equal parts, the larger figure in the rank's further columns is first.
        last = 2 + len(self.rank.columns)
        rows.sort(key=lambda row: (-row[1][0], *(0 if math.isnan(figure) else -figure for figure in row[1][2:last])))
        self.tables.append(Table(self.rank, "service", (self.rank.column, SHARE, *self.columns), rows,
                                 [*(rank.column for rank in ranks), *self.rank.columns]))
        for rank in ranks:
            self._say(rank, self.services, self.columns)

    def _add_device(self, devices, subjects):
        """Adds a table of devices, sorted by the first column; unknown values come last."""
        figures = {subject: [*map(subject.figure, devices.columns)] for subject in subjects}
        known = [subject for subject, row in figures.items() if not all(map(math.isnan, row))]
        ranked = [subject for subject, _ in by_amount(known, devices.column)]
        ranked += [subject for subject in known if subject not in ranked]
        if ranked:
            self.tables.append(Table(devices, devices.heading, devices.columns, [(one, figures[one]) for one in ranked],
                                     devices.columns))
            self._say(devices, known, devices.columns)

    def _say(self, rank, subjects, columns):
        """Adds a text about the largest subject that can be a cause, and about a larger one that is nobody's. If no subject has
        any, adds that, unless there is a text already."""
        ranked = by_amount(subjects, rank.column)
        if not ranked:
            return
        write, (first, most) = rank.column.unit.write, ranked[0]
        what = NOBODY.get(first.name) if most > 0 else None
        subject, amount = next(((one, amount) for one, amount in ranked if amount > 0 and one.name not in NOBODY), (None, 0))
        if subject:
            beside = ", in addition to {others} of {owner}" if what and rank is not self.rank else ""
            self.clauses.append((rank.says + beside, Words(
                subject, subjects, columns, name=subject.title, amount=write(amount), others=write(most), owner=first.title,
                share=SHARE.unit.write(share(amount, ranked)))))
        elif most == 0 and rank.nothing and not self.clauses:
            self.clauses.append((rank.nothing, Words(None, subjects, columns)))
        if what and rank is self.rank:
            self.clauses.append(("{share} is {owner} ({what})", Words(
                None, subjects, columns, owner=first.title, what=what, share=SHARE.unit.write(share(most, ranked)))))

    def sentence(self, mark=plain):
        """A sentence about the layer and its largest subject. mark: see compose()"""
        return "; ".join(compose(says, words, mark) for says, words in self.clauses) or "unknown"

    def json(self):
        """For --json; the service is null if there is none to name."""
        blamed = self.clauses[0][1].subject if self.rank else None
        return {"layer": self.layer.name, "sentence": self.sentence().replace(NBSP, " "), "blame": blamed and blamed.name,
                **{table.heading + "s": table.json() for table in self.tables},
                "off": [probe.name for probe in self.off]}

    def lines(self, most, width):
        """(kind, text): a title, and of each table a heading and its first rows, as many as `most`; notes."""
        def wrapped(kind, text, indent=""):
            return [(kind, line) for line in textwrap.wrap(text, width or ENDLESS, initial_indent=indent,
                                                           subsequent_indent=2 * indent, break_on_hyphens=False)]

        yield from wrapped("title", f"{self.layer.title}: {self.sentence()}")
        for table in self.tables:
            rows = [(subject.title, figures) for subject, figures in table.shown()[:most]]
            if rows:
                heading, *body = table_lines(rows, width=width and width - 2, of=table.columns, heading=table.heading)
                yield "heading", "  " + heading
                for line in body:
                    yield "row", "  " + line
        if self.note:
            yield from wrapped("note", self.note, "  ")
        for probe in self.off:
            yield from wrapped("note", probe.hint(), "  ")


def inspect(subjects):
    """The finding of each layer of a machine."""
    return [Finding(layer, subjects) for layer in LAYERS]

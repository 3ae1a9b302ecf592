# SPDX-License-Identifier: MIT
"""Runs each query of each panel at a store, and compares its curves with the truth."""

import collections
import dataclasses
import fnmatch
import math
import os
import re
import sys

from check import rows
from e2e import TOP
from stores import Refused

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import queries as languages  # noqa: E402
from dashboards import DASHBOARDS  # noqa: E402
from grafana import dashboard_json  # noqa: E402
from query import SERVICE  # noqa: E402

REL = 1e-6      # six digits
SHOWN = 5       # differences in a message


@dataclasses.dataclass
class PanelCounts:
    """Of a dashboard at a store."""
    panels: int = 0
    queries: int = 0
    curves: int = 0
    empty: list = dataclasses.field(default_factory=list)       # panels in which no query returns a curve
    silent: list = dataclasses.field(default_factory=list)      # queries that return none
    different: list = dataclasses.field(default_factory=list)


def matches(got, want):
    return len(got) == len(want) and all(
        math.isclose(value, curve.value, rel_tol=REL, abs_tol=curve.slack + 1e-9) for value, curve in zip(got, want))


def plain_label(label):
    """A label as every store can show it: CPUs are numbers at Prometheus, names elsewhere; Graphite has few letters, and tells
    the columns of a table."""
    return re.sub(r"[.:]", "_", re.sub(r"\bcpu(?=\d)|\b(host|service)=|'", "", label))


def difference(got, want):
    """What is different between curves of a store and those of the truth; "" if nothing is."""
    got = [(plain_label(label), value) for label, value in got]
    labels, known = dict(got), {plain_label(curve.label): curve for curve in want}
    if labels.keys() == known.keys() and len(labels) == len(got):
        wrong = [label for label, curve in known.items() if not matches([labels[label]], [curve])]
        return "; ".join(f"{label!r}: {labels[label]:.9g} want {known[label].value:.9g}" for label in wrong[:3])
    values, wanted = sorted(value for _, value in got), sorted(want, key=lambda curve: curve.value)
    if matches(values, wanted):
        return f"labels {sorted(labels)[:4]} want {sorted(known)[:4]}"
    return (f"{len(got)} curves want {len(want)}: {sorted(got)[:3]} want "
            f"{[(curve.label, curve.value) for curve in sorted(want)[:3]]}")


class PanelRun:
    """All dashboards at one store."""

    def __init__(self, store, truth, moments, services):
        self.store, self.truth, self.moments, self.services = store, truth, moments, services
        self.language = getattr(languages, store.language)
        self.counts = {}

    def all(self):
        titles = {dashboard.uid: dashboard.title for dashboard in DASHBOARDS}
        for dashboard in DASHBOARDS:
            counts = self.counts[dashboard.title] = PanelCounts()
            drawn = list(panels_of(dashboard_json(dashboard, self.language, titles)))
            panels = [(row, panel) for row, many in dashboard.rows for panel in many]
            if [one["title"] for one in drawn] != [panel.title for _, panel in panels]:
                raise ValueError(f"{dashboard.title}: the file for Grafana has other panels")
            for members, (row, panel) in zip(drawn, panels):
                self._panel(members, panel, f"{dashboard.title}, {row}, {panel.title}", counts)
        return self.counts

    def _panel(self, members, panel, name, counts):
        """members: as Grafana has them"""
        renames = [(one["options"]["regex"].strip("/"), one["options"]["renamePattern"])
                   for one in members.get("transformations", ()) if one["id"] == "renameByRegex"]
        curves = [self._target(target, query, renames, f"{name}: {target.file} {target.source}", counts)
                  for target, query in zip(panel.targets, members["targets"], strict=True)]
        counts.panels += 1
        counts.curves += sum(curves)
        if not any(curves):
            counts.empty.append(name)

    def _target(self, target, query, renames, name, counts):
        """How many curves were compared. That of a service is asked for each."""
        services = self.services if target.subject == SERVICE else self.services[:1]
        curves = sum(self._compare(target, query, renames, service, name, counts) for service in services)
        counts.queries += 1
        if not curves:
            counts.silent.append(name)
        return curves

    def _compare(self, target, query, renames, service, name, counts):
        """At each moment; the number of curves at the one with most."""
        try:
            values = self.store.values(query, self.moments, service)
        except Refused as error:
            counts.different.append(f"{name} ({service}): {error}")
            return 0
        for moment, got in values.items():
            want = self.truth.curves(target, service, self.store.view, moment)
            said = difference([(shown_label(label, renames), value) for label, value in got], want)
            if said:
                counts.different.append(f"{name} ({service}, {moment:.3f}): {said}")
                break
        return max(map(len, values.values()))


def shown_label(label, renames):
    """As Grafana shows it. renames: [(expression, replacement), ...]"""
    for expression, replacement in renames:
        label = re.sub(expression, re.sub(r"\$(\d)", r"\\\1", replacement), label)
    return label


def panels_of(members):
    """The panels in a dashboard's JSON, without its rows."""
    for panel in members.get("panels", ()):
        if panel["type"] != "row":
            yield panel
        yield from panels_of(panel)


def reason_for(name, reasons):
    return next((reason for pattern, reason in reasons.items() if fnmatch.fnmatch(name, pattern)), None)


def without_reason(names, reasons):
    return [name for name in names if not reason_for(name, reasons)]


def report_panels(test, store, counts, reasons):
    """Decides, and adds a row for each dashboard."""
    for title, one in counts.items():
        name = f"{store}, {title}"
        empty, silent = without_reason(one.empty, reasons), without_reason(one.silent, reasons)
        test.within(f"{name}: curves that were compared", one.curves, one.panels, math.inf)
        if one.different[SHOWN:]:
            print("\n".join(one.different[SHOWN:]))
        test.equal(f"{name}: what is different", one.different[:SHOWN], [])
        test.equal(f"{name}: panels without data", empty, [])
        test.equal(f"{name}: queries without data", silent, [])
        got = f"{one.panels} panels, {one.queries} queries, {one.curves:,} curves, {len(one.different)} different"
        for reason, excused in excuses(one.empty, reasons):
            got += f"; {excused} panels without data: {reason}"
        rows.add(name, got, "all as in csv", rows.judge(not (one.different or empty or silent)))


def excuses(names, reasons):
    """[(reason, number of names), ...]"""
    return sorted(collections.Counter(filter(None, (reason_for(name, reasons) for name in names))).items())

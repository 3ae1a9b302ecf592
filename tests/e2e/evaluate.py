# SPDX-License-Identifier: MIT
"""What the curves of a dashboard must show, computed from what the csv plugin has written, without any store's query.

Series: {(subject, TYPE[-INSTANCE]): [(time, value of each data source, ...), ...]}; a target: see contrib/lib/query.py.
"""

import math
import os
import re
import sys
from typing import NamedTuple

from e2e import TOP, read_types

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import series as catalogue  # noqa: E402
from name import parent, varying  # noqa: E402
from query import EACH, SERVICE  # noqa: E402

PERCENTILE = "-percentile-*"
STATISTICS = {"integer": ("",), "moments": ("-average", "-cv", "-variance", "-frequency", "-samples"),
              "histogram": ("-average", PERCENTILE, *(f"-percentile-{percent}" for percent in (50, 90, 95, 99, 99.9)))}
PATTERNS = {file + statistic for _, _, many in catalogue.PROBES for file, kind, *_ in many for statistic in STATISTICS[kind]}
# Probes, each with the series that it has for services and, under its own name, for the machine.
MACHINE = {probe: [file for file, *_, rows in many if {"service", "probe"} <= set(rows)] for _, probe, many in catalogue.PROBES}
LOOKBACK = 300          # s
PRECISION = 5.1e-7      # of csv's values, of which six decimals are written


class Curve(NamedTuple):
    label: str
    value: float
    slack: float    # by which a store's value may be different, as csv's values are rounded


class Scraped:
    """At Prometheus: values keep their times; the newest one counts, unless it is too old. A rate is that of the values in the
    window before the moment."""
    slack = 0   # relative, of rates

    def __init__(self, window):
        """window: s"""
        self.window = window

    @staticmethod
    def gauge(rows, moment):
        found = [value for stamp, value in rows if moment - LOOKBACK < stamp <= moment]
        return found[-1] if found and not math.isnan(found[-1]) else None

    def rate(self, rows, moment):
        within = [row for row in rows if moment - self.window <= row[0] <= moment]
        if len(within) < 2:
            return None
        (begin, first), (end, last) = within[0], within[-1]
        return (last - first) * self._extrapolated(within, last - first, moment) / (end - begin) / self.window

    def _extrapolated(self, within, growth, moment):
        """The time to which the growth is extrapolated: to an end of the window that is not far, and not below 0."""
        (begin, first), end = within[0], within[-1][0]
        step = (end - begin) / (len(within) - 1)
        before, after = begin - (moment - self.window), moment - end
        if growth > 0 and first >= 0:
            before = min(before, (end - begin) * first / growth)
        return (end - begin) + sum(gap if gap < 1.1 * step else step / 2 for gap in (before, after))


class ScrapedFurther(Scraped):
    """At VictoriaMetrics, which begins a rate with the last value before the window. Where values stay away, and where they are
    not a number, the value before counts for some time."""

    def __init__(self, window, lookback):
        """lookback: how long a value counts, s"""
        super().__init__(window)
        self.lookback = lookback

    def gauge(self, rows, moment):
        found = [value for stamp, value in rows if moment - self.lookback < stamp <= moment and not math.isnan(value)]
        return found[-1] if found else None

    def rate(self, rows, moment):
        within = [row for row in rows if moment - self.window - self.lookback < row[0] <= moment]
        before = [row for row in within if row[0] < moment - self.window]
        found = before[-1:] + [row for row in within if row[0] >= moment - self.window]
        return (found[-1][1] - found[0][1]) / (found[-1][0] - found[0][0]) if len(found) > 1 else None


class Rounded:
    """At Graphite: of each step the last value, at a time in whole seconds. What a rate or a sum needs is interpolated."""
    GAP = 30    # steps
    slack = 0

    def __init__(self, step):
        self.step = step

    def _steps(self, rows):
        return {math.floor(stamp + 0.5) // self.step: value for stamp, value in rows if not math.isnan(value)}

    def gauge(self, rows, moment):
        return self._steps(rows).get(moment // self.step)

    def interpolated(self, rows, moment):
        """The gauge where there is a sum."""
        return self._at(self._steps(rows), moment // self.step)

    def rate(self, rows, moment):
        steps = self._steps(rows)
        before, value = (self._at(steps, moment // self.step - ago) for ago in (1, 0))
        return None if before is None or value is None or value < before else (value - before) / self.step

    def _at(self, steps, number):
        if number in steps:
            return steps[number]
        before = max((one for one in steps if one < number), default=None)
        after = min((one for one in steps if one > number), default=None)
        if before is None or after is None or after - before > self.GAP:
            return None
        return steps[before] + (steps[after] - steps[before]) * (number - before) / (after - before)


class Grouped:
    """At InfluxDB: times as they are; of each step the mean of the values, or of the rates to their neighbours, whose
    times csv has in milliseconds."""
    slack = 1e-3

    def __init__(self, step):
        self.step = step

    def _mean(self, points, moment):
        within = [value for stamp, value in points if stamp // self.step == moment // self.step and not math.isnan(value)]
        return sum(within) / len(within) if within else None

    def gauge(self, rows, moment):
        return self._mean(rows, moment)

    def rate(self, rows, moment):
        return self._mean([(end, (last - first) / (end - begin)) for (begin, first), (end, last) in zip(rows, rows[1:])
                           if last >= first], moment)


class Truth:
    """The curves of targets at a moment."""

    def __init__(self, series, host):
        self.series, self.host, self.types = series, host, read_types()
        self.subjects = {subject for subject, _ in series}

    def curves(self, target, service, view, moment):
        """[Curve, ...] view: Scraped, Rounded or Grouped"""
        groups = {}
        for (subject, file), rows in self._selected(target, service).items():
            value, slack = self._value(target, rows, view, moment)
            if value is not None:
                groups.setdefault(self._group(target, subject, file), []).append((value, slack))
        return [self._curve(target, group, found) for group, found in sorted(groups.items())]

    def _selected(self, target, service):
        """{(subject, file): [(time, value), ...]}"""
        sources = [name for name, _ in self.types[target.file.partition("-")[0]]]
        if target.source not in sources:
            return {}
        column = 1 + sources.index(target.source)
        return {(subject, file): [(row[0], row[column]) for row in rows] for (subject, file), rows in self.series.items()
                if self._is_of(target.subject, subject, file, service) and is_requested(target, file)}

    def _is_of(self, wanted, subject, file, service):
        if wanted == EACH:
            return parent(subject, self.subjects) == subject and not is_machine(subject, file)
        return subject == (service if wanted == SERVICE else wanted)

    @staticmethod
    def _value(target, rows, view, moment):
        if target.counted:
            rate = view.rate(rows, moment)
            return (None, 0) if rate is None else (rate * target.scale, view.slack * abs(rate * target.scale))
        value = (view.interpolated if target.by and hasattr(view, "interpolated") else view.gauge)(rows, moment)
        return (None if value is None else value * target.scale), PRECISION * abs(target.scale)

    def _group(self, target, subject, file):
        """What the series of a curve have in common."""
        of = {"host": self.host, "service": subject, "key": varying(target.file, file)}
        if target.by:
            return tuple(of[one] for one in target.by)
        return subject, of["key"]

    def _curve(self, target, group, found):
        values = [value for value, _ in found]
        if target.by:
            value = {"sum": sum, "max": max, "min": min}[target.how](values)
            return Curve(" ".join(group), value, sum(slack for _, slack in found))
        subject, key = group
        keys = ([subject] if target.subject == EACH else []) + ([key] if key else [])
        return Curve(target.label.replace("*", " ".join(keys) or self.host), *found[0])


def is_machine(subject, file):
    """Whether it is the whole of what services have, too."""
    return any(file == own or file.startswith(own + "-") for own in MACHINE.get(subject, ()))


def is_requested(target, file):
    """Whether the target's `*` may stand for this."""
    key = varying(target.file, file)
    if key is None or key in target.without or target.only and key not in target.only:
        return False
    if target.file.endswith(PERCENTILE):
        return re.fullmatch(r"\d+(\.\d+)?", key) is not None
    return not ("*" in target.file and target.file in PATTERNS and has_own(target.file, file))


def has_own(pattern, file):
    """Whether the catalogue has a more exact pattern for this file."""
    return any(varying(other, file) is not None and varying(pattern, other) is not None for other in PATTERNS - {pattern})

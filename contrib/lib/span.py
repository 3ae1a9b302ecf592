# SPDX-License-Identifier: MIT
"""The spans of time that pages offer, and the levels of detail that they are drawn from: all end at one time."""

import collections
import math

import rrd

SECONDS = {"10min": 600, "hour": 3600, "6hours": 6 * 3600, "day": 86400, "week": 7 * 86400, "month": 31 * 86400,
           "year": 366 * 86400}
TITLES = {"10min": "10 minutes", "6hours": "6 hours"}
# A span without data of its own is a part of this level, which has the same steps.
LEVELS = {"10min": "hour", "6hours": "day"}
OPEN = "hour"   # the span that is open at first
SHORTEST = 10   # seconds of a level
PASSES = 5      # requests for the first value at most, each with a finer step than the one before

# level: the name of the span whose data it is drawn from, perhaps its own
Span = collections.namedtuple("Span", "name title start end level")
Sample = collections.namedtuple("Sample", "path source")    # a file of a service, for the time of its first value


def last(name, end):
    return Span(name, TITLES.get(name, name), end - SECONDS[name], end, LEVELS.get(name, name))


def only(start, end):
    """The one span from start to end."""
    return Span("span", "", start, end, "span")


def opened(spans):
    """The one that is open at first."""
    return next((one for one in spans if one.name == OPEN), spans[0])


def levels(spans, first=0):
    """The levels of these spans, each as a span of its own that starts no earlier than the first reading: so the first minutes are
    shown as exactly as they are stored."""
    names = dict.fromkeys(span.level for span in spans)
    found = [next((span for span in spans if span.name == name), None) or last(name, spans[0].end) for name in names]
    return [level._replace(start=max(level.start, min(first, level.end - SHORTEST))) for level in found]


def _first_of(samples, start, end):
    """(moment, step, sample) of the first value in any of the samples; None if there is none."""
    found = []
    for sample in samples:
        grid, (values,) = rrd.read([(sample.path, sample.source, "AVERAGE")], start, end)
        index = next((index for index, value in enumerate(values) if not math.isnan(value)), None)
        if index is not None:
            found.append((grid.first + index * grid.step, grid.step, sample))
    return min(found, key=lambda one: one[0], default=None)


def first_reading(samples, end):
    """The time of the first value of a year, as exactly as it is stored; `end` without values."""
    # What is younger than a step of a coarse archive is in the finer ones only.
    each = [_first_of(samples, end - SECONDS[name], end) for name in SECONDS if name not in LEVELS]
    found = min((one for one in each if one), key=lambda one: one[0], default=None)
    if not found:
        return end
    start = end - SECONDS["year"]
    for _ in range(PASSES):
        moment, step, sample = found
        finer = _first_of([sample], max(start, moment - 2 * step), end)
        if not finer or finer[1] >= step:
            break
        found = finer
    # A value is of the step before its time.
    return found[0] - found[1]


def known(end, first):
    """All spans from the shortest to the first that has all readings. Longer ones would show the same."""
    spans = [last(name, end) for name in SECONDS]
    count = next((count for count, span in enumerate(spans, 1) if span.start <= first), len(spans))
    return spans[:count]

# SPDX-License-Identifier: MIT
"""The spans of time that pages show: all end at one time and start no earlier than the first reading."""

import collections
import dataclasses
import math

import rrd

SECONDS = {"10min": 600, "hour": 3600, "6hours": 6 * 3600, "day": 86400, "week": 7 * 86400, "month": 31 * 86400,
           "year": 366 * 86400}
# The identifiers of spans whose names cannot be an HTML id, and their titles.
NAMES = {"10min": ("minutes", "10 minutes"), "6hours": ("hours", "6 hours")}
USUAL = ("hour", "day", "week")
WHOLE = 0.9     # the part of a span with values from which on the span is not shortened
PASSES = 5       # requests for the first value at most, each with a finer step than the one before
UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))

Span = collections.namedtuple("Span", "name title start end")


@dataclasses.dataclass(frozen=True)
class Sample:
    """A file of a service, for the time of its first value."""
    path: str
    source: str


def last(name, end):
    own, title = NAMES.get(name, (name, name))
    return Span(own, f"Last {title}", end - SECONDS[name], end)


def in_words(seconds):
    """In the largest unit of which there are at least two, or exactly one."""
    size, name = next((size, name) for size, name in UNITS if seconds >= 2 * size or size == 1)
    count = round(seconds / size)
    return f"{count} {name}s" if count != 1 else name


def _first_of(samples, start, end):
    """(moment, step) of the first value in any of the samples; None if there is none."""
    found = []
    for sample in samples:
        grid, (values,) = rrd.read([(sample.path, sample.source, "AVERAGE")], start, end)
        index = next((index for index, value in enumerate(values) if not math.isnan(value)), None)
        if index is not None:
            found.append((grid.first + index * grid.step, grid.step, sample))
    return min(found, key=lambda one: one[0], default=None)


def _first_reading(found, start, end):
    """The time of the first value, as exactly as it is stored. found: (moment, step) of a request for all of this time"""
    for _ in range(PASSES):
        moment, step, sample = found
        start = max(start, moment - 2 * step)
        finer = _first_of([sample], start, end)
        if not finer or finer[1] >= step:
            break
        found = finer
    # A value is of the step before its time.
    return found[0] - found[1]


def known(spans, samples):
    """The spans that show different times, from the shortest. The first span that starts before all readings is shortened to
    start with the first reading, and longer ones are left out. Gaps between readings do not matter."""
    shown = []
    for span in spans:
        found = _first_of(samples, span.start, span.end)
        if found and span.end - found[0] + found[1] < WHOLE * (span.end - span.start):
            first = _first_reading(found, span.start, span.end)
            earliest = _first_of(samples, spans[-1].start, span.end)
            if not earliest or earliest[0] > first:
                return shown + [span._replace(title=f"First {in_words(span.end - first)}", start=first)]
        shown.append(span)
    return shown

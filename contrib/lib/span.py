# SPDX-License-Identifier: MIT
"""Spans of time that pages show: up to one end, and no further back than there are readings."""

import collections
import dataclasses
import math

import rrd

SECONDS = {"10min": 600, "hour": 3600, "6hours": 6 * 3600, "day": 86400, "week": 7 * 86400, "month": 31 * 86400,
           "year": 366 * 86400}
# What pages call those whose names are none of an element, and what they are called there.
NAMES = {"10min": ("minutes", "10 minutes"), "6hours": ("hours", "6 hours")}
USUAL = ("hour", "day", "week")
WHOLE = 0.9     # of a span: what is known for longer is shown as it is
LOOKS = 5       # at most, each finer than the one before
UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))

Span = collections.namedtuple("Span", "name title start end")


@dataclasses.dataclass(frozen=True)
class Sample:
    """A file of each service, as far as it is asked for its first value."""
    path: str
    source: str


def last(name, end):
    own, title = NAMES.get(name, (name, name))
    return Span(own, f"Last {title}", end - SECONDS[name], end)


def in_words(seconds):
    """Of the largest unit that there are two of, or one that fits."""
    size, name = next((size, name) for size, name in UNITS if seconds >= 2 * size or size == 1)
    count = round(seconds / size)
    return f"{count} {name}s" if count != 1 else name


def _first_of(samples, start, end):
    """(moment, its step) of the first value of all; None: there is none."""
    found = []
    for sample in samples:
        grid, (values,) = rrd.read([(sample.path, sample.source, "AVERAGE")], start, end)
        place = next((place for place, value in enumerate(values) if not math.isnan(value)), None)
        if place is not None:
            found.append((grid.first + place * grid.step, grid.step, sample))
    return min(found, key=lambda one: one[0], default=None)


def _first_reading(found, start, end):
    """When the first value is of, as exactly as it is stored. found: by a look at all of this time"""
    for _ in range(LOOKS):
        moment, step, sample = found
        start = max(start, moment - 2 * step)
        finer = _first_of([sample], start, end)
        if not finer or finer[1] >= step:
            break
        found = finer
    # Each value is about the step before it.
    return found[0] - found[1]


def known(spans, samples):
    """As many of them as differ, from the shortest: the first that reaches back to before all readings begins with the first
    one, and is the last. A gap is no such time."""
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

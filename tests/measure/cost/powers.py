# SPDX-License-Identifier: MIT
"""Histograms by powers of two: of programs of libbpf-tools as they print them, and of this plugin's series."""

import math
import re

UNITS = {"nsecs": 1e-9, "usecs": 1e-6, "msecs": 1e-3}
HEADING = re.compile(r"^\s*(\w+)\s+: count\s+distribution")
LINE = re.compile(r"^\s*(\d+) -> (\d+)\s+: (\d+)\s*\|")
NUMBER = r"\d[\d.]*(?:e[-+]\d+)?"
SERIES = re.compile(rf"^bucket-(.*?)-({NUMBER})_({NUMBER}|inf)$")


class Powers:
    """How many values are from each lower bound to the next, in seconds."""

    def __init__(self):
        self.counts = {}  # {(lower, upper): count}

    def add(self, lower, upper, count):
        self.counts[lower, upper] = self.counts.get((lower, upper), 0) + count

    def total(self):
        return sum(self.counts.values())

    def share(self, lower, upper):
        """Within a bucket values are as dense everywhere by their logarithm."""
        within = sum(count * _overlap(bucket, (lower, upper)) for bucket, count in self.counts.items())
        return within / (self.total() or 1)


def _overlap(bucket, span):
    """Which part of a bucket is in a span."""
    (low, high), (begin, end) = bucket, span
    begin, end = max(low, begin), min(high, end)
    if begin >= end:
        return 0
    if low == 0 or math.isinf(high):
        return 1 if (begin, end) == bucket else 0.5
    return math.log(end / begin) / math.log(high / low)


def printed(text, title):
    """All histograms of this output under a line that has the pattern in it, together; all there are: pattern ''."""
    powers, above, unit = Powers(), "", None
    for line in text.splitlines():
        heading, bucket = HEADING.match(line), LINE.match(line)
        if heading:
            unit = UNITS[heading.group(1)] if re.search(title, above) else None
        elif bucket and unit:
            lower, upper, count = map(int, bucket.groups())
            powers.add(lower * unit, (upper + 1) * unit, count)
        elif line.strip():
            above = line
    return powers


def dispatched(powers, found, instance):
    """Adds those of a subject's series, {series: [count, ...]}."""
    for name, counts in found.items():
        bucket = SERIES.match(name)
        if bucket and re.fullmatch(instance, bucket.group(1)):
            powers.add(float(bucket.group(2)), float(bucket.group(3)), sum(counts))


def differences(ours, theirs):
    """[(lower, upper, share, share)] by the buckets of the second."""
    return [(lower, upper, ours.share(lower, upper), theirs.share(lower, upper))
            for lower, upper in sorted(theirs.counts)]

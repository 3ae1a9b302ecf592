# SPDX-License-Identifier: MIT
"""Values of series from a bpftrace map: the sum of its growth from one print to the next, or its current values.

A figure gets each print of its map, a dictionary from keys to values, and gives its values once in an interval.
"""

import math

import trace_name
from trace_program import INCREMENT, PLAIN

ROWS = 256              # names of a map, at most
KEYS = 65536            # keys that are stored of a map of which only some rows are printed
COUNTER_END = 2 ** 63
PERCENTILES = (50, 95, 99)
WITHOUT_KEY = None


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class Figure:
    """title: the map's name in its series; "" for the map without a name."""

    def __init__(self, title, type_, scale=1):
        self.title, self.type, self.scale = title, type_, scale
        self.room = trace_name.Room(ROWS)

    def name_of(self, key):
        return "" if key is WITHOUT_KEY else self.room.find(trace_name.of_key(key), self.leave)

    @staticmethod
    def is_row(value):
        """Whether it is the value of a map without keys, not the rows of a map with keys."""
        return not isinstance(value, dict)

    def tick(self, seconds):
        """Ends an interval of so many seconds. Returns its [(type, type instance, value), ...]."""
        self.room.now += 1
        found = [(type_, "-".join(filter(None, (self.title, name, statistic))), value)
                 for name in self.names() for type_, statistic, value in self.values(name, seconds)]
        self.begin()
        return found


class Gauge(Figure):
    """min(), max() and plain values: current values. They cannot be added up, so rows for which there is no room are left out."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.now = {}
        self.stays = False      # the program prints the map itself, at its own times

    def record(self, rows):
        self.now = {}
        for key, value in reversed(rows.items()):
            name = self.name_of(key) if is_number(value) else trace_name.OTHER
            if name != trace_name.OTHER:
                self.now[name] = value

    def leave(self, name):
        self.now.pop(name, None)

    def forget(self):
        self.now = {}

    def begin(self):
        self.now = self.now if self.stays else {}

    def names(self):
        return list(self.now)

    def values(self, name, _seconds):
        return [(self.type, "", self.now[name] * self.scale)]


class Growth(Figure):
    """Growth is added up in parts: {part: number}."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.before = {}        # key -> parts at the last print
        self.total = {}         # name -> parts since the start
        self.fresh = {}         # name -> parts in this interval
        self.restarts = False    # the program clears the map after each print
        self.is_partial = False     # the program prints only some rows of it

    def record(self, rows):
        now = {}
        for key, value in reversed(rows.items()):
            parts = self.parse(value)
            if parts:
                now[key] = parts
                self.add(key, self._grown(parts, self.before.get(key, {})))
        if self.is_partial and len(self.before) < KEYS:
            now = {**self.before, **now}
        self.before = {} if self.restarts else now

    def _grown(self, parts, before):
        """The growth since `before`. If the map was cleared meanwhile, all of `parts`."""
        if any(parts.get(part, 0) < before[part] for part in before if part not in self.SIGNED):
            before = {}
        return {part: number - before.get(part, 0) for part, number in parts.items()}

    def add(self, key, grown):
        if key is not WITHOUT_KEY and not any(grown.values()) and not self.room.has(trace_name.of_key(key)):
            return
        name = self.name_of(key)
        for parts in (self.total.setdefault(name, {}), self.fresh.setdefault(name, {})):
            for part, number in grown.items():
                parts[part] = parts.get(part, 0) + number

    def leave(self, name):
        self.total.pop(name, None)
        self.fresh.pop(name, None)

    def forget(self):
        """bpftrace was restarted with empty maps. The totals continue."""
        self.before = {}

    def begin(self):
        self.fresh = {}

    def names(self):
        return list(self.total)


class Counter(Growth):
    """count(), sum() and ++."""

    SIGNED = ()

    @staticmethod
    def parse(value):
        return {"": value} if is_number(value) and value >= 0 else None

    def values(self, name, _seconds):
        return [(self.type, "", int(self.total[name][""] * self.scale) % COUNTER_END)]


class Average(Growth):
    """avg() and, with number and sum, stats()."""

    SIGNED = ("total",)
    with_totals = False

    @classmethod
    def is_row(cls, value):
        return not isinstance(value, dict) or cls.parse(value) is not None

    @staticmethod
    def parse(value):
        fine = isinstance(value, dict) and all(is_number(value.get(part)) for part in ("count", "total"))
        return {part: value[part] for part in ("count", "total")} if fine and value["count"] >= 0 else None

    def values(self, name, _seconds):
        fresh, total = self.fresh.get(name, {}), self.total[name]
        average = fresh["total"] / fresh["count"] * self.scale if fresh.get("count") else math.nan
        return [(self.type, "average", average)] + ([
            ("derive", "count", int(total["count"])),
            ("derive", "total", int(total["total"] * self.scale))] if self.with_totals else [])


class Stats(Average):
    with_totals = True


class Histogram(Growth):
    """hist() and lhist(): parts are buckets, (lowest, highest), with None where there is no bound."""

    SIGNED = ()
    percentiles = PERCENTILES
    with_buckets = False

    @staticmethod
    def parse(value):
        if not isinstance(value, list):
            return None
        return {(one.get("min"), one.get("max")): one["count"] for one in value
                if isinstance(one, dict) and is_number(one.get("count")) and one["count"] >= 0
                and any(is_number(one.get(end)) for end in ("min", "max"))
                and all(one.get(end) is None or is_number(one[end]) for end in ("min", "max"))}

    def percentile(self, buckets, percent):
        """A percentile, if samples are spread evenly within a bucket. In a bucket with one bound they are at that bound."""
        wanted = sum(count for _, count in buckets) * percent / 100
        for (low, high), count in buckets:
            if count and wanted <= count:
                low, high = low if low is not None else high, high if high is not None else low
                # The bucket of integers 128 to 255 ends at 256.
                return low + (high + (high > low) - low) * wanted / count
            wanted -= count
        return math.nan

    def values(self, name, seconds):
        buckets = sorted(self.fresh.get(name, {}).items(), key=lowest)
        found = [(self.type, f"percentile-{percent:g}", self.percentile(buckets, percent) * self.scale)
                 for percent in self.percentiles]
        found.append(("derive", "count", sum(self.total[name].values())))
        if self.with_buckets:
            found += [("bucket", bounds(part, self.scale), self.fresh.get(name, {}).get(part, 0) / seconds)
                      for part in self.total[name]]
        return found


def lowest(bucket):
    """The sort key of a bucket; one without a lower bound comes first."""
    low = bucket[0][0]
    return -math.inf if low is None else low


def bounds(part, scale):
    """(start, end) of a bucket. The end is the start of the next bucket, or inf."""
    low, high = part
    begin = "-inf" if low is None else f"{low * scale:.6g}"
    return f"{begin}_inf" if high is None else f"{begin}_{(high + 1) * scale:.6g}"


KINDS = {"count": Counter, "sum": Counter, INCREMENT: Counter, "avg": Average, "stats": Stats, "hist": Histogram,
         "lhist": Histogram, "min": Gauge, "max": Gauge, PLAIN: Gauge}


def counts(kind):
    return KINDS[kind] is Counter


def may_count(kind):
    """Whether it is a number that fits a counter or gauge, depending on the type."""
    return counts(kind) or kind == PLAIN


def make(kind, title, type_, is_counter, scale):
    """is_counter: whether the type is a counter in types.db"""
    figure = (Counter if is_counter else Gauge) if may_count(kind) else KINDS[kind]
    return figure(title, type_, scale)

# SPDX-License-Identifier: MIT
"""RRD files, against what was dispatched to them."""

import itertools
import math
import os

import receiver
import rrd
import truth


def path_of(tree, daemon, subject, metric, _source=None):
    return os.path.join(tree, daemon.host, f"ebpf-{subject}", metric + ".rrd")


NOTHING = (math.inf, -math.inf)


def pieces(kind, rows, lost=NOTHING):
    """(begin, end, value), ...: what the time between two readings counts with, unless one may be lost.

    rows: (time as rounded, value, time that was dispatched), ... Which may be lost is told by what was dispatched.
    """
    for (begin, before, first), (end, after, second) in zip(rows, rows[1:]):
        if kind == "DERIVE":
            value = (after - before) / (end - begin) if after >= before else math.nan
        else:
            value = after
        if not math.isnan(value) and (second <= lost[0] or first > lost[1]):
            yield begin, end, value


def expected(kind, rows, step, lost):
    """{end of step: mean value over it}, of the steps that are known wholly. Steps that end between two readings, where one is
    missing, are left out: RRD gives them one value, the mean of them all."""
    known, total, mixed = {}, {}, set()
    for begin, end, value in pieces(kind, rows, lost):
        stops = range(int(begin) // step * step + step, math.ceil(end) + step, step)
        for stop in stops:
            seconds = min(end, stop) - max(begin, stop - step)
            if seconds > 0:
                known[stop] = known.get(stop, 0) + seconds
                total[stop] = total.get(stop, 0) + seconds * value
        ended = [stop for stop in stops if stop <= end]
        mixed.update(ended if len(ended) > 1 else ())
    return {stop: total[stop] / step for stop, seconds in known.items() if abs(seconds - step) < 1e-3 and stop not in mixed}


class Clock:
    """How a plugin rounds its times.

    The csv plugin has milliseconds of them: early and late are the times that may be meant.
    """

    def __init__(self, early, late):
        self.early, self.late = early, late

    def ways(self, rows):
        """The rows as pieces() takes them, with the times that may be meant: of any four readings, which is what a step is
        about at most, in all combinations. RRD refuses a row that is not later than the one before."""
        ways = {tuple(choice[i % 4](stamp) for i, (stamp, _) in enumerate(rows))
                for choice in itertools.product((self.early, self.late), repeat=4)}
        return [[(rounded, value, stamp) for i, (rounded, (stamp, value)) in enumerate(zip(way, rows))
                 if i == 0 or rounded > way[i - 1]] for way in ways]

    def expected(self, kind, rows, step, lost):
        """{end of step: (lowest, highest)}, of the steps that are known in all ways."""
        first, *others = (expected(kind, way, step, lost) for way in self.ways(rows))
        return {stop: (min(found), max(found)) for stop, value in first.items()
                if None not in (found := [value, *(other.get(stop) for other in others)])}


# The rrdtool plugin knows whole seconds, the rrdcached plugin six decimals.
WHOLE = Clock(lambda stamp: round(stamp - 0.0006), lambda stamp: round(stamp + 0.0006))
FINE = Clock(lambda stamp: stamp - 0.0006, lambda stamp: stamp + 0.0006)


def is_between(got, low, high):
    slack = 1e-6 * max(1, abs(low), abs(high))
    return low - slack <= got <= high + slack


def compare(test, what, daemon, tree, clock, span, lost=NOTHING, environment=None):
    """Each step of the span, except those that need what may be lost, is what was dispatched; none is missing."""
    wrong, missing, count = [], [], 0
    begin, end = span
    dispatched = receiver.dispatched(daemon)
    files = rrd.fetch([path_of(tree, daemon, *name) for name in dispatched], begin, end, environment=environment)
    for (subject, metric, source), (kind, rows) in dispatched.items():
        stored = files[path_of(tree, daemon, subject, metric)]
        for stop, want in clock.expected(kind, rows, daemon.interval, lost).items():
            if stop - daemon.interval < begin or stop > end:
                continue
            got = stored.get(source, {}).get(stop)
            if got is None:
                missing.append((subject, metric, source, stop))
            elif not is_between(got, *want):
                wrong.append((subject, metric, source, stop, got, want))
                print(f"     {what}, {subject}/{metric}: dispatched {rows}, stored {stored[source]}, lost {lost}")
            count += 1
    # They are some 400 or more. Where readings are at half a second, whole seconds may mean either, and there may be none.
    stamps = [stamp for _, rows in dispatched.values() for stamp, _ in rows]
    halves = sum(abs(stamp % 1 - 0.5) < 0.002 for stamp in stamps)
    test.within(f"{what}: steps compared", count, 100 if halves < len(stamps) / 4 else 0, math.inf)
    test.equal(f"{what}: steps that differ", wrong[:3], [])
    test.equal(f"{what}: steps that are missing", missing[:3], [])


def check_growth(test, what, daemon, tree, clock, span, environment=None):
    """A counter's growth over the span, gaps and all. At its ends it hangs on the times of the readings there."""
    step = daemon.interval
    rows = daemon.rows("web", "total_requests")
    begin, end = max(span[0], rows[0][0] + 1), min(span[1], rows[-1][0] - 1)
    path = path_of(tree, daemon, "web", "total_requests")
    stored = rrd.fetch([path], begin, end, environment=environment)[path]
    steps = {stop: value for stop, value in stored["value"].items() if stop - step >= begin and stop <= end}
    unknown = [stop for stop in range(min(steps), max(steps), step) if stop not in steps]
    test.equal(f"{what}: unknown steps", unknown, [])
    curves = [truth.Curve(*list(zip(*way))[:2]) for way in clock.ways(rows)]
    firsts, lasts = ([curve.at(moment) for curve in curves] for moment in (min(steps) - step, max(steps)))
    test.within(f"{what}: requests", sum(steps.values()) * step,
                0.98 * (min(lasts) - max(firsts)), 1.02 * (max(lasts) - min(firsts)))

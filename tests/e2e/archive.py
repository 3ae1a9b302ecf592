# SPDX-License-Identifier: MIT
"""RRD files, against what was dispatched to them."""

import math
import os
import subprocess

import receiver


def fetch(path, begin, end, environment=None):
    """{data source: {end of step: value}, ...}, and the step; unknown steps are left out."""
    out = subprocess.run(["rrdtool", "fetch", path, "AVERAGE", "--start", str(int(begin)), "--end", str(int(end))],
                         capture_output=True, text=True, check=True,
                         env={**os.environ, **(environment or {})}).stdout.splitlines()
    rows = [(int(stamp), list(map(float, values.split()))) for stamp, values in (line.split(":") for line in out[2:])]
    return {source: {stamp: values[i] for stamp, values in rows if not math.isnan(values[i])}
            for i, source in enumerate(out[0].split())}, rows[1][0] - rows[0][0]


def pieces(kind, rows):
    """[(begin, end, value), ...]: what the time between two readings counts with."""
    for (begin, before), (end, after) in zip(rows, rows[1:]):
        if kind == "DERIVE":
            value = (after - before) / (end - begin) if after >= before else math.nan
        else:
            value = after
        if not math.isnan(value):
            yield begin, end, value


def expected(kind, rows, step):
    """{end of step: mean value over it}, of the steps that are known wholly."""
    known, total = {}, {}
    for begin, end, value in pieces(kind, rows):
        for stop in range(int(begin) // step * step + step, math.ceil(end) + step, step):
            seconds = min(end, stop) - max(begin, stop - step)
            if seconds > 0:
                known[stop] = known.get(stop, 0) + seconds
                total[stop] = total.get(stop, 0) + seconds * value
    return {stop: total[stop] / step for stop, seconds in known.items() if abs(seconds - step) < 1e-3}


def both(kind, rows, step, clocks):
    """The same by two readings of the clock, where they agree: the csv plugin rounds its times."""
    early, late = (expected(kind, [(clock(stamp), value) for stamp, value in rows], step) for clock in clocks)
    return {stop: value for stop, value in early.items() if math.isclose(value, late.get(stop, math.nan), rel_tol=0.01)}


# The rrdtool plugin knows whole seconds, the rrdcached plugin six decimals.
WHOLE = (lambda stamp: round(stamp - 0.0006), lambda stamp: round(stamp + 0.0006))
FINE = (lambda stamp: stamp, lambda stamp: stamp)


def compare(test, what, daemon, tree, clocks, span, lost=(math.inf, -math.inf), environment=None):
    """Each step of the span, except the lost ones, is what was dispatched; none is missing.

    Counters within a thousandth: csv's times have milliseconds.
    """
    wrong, missing, count = [], [], 0
    begin, end = span
    for (subject, metric, source), (kind, rows) in receiver.dispatched(daemon).items():
        path = os.path.join(tree, daemon.host, f"ebpf-{subject}", metric + ".rrd")
        if not os.path.exists(path):
            missing.append(path)
            continue
        stored, step = fetch(path, begin, end, environment)
        for stop, want in both(kind, rows, step, clocks).items():
            if stop - step < begin or stop > end or lost[0] <= stop <= lost[1] + step:
                continue
            got = stored[source].get(stop)
            if got is None:
                missing.append((subject, metric, source, stop))
            elif not math.isclose(got, want, rel_tol=2e-3, abs_tol=1e-6):
                wrong.append((subject, metric, source, stop, got, want))
            count += 1
    test.within(f"{what}: steps compared", count, 500, math.inf)
    test.equal(f"{what}: steps that differ", wrong[:3], [])
    test.equal(f"{what}: steps that are missing", missing[:3], [])


def check_growth(test, what, daemon, tree, span, environment=None):
    """A counter's growth over the span, gaps and all."""
    rows = daemon.rows("web", "total_requests")
    stored, step = fetch(os.path.join(tree, daemon.host, "ebpf-web", "total_requests.rrd"), *span, environment)
    steps = {stop: value for stop, value in stored["value"].items() if stop - step >= span[0] and stop <= span[1]}
    test.equal(f"{what}: unknown steps", [stop for stop in range(min(steps), max(steps), step) if stop not in steps], [])
    want = sum(value * max(0, min(end, max(steps)) - max(begin, min(steps) - step))
               for begin, end, value in pieces("DERIVE", rows))
    test.close(f"{what}: requests", sum(steps.values()) * step, want, rel=0.01)

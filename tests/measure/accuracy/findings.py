# SPDX-License-Identifier: MIT
"""The rows of docs/measured.md: of all services together, and of each one."""

import math

import rows
from analysis import CAPABLE, PERCENTILES, POLL_IDLE, PREDICTS, SCARCE, SLACK, WAITING, known
from measure import ARRIVALS
from statistic import Estimate

EXACT = 0.001
STRAIGHT = 0.9999
MOST = 0.9  # of the services, with each kind of arrivals
ERROR = 0.05
BESIDE = 0.9, 1.1
KNEE = "within a level of the client's knee"
CAPACITY = f"capacity at {100 * PREDICTS:.0f} % of the load"


def percent(value, digits=1):
    return f"{100 * value:.{digits}f} %"


def count(what, passed, wanted=MOST):
    """passed: whether each one has"""
    if passed:
        rows.add(what, f"{sum(passed)} of {len(passed)}", "all" if wanted == 1 else f"at least {percent(wanted, 0)}",
                 rows.judge(sum(passed) >= wanted * len(passed)))


def straight(what, values):
    worst = min(known(values), default=math.nan)
    rows.add(what, f"{worst:.6f}", f"at least {STRAIGHT}", rows.judge(worst >= STRAIGHT))


def error(what, errors, limit):
    """Median of errors without their signs."""
    errors = known(errors)
    if errors:
        found = Estimate(errors)
        rows.add(what, f"{percent(found.median)} [{percent(found.low)}, {percent(found.high)}]", f"at most {percent(limit, 0)}",
                 found.at_most(limit))


def exchanges(runs):
    worst = max(run.missed for run in runs)
    rows.add("exchanges, of the client's requests: largest error of a level", percent(worst, 4), f"at most {percent(EXACT)}",
             rows.judge(worst <= EXACT))
    straight("exchanges, against the client's rate: least R²", [run.r2_exchanges for run in runs])
    straight("RPS_obsv, against the client's rate: least R²", [run.r2_observed for run in runs])
    count("exchanges and bytes are those of the service's own log: levels", [level.agrees for level in logged(runs)], 1)


def logged(runs):
    return [level for run in runs for level in run.levels if level.server]


def saturation(runs):
    count(f"saturation shown {KNEE}", [run.recognized for run in runs])
    count(f"{SLACK} {KNEE}", [run.is_near_knee(SLACK) for run in runs])
    count(f"{POLL_IDLE} {KNEE}", [run.is_near_knee(POLL_IDLE) for run in runs if run.store.has("percent-poll_idle")])
    count(f"{SLACK} at the highest load", [run.levels[-1].figure("percent-slack") < SCARCE for run in runs], 1)


def capacity(runs):
    errors = [run.capacity_error for run in runs]
    worst = max(known(errors), key=abs, default=None)
    count(f"{CAPACITY}, within {percent(CAPABLE, 0)} of the maximum", [run.foretold for run in runs])
    error(f"{CAPACITY}: error", map(abs, errors), CAPABLE)
    if worst is not None:
        rows.add(f"{CAPACITY}: largest error", f"{100 * worst:+.1f} %", f"at most {percent(CAPABLE, 0)}",
                 rows.judge(abs(worst) <= CAPABLE))


def percentiles(runs):
    for p in PERCENTILES:
        error(f"service time {p}, against the service's own log: error",
              [abs(level.error("service", 2, p)) for level in logged(runs)], ERROR)


def between(estimate, low, high):
    """The verdict on a value that is wanted within these."""
    verdicts = estimate.at_least(low), estimate.at_most(high)
    return rows.judge(False) if rows.judge(False) in verdicts else max(verdicts, key=lambda verdict: verdict != rows.judge(True))


def response(runs):
    for arrivals in ARRIVALS:
        for p in ("p50", "p99"):
            ratios = known(run.beside_client(p) for run in runs if run.arrivals == arrivals)
            if ratios:
                found = Estimate(ratios)
                got = f"{found.median:.2f} [{found.low:.2f}, {found.high:.2f}], services {min(ratios):.2f} to {max(ratios):.2f}"
                rows.add(f"response {p}, divided by the client's, {arrivals}", got, "{} to {}".format(*BESIDE),
                         between(found, *BESIDE))


def distance(run):
    """By which the sooner of both signals is nearer to the knee."""
    distances = [levels for levels in map(run.from_knee, (SLACK, WAITING)) if levels is not None]
    return f"{run.arrivals} {min(distances, key=abs):+d}" if distances else f"{run.arrivals} not shown"


def service(name, runs):
    rows.add(f"{name}: saturation shown, levels above the client's knee", ", ".join(map(distance, runs)), "-1 to +1",
             rows.judge(all(run.recognized for run in runs)))
    rows.add(f"{name}: {CAPACITY}, error", ", ".join(f"{run.arrivals} {100 * run.capacity_error:+.1f} %" for run in runs),
             f"at most {percent(CAPABLE, 0)}", rows.judge(all(run.foretold for run in runs)))


def add(runs):
    telling = [run for run in runs if run.telling]
    exchanges(runs)
    if telling:
        saturation(telling)
        capacity(telling)
        response(telling)
    percentiles(runs)
    for name in dict.fromkeys(run.name for run in telling):
        service(name, [run for run in telling if run.name == name])

# SPDX-License-Identifier: MIT
"""The rows of docs/measured.md: of all services together, and of each one."""

import math

import rows
from analysis import CAPABLE, PERCENTILES, POLL_IDLE, PREDICTS, SCARCE, SLACK, known
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
    """passed: {name: whether it has}"""
    if passed:
        rows.add(what, rows.counted(passed), "all" if wanted == 1 else f"at least {percent(wanted, 0)}",
                 rows.judge(sum(passed.values()) >= wanted * len(passed)))


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
    count("exchanges and bytes are those of the service's own log: levels",
          {f"{level.run.name}, {level.run.where}, {percent(level.share, 0)}": level.agrees for level in logged(runs)}, 1)


def logged(runs):
    return [level for run in runs for level in run.levels if level.server]


def polling(runs):
    return [run for run in runs if run.store.has("percent-poll_idle")]


def saturation(runs):
    for signal, its_runs in ((SLACK, runs), (POLL_IDLE, polling(runs))):
        count(f"{signal} {KNEE}", {distance(run, signal, f"{run.name} {run.arrivals}"): run.is_near_knee(signal) for run in its_runs})
    count(f"{SLACK} at the highest load",
          {f"{run.name} {run.arrivals}": run.levels[-1].figure("percent-slack") < SCARCE for run in runs}, 1)


def capacity(runs):
    errors = [run.capacity_error for run in runs]
    worst = max(known(errors), key=abs, default=None)
    count(f"{CAPACITY}, within {percent(CAPABLE, 0)} of the maximum", {f"{run.name} {run.arrivals}": run.foretold for run in runs})
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


def distance(run, signal, name):
    """The name, and how far above the client's knee its signal is."""
    levels = run.from_knee(signal)
    return f"{name} not shown" if levels is None else f"{name} {levels:+d}"


def service(name, runs):
    for signal, its_runs in ((SLACK, runs), (POLL_IDLE, polling(runs))):
        if its_runs:
            shown = any(run.from_knee(signal) is not None for run in its_runs)
            rows.add(f"{name}: {signal}, levels above the client's knee",
                     ", ".join(distance(run, signal, run.arrivals) for run in its_runs) if shown else "not shown", "-1 to +1",
                     rows.judge(all(run.is_near_knee(signal) for run in its_runs)))
    rows.add(f"{name}: response p50 against the client's, error", ", ".join(
        f"{run.arrivals} {100 * run.beside_client('p50') - 100:+.0f} %" for run in runs))
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

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions that return in many ways, or do not: by an exception, a panic, longjmp(), the end of a thread, a tail call, on
another stack. A program ends as it does without the plugin, and each call is counted.

Truth: each program counts what it calls, what returns to it and what fails, and does the same twice.
"""

import json
import os
import re
import subprocess
import time

from lib import BUILD, SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
PATIENCE = 20 * SLOWNESS  # seconds
ROUNDS = 40 if SLOWNESS < 2 else 12
OFF = without("poll", "request", "process")
# By the program, and how its functions are called in the file.
PROGRAMS = {"returns": "", "throw": "", "panic": "", "goroutine": "main."}
COMPILERS = {"throw": "g++", "panic": "rustc", "goroutine": "go"}
# Returns of these cannot all be found.
CALLS_ONLY = {"handed", "unsized"}
CALLS_ONLY_TEXT = "counts only its calls"
# These may have their return addresses replaced: nothing unwinds through them.
REPLACED = {"several", "chilled", "unsized"}
FUNCTION = """
  <Function "{name}">
    Attach "uprobe:{path}:{symbol}"
    Latency true
    Errors "<" 0
    {more}
  </Function>
"""


def functions_of(result):
    return {name: value for name, value in result.items() if isinstance(value, list)}


def run(path, rounds=ROUNDS):
    """What it answers, and the status that it ends with."""
    done = subprocess.run([path], input=f"{rounds}\n", stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.strip(), done.returncode


def result_of(load):
    """Its line; empty where it has died."""
    return load.process.stdout.readline().strip()


def made(test):
    """The programs that there are, by their paths."""
    found = {}
    for name in PROGRAMS:
        if os.path.exists(os.path.join(BUILD, "tests", "kernel", "load_" + name)):
            found[name] = test.program(name, "kt_" + name)
        else:
            test.left_out(f"load_{name}", f"{COMPILERS.get(name, 'cc')} is not installed")
    return found


def block(name, path, symbol, more=""):
    return FUNCTION.format(name=name, path=path, symbol=symbol, more=more)


def configuration(paths, truth):
    services = "".join(f'<Service "{name}">\n  Process "kt_{name}"\n</Service>\n' for name in (*paths, "early"))
    blocks = "".join(block(function, paths[name], PROGRAMS[name] + function)
                     for name in paths for function in functions_of(truth[name]))
    blocks += "".join(block("replaced_" + function, paths["returns"], function, 'Returns "replace"')
                      for function in sorted(REPLACED))
    blocks += block("stated", paths["returns"], "several", 'Returns "instructions"')
    return f'{OFF}{services}<Probe "functions">\n  MaxOverhead 100\n{blocks}</Probe>\n'


def series(daemon, service, moment):
    """The last value of each series of functions that was read after this moment."""
    rows = {metric: daemon.rows(service, metric)[-1] for metric in daemon.metrics(service)
            if re.match(r"(total_operations-function|errors-function|latency-function|count-unreturned)-", metric)}
    return {metric: row[1] for metric, row in rows.items() if row[0] > moment}


def wanted(name, calls, returns, failed, calls_only):
    """Series of counts, by what the program says."""
    series_of = {f"total_operations-function-{name}": calls}
    if not calls_only:
        series_of |= {f"errors-function-{name}": failed, f"count-unreturned-{name}": calls - returns}
    return series_of


def compare(test, service, function, got, want, has_latency):
    counts = {metric: value for metric, value in got.items()
              if re.fullmatch(rf"(total_operations-function|errors-function|count-unreturned)-{function}", metric)}
    test.equal(f"{service}: {function}", counts, want)
    test.equal(f"{service}: latency of {function}", f"latency-function-{function}-average" in got, has_latency)


def compare_replaced(test, got, truth):
    """Those of load_returns."""
    for function in sorted(REPLACED):
        calls, _, failed = truth[function]
        name = "replaced_" + function
        counts = [got.get(f"{metric}-function-{name}") for metric in ("total_operations", "errors")]
        test.equal(f"returns: {name}", counts, [calls, failed])
        test.true(f"returns: latency of {name}", f"latency-function-{name}-average" in got)
    compare(test, "returns", "stated", got, wanted("stated", *truth["several"], False), True)


def complaints(test, daemon):
    said = [text for text in daemon.complaints() if "functions" in text or "unction" in text]
    for function in sorted(CALLS_ONLY):
        about = [text for text in said if CALLS_ONLY_TEXT in text and f'"{function}"' in text]
        test.equal(f"messages that {function} {CALLS_ONLY_TEXT}", len(about), 1)
    test.equal("other complaints", [text for text in said if CALLS_ONLY_TEXT not in text], [])
    test.equal(f"messages of what {CALLS_ONLY_TEXT}", sum(CALLS_ONLY_TEXT in text for text in said), len(CALLS_ONLY))


def wait_attached(test, daemon, paths, truth):
    """A file that cannot be read in time is attached to later: the service "early" calls its functions until all are counted."""
    want = {f"total_operations-function-{function}" for result in truth.values() for function in functions_of(result)}
    early = {name: os.path.join(test.mkdir("early_" + name), test.own("kt_early")) for name in paths}
    for name, path in paths.items():
        os.symlink(path, early[name])
    give_up = time.monotonic() + PATIENCE
    while missing := want - daemon.metrics("early"):
        if time.monotonic() > give_up:
            raise TimeoutError(f"not attached to: {sorted(missing)}")
        for path in early.values():
            run(path, 1)
        daemon.wait_rows("self", "duration-read_functions", 2, time.time())


def compare_program(test, daemon, name, truth, moment):
    # All of one reading are there when the next has begun.
    daemon.wait_rows(name, "total_operations-function-" + next(iter(truth)), 2, moment)
    got = series(daemon, name, moment)
    for function, (calls, returns, failed) in functions_of(truth).items():
        compare(test, name, function, got, wanted(function, calls, returns, failed, function in CALLS_ONLY),
                returns > 0 and function not in CALLS_ONLY)
    if name == "returns":
        compare_replaced(test, got, truth)


def main():
    with Test(limit=120) as test:
        paths = made(test)
        alone = {name: run(path) for name, path in paths.items()}
        truth = {name: json.loads(result) for name, (result, _) in alone.items()}
        daemon = test.collectd(configuration(paths, truth), interval=INTERVAL)
        wait_attached(test, daemon, paths, truth)
        loads = {name: test.load_at(path) for name, path in paths.items()}
        for load in loads.values():
            load.say(str(ROUNDS))
        results = {name: result_of(load) for name, load in loads.items()}
        moment = time.time()
        for name, result in results.items():
            if test.equal(f"{name}: what it says, as without the plugin", result, alone[name][0]):
                compare_program(test, daemon, name, truth[name], moment)
        complaints(test, daemon)
        for name, load in loads.items():
            test.equal(f"{name}: how it ends, as without the plugin", load.end(), alone[name][1])


if __name__ == "__main__":
    main()

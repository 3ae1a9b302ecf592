# SPDX-License-Identifier: MIT
"""What a part of `make measure` has found: rows of docs/measured.md, and pages with the details.

tests/measure/run says by the environment where they go; without that, rows are printed, and pages are written below the
working directory.
"""

import contextlib
import json
import os


def undecided(rounds):
    """The verdict where the true value may lie on either side of the limit; rounds: how many would tell."""
    return f"not decided, needs {rounds:,} rounds"


def judge(good):
    """The verdict on a value that has no interval."""
    return "met" if good else "missed"


def counted(passed):
    """How many have passed, and which have not. passed: {name: whether it has}"""
    missed = [name for name, good in passed.items() if not good]
    return f"{len(passed) - len(missed)} of {len(passed)}" + (f"; missed: {'; '.join(missed)}" if missed else "")


def add(what, got, wanted="", verdict=""):
    """One row. what: unique in the part; got: the value with its unit and, in brackets, its interval; wanted and verdict:
    empty where nothing is wanted."""
    print(f"{verdict or 'measured'}: {what}: {got}" + (f" (wanted: {wanted})" if wanted else ""), flush=True)
    if os.environ.get("MEASURE_ROWS"):
        with open(os.environ["MEASURE_ROWS"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"what": what, "wanted": wanted, "got": got, "verdict": verdict}) + "\n")


def page_path(name):
    """Where docs/NAME is written."""
    path = os.path.join(os.environ.get("MEASURE_PAGES") or os.path.join("measured", "docs"), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


@contextlib.contextmanager
def page(name):
    """What is printed within becomes docs/measured/NAME."""
    with open(page_path(os.path.join("measured", name)), "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
        yield

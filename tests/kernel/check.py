# SPDX-License-Identifier: MIT
"""The base of all tests in these directories: counted checks, each printed with what it got and wanted, and a temporary
directory.

A check decides: it asserts what does not depend on how fast the machine is or on what else it does, as counts, sums,
names, order, messages. What does depend on that, as a share of time, a percentile beside a clock or a cost, is one of the
test's figures: compared in the same ways with what is wanted of it, it decides nothing, and becomes a row of what is
measured (tests/measure/rows.py). TEST_FIGURES in the environment: the figures are wanted, so that load and intervals are
as long as they need, and what only they need is done too.

Exit status: 0 passed, 1 failed, 77 cannot run here (reason printed).
"""

import math
import os
import shutil
import sys
import tempfile
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "measure"))
import rows  # noqa: E402

SKIPPED = 77


class Skip(Exception):
    """The test cannot run on this machine."""


class Comparisons:
    """Comparisons, each of which is printed with what it got and wanted, and returns whether it passed. _count(fine, what,
    got, want) counts it; number() writes a number."""

    number = "{:.10g}".format

    def close(self, what, got, want, rel=0.0, slack=0.0):
        """|got - want| <= rel * |want| + slack"""
        tolerance = rel * abs(want) + slack
        off = f"{100 * (got - want) / want:+.2f} %" if want else f"{got - want:+g}"
        return self._count(abs(got - want) <= tolerance, what, f"{self.number(got)} ({off})",
                           f"{self.number(want)} within {self.number(tolerance)}")

    def equal(self, what, got, want):
        return self._count(got == want, what, repr(got), repr(want))

    def within(self, what, got, low, high):
        want = f"at least {self.number(low)}" if high == math.inf else f"at most {self.number(high)}" if low == -math.inf else \
            f"{self.number(low)} .. {self.number(high)}"
        return self._count(low <= got <= high, what, self.number(got), want)

    def between(self, what, got, bounds, rel=0.0, slack=0.0):
        """Like close(), for a truth that is known to be between two bounds."""
        low, high = bounds
        return self.within(what, got, low - rel * abs(low) - slack, high + rel * abs(high) + slack)

    def true(self, what, fine, got=""):
        """got: the value that was checked, if it is more than true or false"""
        return self._count(fine, what, f"{got}" if got != "" else "yes" if fine else "no", "")

    def contains(self, what, text, part):
        return self._count(part in text, what, "it" if part in text else repr(text[-800:]), f"{part!r} in it")


class Figures(Comparisons):
    """Comparisons that depend on the machine."""

    def __init__(self):
        self.test = os.path.basename(sys.argv[0]).removesuffix(".py")
        self.missed = 0

    @staticmethod
    def number(value):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"

    def true(self, what, fine, got=""):
        return self._count(fine, what, ("yes" if fine else "no") + (f" ({got})" if got != "" else ""), "yes")

    def _count(self, fine, what, got, want):
        self.missed += not fine
        rows.add(f"{self.test}: {what}", got, want, rows.judge(fine))
        return fine


class Check(Comparisons):
    """with Check() as check: ..."""

    def __init__(self):
        self.passed = self.failed = 0
        self.dir = None
        self.measures = bool(os.environ.get("TEST_FIGURES"))
        self.figures = Figures()

    def __enter__(self):
        sys.stdout.reconfigure(line_buffering=True)
        self.dir = self.make_dir("/var/tmp")
        return self

    def __exit__(self, kind, error, trace):
        skipped = isinstance(error, Skip)
        if error is not None and not skipped:
            self.failed += 1
            print(f"FAIL {kind.__name__}: {error}")
            traceback.print_tb(trace, file=sys.stdout)
        self.clean()
        print(f"{self.passed} passed, {self.failed} failed")
        if skipped:
            print(f"skip: {error}")
        sys.exit(1 if self.failed else SKIPPED if skipped else 0)

    @staticmethod
    def make_dir(where):
        return tempfile.mkdtemp(prefix="ebpf-test.", dir=where)

    def mkdir(self, name):
        path = os.path.join(self.dir, name)
        os.makedirs(path, exist_ok=True)
        return path

    def clean(self):
        if self.failed:
            print(f"what was made is in {self.dir}")
        else:
            shutil.rmtree(self.dir)

    def _count(self, fine, what, got, want):
        self.passed += bool(fine)
        self.failed += not fine
        print(f"{'ok  ' if fine else 'FAIL'} {what}: got {got}" + (f" want {want}" if want else ""))
        return fine

    @staticmethod
    def left_out(what, why):
        """Prints that a part cannot run here; tests/run counts it as skipped."""
        print(f"skip: {what}: {why}")

# SPDX-License-Identifier: MIT
"""The base of all tests in these directories: counted checks, each printed with what it got and wanted, and a temporary
directory.

A check decides: it asserts what does not depend on how fast the machine is or on what else it does, as counts, sums,
names, order, messages. What does depend on that, as a share of time, a percentile beside a clock or a cost, is one of the
test's figures: compared in the same ways and printed, it decides only where TEST_FIGURES is set, as `make check-long` sets it.

Exit status: 0 passed, 1 failed, 77 cannot run here (reason printed).
"""

import os
import shutil
import sys
import tempfile
import traceback

SKIPPED = 77


class Skip(Exception):
    """The test cannot run on this machine."""


class Comparisons:
    """Comparisons, each of which is printed with what it got and wanted, and returns whether it passed. _count(fine, text)
    counts it."""

    def close(self, what, got, want, rel=0.0, slack=0.0):
        """|got - want| <= rel * |want| + slack"""
        tolerance = rel * abs(want) + slack
        off = f"{(got - want) / want:+.4%}" if want else f"{got - want:+g}"
        return self._count(abs(got - want) <= tolerance,
                           f"{what}: got {got:.10g} want {want:.10g} ({off}) tolerance {tolerance:.6g}")

    def equal(self, what, got, want):
        return self._count(got == want, f"{what}: got {got!r} want {want!r}")

    def within(self, what, got, low, high):
        return self._count(low <= got <= high, f"{what}: got {got:.10g} want {low:.10g} .. {high:.10g}")

    def between(self, what, got, bounds, rel=0.0, slack=0.0):
        """Like close(), for a truth that is known to be between two bounds."""
        low, high = bounds
        return self.within(what, got, low - rel * abs(low) - slack, high + rel * abs(high) + slack)

    def true(self, what, fine, got=""):
        """got: the value that was checked, if it is more than true or false"""
        return self._count(fine, f"{what}: " + (f"got {got}" if got != "" else "yes" if fine else "no"))

    def contains(self, what, text, part):
        return self._count(part in text, f"{what}: want {part!r} in " + ("it" if part in text else repr(text[-800:])))


class Figures(Comparisons):
    """Comparisons that depend on the machine."""

    def __init__(self, check):
        self.check = check
        self.decide = bool(os.environ.get("TEST_FIGURES"))

    def _count(self, fine, text):
        if self.decide:
            return self.check._count(fine, text)
        print(("figure " if fine else "figure, off ") + text)
        return fine


class Check(Comparisons):
    """with Check() as check: ..."""

    def __init__(self):
        self.passed = self.failed = 0
        self.dir = None
        self.figures = Figures(self)

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

    def clean(self):
        if self.failed:
            print(f"what was made is in {self.dir}")
        else:
            shutil.rmtree(self.dir)

    def _count(self, fine, text):
        self.passed += bool(fine)
        self.failed += not fine
        print(("ok   " if fine else "FAIL ") + text)
        return fine

    @staticmethod
    def left_out(what, why):
        """Prints that a part cannot run here; tests/run counts it as skipped."""
        print(f"skip: {what}: {why}")

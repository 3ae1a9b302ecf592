# SPDX-License-Identifier: MIT
"""How much of a long run is done, on a terminal."""

import sys
import time

QUIET = 2       # seconds without a word
EVERY = 0.2     # seconds between two lines


class Progress:
    """Writes one line on standard error that replaces itself, if that is a terminal. Leaves no line behind."""

    def __init__(self, what):
        """what: is counted, as in `services`"""
        self.what, self.shown = what, False
        self.next = time.monotonic() + QUIET if sys.stderr.isatty() else float("inf")

    def step(self, done, whole):
        now = time.monotonic()
        if now >= self.next:
            self.shown, self.next = True, now + EVERY
            print(f"\r{done} of {whole} {self.what}\x1b[K", end="", file=sys.stderr, flush=True)

    def part(self, number, parts):
        """The function step() of one of several parts of equal length."""
        return lambda done, whole: self.step(done + number * whole, parts * whole)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

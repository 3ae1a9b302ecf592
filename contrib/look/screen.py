# SPDX-License-Identifier: MIT
"""The live view on a terminal."""

import curses
import select
import sys
import time

import live
import table
from columns import COLUMNS
from live import Trouble
from text import printable

HELP = "left/right: column to sort by   r: reverse   up/down: scroll   q: quit"
KEYS = {"q": "quit", "r": "reverse", "KEY_LEFT": "left", "KEY_RIGHT": "right", "<": "left",
        ">": "right", "KEY_UP": "up", "KEY_DOWN": "down", "KEY_PPAGE": "page_up", "KEY_NPAGE": "page_down",
        "KEY_HOME": "home"}


class Screen:
    def __init__(self, source, read, sorted_by, interval):
        """read: function for the rows; sorted_by: a column, or None for the name."""
        self.source, self.read, self.sorted_by, self.interval = source, read, sorted_by, interval
        self.window = None
        self.rows, self.trouble = [], ""
        self.columns = set()    # places of those that had a value: they stay
        self.backwards, self.first = False, 0

    def run(self, window):
        self.window = window
        curses.curs_set(0)
        curses.use_default_colors()
        window.nodelay(True)
        due = time.monotonic()
        while True:
            if time.monotonic() >= due:
                self._refresh()
                due = time.monotonic() + self.interval
            self._draw()
            self._wait(due)
            for pressed in self._pressed():
                if pressed == "quit":
                    return
                getattr(self, pressed)()

    def _wait(self, due):
        """For a key or the time."""
        watched = [sys.stdin, self.source] if self.source.listens() else [sys.stdin]
        # Not for ever, however much comes.
        while (left := due - time.monotonic()) > 0 and self.source in select.select(watched, [], [], left)[0]:
            self.source.receive()

    def _pressed(self):
        while True:
            try:
                key = self.window.getkey()
            except curses.error:
                return
            if key in KEYS:
                yield KEYS[key]

    def _refresh(self):
        try:
            self.rows, self.trouble = self.read(), ""
        except Trouble as trouble:
            self.rows, self.trouble = [], printable(str(trouble))
        self.columns |= set(table.filled([row.figures for row in self.rows]))

    # --- keys ---

    def reverse(self):
        self.backwards = not self.backwards

    def _move(self, way):
        shown = [None, *(COLUMNS[place] for place in sorted(self.columns))]
        place = shown.index(self.sorted_by) if self.sorted_by in shown else 0
        self.sorted_by = shown[(place + way) % len(shown)]
        self.first = 0

    def left(self):
        self._move(-1)

    def right(self):
        self._move(1)

    def _scroll(self, lines):
        self.first = max(0, min(self.first + lines, len(self.rows) - 1))

    def up(self):
        self._scroll(-1)

    def down(self):
        self._scroll(1)

    def page_up(self):
        self._scroll(-(self.window.getmaxyx()[0] - 5))

    def page_down(self):
        self._scroll(self.window.getmaxyx()[0] - 5)

    def home(self):
        self.first = 0

    # --- drawing ---

    def _put(self, line, text, how=curses.A_NORMAL):
        height, width = self.window.getmaxyx()
        if 0 <= line < height:
            # The last place of the last line cannot be written without an error.
            self.window.addnstr(line, 0, text, width - 1, how)

    def _draw(self):
        height, width = self.window.getmaxyx()
        self.window.erase()
        self._put(0, f"{time.strftime('%T')}  {len(self.rows)} services  {self.source}", curses.A_BOLD)
        if self.trouble:
            for number, start in enumerate(range(0, len(self.trouble), max(1, width - 1))):
                self._put(2 + number, self.trouble[start:start + width - 1])
        elif self.rows:
            self._table(height, width)
        self._put(height - 1, HELP, curses.A_DIM)
        self.window.refresh()

    def _table(self, height, width):
        rows = live.sort(self.rows, self.sorted_by, self.backwards)
        heading, *lines = table.lines(live.lines(rows), sorted(self.columns), self.sorted_by,
                                      table.UP if self.backwards else table.DOWN, width - 1)
        self._put(2, heading.ljust(width - 1), curses.A_REVERSE)
        for number, line in enumerate(lines[self.first:height - 4 + self.first]):
            self._put(3 + number, line)

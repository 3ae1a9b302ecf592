# SPDX-License-Identifier: MIT
"""The live view on a terminal."""

import curses
import select
import sys
import time

import live
import table
from columns import COLUMNS, UPSTREAM_COLUMNS
from live import Trouble
from text import printable

HELP = "s: services  t: triage  u: upstreams  left/right: sort by  r: reverse  q: quit"
KEYS = {"q": "quit", "r": "reverse", "KEY_LEFT": "left", "KEY_RIGHT": "right", "<": "left",
        ">": "right", "KEY_UP": "up", "KEY_DOWN": "down", "KEY_PPAGE": "page_up", "KEY_NPAGE": "page_down",
        "KEY_HOME": "home", "s": "services", "t": "triage", "u": "upstreams"}
ATTRIBUTES = {"title": curses.A_BOLD, "heading": curses.A_UNDERLINE, "row": curses.A_NORMAL, "note": curses.A_DIM}
MOST = 3    # services of a layer


class Rows:
    """A table that can be sorted."""

    def __init__(self, what, choose, of, sorted_by, backwards=False, without=""):
        """choose: of all rows, those that it has; sorted_by: a column, or None for the name; without: what is said if there
        are none"""
        self.what, self.choose, self.of, self.sorted_by, self.backwards = what, choose, of, sorted_by, backwards
        self.without = without
        self.rows = []
        self.shown = set()      # places of columns that had a value: they stay

    def take(self, rows):
        self.rows = self.choose(rows)
        self.shown |= set(table.filled([row.figures for row in self.rows], self.of))

    def title(self):
        return f"{len(self.rows)} {self.what}"

    def move(self, way):
        shown = [None, *(self.of[place] for place in sorted(self.shown))]
        place = shown.index(self.sorted_by) if self.sorted_by in shown else 0
        self.sorted_by = shown[(place + way) % len(shown)]

    def lines(self, width):
        """A heading that stays, as far as there are rows, and these."""
        if not self.rows:
            return None, [("row", self.without)]
        rows = live.sort(self.rows, self.sorted_by, self.backwards, self.of)
        heading, *lines = table.lines(live.lines(rows), sorted(self.shown), self.sorted_by,
                                      table.UP if self.backwards else table.DOWN, width, self.of,
                                      self.what.removesuffix("s"))
        return heading, [("row", line) for line in lines]


class Triage:
    """Layer by layer."""
    backwards = False

    def __init__(self):
        self.findings = {}

    def take(self, rows):
        self.findings = live.findings(rows)

    def title(self):
        return "triage" + "".join(f" of {printable(host)}" for host in self.findings if len(self.findings) == 1)

    def move(self, way):
        """There is one order."""

    def lines(self, width):
        return None, live.triage_lines(self.findings, MOST, width)


class Screen:
    def __init__(self, source, read, views, first, interval):
        """read: function for the rows; views: by the names of their keys; first: the one that is shown first"""
        self.source, self.read, self.views, self.interval = source, read, views, interval
        self.view = views[first]
        self.window = None
        self.trouble, self.first = "", 0

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
                if pressed in self.views:
                    self.view, self.first = self.views[pressed], 0
                else:
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
            rows, self.trouble = self.read(), ""
        except Trouble as trouble:
            rows, self.trouble = [], printable(str(trouble))
        for view in self.views.values():
            view.take(rows)

    # --- keys ---

    def reverse(self):
        self.view.backwards = not self.view.backwards

    def left(self):
        self.view.move(-1)
        self.first = 0

    def right(self):
        self.view.move(1)
        self.first = 0

    def _scroll(self, lines):
        self.first = max(0, self.first + lines)

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
        self._put(0, f"{time.strftime('%T')}  {self.view.title()}  {self.source}", curses.A_BOLD)
        if self.trouble:
            for number, start in enumerate(range(0, len(self.trouble), max(1, width - 1))):
                self._put(2 + number, self.trouble[start:start + width - 1])
        else:
            self._lines(height, width)
        self._put(height - 1, HELP, curses.A_DIM)
        self.window.refresh()

    def _lines(self, height, width):
        heading, lines = self.view.lines(width - 1)
        place = 2
        if heading:
            self._put(place, heading.ljust(width - 1), curses.A_REVERSE)
            place += 1
        self.first = max(0, min(self.first, len(lines) - 1))
        for number, (kind, line) in enumerate(lines[self.first:self.first + height - 1 - place]):
            self._put(place + number, line, ATTRIBUTES[kind])

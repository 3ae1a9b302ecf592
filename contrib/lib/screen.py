# SPDX-License-Identifier: MIT
"""The live view on a terminal: keys and drawing."""

import curses
import select
import sys
import time

import live
from live import Trouble
from text import printable
from views import Detail, Help, key_line

PRESSED = {"q": "quit", "r": "reverse", "KEY_LEFT": "left", "KEY_RIGHT": "right", "<": "left", ">": "right", "KEY_UP": "up",
           "KEY_DOWN": "down", "KEY_PPAGE": "page_up", "KEY_NPAGE": "page_down", "KEY_HOME": "home", "s": "services",
           "t": "triage", "u": "upstreams", "?": "help", "/": "ask", "p": "pause", " ": "pause", "\n": "enter", "\r": "enter",
           "KEY_ENTER": "enter", "\x1b": "back", "KEY_BACKSPACE": "back"}
ATTRIBUTES = {"title": curses.A_BOLD, "heading": curses.A_UNDERLINE, "row": curses.A_NORMAL, "note": curses.A_DIM,
              "chosen": curses.A_REVERSE}
REDRAW = "\x0c"     # Ctrl-L
ESCAPE = 50         # ms to wait for the remaining bytes of a key
LONGEST = 64        # characters of a filter, at most
TABLE = "services", "upstreams"     # the views that have a filter


class Screen:
    def __init__(self, source, read, views, first, interval):
        """read: function that returns the rows; views: by the names of their keys; first: the view at the start"""
        self.source, self.read, self.interval = source, read, interval
        self.views = {**views, "help": Help(), "detail": Detail()}
        self.shown, self.before = first, first      # names of views
        self.window = None
        self.trouble, self.first = "", 0
        self.summary, self.paused = "", False
        self.typed = None       # the filter while it is typed, or None

    @property
    def view(self):
        return self.views[self.shown]

    def run(self, window):
        self.window = window
        curses.curs_set(0)
        curses.use_default_colors()
        curses.set_escdelay(ESCAPE)
        window.nodelay(True)
        due = time.monotonic()
        while True:
            if time.monotonic() >= due:
                if not self.paused:
                    self._refresh()
                due = time.monotonic() + self.interval
            self._draw()
            self._wait(due)
            for key in self._keys():
                if key == REDRAW:
                    self.window.clearok(True)
                elif self.typed is not None:
                    self._type(key)
                elif PRESSED.get(key) == "quit":
                    return
                elif PRESSED.get(key) in self.views:
                    self._show(PRESSED[key])
                elif key in PRESSED:
                    getattr(self, PRESSED[key])()

    def _wait(self, due):
        """Waits for a key, at most until `due`."""
        watched = [sys.stdin, self.source] if self.source.listens() else [sys.stdin]
        # Bounded, even if the source never stops sending.
        while (left := due - time.monotonic()) > 0 and self.source in select.select(watched, [], [], left)[0]:
            self.source.receive()

    def _keys(self):
        """Yields letters and names of keys."""
        while True:
            try:
                key = self.window.get_wch()
            except curses.error:
                return
            yield key if isinstance(key, str) else curses.keyname(key).decode()

    def _refresh(self):
        try:
            rows, self.trouble = self.read(), ""
            self.summary = live.summary(rows)
        except Trouble as trouble:
            rows, self.trouble = [], printable(str(trouble))
        for view in self.views.values():
            view.update(rows)

    # --- keys

    def _show(self, name):
        if name == "help" and self.shown not in ("help", "detail"):
            self.before = self.shown
        self.shown, self.first = name, 0

    def enter(self):
        row = self.view.service()
        if row:
            self.before = self.shown
            self.views["detail"].show(getattr(row, "row", row))
            self._show("detail")

    def back(self):
        """Returns from a page to its table, and from a filtered table to all rows."""
        if self.shown in ("help", "detail"):
            self._show(self.before)
        elif self.shown in TABLE:
            self.view.filter = ""

    def pause(self):
        self.paused = not self.paused

    def ask(self):
        if self.shown in TABLE:
            self.typed = self.view.filter

    def _type(self, key):
        """Edits the filter, which applies at once."""
        if key in ("\n", "\r", "KEY_ENTER"):
            self.typed = None
            return
        if key == "\x1b":
            self.view.filter, self.typed = "", None
            return
        if key in ("KEY_BACKSPACE", "\x7f", "\b"):
            self.typed = self.typed[:-1]
        elif len(key) == 1 and key.isprintable():
            self.typed = (self.typed + key)[:LONGEST]
        self.view.filter, self.view.chosen, self.first = self.typed, 0, 0

    def reverse(self):
        self.view.backwards = not self.view.backwards

    def left(self):
        self.view.move(-1)
        self.first = 0

    def right(self):
        self.view.move(1)
        self.first = 0

    def _move(self, lines):
        if not self.view.step(lines):
            self.first = max(0, self.first + lines)

    def up(self):
        self._move(-1)

    def down(self):
        self._move(1)

    def page_up(self):
        self._move(-(self.window.getmaxyx()[0] - 5))

    def page_down(self):
        self._move(self.window.getmaxyx()[0] - 5)

    def home(self):
        self._move(-1 << 30)

    # --- drawing

    def _put(self, line, text, how=curses.A_NORMAL):
        height, width = self.window.getmaxyx()
        if 0 <= line < height:
            # curses raises an error when the last cell of the last line is written.
            self.window.addnstr(line, 0, text, width - 1, how)

    def _draw(self):
        height, width = self.window.getmaxyx()
        self.window.erase()
        paused = "  paused" if self.paused else ""
        self._put(0, f"{time.strftime('%T')}{paused}  {self.view.title()}  {self.source}", curses.A_BOLD)
        self._put(1, self.summary if not self.trouble else "")
        if self.trouble:
            for number, start in enumerate(range(0, len(self.trouble), max(1, width - 1))):
                self._put(2 + number, self.trouble[start:start + width - 1])
        else:
            self._lines(height, width)
        if self.typed is None:
            self._put(height - 1, key_line(width - 1), curses.A_DIM)
        else:
            self._put(height - 1, f"/{printable(self.typed)}_")
        self.window.refresh()

    def _lines(self, height, width):
        heading, lines = self.view.lines(width - 1)
        position = 2
        if heading:
            self._put(position, heading.ljust(width - 1), curses.A_REVERSE)
            position += 1
        room = max(1, height - 1 - position)
        if self.view.chosen is not None:
            # Scrolls so that the chosen row is visible.
            self.first = max(min(self.first, self.view.chosen), self.view.chosen - room + 1)
        self.first = max(0, min(self.first, len(lines) - 1))
        for number, (kind, line) in enumerate(lines[self.first:self.first + room]):
            self._put(position + number, line.ljust(width - 1) if kind == "chosen" else line, ATTRIBUTES[kind])

# SPDX-License-Identifier: MIT
"""Reads sampled stacks from files of folded lines: FRAME;FRAME;... COUNT, the outermost frame first.

The names of frames come from untrusted programs. They are used only as text, and the time and memory that a file can use
are bounded.
"""

import os
import re
import stat
import time

LINES = 1_000_000   # of all files of a graph
LINE = 64 * 1024    # bytes
DEPTH = 256         # frames; deeper ones count for the last
NAME = 512          # characters of a frame
FILE = re.compile(r"(?P<service>.+)-(?P<view>[a-z0-9_]+)-(?P<hour>\d{8}-\d{2})\.folded")   # as named by the plugin


class Stack:
    """A frame with its callees, and the number of samples in it."""

    __slots__ = ("name", "samples", "before", "below")

    def __init__(self, name):
        self.name, self.samples, self.before, self.below = name, 0, 0, {}

    def frame(self, name):
        if name not in self.below:
            self.below[name] = Stack(name)
        return self.below[name]


def add(root, line, before):
    """Adds a line of a file. Returns False if it is malformed. before: it belongs to the time to compare with"""
    frames, _, count = line.rstrip().rpartition(" ")
    if not frames or not count.isascii() or not count.isdigit() or len(count) > 15:
        return False
    samples, at = int(count), root
    _count(at, samples, before)
    for name in frames.split(";", DEPTH)[:DEPTH]:
        at = at.frame(name[:NAME] or "?")
        _count(at, samples, before)
    return True


def _count(stack, samples, before):
    if before:
        stack.before += samples
    else:
        stack.samples += samples


def _lines(path):
    """The lines of a file; none if it is not a regular one."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        while line := file.readline(LINE):
            if line.endswith(b"\n"):
                yield line.decode("utf-8", "replace")


def read(root, paths, before=False):
    """Adds all files. Returns how many lines were malformed or beyond the limit."""
    lines = refused = 0
    for path in paths:
        for line in _lines(path):
            lines += 1
            refused += lines > LINES or not add(root, line, before)
    return refused


def begin_of(hour):
    """The start of an hour in a file's name, which is in local time; None if there is no such hour."""
    try:
        return time.mktime(time.strptime(hour, "%Y%m%d-%H"))
    except (ValueError, OverflowError):
        return None


def find(directory):
    """Service -> {view: [(start of the hour, path), ...]}"""
    found = {}
    for name in sorted(os.listdir(directory)):
        match = FILE.fullmatch(name)
        begin = begin_of(match["hour"]) if match else None
        if begin is not None:
            views = found.setdefault(match["service"], {})
            views.setdefault(match["view"], []).append((begin, os.path.join(directory, name)))
    return found


def within(hours, start, end):
    """The files of the hours that overlap this time."""
    return [path for begin, path in hours if begin < end and begin + 3600 > start]

# SPDX-License-Identifier: MIT
"""Stacks that were sampled, from files of folded lines: FRAME;FRAME;... COUNT, the outermost frame first.

What the frames are called is up to whoever wrote the programs: names are text here and nothing else, and what a file can
make of time and memory is bounded.
"""

import os
import re
import stat
import time

LINES = 1_000_000   # of all files of a picture
LINE = 64 * 1024    # bytes
DEPTH = 256         # frames; those below count for the last
NAME = 512          # characters of a frame
FILE = re.compile(r"(?P<service>.+)-(?P<view>[a-z0-9_]+)-(?P<hour>\d{8}-\d{2})\.folded")   # as the plugin calls them


class Stack:
    """A frame below the frames that called it, with all samples that were in it."""

    __slots__ = ("name", "samples", "before", "below")

    def __init__(self, name):
        self.name, self.samples, self.before, self.below = name, 0, 0, {}

    def frame(self, name):
        if name not in self.below:
            self.below[name] = Stack(name)
        return self.below[name]


def add(root, line, before):
    """A line of a file; whether it is one. before: it is of the time to compare with"""
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
    """What is no regular file has none."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        while line := file.readline(LINE):
            if line.endswith(b"\n"):
                yield line.decode("utf-8", "replace")


def read(root, paths, before=False):
    """Adds all files; how many lines were none, or too many."""
    lines = refused = 0
    for path in paths:
        for line in _lines(path):
            lines += 1
            refused += lines > LINES or not add(root, line, before)
    return refused


def begin_of(hour):
    """Of an hour as files are named by it, in the machine's time; None: there is no such hour."""
    try:
        return time.mktime(time.strptime(hour, "%Y%m%d-%H"))
    except (ValueError, OverflowError):
        return None


def find(directory):
    """Service -> {view: [(when its hour begins, path), ...]}"""
    found = {}
    for name in sorted(os.listdir(directory)):
        match = FILE.fullmatch(name)
        begin = begin_of(match["hour"]) if match else None
        if begin is not None:
            views = found.setdefault(match["service"], {})
            views.setdefault(match["view"], []).append((begin, os.path.join(directory, name)))
    return found


def within(hours, start, end):
    """The files of those hours of which something lies in this time."""
    return [path for begin, path in hours if begin < end and begin + 3600 > start]

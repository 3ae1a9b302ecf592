# SPDX-License-Identifier: MIT
"""Untrusted keys of a bpftrace map as names of series, limited in number."""

import re

LONGEST = 63        # bytes of a name
OTHER = "other"
KEEP_INTERVALS = 13           # intervals after which the room of an unused name may be given to another
# All but the letters that names of series have; a hyphen separates words.
REFUSED = re.compile(r"[^A-Za-z0-9_.@:+]")
# bpftrace prints a stack in several lines, the innermost function first.
STACK = re.compile(r"\n +([^\n]*)\n(?: +[^\n]*\n)*")
OFFSET = re.compile(r"\+(0x)?[0-9a-f]+$")


def clean(text):
    """A word of a type instance: shortened, and of the letters that names of series have."""
    text = REFUSED.sub("_", text)[:LONGEST]
    return "_" + text[1:] if text in ("", ".", "..") else text


def innermost(found):
    """The innermost function of a stack."""
    return OFFSET.sub("", found.group(1)).replace(",", "_")


def of_key(key):
    """The name of a row: the parts of its key, joined by hyphens."""
    words = [clean(word) if word.strip("\n") else "none" for word in STACK.sub(innermost, key).split(",")]
    return "-".join(words)[:LONGEST]


class Room:
    """A limited number of names. Further names become OTHER."""

    def __init__(self, most):
        self.most = most
        self.seen = {}      # name -> the interval of its last use
        self.now = 0

    def has(self, name):
        return name in self.seen

    def find(self, name, leave):
        """The name, or OTHER. leave: called with a name that loses its room to this one"""
        if name not in self.seen and len(self.seen) >= self.most:
            oldest = min(self.seen, key=self.seen.get)
            if self.now - self.seen[oldest] < KEEP_INTERVALS:
                return OTHER
            del self.seen[oldest]
            leave(oldest)
        self.seen[name] = self.now
        return name

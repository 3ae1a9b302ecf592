# SPDX-License-Identifier: MIT
"""Keys of a bpftrace map, whoever has chosen them, as names of series; and room for so many."""

import re

LONGEST = 63        # bytes, of a name
OTHER = "other"
KEPT = 13           # intervals, that a name that does not come any more keeps its room when others want it
# As collectd and all that it writes to take them.
REFUSED = re.compile(r"[\x00- /\x7f-\xa0\ud800-\udfff]")
# bpftrace prints a stack in lines of its own, the innermost function first.
STACK = re.compile(r"\n +([^\n]*)\n(?: +[^\n]*\n)*")
OFFSET = re.compile(r"\+(0x)?[0-9a-f]+$")


def clean(text):
    """A word of a type instance: cut, and without what would be another word, a directory or no text."""
    text = cut(REFUSED.sub("_", text.replace("-", "_")))
    return "_" + text[1:] if text in ("", ".", "..") else text


def cut(text):
    return text.encode("utf-8")[:LONGEST].decode("utf-8", "ignore")


def innermost(found):
    """Of a stack its innermost function."""
    return OFFSET.sub("", found.group(1)).replace(",", "_")


def of_key(key):
    """The name of a row: the members of its key with hyphens between them."""
    words = [clean(word) if word.strip("\n") else "none" for word in STACK.sub(innermost, key).split(",")]
    return cut("-".join(words))


class Room:
    """At most so many names; what finds no room is OTHER."""

    def __init__(self, most):
        self.most = most
        self.seen = {}      # name -> when it has last come
        self.now = 0

    def has(self, name):
        return name in self.seen

    def find(self, name, leave):
        """The name, or OTHER; leave: called with the one that gives up its room."""
        if name not in self.seen and len(self.seen) >= self.most:
            oldest = min(self.seen, key=self.seen.get)
            if self.now - self.seen[oldest] < KEPT:
                return OTHER
            del self.seen[oldest]
            leave(oldest)
        self.seen[name] = self.now
        return name

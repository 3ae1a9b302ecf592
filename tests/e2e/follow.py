# SPDX-License-Identifier: MIT
"""Pages that a reader follows: their blocks of commands, each with the output that the page shows."""

import os
import re

from e2e import TOP

BLOCK = re.compile(r"```(\w*)\n(.*?)```\n", re.DOTALL)
NUMBER = re.compile(r"\d[\d.,]*")
# A number with its unit, or a dash in its place.
VALUE = re.compile(r"[+-]?\d[\d.,]*(?:e[+-]\d+)?(?:[kKMGTmunµ]?i?(?:s|B)?|%|h|min)[,;:.]?|–")
VALUES = r"(?:[+-]?\d[\d.,]*(?:e[+-]\d+)?[A-Za-zµ%]*[,;:.]?|–)"
ANY = "..."


def read(name):
    """[(kind, text of the block, text before it), ...] of a page of docs/."""
    with open(os.path.join(TOP, "docs", name), encoding="utf-8") as file:
        page = file.read()
    return [(*found.groups(), page[:found.start()]) for found in BLOCK.finditer(page)]


def steps(blocks):
    """[(commands, the output that is shown or None), ...]"""
    found = []
    for kind, text, _ in blocks:
        if kind == "sh":
            found.append((text, None))
        elif kind == "text":
            found[-1] = (found[-1][0], text)
    return found


def as_regex(line):
    """Of a line of output: other numbers, the same names. "..." is any text."""
    parts = (r"\s+".join(VALUES if VALUE.fullmatch(word) else r"\d[\d.,]*".join(map(re.escape, NUMBER.split(word)))
                         for word in part.split()) for part in line.split(ANY))
    return re.compile(r"\s*" + r".*?".join(parts) + r"\s*")


def absent(shown, said):
    """The lines that a page shows and the output has not. A line "..." is any lines."""
    lines = said.splitlines()
    return [line for line in shown.splitlines()
            if line.strip() not in ("", ANY) and not any(as_regex(line).fullmatch(other) for other in lines)]

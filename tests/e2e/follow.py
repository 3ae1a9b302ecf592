# SPDX-License-Identifier: MIT
"""Pages that a reader follows: their blocks of commands, each with the output that the page shows."""

import os
import re

from e2e import TOP

BLOCK = re.compile(r"```(\w*)\n(.*?)```\n", re.DOTALL)
NUMBER = re.compile(r"\d[\d.,]*")
# A number with its unit, or a dash in its place.
VALUE = re.compile(r"[+-]?\d[\d.,]*(?:e[+-]\d+)?(?:[kKMGTmunµ]?i?(?:s|B)?|%|h|min)[,;:.]?|–")
VALUES = r"(?:[+-]?\d[\d.,]*(?:e[+-]\d+)?(?: [kM]\b)?[A-Za-zµ%]*[,;:.]?|–)"
# Names of days and months, which are others as numbers are.
NAMES = [f"(?:{names.replace(' ', '|')})" for names in (
    "Mon Tue Wed Thu Fri Sat Sun", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")]
ANY = "..."


def read(name):
    """[(kind, text of the block, text before it), ...] of a page of docs/."""
    with open(os.path.join(TOP, "docs", name), encoding="utf-8") as file:
        page = file.read()
    return [(*found.groups(), page[:found.start()]) for found in BLOCK.finditer(page)]


def with_files(blocks, name_of, directory, substitutions=()):
    """The blocks, in which a file of the page is the command that copies it from the directory to its name.

    name_of: matches the text before such a block; substitutions: [(text of the page, text for here), ...]
    """
    found = []
    for kind, text, before in blocks:
        name = name_of.search(before)
        if name:
            path = os.path.join(directory, os.path.basename(name.group(1)))
            for there, here in substitutions:
                text = text.replace(there, here)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            kind, text = "sh", f"cp {path} {name.group(1)}\n"
        found.append((kind, text, before))
    return found


def steps(blocks):
    """[(commands, the output that is shown or None), ...]"""
    found = []
    for kind, text, _ in blocks:
        if kind == "sh":
            found.append((text, None))
        elif kind == "text":
            found[-1] = (found[-1][0], text)
    return found


def word_as_regex(word):
    if VALUE.fullmatch(word):
        return VALUES
    return next((names for names in NAMES if re.fullmatch(names, word)), r"\d[\d.,]*".join(map(re.escape, NUMBER.split(word))))


def as_regex(line, between=r"\s+"):
    """Of a line of output: other numbers, the same names. "..." is any text; between: what is between words."""
    parts = (between.join(map(word_as_regex, part.split())) for part in line.split(ANY))
    return re.compile(r"\s*" + r".*?".join(parts) + r"\s*")


def absent(shown, said, between=r"\s+"):
    """The lines that a page shows and the output has not, or not as often. A line "..." is any lines."""
    lines, missing = said.splitlines(), []
    for line in shown.splitlines():
        if line.strip() in ("", ANY):
            continue
        found = next((other for other in lines if as_regex(line, between).fullmatch(other)), None)
        if found is None:
            missing.append(line)
        else:
            lines.remove(found)
    return missing

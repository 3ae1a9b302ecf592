# SPDX-License-Identifier: MIT
"""The documents of this project, and what people have written in them: what checks of words, numbers and links have in common."""

import glob
import os
import re

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
# As a whole, by `make measure` and `make check-long`.
WRITTEN = ("docs/measured.md", "docs/measured/")
BLOCK = {"pod": r"^=for comment (\w+): begin.*?^=for comment \1: end$", "md": r"^<!-- (\w+): begin.*?^<!-- \1: end -->$"}
EXAMPLE = {"pod": r"^[ \t]+[^\n]*$", "md": r"^```.*?^```$|^(?: {4}|\t)[^\n]*$|<[a-z/!][^>]*>"}
CODE = {"pod": r"[CF]<<+ .*? >>+|[CF]<[^<>]*(?:[A-Z]<[^<>]*>[^<>]*)*>", "md": r"`[^`]*`"}
PHRASES = "tests/check/phrases"
ITEM = re.compile(r"(?:[-*]|\d+\.) ")
# Not after an initial or an abbreviation.
SENTENCE = re.compile(r"""(?<![ .(][A-Z])(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)[.!?]["')*]*\s+""")


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        return file.read()


def squeeze(text):
    return " ".join(text.split())


def kind_of(path):
    return path.rsplit(".", 1)[1]


def find_pages():
    """All Markdown at the top and in docs/, and all manuals."""
    patterns = ("*.md", "docs/**/*.md", "docs/*.pod")
    return [os.path.relpath(path, TOP) for pattern in patterns
            for path in sorted(glob.glob(os.path.join(TOP, pattern), recursive=True))]


def is_written(path):
    return path.startswith(WRITTEN)


def find_documents():
    """Pages that people write."""
    return [path for path in find_pages() if not is_written(path)]


def by_hand(text, kind):
    """What people have written in it; what is drawn up or an example is left out."""
    return re.sub(f"{BLOCK[kind]}|{EXAMPLE[kind]}", "", text, flags=re.M | re.S)


def prose(text, kind):
    """The same in one line."""
    return squeeze(by_hand(text, kind))


def count_words(text, kind):
    text = re.sub(r"^=(?:item|head\d|over|back|encoding|for|cut|pod)\b", "", by_hand(text, kind), flags=re.M)
    return sum(any(character.isalnum() for character in word) for word in text.split())


def plain(text, kind):
    """Without marks of a font; code is the word CODE."""
    text = re.sub(CODE[kind], "CODE", text)
    if kind == "pod":
        text = re.sub(r"E<(?:lt|gt)>", "", text)
        while re.search(r"[BIFLS]<[^<>]*>", text):
            text = re.sub(r"[BIFLS]<([^<>]*)>", r"\1", text)
        return text
    return re.sub(r"!?\[([^\]]*)\]\([^()]*\)", r"\1", text)


def paragraphs(text, kind):
    """(is it a list or a table?, text) of each; headings are left out."""
    for part in re.split(r"\n\s*\n", by_hand(text, kind)):
        lines = part.strip("\n").splitlines()
        if not lines or lines[0].startswith(("#", "=")):
            continue
        if lines[0].startswith("|"):
            yield from ((True, cell.strip()) for line in lines for cell in line.split("|") if cell.strip(" -:"))
        elif kind == "md" and ITEM.match(lines[0]):
            marked = ITEM.sub("\0", lines[0]) + "\n" + "\n".join(ITEM.sub("\0", line) for line in lines[1:])
            yield from ((True, squeeze(item)) for item in marked.split("\0") if item.strip())
        else:
            yield False, squeeze(part)


def sentences(text, kind, lists=False):
    """Of its paragraphs, or of lists and tables, too."""
    return [sentence for is_list, paragraph in paragraphs(text, kind) if lists or not is_list
            for sentence in SENTENCE.split(plain(paragraph, kind)) if sentence.strip()]


def find_phrases(scope):
    """[(regular expression, what to say instead)] of a scope, {(document, phrase that may stay)}"""
    refused, allowed = [], set()
    for line in read(PHRASES).splitlines():
        words, _, instead = line.partition("  -> ")
        if line.startswith("except "):
            document, _, phrase = line.removeprefix("except ").partition(": ")
            allowed.add((document, phrase))
        elif instead:
            where, _, regex = words.partition(": ")
            if scope in where.split(", "):
                refused.append((re.compile(regex, 0 if re.search("(?<!\\\\)[A-Z]", regex) else re.IGNORECASE), instead))
    return refused, allowed

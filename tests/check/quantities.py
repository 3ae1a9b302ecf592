#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No number stands by hand in a document: what was measured is written by `make describe`, what is set has a source.

In the pages and manuals that people write, each number with a unit stands between the marks of `make
describe`, in an example (code, also in a line), or in a phrase of tests/check/quantities.txt, which names the source that must
say the same. Phrases and sources that are not there any more are refused, too.
"""

import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.realpath(__file__)))

from prose import CODE, find_documents, kind_of, prose, read, squeeze  # noqa: E402

PHRASES = "tests/check/quantities.txt"
NUMBER = re.compile(r"(?<![\w.^])\d[\d,.]*(?:[ -]?(?:ns|us|µs|ms|s|kB|[KMG]i?B|%)|[ -](?:(?:micro|milli|nano)?seconds?|minutes?"
                    r"|percent|points?|bytes?|times|(?:\w+ ){0,2}a second))(?!\w)")


def spans(text, phrase):
    return [(found.start(), found.end()) for found in re.finditer(re.escape(phrase), text)]


def numbers(text, kind):
    """The (begin, end) of each number with a unit that is not in code."""
    masked = re.sub(CODE[kind], lambda code: "x" * len(code.group()), text)
    return [found.span() for found in NUMBER.finditer(masked)]


def complaints_of_document(path, text, phrases):
    """phrases: those that have a source."""
    kind = kind_of(path)
    text = prose(text, kind)
    found = numbers(text, kind)
    covered = set()
    for phrase in phrases:
        inside = {one for one in found for begin, end in spans(text, phrase) if begin <= one[0] and one[1] <= end}
        covered |= inside
        if not inside:
            yield f"{PHRASES}: {path} does not say \"{phrase}\", or it has no number with a unit"
    for begin, end in sorted(set(found) - covered):
        yield f"{path}: \"... {text[max(begin - 60, 0):end + 30]} ...\" has no source in {PHRASES}"


def find_phrases():
    """(document, phrase, source, text) of each line."""
    for line in read(PHRASES).splitlines():
        if line and not line.startswith("#"):
            phrase, _, origin = line.partition("  <- ")
            document, _, phrase = phrase.partition(": ")
            source, _, text = origin.partition(": ")
            yield document, squeeze(phrase), source, squeeze(text)


def is_said(source, text):
    """Raises OSError if there is no such source."""
    return text and re.search(re.escape(text) + r"(?!\w|\.\d)", squeeze(read(source)))


def complaints_of_sources(entries):
    for _, phrase, source, text in entries:
        try:
            if source != "definition" and not is_said(source, text):
                yield f"{PHRASES}: \"{phrase}\": {source} does not say \"{text}\""
        except OSError as error:
            yield f"{PHRASES}: \"{phrase}\": {source}: {error.strerror}"


def check_itself():
    page = "a 5 ms\n\n    6 ms\n```\n7 ms\n```\n`8 ms`\n<!-- x: begin -->\n9 ms\n<!-- x: end -->\nof 10\nus\n"
    said = list(complaints_of_document("x.md", page, ["of 10 us", "of 11 us"]))
    assert len(said) == 2 and "11 us" in said[0] and "a 5 ms" in said[1], said
    pod = "a 5 %, C<< 6 % >>\n\n  7 %\n\n=for comment x: begin\n\n9 %\n\n=for comment x: end\n\nand 2 readings a second"
    assert len(list(complaints_of_document("x.pod", pod, []))) == 2


def main():
    check_itself()
    entries = list(find_phrases())
    complaints = list(complaints_of_sources(entries))
    paths = find_documents()
    for path in paths:
        complaints += complaints_of_document(path, read(path), [phrase for document, phrase, _, _ in entries if document == path])
    complaints += [f"{PHRASES}: {document}: not one of the documents" for document, _, _, _ in entries if document not in paths]
    for text in complaints:
        print(f"FAIL: {text}")
    print(f"{len(paths)} documents, {len(entries)} phrases with a source")
    sys.exit(bool(complaints))


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One word for one idea, and one name for one thing.

The words of tests/check/words are in no identifier, file name, tag and option, those of tests/check/phrases that are refused
everywhere in no text; no two structs, enums and static functions of plugin/ and bpf/ have one name, where both can be in one build.
"""

import ast
import collections
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.realpath(__file__)))

from prose import TOP, find_phrases  # noqa: E402

FOLDERS = ("bpf", "conf", "contrib", "docs", "plugin", "tests")
# Of others: what a test plays or is compared with, and texts that are not ours.
OTHERS = re.compile(r"tests/(fuzz/corpus|e2e/packets|unit/state|mutants/.*\.patch)|LICENSES/|docs/pictures/|tests/check/(words|phrases)")
MADE = re.compile(r"\.(o|a|so|d|log|trs|seconds|png|pyc)$|/\.[^/]*$")
# Words that scripts use in their plain meaning, or that are of Python's own modules.
PYTHON = {"leave", "pattern", "patterns", "point", "points", "target", "targets", "worker", "workers"}
C_NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|^#\s*include[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL | re.MULTILINE)
DEFINITION = re.compile(r"^(?:(struct|enum|union) (?=\w+\s*\{)|static [\w \t*]*?\b(?=\w+\())(\w+)", re.MULTILINE)
# Files of which a build has one.
ALTERNATIVE = re.compile(r"(_none|_x86|_arm64)?\.[ch]$")
OPTION = re.compile(r'\{ "([A-Z][A-Za-z]+)", ')
TAG_TEXT = re.compile(r'"([a-z_]+):')


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def find_paths():
    """Texts of this project, from its top."""
    yield from (name for name in sorted(os.listdir(TOP)) if name.endswith((".md", ".am", ".ac")))
    for folder in FOLDERS:
        for directory, folders, names in os.walk(os.path.join(TOP, folder)):
            folders[:] = [name for name in folders if not name.startswith((".", "__"))]
            paths = [os.path.relpath(os.path.join(directory, name), TOP) for name in sorted(names)]
            yield from (path for path in paths if not OTHERS.match(path) and not MADE.search(path))


def find_words():
    """{word: (what is said instead, names of others that have it)}"""
    words = {}
    for line in read("tests/check/words").splitlines():
        if line and not line.startswith("#"):
            refused, _, instead = line.partition(": ")
            instead, _, others = instead.partition(" | ")
            words.update({word: (instead, others.split()) for word in refused.split()})
    return words


def names_of_c(text):
    return re.findall(r"[A-Za-z_]\w*", C_NOISE.sub(" ", text))


def names_of_python(text):
    for node in ast.walk(ast.parse(text)):
        for member in ("id", "attr", "arg", "name", "asname"):
            name = getattr(node, member, None)
            if isinstance(name, str):
                yield name


def names_of(path):
    """Identifiers, and what else in this file is a name: tags and options."""
    text = read(path)
    if path.endswith((".c", ".h", ".cc")):
        yield from names_of_c(text)
        if path.startswith("plugin/config/"):
            yield from OPTION.findall(text)
        if path.startswith("bpf/lib/"):
            yield from TAG_TEXT.findall(text)
    elif path.endswith(".py") or re.match(r"#!/usr/bin/(env )?python3", text):
        yield from names_of_python(text)


def parts_of(name):
    """request_rows, RequestRows and request-rows.c: each "request" and "rows", in small letters."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])", name)]


def complaints_of_name(name, path, words):
    for part in parts_of(name):
        instead, others = words.get(part, ("", [name]))
        if not any(other.lower() in name.lower() for other in others):
            yield f"{path}: {name}: instead of \"{part}\": {instead}"


def find_complaints(paths, words):
    refused_texts = find_phrases("all")[0]
    for path in paths:
        yield from complaints_of_name(path, "the name of the file", words)
        is_c = path.endswith((".c", ".h", ".cc"))
        refused = words if is_c else {word: words[word] for word in words.keys() - PYTHON}
        for name in sorted(set(names_of(path))):
            yield from complaints_of_name(name, path, refused)
        text = read(path)
        yield from (f"{path}: \"{found.group()}\": instead: {instead}" for regex, instead in refused_texts
                    for found in regex.finditer(text))


def find_twins(paths):
    """Definitions of one name in two files, unless only one of them is built."""
    where = collections.defaultdict(set)
    for path in paths:
        if path.startswith(("plugin/", "bpf/")) and path.endswith((".c", ".h")) and not path.startswith("bpf/lib/kernel/"):
            for kind, name in DEFINITION.findall(C_NOISE.sub(" ", read(path))):
                where[kind or "static", name].add(ALTERNATIVE.sub("", path))
    return {what: files for what, files in where.items() if len(files) > 1}


def main():
    words = find_words()
    assert parts_of("EXACT_request-rowsOf.c") == ["exact", "request", "rows", "of", "c"]
    assert list(complaints_of_name("take_row", "", words)) and not list(complaints_of_name("uprobe_multi_x", "", words))
    paths = list(find_paths())
    complaints = list(find_complaints(paths, words))
    complaints += [f"{kind} {name}: in {', '.join(sorted(files))}" for (kind, name), files in sorted(find_twins(paths).items())]
    for text in complaints:
        print(f"FAIL: {text}")
    print(f"{len(paths)} files, {len(words)} words")
    sys.exit(bool(complaints))


main()

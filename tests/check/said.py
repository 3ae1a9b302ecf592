# SPDX-License-Identifier: MIT
"""What the programs say: messages of the plugin, help of its objects, usage texts and messages of tools.

These are the string literals of at least three words; of a shell script, its lines.
"""

import ast
import glob
import os
import re

import prose

PATTERNS = ("plugin/**/*.[ch]", "bpf/**/*.[ch]", "contrib/ebpf-*", "contrib/quickstart", "contrib/lib/*.py")
# By `make describe`, from texts of bpf/.
GENERATED = ("contrib/lib/series.py", "contrib/lib/texts.py")
WORDS_MIN = 3
WORD = re.compile(r"[A-Za-z]{2,}")
STRING = r'"(?:\\.|[^"\\\n])*"'
# Parts in a row; a macro between them is a part of a format.
STRINGS = re.compile(rf"{STRING}(?:\s*(?:[A-Z]\w+\s*)?{STRING})*")
NOT_STRING = r"/\*.*?\*/|//[^\n]*|^#\s*include[^\n]*|'(?:\\.|[^'\\\n])*'"
HTML = re.compile(r"</?[a-z][^<>]*>")
SENTENCE = re.compile(r"[.:;?]\s+|\n")


def strings_of_c(text):
    text = re.sub(f"({STRING})|{NOT_STRING}", lambda found: found.group(1) or "", text, flags=re.M | re.S)
    parts = [re.findall(STRING, found.group()) for found in STRINGS.finditer(text)]
    return ["".join(part[1:-1] for part in row).replace('\\"', '"').replace("\\n", "\n") for row in parts]


def strings_of_python(text):
    """Without what documents code; a value in a text is %s."""
    nodes = list(ast.walk(ast.parse(text)))
    formats = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    others = {node.value for node in nodes if isinstance(node, ast.Expr)}
    others.update(part for node in formats for part in node.values)
    return ["".join(part.value if isinstance(part, ast.Constant) else "%s" for part in node.values) for node in formats] + [
        node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in others]


def strings_of(path, text):
    if path.endswith((".c", ".h")):
        return strings_of_c(text)
    if path.endswith(".py") or re.match("#!.*python", text):
        return strings_of_python(text)
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


def sentences(text):
    return [prose.squeeze(part) for part in SENTENCE.split(HTML.sub(" ", text)) if part.strip()]


def find_texts():
    """(path, text)"""
    for pattern in PATTERNS:
        for path in sorted(glob.glob(os.path.join(prose.TOP, pattern), recursive=True)):
            path = os.path.relpath(path, prose.TOP)
            if path not in GENERATED:
                yield from ((path, text) for text in strings_of(path, prose.read(path)) if len(WORD.findall(text)) >= WORDS_MIN)


def check_itself():
    code = '#include "no"\n/* "no" */ f("a %" PRIu64 " b\\n"\n\t"\\"c\\"", \'"\', "d"); // "no"\n'
    assert strings_of("a.c", code) == ['a % b\n"c"', "d"], strings_of("a.c", code)
    code = '"""no"""\ndef f(x):\n    "no"\n    return f"a {x} b" + "c"\n'
    assert strings_of("a.py", code) == ["a %s b", "c"], strings_of("a.py", code)
    assert strings_of("a", "#!/usr/bin/python3\n" + code) == ["a %s b", "c"]
    assert strings_of("a", "#!/bin/bash\n\t# no\nsay 'a b'\n") == ["say 'a b'"]
    assert sentences('<p class="no">a: b. <Service "c">') == ["a", "b", '<Service "c">'], sentences('<p class="no">a: b. <Service "c">')

# SPDX-License-Identifier: MIT
"""The hook sets of a probe, from its object: the tags of its programs and the sections that they are in."""

import json
import os
import re
import subprocess

BUILD = os.environ.get("abs_top_builddir") or os.getcwd()
BPFTOOL = os.environ.get("BPFTOOL") or "bpftool"


CALLED = "syscall"  # a section that is no hook: readings run its program


class HookSet:
    def __init__(self):
        self.kinds = set()
        self.options = set()  # of each program, None among them: none

    def option(self):
        """What the hook set needs, or None."""
        return next(iter(self.options - {None})) if None not in self.options else None


def path_of(probe):
    return os.path.join(BUILD, "bpf", probe + ".bpf.o")


def readelf(what, path):
    return subprocess.run(["readelf", "-W", what, path], capture_output=True, text=True, check=True).stdout


def sections(path):
    """{program: section}"""
    names = dict(re.findall(r"^ *\[ *(\d+)\] (\S+) +PROGBITS .* AX ", readelf("-S", path), re.MULTILINE))
    symbols = re.findall(r"FUNC +GLOBAL +DEFAULT +(\d+) (\S+)$", readelf("-s", path), re.MULTILINE)
    return {function: names[index] for index, function in symbols if names.get(index, ".text") != ".text"}


def tags(path):
    """{function: [tag, ...]}"""
    dump = subprocess.run([BPFTOOL, "-j", "btf", "dump", "file", path], capture_output=True, check=True)
    types = json.loads(dump.stdout)["types"]
    functions = {entry["id"]: entry["name"] for entry in types if entry["kind"] == "FUNC"}
    found = {}
    for entry in types:
        if entry["kind"] == "DECL_TAG" and entry["type_id"] in functions:
            found.setdefault(functions[entry["type_id"]], []).append(entry["name"])
    return found


def values(words, name):
    return [word[len(name) + 1:] for word in words if word.startswith(name + ":")]


def hooks(probe):
    """{number: Tier}; 1 alone for a probe without hook sets."""
    words, common, hook_sets = tags(path_of(probe)), set(), {}
    for function, section in sections(path_of(probe)).items():
        mine = words.get(function, [])
        numbers, option, kind = values(mine, "hook_set"), next(iter(values(mine, "option")), None), section.partition("/")[0]
        kinds = {kind} - {CALLED}
        for number in numbers:
            hook_set = hook_sets.setdefault(int(number), HookSet())
            hook_set.kinds |= kinds
            hook_set.options.add(option)
        if not numbers and not option:
            common |= kinds
    hook_sets = hook_sets or {1: HookSet()}
    for hook_set in hook_sets.values():
        hook_set.kinds |= common
    return hook_sets

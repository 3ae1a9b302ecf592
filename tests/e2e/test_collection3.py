#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The definitions for collection3 name types and data sources that types.db has, and series of definitions.py alone."""

import os
import re
import sys

from e2e import TOP, Check, read_types

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import collection3  # noqa: E402
from definitions import GRAPHS  # noqa: E402


def read(text):
    """[(kind, name, {option: value}, inner blocks)] of the text's blocks, and its options outside blocks."""
    found = stack = ("", "", {}, []),
    for line in filter(None, (line.strip() for line in text.splitlines() if not line.startswith("#"))):
        if line.startswith("</"):
            stack = stack[:-1]
        elif line.startswith("<"):
            kind, name = line.strip("<>").split(" ")
            stack[-1][3].append((kind, name, {}, []))
            stack = *stack, stack[-1][3][-1]
        else:
            option, value = re.fullmatch(r'(\w+) "?([^"]*)"?', line).groups()
            stack[-1][2][option] = value
    (_, _, options, blocks), = found
    return blocks, options


def main():
    blocks, options = read(collection3.definitions())
    types = read_types()
    of_types = {name: members for kind, name, members, _ in blocks if kind == "Type"}
    graphs = [(members, [series for _, _, series, _ in inner]) for kind, _, members, inner in blocks if kind == "Graph"]
    with Check() as check:
        check.equal("types that types.db has not", [name for name in of_types if name not in types], [])
        check.equal("titles", [graph["Title"] for graph, _ in graphs], list(collection3.TITLES))
        check.equal("types of the graphs", {graph["Type"] for graph, _ in graphs}, set(of_types))
        drawn = [(series["File"], series["Source"]) for _, many in graphs for series in many]
        sources = {name: {source for source, _ in many} for name, many in types.items()}
        check.equal("data sources that types.db has not",
                    [one for one in drawn if one[1] not in sources[one[0].partition("-")[0]]], [])
        defined = {(series.file, series.source) for section in GRAPHS.values() for graph in section
                   for series in (*graph.series, *graph.above)}
        check.equal("series that are in no graph", [one for one in drawn if one not in defined], [])
        colors = [*options["Palette"].split(), *(series["Color"] for _, many in graphs for series in many if "Color" in series)]
        check.equal("colours that are none", [color for color in colors if not re.fullmatch("[0-9A-F]{6}", color)], [])


if __name__ == "__main__":
    main()

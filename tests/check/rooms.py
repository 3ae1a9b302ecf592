#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rooms of plugin/ include each other in one direction only, and no two files include each other in a circle.

ROOMS is their order. A file includes files of its own room and of those below. A .c file and its header are one file here.
"""

import collections
import os
import re
import sys

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
ROOMS = ["daemon", "probe", "stack", "event", "table", "source", "service", "cgroup", "device", "schema", "attach", "object", "config",
         "helper/symbols", "helper", "util"]
INCLUDE = re.compile(r'^#include "(?:plugin/)?([\w/]+)\.h"', re.MULTILINE)


def find_files():
    """{"ROOM/NAME": the names that its source and its header include}."""
    files = collections.defaultdict(set)
    for directory, _, names in os.walk(os.path.join(TOP, "plugin")):
        room = os.path.relpath(directory, os.path.join(TOP, "plugin"))
        for name in names:
            base, ending = os.path.splitext(name)
            if ending in (".c", ".h"):
                with open(os.path.join(directory, name), encoding="utf-8") as file:
                    files[f"{room}/{base}"].update(INCLUDE.findall(file.read()))
    return files


def find_arrows(files):
    """{file: the files that it includes}; what is generated or not of the plugin is left out."""
    arrows = {}
    for file, included in files.items():
        beside = {os.path.normpath(os.path.join(os.path.dirname(file), name)) for name in included}
        arrows[file] = ((beside | included) & files.keys()) - {file}
    return arrows


def complaints_of_order(arrows):
    for file in sorted(arrows):
        room = os.path.dirname(file)
        if room not in ROOMS:
            yield f"plugin/{file}: its room is not in the list of this check"
            continue
        for other in sorted(arrows[file]):
            below = os.path.dirname(other)
            if below in ROOMS and ROOMS.index(below) < ROOMS.index(room):
                yield f"plugin/{file} includes plugin/{other}.h, but the room {below} stands above {room}"


def find_circle(arrows):
    """The files of a circle, each included by the one before; [] if there is none."""
    done = set()

    def walk(file, way):
        if file in way:
            return way[way.index(file):] + [file]
        if file not in done:
            for other in sorted(arrows[file]):
                circle = walk(other, way + [file])
                if circle:
                    return circle
            done.add(file)
        return []

    return next(filter(None, (walk(file, []) for file in sorted(arrows))), [])


def main():
    arrows = find_arrows(find_files())
    complaints = list(complaints_of_order(arrows))
    if not any(arrows[file] for file in arrows if os.path.dirname(file) == "daemon"):
        complaints.append("nothing is included by the room daemon")
    circle = find_circle(arrows)
    if circle:
        complaints.append("a circle: " + " -> ".join(circle))
    for text in complaints:
        print(f"FAIL: {text}")
    print(f"{len(arrows)} files, {sum(map(len, arrows.values()))} includes between them")
    sys.exit(bool(complaints))


main()

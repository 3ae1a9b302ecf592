# SPDX-License-Identifier: MIT
"""The tables of this build's probes, from their objects: what kinds of rows they have, and which series."""

import glob
import json
import os
import subprocess

from lib import BPFTOOL, BUILD


def value_type(types, variable):
    """The type of a map's values: that which the member of this name points to. None: it has no type."""
    definition = types[variable["type_id"]]
    member = next((member for member in definition.get("members", ()) if member["name"] == "value"), None)
    return types[member["type_id"]]["type_id"] if member else None


def of_object(path):
    """[(kind of rows, {TYPE[-INSTANCE], ...}), ...]"""
    dump = subprocess.run([BPFTOOL, "-j", "btf", "dump", "file", path], capture_output=True, check=True)
    types = {entry["id"]: entry for entry in json.loads(dump.stdout)["types"]}
    tags = [(entry["type_id"], *entry["name"].split(":", 1)) for entry in types.values() if entry["kind"] == "DECL_TAG"]
    found = []
    for of, word, text in tags:
        if word == "subject":
            row = value_type(types, types[of])
            found.append((text.split()[0], {metric.split()[0].partition(":")[0] for on, word, metric in tags
                                            if word == "metric" and on == row}))
    return found


def series():
    """{kind of rows: {TYPE[-INSTANCE], ...}}, of all probes."""
    found = {}
    for path in glob.glob(os.path.join(BUILD, "bpf", "*.bpf.o")):
        for kind, metrics in of_object(path):
            found.setdefault(kind, set()).update(metrics)
    return found

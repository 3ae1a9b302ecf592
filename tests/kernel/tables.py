# SPDX-License-Identifier: MIT
"""The tables of this build's probes, as ebpf-describe reads them from the objects."""

import glob
import json
import os
import subprocess

from collectd import TYPES
from lib import BUILD


def described():
    objects = glob.glob(os.path.join(BUILD, "bpf", "*.bpf.o"))
    said = subprocess.run([os.path.join(BUILD, "ebpf-describe"), TYPES, *objects], capture_output=True, check=True).stdout
    return json.loads(said)


def files():
    """{probe: {TYPE[-INSTANCE] of a series that a service has by default, ...}}, with all that is made of histograms."""
    return {probe["probe"]: {name for table in probe["tables"] for one in table["series"] for name in one["files"]
                             if table["subject"].startswith("service") and not (table["option"] or one["off"])}
            for probe in described() if not probe["off"]}


def series():
    """{kind of rows: {TYPE[-INSTANCE], ...}}, of all probes."""
    found = {}
    for probe in described():
        for table in probe["tables"]:
            found.setdefault(table["subject"].split()[0], set()).update(one["name"] for one in table["series"])
    return found

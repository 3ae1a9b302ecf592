# SPDX-License-Identifier: MIT
"""The tables of this build's probes, as ebpf-describe reads them from the objects."""

import glob
import json
import os
import subprocess

from collectd import TYPES
from lib import BUILD


def series():
    """{kind of rows: {TYPE[-INSTANCE], ...}}, of all probes."""
    objects = glob.glob(os.path.join(BUILD, "bpf", "*.bpf.o"))
    said = subprocess.run([os.path.join(BUILD, "ebpf-describe"), TYPES, *objects], capture_output=True, check=True).stdout
    found = {}
    for probe in json.loads(said):
        for table in probe["tables"]:
            found.setdefault(table["subject"].split()[0], set()).update(one["name"] for one in table["series"])
    return found

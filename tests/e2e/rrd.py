# SPDX-License-Identifier: MIT
"""What RRD files hold, by rrdtool."""

import math
import os
import re
import subprocess
import time


def fetch(paths, begin, end, consolidation="AVERAGE", environment=None, patience=10):
    """{path: {data source: {end of step: value}}} of the known steps that end within begin .. end. A file that is not
    there has none. patience: seconds for which a file may be locked."""
    there = sorted(filter(os.path.exists, set(paths)))
    orders = "".join(f'fetch "{path}" {consolidation} --start {math.floor(begin)} --end {math.ceil(end)}\n'
                     for path in there)
    give_up = time.monotonic() + patience
    while "could not lock" in (reply := _command(orders, environment)) and time.monotonic() < give_up:
        # A collectd that runs holds the lock for as long as it writes one value.
        time.sleep(0.05)
    responses = re.split(r"^OK .*\n", reply, flags=re.MULTILINE)
    if len(responses) != len(there) + 1:
        raise RuntimeError(f"rrdtool fetch: {reply[-500:]}")
    return {**{path: {} for path in paths},
            **{path: _table(response, begin, end) for path, response in zip(there, responses)}}


def last(paths, environment=None):
    """{path: time of the last update}; of a file that is not there, 0."""
    there = sorted(filter(os.path.exists, set(paths)))
    reply = _command("".join(f'last "{path}"\n' for path in there), environment)
    found = re.findall(r"^(\d+)\nOK ", reply, re.M)
    if len(found) != len(there):
        raise RuntimeError(f"rrdtool last: {reply[-500:]}")
    return {**dict.fromkeys(paths, 0), **dict(zip(there, map(int, found)))}


def steps(path, source, begin, end, consolidation="AVERAGE"):
    """{end of step: value} of one data source; of a file that is not there, {}."""
    return fetch([path], begin, end, consolidation)[path].get(source, {})


def _command(orders, environment):
    return subprocess.run(["rrdtool", "-"], input=orders, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=True, env={**os.environ, **(environment or {})}).stdout


def _table(response, begin, end):
    head, _, *lines = response.splitlines()
    rows = [(int(stamp), list(map(float, values.split()))) for stamp, values in (line.split(":") for line in lines)]
    return {source: {stamp: values[i] for stamp, values in rows
                     if begin <= stamp <= end and not math.isnan(values[i])}
            for i, source in enumerate(head.split())}

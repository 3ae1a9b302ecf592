# SPDX-License-Identifier: MIT
"""Values of the past, written into the stores of a test before these start, as if collectd had written them then."""

import json
import math
import os
import subprocess
import sys
import time
import urllib.request
from typing import NamedTuple

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "contrib", "lib"))
import relabel  # noqa: E402

DAY = 86400


class PastSeries(NamedTuple):
    """file: TYPE[-INSTANCE], of one data source; rows: [(time, value), ...]"""
    host: str
    subject: str
    file: str
    rows: list


def shape(host, subject, file, begin_s, step_s, value, end_s=0):
    """From begin_s to end_s ago. value: function of the time in seconds until now (so it is positive in the past)."""
    now = math.floor(time.time())
    agos = range(int(begin_s), int(end_s), -int(step_s))
    return PastSeries(host, subject, file, [(now - ago, value(ago)) for ago in agos])


def openmetrics(many):
    text, found = "", {}
    for one in many:
        name, labels = relabel.renamed(one.file, "value", one.subject)
        labels |= {"instance": one.host, "job": "collectd"}
        words = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        found.setdefault(name, []).append("".join(f"{name}{{{words}}} {value} {stamp}\n" for stamp, value in one.rows))
    for name, parts in found.items():
        family = name.removesuffix("_total")
        text += f"# TYPE {family} {'counter' if name != family else 'gauge'}\n{''.join(parts)}"
    return text + "# EOF\n"


def to_prometheus(many, directory):
    """directory: of its data, which need not exist"""
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "past.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write(openmetrics(many))
    subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", path, directory], check=True, capture_output=True)
    os.unlink(path)


def post(url, text):
    with urllib.request.urlopen(url, text.encode(), timeout=30):
        pass


def to_influxdb(many, port):
    """Of a database that runs, at this port of HTTP."""
    lines = []
    for one in many:
        kind, _, instance = one.file.partition("-")
        tags = {"host": one.host, "instance": one.subject, "type": kind, "type_instance": instance}
        words = ",".join(f"{tag}={value}" for tag, value in tags.items() if value)
        lines += [f"ebpf_value,{words} value={float(value)} {stamp}" for stamp, value in one.rows]
    url = f"http://127.0.0.1:{port}"
    post(f"{url}/query", "q=CREATE+DATABASE+collectd")
    for first in range(0, len(lines), 5000):
        post(f"{url}/write?db=collectd&precision=s", "\n".join(lines[first:first + 5000]))


# By Debian's Python, which has whisper's module: [path, archives, rows] of each file.
WRITE = """
import json, os, sys, whisper
for path, archives, rows in json.load(sys.stdin):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    whisper.create(path, archives)
    whisper.update_many(path, rows)
"""


def to_graphite(many, tree, archives):
    """tree: of carbon's files; archives: [(seconds, points), ...] of each"""
    files = []
    for one in many:
        parts = ("collectd", one.host, "ebpf", one.subject, *one.file.split("-", 1))
        files.append((os.path.join(tree, *(part.replace(".", "_") for part in parts)) + ".wsp", archives, one.rows))
    subprocess.run(["/usr/bin/python3", "-c", WRITE], input=json.dumps(files), text=True, check=True)

# SPDX-License-Identifier: MIT
"""Reads the events that the plugin keeps (option EventFile in collectd-ebpf(5)): objects of JSON, one a line.

Texts and names come from untrusted programs. They are used only as text, and what a file can cost is bounded.
"""

import dataclasses
import glob
import json
import math
import os
import re
import stat

import name
import unit
from text import printable

DEFAULT = "/var/lib/collectd/ebpf/events.jsonl"
BEFORE = ".1"        # of the file that the plugin has filled before
SIZE = 4 << 20       # bytes of a file that are read; the plugin writes up to 1 MiB
LINE = 4096          # bytes
TEXT = 512           # characters of a member
EVENTS = 2000        # of a host; older ones are left out
TOGETHER = 60        # s in which events of one kind are one
THRESHOLD = "threshold"
FIGURE = re.compile(r"-?(?:\d+\.\d{6}|nan)\b")     # as threshold writes it
UNITS = {"latency": unit.SECONDS, "percent": unit.Unit("percent", "%"), "memory": unit.BYTES, "ps_rss": unit.BYTES}   # of types
SEVERITIES = ("okay", "warning", "failure")


@dataclasses.dataclass
class Event:
    """Something that has happened to a service; to "": to all of the host."""
    time: float
    host: str
    service: str
    kind: str
    severity: str
    series: str
    text: str
    times: int = 1

    def alike(self):
        return self.host, self.service, self.kind, self.severity, self.series

    def _text(self):
        """Of the plugin threshold, the series in place of the identifier with which it begins, and figures in their unit."""
        _, colon, said = self.text.partition(": ")
        if not colon or self.kind != THRESHOLD or not self.text.startswith("Host "):
            return self.text
        shown = UNITS.get(self.series.partition("-")[0], unit.NUMBER)
        return f"{self.series}: " + FIGURE.sub(lambda found: shown.write(float(found[0])), said)

    def member(self):
        """What a page gets of it."""
        times = f" ({self.times} times)" if self.times > 1 else ""
        return {"time": round(self.time, 3), "service": self.service, "kind": self.kind, "severity": self.severity,
                "text": self._text() + times}


def _string(found, member):
    value = found.get(member, "")
    if not isinstance(value, str) or len(value) > TEXT:
        raise ValueError(member)
    return printable(value)


def parse(line):
    """The event of a line, in bytes. ValueError: there is none."""
    try:
        found = json.loads(line.decode("utf-8"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError("no object")
    when = found.get("time")
    if isinstance(when, bool) or not isinstance(when, (int, float)) or not abs(when) < 1e12:
        raise ValueError("time")
    service = _string(found, "service")
    event = Event(float(when), _string(found, "host"), "" if service == name.PLUGIN else service,
                  *(_string(found, member) for member in ("kind", "severity", "series", "text")))
    if not event.host or not event.kind or event.severity not in SEVERITIES:
        raise ValueError("host, kind or severity")
    return event


def _bytes(path):
    """What is in a file; nothing if it is not a regular one, or not there."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    with open(handle, "rb") as file:
        return file.read(SIZE) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def _files(path):
    """The files at this path, each before the older one, into which it may be renamed meanwhile."""
    found = sorted(glob.glob(os.path.join(glob.escape(path), "*.jsonl"))) if os.path.isdir(path) else [path]
    return [file + ending for file in found for ending in ("", BEFORE)]


def _parsed(paths, notes):
    """The events of all files."""
    lines = dict.fromkeys(line for path in paths for line in _bytes(path).split(b"\n") if line)
    broken = 0
    for line in lines:
        try:
            if len(line) > LINE:
                raise ValueError("length")
            yield parse(line)
        except ValueError:
            broken += 1
    if broken:
        notes.append(f"lines that are not events: {broken}, in {', '.join(paths)}")


def together(events):
    """events: by time. Those that are alike and within a minute of the first become one."""
    firsts, found = {}, []
    for event in events:
        first = firsts.get(event.alike())
        if first and event.time - first.time <= TOGETHER:
            first.times += 1
            continue
        firsts[event.alike()] = event
        found.append(event)
    return found


def read(path, start=-math.inf, end=math.inf, notes=None):
    """{host: [{"time", "service", "kind", "severity", "text"}, ...]}, oldest first: the last of each host from start to end.

    path: the file of the plugin, or a directory with such files, for example of several hosts. notes: a list, to which
    is added what was wrong. OSError: a file cannot be read."""
    hosts = {}
    parsed = sorted(_parsed(_files(path), [] if notes is None else notes), key=lambda event: event.time)
    for event in together(event for event in parsed if start <= event.time <= end):
        hosts.setdefault(event.host, []).append(event.member())
    return {host: members[-EVENTS:] for host, members in hosts.items()}

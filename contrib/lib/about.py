# SPDX-License-Identifier: MIT
"""about.js: what the pages have, and when each level of detail was drawn. The next run reads it, and draws only what has changed
since."""

import hashlib
import json
import math
import os
import time

import data
import page
import span
from text import printable
from version import VERSION

FILE = "about.js"
PATIENCE = 300      # seconds for which a level stays as it is if no file was written meanwhile
LARGEST = 1 << 26   # bytes of the file
TIMES = "start", "end", "first", "step", "drawn"    # of a level, in seconds
# What json.loads() and the use of whatever it returns may raise.
WRONG = ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError


def key_of(options):
    """Tells runs apart whose pages differ in more than the time. The code is one of its parts."""
    code = max(os.stat(os.path.join(page.HERE, name)).st_mtime_ns for name in os.listdir(page.HERE))
    parts = VERSION, code, options.rrd, options.service, options.host, options.start, options.stacks, options.before
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


class About:
    def __init__(self, key, levels, spans, found):
        """key: see key_of(); levels, spans: those of this run; found: host -> services that have files"""
        self.key, self.found = key, found
        self.spans = {level: [one.name for one in spans if one.level == level.name] for level in levels}
        self.levels = {}    # name -> members of a level that is drawn
        self.services = {}  # (host, service) -> names of the levels in which it has values

    def read(self, output, written):
        """Takes over the levels of an earlier run that would be drawn as they are. Whatever else may have written the file, it
        can only say that of levels and services of this run. written: the last write of any file"""
        text = output.begin_of(FILE, LARGEST).decode("utf-8", "replace")
        try:
            members = json.loads(text[len("about("):text.rindex(")")])
            for level in self.spans if members["key"] == self.key else ():
                self._claim(output, members, level, written)
        except WRONG:
            self.levels, self.services = {}, {}

    def _claim(self, output, members, level, written):
        noted = next((one for one in members["levels"] if one["name"] == level.name), None)
        if not noted or noted["spans"] != self.spans[level] or not self._is_fresh(level, noted, written):
            return
        services = {(host["name"], service["name"]) for host in members["hosts"] for service in host["services"]
                    if level.name in service["levels"]}
        there = {(host, service.name) for host, many in self.found.items() for service in many}
        if services and services <= there and all(data.is_there(output, host, level) for host in dict(services)):
            self._note(level, services, {word: int(noted[word]) for word in TIMES})

    @staticmethod
    def _is_fresh(level, noted, written):
        passed = level.end - noted["end"]
        # The first reading stays where it is; without it, both ends move.
        if noted["start"] not in (level.start, level.start - passed) or not all(math.isfinite(noted[word]) for word in TIMES):
            return False
        return 0 <= passed < noted["step"] or 0 <= passed < PATIENCE and written < noted["drawn"]

    def _note(self, level, services, times):
        self.levels[level.name] = {"name": level.name, "spans": self.spans[level], **times}
        for service in services:
            self.services.setdefault(service, []).append(level.name)

    def add(self, level, first, hosts, began):
        """Notes that a level was drawn. first: its first reading; hosts: name -> services that have values; began: when reading
        began"""
        services = [service for many in hosts.values() for service in many]
        if services:
            step = max(service.read_spans[level][0].step for service in services)
            self._note(level, [(service.host, service.name) for service in services],
                       dict(zip(TIMES, (level.start, level.end, first, step, began))))

    def present(self):
        """The services that have values, by host."""
        shown = {host: [service for service in services if (host, service.name) in self.services]
                 for host, services in self.found.items()}
        return {host: services for host, services in shown.items() if services}

    def write(self, output, title, notes, spans, hosts, machines):
        """spans: those that have values; hosts: name -> services; machines: names of those with a triage"""
        end = max(level["end"] for level in self.levels.values())
        members = {
            "key": self.key, "title": title, "notes": notes, "offset": time.localtime(end).tm_gmtoff, "drawn": int(time.time()),
            "spans": [{"name": one.name, "title": one.title, "seconds": one.end - one.start, "level": one.level}
                      for one in spans],
            "shown": span.opened(spans).name, "levels": list(self.levels.values()),
            "hosts": [{"name": host, "triage": host in machines, "services": list(map(self._service, services))}
                      for host, services in hosts.items()]}
        output.write(FILE, page.script("about", json.dumps(members)))

    def _service(self, service):
        return {"name": service.name, "title": printable(service.title), "levels": self.services[service.host, service.name],
                "device": service.is_device, "process_of": service.parent if service.is_process else ""}

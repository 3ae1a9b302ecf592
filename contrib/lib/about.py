# SPDX-License-Identifier: MIT
"""data/about.js: what the pages have, and when each level of detail was drawn. The next run reads it, and draws only what has
changed since."""

import contextlib
import hashlib
import json
import os
import time

import page
import span as spans_of
from version import VERSION

FILE = "about.js"
PATIENCE = 300      # seconds for which a level stays as it is if no file was written meanwhile
LARGEST = 1 << 26   # bytes of the file
TIMES = "start", "end", "first", "step", "drawn"    # of a level, in seconds


class About:
    def __init__(self, key, members=None):
        """key: tells runs apart whose pages differ in more than the time; members: those of an earlier run"""
        members = members if isinstance(members, dict) and members.get("key") == key else {}
        self.key = key
        self.levels = {level["name"]: {"name": level["name"], **{word: int(level[word]) for word in TIMES}}
                       for level in members.get("levels", ())}
        self.services = {(host["name"], service["name"]): set(service["levels"]) & set(self.levels)
                         for host in members.get("hosts", ()) for service in host["services"]}

    def is_fresh(self, level, written):
        """Whether a level is still as it would be drawn. written: the last write of any file"""
        drawn = self.levels.get(level.name)
        if not drawn or drawn["end"] - drawn["start"] != level.end - level.start:
            return False
        passed = level.end - drawn["end"]
        return 0 <= passed < drawn["step"] or 0 <= passed < PATIENCE and written < drawn["drawn"]

    def drop(self, level):
        """Forgets a level."""
        self.levels.pop(level.name, None)
        for levels in self.services.values():
            levels.discard(level.name)

    def add(self, level, first, step, services, drawn):
        """Notes that a level was drawn. services: those that have values; drawn: when reading began"""
        self.levels[level.name] = dict(zip(("name", *TIMES), (level.name, level.start, level.end, first, step, drawn)))
        for service in services:
            self.services.setdefault((service.host, service.name), set()).add(level.name)

    def present(self, found):
        """The services of `found` that have a level, by host. Others are forgotten."""
        there = {(host, service.name) for host, services in found.items() for service in services}
        self.services = {key: levels for key, levels in self.services.items() if levels and key in there}
        shown = {host: [service for service in services if (host, service.name) in self.services]
                 for host, services in found.items()}
        return {host: services for host, services in shown.items() if services}

    def write(self, output, title, notes, spans, hosts):
        """spans: those that have values; hosts: name -> services"""
        end = max(level["end"] for level in self.levels.values())
        members = {
            "key": self.key, "title": title, "notes": notes, "offset": time.localtime(end).tm_gmtoff, "drawn": int(time.time()),
            "spans": [{"name": span.name, "title": span.title, "seconds": span.end - span.start, "level": span.level} for span in spans],
            "shown": next((span.name for span in spans if span.name == spans_of.OPEN), spans[0].name),
            "levels": list(self.levels.values()),
            "hosts": [{"name": host, "services": [self._service(service) for service in services]} for host, services in hosts.items()]}
        with output.folder(page.DATA) as data:
            data.write(FILE, page.script("about", json.dumps(members)))

    def _service(self, service):
        return {"name": service.name, "title": service.title, "levels": sorted(self.services[service.host, service.name]),
                "device": service.is_device, "process_of": service.parent if service.is_process else ""}


def key_of(*parts):
    """parts: what the pages depend on besides the time. The code is one of them."""
    code = max(os.stat(os.path.join(page.HERE, name)).st_mtime_ns for name in os.listdir(page.HERE))
    return hashlib.sha256(repr((VERSION, code, *parts)).encode("utf-8", "surrogateescape")).hexdigest()


def read(output, key):
    """What an earlier run has drawn, if it had the same key. Whatever else may have written the file, it is no more than that."""
    with output.folder(page.DATA) as data, contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
        text = data.begin_of(FILE, LARGEST).decode("utf-8", "replace")
        return About(key, json.loads(text[len("about("):text.rindex(")")]))
    return About(key)

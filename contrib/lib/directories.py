# SPDX-License-Identifier: MIT
"""The directories that collectd and the plugin write to."""

import os

from collectd_conf import words
from finding import fine, limit
from unit import BYTES

BASE = "/var/lib/collectd"
LEAST = 16 << 20    # bytes: a disk with less is full
STORES = "rrdtool", "rrdcached", "csv"


def base(configuration):
    return configuration.settings.get(("", "basedir"), BASE)


def event_file(configuration):
    """"": events are not kept."""
    return configuration.value("EventFile", os.path.join(base(configuration), "ebpf", "events.jsonl"))


def profiles(configuration):
    lines = [words(line) for block in configuration.blocks for line in block]
    found = [line[1] for line in lines if len(line) > 1 and line[0].lower() == "directory"]
    return found[-1] if found else os.path.join(base(configuration), "profiles")


def _all(configuration):
    """(name, directory, the option that chooses it)"""
    yield "BaseDir", base(configuration), "BaseDir"
    yield "profiles", profiles(configuration), "Directory in <Profiles>"
    yield "events", os.path.dirname(event_file(configuration)), "EventFile"
    for store in filter(configuration.plugins.__contains__, STORES):
        yield store, os.path.join(base(configuration), configuration.settings.get((store, "datadir"), "")), "DataDir"


def _examine(name, path, option, root):
    there = path
    while not os.path.exists(root + there) and there != "/":
        there = os.path.dirname(there)
    try:
        disk = os.statvfs(root + there)
    except OSError as error:
        return limit(name, f"{path}: {error.strerror}", f"{option} chooses another directory")
    free = disk.f_bavail * disk.f_frsize
    if disk.f_flag & os.ST_RDONLY:
        return limit(name, f"{path}: the file system is read-only", f"mount it writable, or {option} chooses another directory")
    if free < LEAST or disk.f_files and not disk.f_favail:
        return limit(name, f"{path}: the disk is full", f"make room, or {option} chooses another directory")
    return fine(name, f"{path}, {BYTES.write(free)} free", "files")


def findings(configuration, root=""):
    """root: that of the collectd that runs, which may have mounts of its own"""
    return [_examine(*one, root) for one in _all(configuration) if one[1].startswith("/")]

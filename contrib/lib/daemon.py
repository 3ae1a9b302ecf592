# SPDX-License-Identifier: MIT
"""Which process is the machine's collectd. A process's name proves nothing, because any user may call a program collectd."""

import contextlib
import os
import pwd
import re

import kernel

PIDFILE = "/var/run/collectd.pid"
NAMESPACES = "pid", "mnt"


def _owners(unit):
    """The users that collectd may run as."""
    owners = {0}
    with contextlib.suppress(KeyError):
        owners.add(pwd.getpwnam(unit.get("User") or "root").pw_uid)
    return owners


def _is_program(path, program):
    """path: of a process's exe. After an upgrade only its name is left."""
    target = os.readlink(path)
    return target == os.path.realpath(program) + " (deleted)" or os.path.samefile(path, program)


def _runs(pid, program, owners):
    """Whether a process runs the program, as one of these users, where we are."""
    users = re.search(r"^Uid:[ \t]*([0-9 \t]+)$", kernel.read(f"/proc/{pid}/status") or "", re.M)
    if not users or not set(map(int, users[1].split())) <= owners:
        return False
    try:
        return (all(os.readlink(f"/proc/{pid}/ns/{kind}") == os.readlink(f"/proc/self/ns/{kind}") for kind in NAMESPACES)
                and _is_program(f"/proc/{pid}/exe", program))
    except OSError:
        return False


def _parent(pid):
    fields = (kernel.read(f"/proc/{pid}/stat") or "").rpartition(")")[2].split()
    return int(fields[1]) if fields else 0


def find(configuration, program, unit):
    """The processes that may be the machine's collectd; one, if that is known. program: collectd's path, or None; unit: its
    properties, see systemd.py"""
    if pid := int(unit.get("MainPID") or 0):
        return [pid]
    if not program:
        return []
    owners = _owners(unit)
    pid = kernel.number(configuration.settings.get(("", "pidfile"), PIDFILE))
    if pid and _runs(pid, program, owners):
        return [pid]
    found = [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _runs(pid, program, owners)]
    # Helpers are forks of the daemon.
    return sorted(pid for pid in found if _parent(pid) not in found)

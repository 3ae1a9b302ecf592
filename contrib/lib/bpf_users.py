# SPDX-License-Identifier: MIT
"""The processes that have eBPF programs open."""

import collections
import contextlib
import os
import re

import kernel


def _programs(pid):
    """The numbers of the programs of which a process has descriptors, or descriptors of links to them."""
    found = set()
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{name}").startswith("anon_inode:bpf"):
                    found |= set(re.findall(r"^prog_id:\s*([0-9]+)$", kernel.read(f"/proc/{pid}/fdinfo/{name}") or "", re.M))
    return found


def find(without):
    """{command name: number of programs}, those with most first. without: processes that do not count"""
    users = collections.defaultdict(set)
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        if pid not in without and (programs := _programs(pid)):
            users[kernel.read(f"/proc/{pid}/comm") or "?"] |= programs
    return {name: len(programs) for name, programs in sorted(users.items(), key=lambda user: (-len(user[1]), user[0]))}

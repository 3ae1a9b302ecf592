# SPDX-License-Identifier: MIT
"""BPF objects: which there are, who has descriptors of them, and what bpftool says of them.

An object is (kind, number). Listing them opens none, and bpftool is asked about those of a process alone. `bpftool
map show` opens every map, and the kernel (seen with 6.18) never frees an array of programs that somebody opens by its
number and closes again at the moment at which its last owner has closed it: it is cleared twice then, and each
clearing takes a reference, but the work that is queued once gives one back.
"""

import ctypes
import errno
import json
import os
import subprocess

KINDS = ("prog", "map", "link")
BPFTOOL = os.environ.get("BPFTOOL") or "bpftool"


def existing():
    """All of them."""
    library = ctypes.CDLL("libbpf.so.1")
    found = set()
    for kind in KINDS:
        following, number = getattr(library, f"bpf_{kind}_get_next_id"), ctypes.c_uint32(0)
        while (status := following(number, ctypes.byref(number))) == 0:
            found.add((kind, number.value))
        if status != -errno.ENOENT:  # there are no more
            raise OSError(-status, os.strerror(-status), f"BPF objects: {kind}")
    return found


def of_process(pid):
    """Those of which a process has a descriptor."""
    found, gone = set(), (FileNotFoundError, ProcessLookupError, PermissionError)
    try:
        descriptors = os.listdir(f"/proc/{pid}/fdinfo")
    except gone:
        return found
    for fd in descriptors:
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as info:
                words = dict(line.split(":\t", 1) for line in info.read().splitlines() if ":\t" in line)
        except gone:  # closed in between; the others count
            continue
        # A link's information names its program too.
        found |= {(kind, int(words[kind + "_id"])) for kind in KINDS if kind + "_id" in words}
    return found


def numbers(kind, pid):
    """Of a process's objects of a kind."""
    return {number for of, number in of_process(pid) if of == kind}


def show(kind, which):
    """What bpftool says of the objects of a kind with these numbers, without those that are gone."""
    outs = [subprocess.run([BPFTOOL, "-j", kind, "show", "id", str(number)], capture_output=True, text=True,
                           check=False).stdout for number in sorted(which)]
    answers = [json.loads(out or "{}") for out in outs]
    return [answer for answer in answers if "id" in answer]


def map_number(pid, name):
    """Of the process's newest map of this name."""
    return max(entry["id"] for entry in show("map", numbers("map", pid)) if entry.get("name") == name)

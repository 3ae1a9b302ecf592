# SPDX-License-Identifier: MIT
"""BPF objects: which exist, which processes have descriptors of them, and what bpftool shows of them.

An object is (kind, number). Listing opens none of them, and bpftool is used only for the objects of one process. `bpftool
map show` opens all maps. If a program array is opened by its number and closed again just when its last owner closes it,
the kernel (seen with 6.18) never frees it: it is cleared twice, and each clearing gets a reference, but the work, which is
queued once, puts only one.
"""

import contextlib
import ctypes
import errno
import json
import os
import subprocess

KINDS = ("prog", "map", "link")
BPFTOOL = os.environ.get("BPFTOOL") or "bpftool"


def libbpf():
    return ctypes.CDLL("libbpf.so.1")


@contextlib.contextmanager
def run_statistics():
    """The kernel counts how long programs run, until the end of this block or of this process."""
    fd = libbpf().bpf_enable_stats(0)  # BPF_STATS_RUN_TIME
    if fd < 0:
        raise OSError(-fd, os.strerror(-fd), "run statistics")
    try:
        yield
    finally:
        os.close(fd)


def existing():
    """All BPF objects."""
    library = libbpf()
    found = set()
    for kind in KINDS:
        following, number = getattr(library, f"bpf_{kind}_get_next_id"), ctypes.c_uint32(0)
        while (status := following(number, ctypes.byref(number))) == 0:
            found.add((kind, number.value))
        if status != -errno.ENOENT:  # there are no more
            raise OSError(-status, os.strerror(-status), f"BPF objects: {kind}")
    return found


def of_process(pid):
    """The objects of which a process has a descriptor."""
    found, removed = set(), (FileNotFoundError, ProcessLookupError, PermissionError)
    try:
        descriptors = os.listdir(f"/proc/{pid}/fdinfo")
    except removed:
        return found
    for fd in descriptors:
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as info:
                words = dict(line.split(":\t", 1) for line in info.read().splitlines() if ":\t" in line)
        except removed:  # closed meanwhile: skipped
            continue
        # The information of a link names its program, too.
        found |= {(kind, int(words[kind + "_id"])) for kind in KINDS if kind + "_id" in words}
    return found


def numbers(kind, pid):
    """The numbers of a process's objects of a kind."""
    return {number for of, number in of_process(pid) if of == kind}


def show(kind, which):
    """bpftool's output for the objects of a kind with these numbers, without those that no longer exist."""
    outs = [subprocess.run([BPFTOOL, "-j", kind, "show", "id", str(number)], capture_output=True, text=True,
                           check=False).stdout for number in sorted(which)]
    results = [json.loads(out or "{}") for out in outs]
    return [result for result in results if "id" in result]


def map_number(pid, name):
    """The number of a process's newest map of this name."""
    return max(entry["id"] for entry in show("map", numbers("map", pid)) if entry.get("name") == name)


def instructions(pid, prefix):
    """{name: bpftool's text} of the instructions that the kernel has left of a process's programs, if they are called so."""
    return {entry["name"]: subprocess.run([BPFTOOL, "prog", "dump", "xlated", "id", str(entry["id"])], capture_output=True,
                                          text=True, check=True).stdout
            for entry in show("prog", numbers("prog", pid)) if entry["name"].startswith(prefix)}

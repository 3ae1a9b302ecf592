# SPDX-License-Identifier: MIT
"""Reads records of stacks (bpf/lib/stack.h) from the rings of a probe by libbpf, without the engine."""

import bisect
import collections
import ctypes
import os
import struct
import subprocess

import bpf_objects
from lib import Skip

HEAD = struct.Struct("=QQQIIIHH16s")
FRAME = struct.Struct("=i20sQ")
ADDRESS = 2
Stack = collections.namedtuple("Stack", "value pid syscall comm kernel user")
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def libbpf():
    try:
        library = ctypes.CDLL("libbpf.so.1")
    except OSError as error:
        raise Skip(f"no libbpf: {error}") from error
    library.ring_buffer__new.restype = ctypes.c_void_p
    library.ring_buffer__new.argtypes = [ctypes.c_int, CALLBACK, ctypes.c_void_p, ctypes.c_void_p]
    library.ring_buffer__consume.argtypes = library.ring_buffer__free.argtypes = [ctypes.c_void_p]
    return library


def parse(record):
    value, _, _, _, pid, syscall, kernel, user, comm = HEAD.unpack_from(record)
    at = HEAD.size + 8 * kernel
    addresses = struct.unpack_from(f"={kernel}Q", record, HEAD.size)
    frames = [FRAME.unpack_from(record, at + FRAME.size * i) for i in range(user)]
    assert len(record) == at + FRAME.size * user, "a record of another size than it says"
    return Stack(value, pid, syscall - 1, comm.split(b"\0")[0].decode(errors="replace"), addresses,
                 [position for status, _, position in frames if status == ADDRESS])


class Ring:
    """The records in the newest ring of this name that a process has, until the test ends."""

    def __init__(self, test, pid, name):
        self.library = libbpf()
        self.stacks = []
        self.callback = CALLBACK(self._add)
        self.fd = self.library.bpf_map_get_fd_by_id(bpf_objects.map_number(pid, name))
        self.ring = self.library.ring_buffer__new(self.fd, self.callback, None, None)
        assert self.ring, f"ring {name} cannot be opened"
        test.at_end(self._close)

    def _add(self, _context, data, size):
        self.stacks.append(parse(ctypes.string_at(data, size)))
        return 0

    def read_all(self):
        """The records since the last call."""
        self.library.ring_buffer__consume(self.ring)
        stacks, self.stacks = self.stacks, []
        return stacks

    def _close(self):
        self.library.ring_buffer__free(self.ring)
        os.close(self.fd)


class Symbols:
    """Names of addresses, from the start addresses of functions."""

    def __init__(self, lines, base=0):
        table = sorted((int(words[0], 16) + base, words[2]) for words in map(str.split, lines)
                       if len(words) > 2 and words[1] in "tTwW")
        self.begins, self.names = [at for at, _ in table], [name for _, name in table]

    def name(self, address):
        i = bisect.bisect(self.begins, address) - 1
        return self.names[i] if i >= 0 else "?"


def of_kernel():
    with open("/proc/kallsyms", encoding="ascii") as lines:
        return Symbols(lines.read().splitlines())


def of_program(pid):
    """The symbols of a process's program, at the addresses where it is loaded."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        base = int(maps.readline().split("-")[0], 16)
    names = subprocess.run(["nm", f"/proc/{pid}/exe"], capture_output=True, text=True, check=True).stdout
    return Symbols(names.splitlines(), base)

# SPDX-License-Identifier: MIT
"""Whether stacks of the running programs can be unwound (frame pointers) and named (symbols).

The files may be any user's. A helper process with resource limits reads them through /proc/PID/exe, in bounds. If a read
blocks, this process does not wait for the helper.
"""

import contextlib
import dataclasses
import json
import os
import resource
import select
import signal
import stat
import struct
import time

PATIENCE = 20           # seconds for all programs
MEMORY = 1 << 29        # bytes
SAMPLE = 400            # functions of a program that are inspected
TABLE_MAX = 1 << 24     # bytes of a table in a file
SECTIONS_MAX = 4096
MACHINES = {62: "x86-64", 183: "arm64"}
SYMTAB, DYNSYM = 2, 11
GO = b".gopclntab"
# Programs that generate code at run time.
RUNTIMES = {"java": "JVM", "node": "Node.js", "dotnet": ".NET", "beam.smp": "Erlang"}
ENOUGH = 0.5            # the share of functions with frames that is enough


class Strange(Exception):
    """The file is malformed or of an unknown kind."""


@dataclasses.dataclass
class Program:
    path: str
    unit: str           # the last part of its cgroup
    pid: int
    processes: int = 0
    ticks: int = 0      # CPU time
    frames: str = "unknown"     # yes, no, unknown
    symbols: str = "unknown"    # all, exported, none, unknown
    runtime: str = ""


# --- a file

class Elf:
    def __init__(self, handle):
        self.handle = handle
        head = self.read(0, 64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            raise Strange("it is not a 64-bit ELF file")
        self.machine, = struct.unpack_from("<H", head, 18)
        self.phoff, self.shoff = struct.unpack_from("<QQ", head, 32)
        self.phentsize, self.phnum, self.shentsize, self.shnum, self.names = struct.unpack_from("<5H", head, 54)

    def read(self, offset, size):
        if not 0 <= size <= TABLE_MAX or not 0 <= offset < 1 << 62:
            raise Strange("its tables are too large")
        return os.pread(self.handle, size, offset)

    def segments(self):
        """(type, offset, address, size)"""
        size = 56
        if self.phentsize != size or self.phnum > SECTIONS_MAX:
            return
        table = self.read(self.phoff, size * self.phnum)
        for at in range(0, len(table) - size + 1, size):
            kind, _, offset, address, _, inside = struct.unpack_from("<IIQQQQ", table, at)
            yield kind, offset, address, inside

    def sections(self):
        """{name: type}"""
        size = 64
        if self.shentsize != size or not 0 < self.shnum <= SECTIONS_MAX or self.names >= self.shnum:
            return {}
        table = self.read(self.shoff, size * self.shnum)
        if len(table) < size * self.shnum:
            return {}
        rows = [struct.unpack_from("<IIQQQQ", table, size * index) for index in range(self.shnum)]
        names = self.read(rows[self.names][4], min(rows[self.names][5], 1 << 20))
        return {names[row[0]:].partition(b"\0")[0]: row[1] for row in rows}

    def functions(self):
        """The addresses of an evenly spaced selection of functions, from .eh_frame_hdr."""
        header = next(((offset, address, size) for kind, offset, address, size in self.segments() if kind == 0x6474e550), None)
        if not header:
            return []
        offset, address, size = header
        table = self.read(offset, min(size, TABLE_MAX))
        # Version 1 with the encodings of common linkers: pcrel|sdata4, udata4, datarel|sdata4.
        if len(table) < 12 or table[0] != 1 or table[2] != 0x03 or table[3] != 0x3b:
            return []
        count = min(struct.unpack_from("<I", table, 8)[0], (len(table) - 12) // 8)
        step = max(1, count // SAMPLE)
        return [address + struct.unpack_from("<i", table, 12 + 8 * index)[0] for index in range(0, count, step)]

    def code(self, addresses, size):
        """The first bytes of each function."""
        loaded = [(offset, address, inside) for kind, offset, address, inside in self.segments() if kind == 1]
        for one in addresses:
            for offset, address, inside in loaded:
                if address <= one < address + inside:
                    yield self.read(offset + one - address, size)


def has_frame(code, machine):
    """Whether a function starts with a frame: push %rbp; mov %rsp,%rbp, or stp x29, x30; mov x29, sp. Other instructions may
    be between the two."""
    if machine == "x86-64":
        return any(b"\x55" in code[:index] for index in (code.find(move) for move in (b"\x48\x89\xe5", b"\x48\x8b\xec"))
                   if index > 0)
    words = struct.unpack(f"<{len(code) // 4}I", code[:len(code) // 4 * 4])
    stored = any(word & 0xFFC07FFF == 0xA9807BFD or word & 0xFFC07FFF == 0xA9007BFD for word in words)
    return stored and any(word & 0xFF8003FF == 0x910003FD for word in words)


def examine(handle):
    """(frames, symbols) of an open file."""
    elf = Elf(handle)
    sections = elf.sections()
    symbols = "all" if SYMTAB in sections.values() else "exported" if DYNSYM in sections.values() else "none"
    machine = MACHINES.get(elf.machine)
    if GO in sections:
        # Go programs have both, even stripped ones.
        return "yes", "all"
    codes = list(elf.code(elf.functions(), 32)) if machine else []
    if not codes:
        return "unknown", symbols
    with_frame = sum(has_frame(code, machine) for code in codes)
    return "yes" if with_frame >= ENOUGH * len(codes) else "no", symbols


# --- the machine

def _known(pid):
    """(path, mount namespace, CPU time), or None. Does not access the file itself, which might block for ever."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        path = os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read(4096).rpartition(")")[2].split()
        return path, os.readlink(f"/proc/{pid}/ns/mnt"), int(fields[11]) + int(fields[12])
    return None


def _unit(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
            return file.read(65536).rstrip("\n").rpartition("\n")[2].rpartition("/")[2]
    return ""


def running():
    """The running programs, those with most CPU time first."""
    found = {}
    for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))):
        known = _known(pid)
        if not known:
            continue
        *key, ticks = known
        program = found.setdefault(tuple(key), Program(key[0], _unit(pid), pid,
                                                       runtime=RUNTIMES.get(os.path.basename(key[0]), "")))
        program.processes += 1
        program.ticks += ticks
    return sorted(found.values(), key=lambda program: (-program.ticks, program.path))


def _report(programs, output):
    """In the helper process: writes a line for each program."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    for index, program in enumerate(programs):
        said = "unknown", "unknown"
        with contextlib.suppress(OSError, Strange, struct.error, MemoryError):
            handle = os.open(f"/proc/{program.pid}/exe", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if stat.S_ISREG(os.fstat(handle).st_mode):
                    said = examine(handle)
            finally:
                os.close(handle)
        os.write(output, (json.dumps([index, *said]) + "\n").encode())


def _results(descriptor):
    """The helper's lines that arrive in time."""
    give_up, text = time.monotonic() + PATIENCE, b""
    while select.select([descriptor], [], [], max(0, give_up - time.monotonic()))[0]:
        some = os.read(descriptor, 65536)
        if not some:
            break
        text += some
    return [json.loads(line) for line in text.split(b"\n")[:-1]]


def inspect(programs):
    """Fills in `frames` and `symbols` of the programs."""
    there, here = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(there)
            _report(programs, here)
        finally:
            os._exit(0)
    os.close(here)
    try:
        for index, frames, symbols in _results(there):
            programs[index].frames, programs[index].symbols = frames, symbols
    finally:
        os.close(there)
        os.kill(pid, signal.SIGKILL)
        # A helper that is blocked in a read cannot be reaped.
        os.waitpid(pid, os.WNOHANG)

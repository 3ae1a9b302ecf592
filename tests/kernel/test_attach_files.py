#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attach lines whose files are not regular, huge, never readable, or change all the time: each such line is ignored with a
message, the daemon starts, and the other lines count.

Truth: the program that is called.
"""

import ctypes
import os
import re
import shutil
import struct
import threading
import time

import lib
from lib import Test
from test_attach import OFF, block, section_object

CALLS = 1000
GIB = 1 << 30
INTERVAL = 0.2 if lib.SLOWNESS < 2 else 0.5
SLOW = 15 + 20 * lib.SLOWNESS  # seconds until the daemon has said of each file what is wrong with it
MNT_DETACH = 2
LIBC = ctypes.CDLL(None, use_errno=True)
SYMTAB, STRTAB, NOTE = 2, 3, 7
MACHINE = {"aarch64": 183}.get(os.uname().machine, 62)


def section(kind, offset, size, link, entry=0):
    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 8, entry)


def write_elf(path, sections, size, content=b""):
    """Writes a program: one segment of code, `content`, these section headers, and a hole up to its size."""
    start = 4096 + len(content)
    numbers = struct.pack("<HHIQQQIHHHHHH", 3, MACHINE, 1, 0, 64, start, 0, 64, 56, 1, 64, len(sections), 0)
    header = b"\x7fELF\2\1\1" + bytes(9) + numbers
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    with open(path, "wb") as file:
        file.write((header + segment).ljust(4096, b"\0") + content + b"".join(sections))
        file.truncate(size)


def silent_mount(test, directory):
    """Mounts a file system whose server never replies; False: the kernel has no FUSE."""
    os.mkdir(directory)
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        return False
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0".encode()
    if LIBC.mount(b"none", directory.encode(), b"fuse", 0, options) != 0:
        os.close(fd)
        return False

    def end():
        os.close(fd)
        LIBC.umount2(directory.encode(), MNT_DETACH)

    test.at_end(end)
    return True


class Restless(threading.Thread):
    """Truncates a program and writes it again, all the time."""

    def __init__(self, source, path):
        super().__init__(daemon=True)
        self.path, self.going = path, True
        with open(source, "rb") as file:
            self.content = file.read()
        self.write()
        self.start()

    def write(self):
        with open(self.path, "wb") as file:
            file.write(self.content)

    def run(self):
        while self.going:
            os.truncate(self.path, 0)
            self.write()
            time.sleep(0.001)


def program_of(line):
    return "attach_marker" if line.startswith("usdt") else "attach_" + line.rpartition(":")[2].replace("called", "call")


def wait_logged(daemon, lines):
    """Waits until each line has a message; returns the messages of each."""
    give_up = time.monotonic() + SLOW
    while True:
        said = daemon.complaints()
        logged = {line: [it for it in said if re.search(f'probe attach: (ignoring )?Attach "{re.escape(line)}" ', it)]
                for line in lines}
        if all(logged.values()) or time.monotonic() > give_up:
            return logged
        time.sleep(0.1)


def wait_counted(daemon, load, name):
    """Calls until that is counted, as the plugin may still be busy with other files. Returns the counter."""
    give_up = time.monotonic() + SLOW
    while time.monotonic() < give_up:
        load.ask("1")
        counted = daemon.row_after("attach", "derive-" + name, time.time())[1]
        if counted:
            return counted
    return 0


def wait_section(test, daemon, number, outcome, path):
    give_up = time.monotonic() + SLOW
    expected = re.compile(f"probe section{number}.* {outcome}: cannot read /*{re.escape(path.lstrip('/'))}")
    while not any(map(expected.search, daemon.complaints())) and time.monotonic() < give_up:
        time.sleep(0.1)
    said = [line for line in daemon.complaints() if f"probe section{number}" in line]
    test.equal(f"section{number}, of such a file: messages {said}", len(list(filter(expected.search, said))), 1)


def main():
    with Test(limit=400) as test:
        directory = test.mkdir("files")
        names = ("called", "sparse", "loops", "fifo", "restless", "replaced", "fuse")
        paths = {name: os.path.join(test.disk, name) for name in names}
        for name in ("called", "replaced"):
            shutil.copy(os.path.join(lib.BUILD, "tests", "kernel", "load_call"), paths[name])
        os.mkfifo(paths["fifo"])
        # A table of 44 million symbols; and 60,000 sections of notes with the same content, each linked to itself.
        all_of_it = (8192, GIB - 8192, 1)
        write_elf(paths["sparse"], [section(SYMTAB, *all_of_it, 24), section(STRTAB, *all_of_it)], GIB)
        notes = struct.pack("<III", 0, 0, 3) * 100000
        write_elf(paths["loops"], [section(NOTE, 4096, len(notes), number) for number in range(60000)], 16 << 20, notes)
        # The last two may also take too long; then they are tried again, and the second failure is logged.
        wrong = {"uprobe:/proc/self/mem:called": "it is not a 64-bit program",
                 "uprobe:/dev/zero:called": "it is not a regular file",
                 f"uprobe:{directory}:called": "Is a directory",
                 f"usdt:{paths['fifo']}:load:two": "it is not a regular file",
                 f"uprobe:{paths['sparse']}:called": "cannot read",
                 f"usdt:{paths['loops']}:load:two": "cannot "}
        hidden = [os.path.join(paths["fuse"], name) for name in ("a", "b")]
        if silent_mount(test, paths["fuse"]):
            wrong[f"uprobe:{hidden[0]}:called"] = f"and 1 other are not attached yet and are tried again: cannot read {hidden[0]}: its file"
        else:
            hidden = []
        restless = Restless(paths["called"], paths["restless"])
        lines = [*wrong, *(f"usdt:{path}:load:two" for path in hidden[:1]),
                 f"uprobe:{paths['called']}:called", f"uprobe:{paths['replaced']}:other",
                 *[f"uprobe:{paths['restless']}:called"] * 20]
        config = OFF + block("attach", "attach", *(f'Attach "{line}" {program_of(line)}' for line in lines))
        for number, path in enumerate(hidden[1:] + [paths["fifo"], directory]):
            config += block(f"section{number}", section_object(directory, f"section{number}", path))
        begin = time.monotonic()
        daemon = test.collectd(config, interval=INTERVAL)
        daemon.wait_rows("attach", "derive-calls", seconds=10 * SLOW)
        test.figures.within("seconds until the first reading", time.monotonic() - begin, 0, SLOW)
        restless.going = False
        restless.join()
        new = paths["replaced"] + ".new"
        shutil.copy(paths["called"], new)
        before = test.load_at(paths["replaced"])
        os.rename(new, paths["replaced"])
        # The new file counts from when the plugin knows it, which may be at once.
        loads = [before, test.load_at(paths["called"])]
        first = {name: wait_counted(daemon, load, name) for name, load in (("others", before), ("calls", loads[1]))}
        for load in loads:
            load.ask(str(CALLS))
        now = time.time()
        got = {name: daemon.row_after("attach", "derive-" + name, now)[1] for name in ("calls", "others")}
        test.equal("calls of one program, and of one that has been replaced since, in the old process", got,
                   {"calls": first["calls"] + CALLS, "others": first["others"] + 2 * CALLS})
        logged = wait_logged(daemon, wrong)
        for line, why in wrong.items():
            test.equal(f"messages for {line}", len(logged[line]), 1)
            test.contains("why", "".join(logged[line]), why)
        for number, path in enumerate(hidden[1:] + [paths["fifo"], directory]):
            wait_section(test, daemon, number, "is tried again" if path in hidden else "is off", path)
        for load in loads:
            load.end()


if __name__ == "__main__":
    main()

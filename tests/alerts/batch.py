#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A nightly batch: a process for each CPU reads a file from the disk, compresses it, and writes the result to the disk.

batch.py SECONDS DIRECTORY

DIRECTORY gets two files for each CPU, which are removed at the end.
"""

import contextlib
import os
import sys
import time
import zlib

FILE_MIB, PIECE = 64, 1 << 20
TEXT = b"".join(b"%d %x\n" % (number, number * number) for number in range(PIECE // 16))


def make(path):
    with open(path, "wb") as file:
        for number in range(FILE_MIB):
            file.write((b"%d\n" % number + TEXT)[:PIECE].ljust(PIECE, b"."))
        os.fsync(file.fileno())


def forget(file):
    """As a file of which the page cache has nothing."""
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def compress(source, target, end):
    """Again and again until that time."""
    while time.monotonic() < end:
        with open(source, "rb") as inlet, open(target, "wb") as outlet:
            while (piece := inlet.read(PIECE)) and time.monotonic() < end:
                outlet.write(zlib.compress(piece, 6))
            os.fsync(outlet.fileno())
            forget(inlet)


def run_one(seconds, directory):
    paths = [os.path.join(directory, f"batch.{os.getpid()}.{name}") for name in ("source", "target")]
    try:
        make(paths[0])
        compress(*paths, time.monotonic() + seconds)
    finally:
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


def main(seconds, directory):
    children = []
    for _ in range(os.cpu_count()):
        children.append(os.fork())
        if not children[-1]:
            run_one(float(seconds), directory)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

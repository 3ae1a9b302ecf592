# SPDX-License-Identifier: MIT
"""What the head of an RRD file says, of this machine's rrdtool: without a process for each of thousands of files."""

import os
import stat
import struct

# cookie, version, a number that shows the byte order, data sources, archives, seconds of a step, parameters
HEAD = struct.Struct("=4s5s7xdQQQ80x")
BYTE_ORDER = 8.642135e130
SOURCE = ARCHIVE = 120      # bytes of a definition
UPDATE = struct.Struct("=q")
MOST = 10000                # sources and archives of one file
# Of each data source, of each archive of it, and of each archive.
SOURCE_STATE, ARCHIVE_STATE, POINTER = 112, 80, 8
NUMBER = 8

OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def last_update(name, directory):
    """(seconds since the epoch, bytes) of a file below a directory's handle; ValueError with the reason: it is
    no RRD file. No link is followed, nothing but a regular file is read."""
    handle = os.open(name, OPEN, dir_fd=directory)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is no regular file")
        head = os.pread(handle, HEAD.size, 0)
        if len(head) < HEAD.size or not head.startswith(b"RRD\0"):
            raise ValueError("is no RRD file")
        _, _, order, sources, archives, _ = HEAD.unpack(head)
        if order != BYTE_ORDER:
            raise ValueError("is an RRD file of another kind of machine")
        if not 0 < sources < MOST or not 0 < archives < MOST:
            raise ValueError("is a damaged RRD file")
        told = os.pread(handle, UPDATE.size, HEAD.size + SOURCE * sources + ARCHIVE * archives)
        if len(told) < UPDATE.size:
            raise ValueError("is a damaged RRD file")
        return UPDATE.unpack(told)[0], status.st_size
    finally:
        os.close(handle)


def size(sources, rows):
    """Bytes of a file with so many data sources; rows: how many each archive has."""
    archives = len(rows)
    return (HEAD.size + SOURCE * sources + ARCHIVE * archives + 2 * UPDATE.size + SOURCE_STATE * sources
            + ARCHIVE_STATE * sources * archives + POINTER * archives + NUMBER * sources * sum(rows))

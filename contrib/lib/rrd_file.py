# SPDX-License-Identifier: MIT
"""Reads the header of RRD files of this machine's rrdtool, without a process for each of thousands of files."""

import os
import stat
import struct

# cookie, version, a number for the byte order, data sources, archives, step in seconds, parameters
HEAD = struct.Struct("=4s5s7xdQQQ80x")
BYTE_ORDER = 8.642135e130
SOURCE = ARCHIVE = 120      # bytes of a definition
UPDATE = struct.Struct("=q")
MOST = 10000                # data sources and archives of a file, at most
# Of each data source, of each archive of it, and of each archive.
SOURCE_STATE, ARCHIVE_STATE, POINTER = 112, 80, 8
NUMBER = 8

OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def last_update(name, directory):
    """(last update in seconds since the epoch, size in bytes) of a file in the directory of a descriptor. Follows no links
    and reads only regular files. Raises ValueError with the reason if it is not an RRD file."""
    handle = os.open(name, OPEN, dir_fd=directory)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a regular file")
        head = os.pread(handle, HEAD.size, 0)
        if len(head) < HEAD.size or not head.startswith(b"RRD\0"):
            raise ValueError("is not an RRD file")
        _, _, order, sources, archives, _ = HEAD.unpack(head)
        if order != BYTE_ORDER:
            raise ValueError("is an RRD file of another kind of machine")
        if not 0 < sources < MOST or not 0 < archives < MOST:
            raise ValueError("is a damaged RRD file")
        raw = os.pread(handle, UPDATE.size, HEAD.size + SOURCE * sources + ARCHIVE * archives)
        if len(raw) < UPDATE.size:
            raise ValueError("is a damaged RRD file")
        return UPDATE.unpack(raw)[0], status.st_size
    finally:
        os.close(handle)


def size(sources, rows):
    """The size in bytes of a file with so many data sources. rows: of each archive"""
    archives = len(rows)
    return (HEAD.size + SOURCE * sources + ARCHIVE * archives + 2 * UPDATE.size + SOURCE_STATE * sources
            + ARCHIVE_STATE * sources * archives + POINTER * archives + NUMBER * sources * sum(rows))

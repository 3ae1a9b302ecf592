# SPDX-License-Identifier: MIT
"""Volumes of device-mapper, by its ioctls, for machines without dmsetup(8)."""

import fcntl
import os
import struct
import subprocess

CONTROL = "/dev/mapper/control"
CREATE, REMOVE, RENAME, SUSPEND, LOAD = 3, 4, 5, 6, 9
HEADER = struct.Struct("=3I2I I i I I I Q 128s 129s 7x")
SPEC = struct.Struct("=QQiI16s")
SIZE = 4096


def call(command, name, data=b"", targets=0):
    """Returns the volume's dev_t as MAJOR:MINOR."""
    header = HEADER.pack(4, 0, 0, SIZE, HEADER.size, targets, 0, 0, 0, 0, 0, name.encode(), b"")
    buffer = bytearray((header + data).ljust(SIZE, b"\0"))
    with open(CONTROL, "rb") as control:
        fcntl.ioctl(control, 3 << 30 | HEADER.size << 16 | 0xfd << 8 | command, buffer)
    number = HEADER.unpack_from(buffer)[10]
    return f"{number >> 8 & 0xfff}:{number & 0xff | number >> 12 & 0xfff00}"


def available():
    return subprocess.run(["modprobe", "dm-mod"], capture_output=True, check=False).returncode == 0 and os.path.exists(CONTROL)


def create(name, device, sectors):
    """A volume on the first sectors of a device, MAJOR:MINOR. Returns its kernel name."""
    number = call(CREATE, name)
    words = f"{device} 0".encode() + b"\0"
    call(LOAD, name, SPEC.pack(0, sectors, 0, SPEC.size + len(words), b"linear") + words, targets=1)
    call(SUSPEND, name)  # without the flag that suspends, it resumes
    return os.path.basename(os.readlink(f"/sys/dev/block/{number}"))


def rename(name, new):
    call(RENAME, name, new.encode() + b"\0")


def remove(name):
    call(REMOVE, name)

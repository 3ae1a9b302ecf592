# SPDX-License-Identifier: MIT
"""Private block devices of a test: loop devices on memory, and null_blk where the kernel has it."""

import contextlib
import fcntl
import mmap
import os
import subprocess

MIB = 1 << 20
LOOP_CTL_REMOVE = 0x4C81
LOCK = "/dev/shm/ebpf-test.loops"
LOCKS = []  # descriptors of this process
LOOPS_INITIAL = 8  # that kernels have from the beginning

# Fields of /sys/block/DEVICE/stat, by position.
READS, READS_MERGED, READ_SECTORS, READ_MS = 0, 1, 2, 3
WRITES, WRITES_MERGED, WRITTEN_SECTORS, WRITE_MS = 4, 5, 6, 7
BUSY_MS, WEIGHTED_MS = 9, 10
DISCARDS, DISCARDED_SECTORS = 11, 13
FLUSHES = 15


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Disk:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path)

    def setting(self, name):
        return f"/sys/block/{self.name}/{name}"

    def stat(self):
        with open(self.setting("stat"), encoding="ascii") as stat:
            return [int(word) for word in stat.read().split()]

    def device(self):
        """MAJOR:MINOR"""
        with open(self.setting("dev"), encoding="ascii") as file:
            return file.read().strip()

    def set(self, name, value):
        with open(self.setting("queue/" + name), "w", encoding="ascii") as setting:
            setting.write(str(value))


def memory(test, name, byte_count):
    """Mounts a tmpfs of this size."""
    path = test.mkdir(name)
    run("mount", "-t", "tmpfs", "-o", f"size={byte_count}", "none", path)
    # A disk in it stays in use while a daemon of another test has its file system in a private mount namespace.
    test.at_end(lambda: run("umount", "--lazy", path))
    return path


def lock_loops(alone=False):
    """Until this process ends. A probe counts requests of all loop devices, so a test with very many is alone with them."""
    if LOCKS:
        return
    gate, lock = (os.open(f"{LOCK}.{name}", os.O_CREAT | os.O_RDWR, 0o600) for name in ("gate", "lock"))
    LOCKS.append(lock)
    # Who waits to be alone keeps others out.
    fcntl.flock(gate, fcntl.LOCK_EX)
    fcntl.flock(lock, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    os.close(gate)


def require_loops(alone=False):
    lock_loops(alone)
    if not os.path.exists("/dev/loop-control"):
        run("modprobe", "loop")


def loop(test, where, byte_count):
    """A loop device of this size on a sparse file."""
    path = os.path.join(where, "file")
    with open(path, "wb") as file:
        file.truncate(byte_count)
    require_loops()
    disk = Disk(run("losetup", "--find", "--show", path))
    # Unmounted before the file system that it is in.
    test.last_things.insert(0, lambda: run("losetup", "--detach", disk.path))
    return disk


def read_directly(path, count, size=4096):
    """Reads the first bytes of a device so many times, past the page cache: one request each."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    with mmap.mmap(-1, size) as buffer:
        for _ in range(count):
            os.preadv(fd, [buffer], 0)
    os.close(fd)


def remove_loops(found):
    """The devices, too, of which the kernel keeps all that there ever were."""
    run("losetup", "--detach", *(disk.path for disk in found))
    with open("/dev/loop-control", "rb") as control:
        for disk in found[LOOPS_INITIAL:]:
            with contextlib.suppress(OSError):  # another test uses it already
                fcntl.ioctl(control, LOOP_CTL_REMOVE, int(disk.name.removeprefix("loop")))


def loops(test, where, count):
    """Many loop devices on one file, for reading."""
    path = os.path.join(where, "file_of_many")
    with open(path, "wb") as file:
        file.truncate(MIB)
    require_loops(alone=True)
    found = [Disk(run("losetup", "--find", "--show", "--read-only", path)) for _ in range(count)]
    test.last_things.insert(0, lambda: remove_loops(found))
    return found


MAKE = {"ext4": ("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard"),
        "xfs": ("mkfs.xfs", "-q", "-f", "-K"), "btrfs": ("mkfs.btrfs", "-q", "-f", "-K")}


def mounted(test, disk, name, kind="ext4"):
    """Makes and mounts a file system; ext4 has no journal."""
    run(*MAKE[kind], disk.path)
    path = test.mkdir(name)
    run("mount", "-t", kind, disk.path, path)
    test.last_things.insert(0, lambda: run("umount", path))
    return path


def null_blk(test, **parameters):
    """A null_blk device, which completes each request in a known time; None if the kernel has no null_blk."""
    words = [f"{name}={value}" for name, value in parameters.items()]
    if subprocess.run(["modprobe", "null_blk", *words], capture_output=True, check=False).returncode:
        return None
    test.at_end(lambda: run("modprobe", "-r", "null_blk"))
    return Disk("/dev/nullb0")

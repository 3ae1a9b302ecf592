#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Members of the kernel's types are read as this kernel defines them: every access of every object is compared with the
kernel's BTF, and some values are compared whose members differ in size between kernels, or are bit fields.

Truth: the kernel's BTF, and the state of the processes whose values are read.
"""

import contextlib
import ctypes
import glob
import mmap
import os
import signal
import socket
import struct
import time

import accesses
import btf
from lib import BUILD, LIBC, SLOWNESS, Test, die_with_test

BPF = ctypes.CDLL("libbpf.so.1", use_errno=True)
BPF.bpf_object__open_file.restype = ctypes.c_void_p
BPF.bpf_object__find_program_by_name.restype = ctypes.c_void_p
BPF.bpf_program__attach_iter.restype = ctypes.c_void_p
SOCKET_FD = 500
SYS_IO_URING_SETUP, SYS_IO_URING_ENTER, POLL_ADD, GETEVENTS = 425, 426, 6, 1
AT_SQES = 0x10000000
MISTAKES = {
    "task_struct.pid": "of 4 bytes, read as 8",
    "task_struct.flags": "of 4 bytes, read as 8",
    "task_struct.start_boottime": "of 8 bytes, read as 4",
    "task_struct.in_iowait": "a bit field is read as a whole",
    "task_struct.in_execve": "a bit field is read as a whole",
}


def check_accesses(test):
    kernel, count, found = btf.read_kernel(), 0, {}
    for path in sorted(glob.glob(os.path.join(BUILD, "**", "*.bpf.o"), recursive=True)):
        number, wrong = accesses.faults(path, kernel)
        count += number
        if wrong:
            found[os.path.relpath(path, BUILD)] = wrong
    test.within("accesses", count, 1000, 1000000)
    test.equal("wrong where they are meant to be", found.pop("tests/bpf/members_mistakes.bpf.o", {}), MISTAKES)
    test.equal("wrong", found, {})


@contextlib.contextmanager
def iterator():
    """Loads an iterator; yields a function that runs it and returns {thread: [values]}."""
    path = os.path.join(BUILD, "tests", "bpf", "members.bpf.o").encode()
    opened = ctypes.c_void_p(BPF.bpf_object__open_file(path, None))
    if BPF.bpf_object__load(opened) != 0:
        raise OSError(ctypes.get_errno(), "members.bpf.o does not load")
    program = ctypes.c_void_p(BPF.bpf_object__find_program_by_name(opened, b"members_print"))
    link = ctypes.c_void_p(BPF.bpf_program__attach_iter(program, None))

    def run():
        with open(BPF.bpf_iter_create(BPF.bpf_link__fd(link)), encoding="ascii") as lines:
            return {int(words[0]): list(map(int, words[1:])) for words in map(str.split, lines)}

    try:
        yield run
    finally:
        BPF.bpf_link__destroy(link)
        BPF.bpf_object__close(opened)


def child(function):
    """Runs a function in a child process until the test ends."""
    pid = os.fork()
    if pid == 0:
        try:
            die_with_test()
            function()
        finally:
            os._exit(1)
    return pid


def spin():
    while True:
        pass


def wait_for_ring():
    """Waits in io_uring for a pipe into which nobody writes, which counts as waiting for I/O."""
    params = ctypes.create_string_buffer(120)
    ring = LIBC.syscall(SYS_IO_URING_SETUP, 4, params)
    _, tail, _, _, _, _, array = struct.unpack_from("<7I", params, 40)
    queue = mmap.mmap(ring, 4096, offset=0)
    entries = mmap.mmap(ring, 4096, offset=AT_SQES)
    struct.pack_into("<BBHiQQII", entries, 0, POLL_ADD, 0, 0, os.pipe()[0], 0, 0, 0, 1)
    struct.pack_into("<I", queue, array, 0)
    struct.pack_into("<I", queue, tail, 1)
    LIBC.syscall(SYS_IO_URING_ENTER, ring, 1, 1, GETEVENTS, None, 0)


def with_socket(kind, *options):
    """A function that opens a socket with these buffer options, and sleeps."""
    def wait():
        own = socket.socket(socket.AF_INET, kind)
        for option in options:
            own.setsockopt(socket.SOL_SOCKET, option, 65536)
        os.dup2(own.fileno(), SOCKET_FD)
        signal.pause()
    return wait


def check_thread(test, what, run, pid, at, want):
    """Waits until the values of the thread, from index `at` on, are those that are wanted."""
    end, got = time.monotonic() + 10 * SLOWNESS, None
    while got != want and time.monotonic() < end:
        got = run().get(pid, [])[at:at + len(want)]
    test.equal(what, got, want)


def check_values(test):
    with iterator() as run:
        pids = {name: child(function) for name, function in (
            ("sleeps", signal.pause), ("spins", spin), ("waits in a ring", wait_for_ring),
            ("stream", with_socket(socket.SOCK_STREAM, socket.SO_SNDBUF)),
            ("datagrams", with_socket(socket.SOCK_DGRAM, socket.SO_SNDBUF, socket.SO_RCVBUF)))}
        test.equal("on_cpu twice, on_rq, in_iowait of what reads", run()[os.getpid()][:4], [1, 1, 1, 0])
        check_thread(test, "of what sleeps", run, pids["sleeps"], 0, [0, 0, 0, 0])
        check_thread(test, "of what waits in a ring", run, pids["waits in a ring"], 0, [0, 0, 0, 1])
        on_cpu, again, *others = run()[pids["spins"]][:4]
        test.true("on_cpu of what spins", {on_cpu, again} <= {0, 1}, (on_cpu, again))
        test.equal("the others of it", others, [1, 0])
        check_thread(test, "sk_type, sk_userlocks of a stream", run, pids["stream"], 4, [1, 1])
        check_thread(test, "of datagrams", run, pids["datagrams"], 4, [2, 3])


def main():
    with Test() as test:
        check_accesses(test)
        check_values(test)


if __name__ == "__main__":
    main()

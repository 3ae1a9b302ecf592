#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A process that starts and exits between two walks has no account of the process probe.

Truth: the kernel's storages of zombies.
"""

import os
import subprocess

import bpf_objects
from lib import Test

COUNT = 20


def zombie():
    pid = os.fork()
    if not pid:
        os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return pid


def has_storage(number, pid):
    fd = os.pidfd_open(pid)
    key = [str(byte) for byte in fd.to_bytes(4, "little")]
    found = subprocess.run([bpf_objects.BPFTOOL, "map", "lookup", "id", str(number), "key", *key], pass_fds=(fd,),
                           capture_output=True, text=True, check=False)
    os.close(fd)
    return "value" in found.stdout


def main():
    with Test(limit=60) as test:
        daemon = test.collectd(interval=1)
        daemon.wait_rows("self", "memory-maps_process")
        number = bpf_objects.map_number(daemon.process.pid, "accounts")
        zombies = [zombie() for _ in range(COUNT)]
        with_storage = sum(has_storage(number, pid) for pid in zombies)
        test.true(f"of {COUNT} that have exited, with an account: {with_storage}", with_storage <= COUNT // 10)
        for pid in zombies:
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()

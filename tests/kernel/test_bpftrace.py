#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-bpftrace with programs on kprobes, if the kernel has them; tests/e2e/test_bpftrace.py has the others.

Truth: the connections that the load makes.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading

import lib
from lib import Skip, Test

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(lib.HERE, "..", ".."))
TOOL = os.path.join(TOP, "contrib", "ebpf-bpftrace")
# The article's fifth one-liner, and the second step of its third scenario, which clears its maps.
PROGRAM = """
kprobe:tcp_connect { printf("%-16s pid=%d\\n", comm, pid); }
kprobe:tcp_connect { @open[comm] = count(); }
kprobe:tcp_close { @close[comm] = count(); }
interval:s:1 { print(@open); print(@close); clear(@open); clear(@close); }
"""
CONNECTIONS = 50
INTERVAL = 2


class Values:
    """The last value of each series, and the number of intervals with values."""

    def __init__(self, process):
        self.process, self.last, self.intervals = process, {}, 0
        self.more = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            found = re.match(r'PUTVAL "h/bpftrace-n/(.*)" interval=[\d.]+ [\d.]+:(.*)', line)
            if found:
                with self.more:
                    self.last[found.group(1)] = found.group(2)
                    self.intervals += found.group(1) == "total_events-starts"
                    self.more.notify_all()

    def wait(self, intervals):
        """Waits for so many more intervals; the first may have begun before the call."""
        with self.more:
            wanted = self.intervals + intervals
            return self.more.wait_for(lambda: self.intervals >= wanted, 60 * lib.SLOWNESS)


def connect():
    with socket.create_server(("127.0.0.1", 0), backlog=CONNECTIONS) as server:
        for _ in range(CONNECTIONS):
            socket.create_connection(server.getsockname()).close()
            server.accept()[0].close()


def main():
    with Test(limit=100) as test:
        if not shutil.which("bpftrace"):
            raise Skip("bpftrace is not installed")
        if not os.path.exists("/sys/bus/event_source/devices/kprobe"):
            raise Skip("this kernel has no kprobes")
        name = test.own("kt_bt")
        lib.LIBC.prctl(15, name.encode(), 0, 0, 0)
        mounts = (lib.WITH_TRACEFS, "mountpoint -q /sys/kernel/debug || mount -t debugfs debugfs /sys/kernel/debug")
        command = [*lib.in_mounts(*mounts), TOOL, "--interval", str(INTERVAL), "--host", "h", "--name", "n",
                   "--lines", "count", "-e", PROGRAM]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              preexec_fn=lib.die_with_test) as process:
            values = Values(process)
            test.true("bpftrace has attached the program", values.wait(1))
            connect()
            test.true("values after the load", values.wait(3))
            test.equal("lines", values.last.get(f"derive-lines-{name}"), str(CONNECTIONS))
            # Events between the print of a map and its clear are lost.
            opened, closed = (int(values.last.get(f"derive-{what}-{name}", 0)) for what in ("open", "close"))
            test.within("opened", opened, 1, CONNECTIONS)
            test.figures.equal("opened", opened, CONNECTIONS)
            # Both ends of each connection, and the listening socket.
            test.within("closed", closed, 1, 2 * CONNECTIONS + 1)
            test.figures.within("closed", closed, 2 * CONNECTIONS, 2 * CONNECTIONS + 1)
            process.terminate()
        test.equal("exit status", process.returncode, 128 + signal.SIGTERM)


if __name__ == "__main__":
    main()

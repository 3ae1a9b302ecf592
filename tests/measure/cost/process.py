# SPDX-License-Identifier: MIT
"""Programs that run for a while: begun on given CPUs, gone with the bench."""

import ctypes
import os
import signal
import socket
import subprocess
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
# In a mount namespace of its own, so that no mount is left behind.
TRACEFS = "/sys/kernel/tracing"
WITH_TRACEFS = ["unshare", "--mount", "sh", "-ec",
                f'mountpoint -q {TRACEFS} || mount -t tracefs none {TRACEFS}\nexec "$@"', "sh"]


def prepare(cpus=None, nice=None):
    """What a new process does first, to end with the bench. nice: so that other work on the machine disturbs it
    little; the process must have begun a session."""
    def in_child():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if cpus:
            os.sched_setaffinity(0, cpus)
        if nice is not None:
            _set_nice(nice)

    return in_child


def _set_nice(nice):
    os.setpriority(os.PRIO_PROCESS, 0, nice)
    try:
        # The kernel may share the CPU between sessions first.
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write(str(nice))
    except FileNotFoundError:
        pass


def threads_cpu_ns(pid):
    """CPU time of all threads, with the interrupts that they were interrupted by."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def threads_of_machine():
    """How many there are, of the kernel's own too."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            total += len(os.listdir(f"/proc/{pid}/task"))
        except FileNotFoundError:
            pass
    return total


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    """talks: it answers lines on its input with lines on its output, and ends with its input."""

    def __init__(self, argv, cpus=None, nice=None, directory=None, talks=False):
        pipe, error = (subprocess.PIPE, None) if talks else (subprocess.DEVNULL, subprocess.DEVNULL)
        self.name = argv[0]
        self.process = subprocess.Popen(list(map(str, argv)), cwd=directory, text=True, stdin=pipe, stdout=pipe,
                                        stderr=error, start_new_session=nice is not None,
                                        preexec_fn=prepare(cpus, nice))
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.end()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has ended")
        return line.strip()

    def ask(self, line=""):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.hear()

    def wait_port(self, port, seconds=60):
        """Until it, or what it has started, listens there."""
        give_up = time.monotonic() + seconds
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > give_up:
                    raise RuntimeError(f"{self.name}: nothing listens at port {port}") from error
                time.sleep(0.05)

    def end(self, seconds=20):
        if self.process.stdin:
            self.process.stdin.close()
        else:
            self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()

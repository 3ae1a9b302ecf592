# SPDX-License-Identifier: MIT
"""Programs that run for a while: begun on given CPUs, gone with the bench."""

import json
import os
import shutil
import socket
import subprocess
import time

from store import start_first

HERE = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """What a workload needs is not on this machine."""


def require(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_port(port, process, seconds=60):
    give_up = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError as error:
            if process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"nothing listens at port {port}") from error
            time.sleep(0.05)


def compile_cpp(build, name, package):
    """bench/evidence/NAME.cc with the library of this pkg-config name. Returns the program's path."""
    require("pkg-config", "c++")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    if flags.returncode:
        raise Missing(f"{package} is not installed")
    built = os.path.join(build, "bench", "evidence", name)
    sources = [os.path.join(HERE, f"{name}.cc"), os.path.join(build, "bench", "evidence", "record.o")]
    if not os.path.exists(built) or os.path.getmtime(built) < max(map(os.path.getmtime, sources)):
        subprocess.run(["c++", "-std=c++17", "-O2", "-Wall", "-o", built, *sources, "-pthread",
                        *flags.stdout.split()], check=True)
    return built


NICE = -15  # other work on the machine shall not be what saturates


class Program:
    def __init__(self, argv, cpus, directory=None, talks=False):
        """talks: it answers lines on its input with lines on its output."""
        self.process = subprocess.Popen(["taskset", "-c", cpus, *map(str, argv)], cwd=directory, text=True,
                                        stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                                        stdout=subprocess.PIPE if talks else subprocess.DEVNULL,
                                        stderr=None if talks else subprocess.DEVNULL, preexec_fn=start_first(NICE))
        self.pid = self.process.pid

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args} ended without an answer")
        return line.strip()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.hear())

    def end(self):
        if self.process.stdin:
            self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

# SPDX-License-Identifier: MIT
"""A server on one CPU, its client on another, and what they use."""

import contextlib
import json
import os
import socket
import subprocess
import time

from daemon import die_with_parent

CPU = 0
CLIENT_CPU = 1
CONNECTIONS = 16
VALUE_BYTES = 64
PATIENCE_S = 10

COMMANDS = {
    "memcached": ["memcached", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-u", "nobody", "-p"],
    "redis": ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"],
}


def program(name):
    return COMMANDS[name][0]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def threads_cpu_ns(pid):
    """CPU time of all threads, with the interrupts that they were interrupted by."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def move(pid, cpu):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {cpu})


class Pair:
    """A server and a client with connections that stay open."""

    def __init__(self, site, name):
        self.site = site
        self.name = name

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            port = free_port()
            self.server = stack.enter_context(self._start(COMMANDS[self.name] + [str(port)], CPU))
            self._wait(port)
            self.client = stack.enter_context(self._start(
                [self.site.program("evidence/load"), self.name, str(port), str(CONNECTIONS), str(VALUE_BYTES)],
                CLIENT_CPU))
            if self.client.stdout.readline() != "ready\n":
                raise RuntimeError(f"the client of {self.name} does not start")
            move(self.server.pid, CPU)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_error):
        self.stack.close()

    @contextlib.contextmanager
    def _start(self, command, cpu):
        def prepare():
            die_with_parent()
            os.sched_setaffinity(0, {cpu})

        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   cwd=self.site.dir, preexec_fn=prepare)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    @staticmethod
    def _wait(port):
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionRefusedError:
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.05)

    def order(self, rate, seconds):
        """One span of load: exchanges per second, seconds from when a request was due to its answer, and CPU time per
        exchange in nanoseconds, the server's and of both. rate 0: as fast as the answers come."""
        processes = self.server, self.client
        before = [threads_cpu_ns(process.pid) for process in processes]
        self.client.stdin.write(f"{rate} {seconds}\n")
        self.client.stdin.flush()
        line = self.client.stdout.readline()
        if not line:
            raise RuntimeError(f"the client of {self.name} has ended")
        used = [threads_cpu_ns(process.pid) - was for process, was in zip(processes, before)]
        said = json.loads(line)
        count = said["sent"]
        return {"count": count, "throughput": count / (said["end"] - said["begin"]), "p50": said["open"]["p50"],
                "p99": said["open"]["p99"], "server_ns": used[0] / count, "both_ns": sum(used) / count}

    @contextlib.contextmanager
    def together(self):
        """Both on the server's CPU."""
        move(self.client.pid, CPU)
        try:
            yield
        finally:
            move(self.client.pid, CLIENT_CPU)

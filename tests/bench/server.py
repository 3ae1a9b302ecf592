# SPDX-License-Identifier: MIT
"""A server on one CPU, its client on another, and what they use."""

import contextlib
import json
import os

from process import Process, free_port

CPU = 0
CLIENT_CPU = 1
CONNECTIONS = 16
VALUE_BYTES = 64

COMMANDS = {
    "memcached": ["memcached", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-u", "nobody", "-p"],
    "redis": ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"],
}


def program(name):
    return COMMANDS[name][0]


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
            self.server = stack.enter_context(Process([*COMMANDS[self.name], port], {CPU}, directory=self.site.dir))
            self.server.wait_port(port)
            self.client = stack.enter_context(Process([self.site.load(), self.name, port,
                                                       CONNECTIONS, VALUE_BYTES], {CLIENT_CPU}, talks=True))
            self.client.hear()
            move(self.server.pid, CPU)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_error):
        self.stack.close()

    def order(self, rate, seconds):
        """One span of load: exchanges per second, seconds from when a request was due to its answer, and CPU time per
        exchange in nanoseconds, the server's and of both. rate 0: as fast as the answers come."""
        processes = self.server, self.client
        before = [threads_cpu_ns(process.pid) for process in processes]
        said = json.loads(self.client.ask(f"{rate} {seconds}"))
        used = [threads_cpu_ns(process.pid) - was for process, was in zip(processes, before)]
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

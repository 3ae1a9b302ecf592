# SPDX-License-Identifier: MIT
"""A server on one CPU, its client on another, and what they use."""

import contextlib
import json
import os
import subprocess

from process import Process, free_port, prepare, threads_cpu_ns

CPU = 0
CLIENT_CPU = 1
CONNECTIONS = 16
STREAMS = 10  # at once on each, where a connection has several
VALUE_BYTES = 64

COMMANDS = {
    "memcached": ["memcached", "-l", "127.0.0.1", "-U", "0", "-t", "1", "-u", "nobody", "-p"],
    "redis": ["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port"],
    "nghttpd": ["nghttpd", "--no-tls", "-n", "1", "-a", "127.0.0.1"],
}


def program(name):
    return COMMANDS[name][0]


def programs(name):
    """With that of its client, where it is not part of the build."""
    return [program(name), *(["h2load"] if name == "nghttpd" else [])]


def move(pid, cpu):
    for thread in os.listdir(f"/proc/{pid}/task"):
        os.sched_setaffinity(int(thread), {cpu})


class Load:
    """Connections that stay open, with one request at a time on each."""

    def __init__(self, site, name, port, cpu):
        self.process = Process([site.load(), name, port, CONNECTIONS, VALUE_BYTES], {cpu}, talks=True)
        self.process.hear()

    def order(self, rate, seconds):
        """What it says, and the CPU time that it has used."""
        before = threads_cpu_ns(self.process.pid)
        said = json.loads(self.process.ask(f"{rate} {seconds}"))
        return said, threads_cpu_ns(self.process.pid) - before

    def move(self, cpu):
        move(self.process.pid, cpu)

    def end(self):
        self.process.end()


class H2load:
    """HTTP/2, with new connections for each order. When a request was due it does not say: the time of the sending is
    taken for that."""

    def __init__(self, site, _name, port, cpu):
        self.cpu = cpu
        self.log = os.path.join(site.dir, "h2load.log")
        page = os.path.join(site.dir, "page")
        with open(page, "w", encoding="ascii") as file:
            file.write(VALUE_BYTES * "x")
        self.command = ["h2load", "-c", str(CONNECTIONS), "-m", str(STREAMS), "--log-file", self.log]
        self.url = f"http://127.0.0.1:{port}/page"

    def order(self, rate, seconds):
        said, cpu_ns = self._run(rate, seconds)
        # On a busy machine none may be answered in so short a time.
        return (said, cpu_ns) if said else self.order(rate, 2 * seconds)

    def _run(self, rate, seconds):
        pace = ["--rps", f"{rate / CONNECTIONS:.3f}"] if rate else []
        process = subprocess.Popen([*self.command, "-D", f"{1000 * seconds:.0f}ms", *pace, self.url],
                                   stdout=subprocess.DEVNULL, preexec_fn=prepare({self.cpu}))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"h2load: status {process.returncode}")
        return self._said(), round(1e9 * (usage.ru_utime + usage.ru_stime))

    def _said(self):
        with open(self.log, encoding="ascii") as log:
            rows = [tuple(map(int, line.split())) for line in log]
        os.unlink(self.log)
        durations = sorted(row[2] / 1e6 for row in rows if row[1] == 200)
        if not durations:
            return None
        return {"sent": len(durations), "begin": min(row[0] for row in rows) / 1e6,
                "end": max(row[0] + row[2] for row in rows) / 1e6,
                "open": {"p50": durations[len(durations) // 2], "p99": durations[len(durations) * 99 // 100]}}

    def move(self, cpu):
        self.cpu = cpu

    def end(self):
        pass


class Pair:
    """A server and its client."""

    def __init__(self, site, name, client_cpu=CLIENT_CPU):
        self.site = site
        self.name = name
        self.client_cpu = client_cpu

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            port = free_port()
            self.server = stack.enter_context(Process([*COMMANDS[self.name], port], {CPU}, directory=self.site.dir))
            self.server.wait_port(port)
            self.client = (H2load if self.name == "nghttpd" else Load)(self.site, self.name, port, self.client_cpu)
            stack.callback(self.client.end)
            move(self.server.pid, CPU)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_error):
        self.stack.close()

    def order(self, rate, seconds):
        """One span of load: exchanges per second, seconds from when a request was due to its answer, and CPU time per
        exchange in nanoseconds, the server's and of both. rate 0: as fast as the answers come."""
        before = threads_cpu_ns(self.server.pid)
        said, client_ns = self.client.order(rate, seconds)
        server_ns = threads_cpu_ns(self.server.pid) - before
        count = said["sent"]
        return {"count": count, "throughput": count / (said["end"] - said["begin"]), "p50": said["open"]["p50"],
                "p99": said["open"]["p99"], "server_ns": server_ns / count, "both_ns": (server_ns + client_ns) / count}

    @contextlib.contextmanager
    def together(self):
        """Both on the server's CPU."""
        self.client.move(CPU)
        try:
            yield
        finally:
            self.client.move(self.client_cpu)

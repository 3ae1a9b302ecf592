# SPDX-License-Identifier: MIT
"""Clients of servers: run(server, Load) returns what it says that it has sent, and how long that took.

Each sends a given number of requests, or as many as it can for some seconds; at a rate, or as fast as responses come.
"""

import dataclasses
import glob
import json
import os
import re
import subprocess
import tempfile

from process import prepare

LIMIT_S = 30


class Failed(Exception):
    """A client reports an error."""


@dataclasses.dataclass
class Load:
    """requests 0: as many as there are in these seconds; rate 0: as fast as responses come"""

    connections: int
    requests: int = 0
    rate: float = 0
    seconds: float = 0


@dataclasses.dataclass
class Said:
    """What a client knows; times in seconds."""

    sent: int
    connections: int
    p50: float
    p99: float


def percentiles(latencies):
    """(p50, p99)"""
    ordered = sorted(latencies)
    return (ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]) if ordered else (float("nan"), float("nan"))


def output_of(server, *argv, text=None, directory=None):
    words = [str(word) for word in argv]
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=directory,
                          preexec_fn=prepare(server.site.client_cpus))
    if done.returncode:
        raise Failed(f"{words[0]}: {(done.stdout + done.stderr).strip()[-300:]}")
    return done.stdout


def found(expression, text):
    match = re.search(expression, text, re.MULTILINE)
    if not match:
        raise Failed(f"no {expression} in {text[-300:]}")
    return match


class H2load:
    """Of nghttp2: HTTP/1.1 and HTTP/2, with a log of all requests."""

    needs = ("h2load",)
    name = "h2load"

    def __init__(self, path="/", version=1, tls=False, body=None, headers=(), more=()):
        self.path, self.version, self.tls, self.body, self.headers, self.more = path, version, tls, body, headers, more

    def run(self, server, load):
        with tempfile.TemporaryDirectory(prefix="ebpf-h2load.") as directory:
            log = os.path.join(directory, "log")
            words = ["h2load", "-t", 1, "-c", load.connections, "--log-file", log, *self.more]
            words += ["--h1"] if self.version == 1 else []
            for header in self.headers:
                words += ["-H", header]
            if self.body is not None:
                path = os.path.join(directory, "body")
                with open(path, "wb") as file:
                    file.write(self.body)
                words += ["-d", path]
            words += ["-n", load.requests] if load.requests else ["-D", max(1, round(load.seconds))]
            words += ["--rps", max(1, round(load.rate / load.connections))] if load.rate else []
            said = output_of(server, *words, f"http{'s' if self.tls else ''}://127.0.0.1:{server.port}{self.path}")
            match = found(r"^requests: \d+ total, \d+ started, (\d+) done, (\d+) succeeded", said)
            if load.requests and match[2] != str(load.requests):
                raise Failed(match[0])
            with open(log, encoding="ascii") as rows:
                latencies = [1e-6 * int(row.split()[2]) for row in rows]
        return Said(int(match[1]), load.connections, *percentiles(latencies))


class Ab:
    """Of Apache: a connection for each request, for servers that keep none. It knows no rate: one request at a time instead."""

    needs = ("ab",)
    name = "ab"
    MOST = 1000000

    def run(self, server, load):
        with tempfile.TemporaryDirectory(prefix="ebpf-ab.") as directory:
            log = os.path.join(directory, "log")
            words = ["ab", "-q", "-c", 1 if load.rate else load.connections, "-e", log]
            words += ["-n", load.requests] if load.requests else ["-t", max(1, round(load.seconds)), "-n", self.MOST]
            said = output_of(server, *words, f"http://127.0.0.1:{server.port}/")
            sent = int(found(r"^Complete requests: *(\d+)", said)[1])
            with open(log, encoding="utf-8") as rows:
                times = dict(row.split(",") for row in rows.read().splitlines()[1:])
        return Said(sent, sent, *(1e-3 * float(times[percent]) for percent in ("50", "99")))


class Talk:
    """tests/measure/servers/talk, by a script."""

    needs = ()
    name = "talk (own)"

    def __init__(self, request, begin=(), end=()):
        self.steps = [*(("begin", step) for step in begin), ("request", request), *(("end", step) for step in end)]

    def run(self, server, load):
        script = "".join(f"{when} {step.line()}\n" for when, step in self.steps)
        return Said(**{key: value for key, value in json.loads(
            output_of(server, server.site.talk, server.port, load.connections, load.requests, load.rate, load.seconds,
                      text=script)).items() if key != "seconds"})


@dataclasses.dataclass
class Step:
    """What is sent, and what the response is known by: its length, what it contains and what it ends with."""

    send: bytes = b""
    contains: bytes = b""
    ends: bytes = b""
    length: int = 0

    def line(self):
        return " ".join([*(text.hex() or "-" for text in (self.send, self.contains, self.ends)), str(self.length)])


class RedisBenchmark(Talk):
    """At full speed; it knows no rate, so that talk does the rest."""

    needs = ("redis-benchmark",)
    name = "redis-benchmark, talk"
    REQUESTS = 100000

    def __init__(self):
        super().__init__(Step(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", ends=b"$-1\r\n"))

    def run(self, server, load):
        if load.rate or load.requests:
            return super().run(server, load)
        said = output_of(server, "redis-benchmark", "-p", server.port, "-c", load.connections, "-n", self.REQUESTS, "-t", "get",
                         "--csv")
        row = said.strip().splitlines()[-1].replace('"', "").split(",")
        return Said(self.REQUESTS, load.connections, 1e-3 * float(row[4]), 1e-3 * float(row[6]))


class Pgbench:
    """Its selects by the key, by the simple protocol."""

    needs = ("pgbench",)
    name = "pgbench"

    def __init__(self, sslmode="disable"):
        self.sslmode = sslmode

    def run(self, server, load):
        with tempfile.TemporaryDirectory(prefix="ebpf-pgbench.") as directory:
            words = ["env", f"PGSSLMODE={self.sslmode}", "pgbench", "-n", "-S", "-h", "127.0.0.1", "-p", server.port, "-U",
                     "postgres", "-c",
                     load.connections, "-l"]
            words += ["-t", load.requests // load.connections] if load.requests else ["-T", max(1, round(load.seconds))]
            words += ["-R", f"{load.rate:.3f}"] if load.rate else []
            said = output_of(server, *words, "postgres", directory=directory)
            latencies = []
            for path in glob.glob(os.path.join(directory, "pgbench_log.*")):
                with open(path, encoding="ascii") as log:
                    rows = [row.split() for row in log]
                latencies += [1e-6 * (int(row[2]) - (int(row[6]) if len(row) > 6 else 0)) for row in rows]
        return Said(int(found(r"transactions actually processed: (\d+)", said)[1]), load.connections, *percentiles(latencies))


class Sysbench:
    """Selects by the key, without transactions and prepared statements."""

    needs = ("sysbench",)
    name = "sysbench"

    def __init__(self, tls=False):
        self.tls = tls

    def command(self, port):
        return ["sysbench", "oltp_point_select", "--mysql-host=127.0.0.1", f"--mysql-port={port}", "--mysql-user=root",
                "--mysql-db=test", "--table-size=1000", "--skip-trx", "--db-ps-mode=disable"]

    def run(self, server, load):
        words = [*self.command(server.port), *(["--mysql-ssl=on"] if self.tls else ()), f"--threads={load.connections}",
                 "--histogram", f"--time={round(load.seconds) or 60}",
                 f"--events={load.requests}"]
        words += [f"--rate={max(1, round(load.rate))}"] if load.rate else []
        # With TLS it has the names of three files, in its directory.
        said = output_of(server, *words, "run", directory=server.home)
        counts = [(1e-3 * float(value), int(count)) for value, count in re.findall(r"^ *([\d.]+) \|.* (\d+)$", said,
                                                                                   re.MULTILINE)]
        return Said(int(found(r"^ +total: +(\d+)", said)[1]), load.connections, *(self._percentile(counts, share)
                                                                                  for share in (0.5, 0.99)))

    @staticmethod
    def _percentile(counts, share):
        left = share * sum(count for _, count in counts)
        for value, count in counts:
            left -= count
            if left <= 0:
                return value
        return float("nan")


class Dnsperf:
    """A query again and again, over UDP."""

    needs = ("dnsperf",)
    name = "dnsperf"

    def __init__(self, query="www.example A"):
        self.query = query

    def run(self, server, load):
        words = ["dnsperf", "-s", "127.0.0.1", "-p", server.port, "-c", load.connections, "-T", 1, "-v", "-d", "queries"]
        words += ["-n", 1] if load.requests else ["-l", max(1, round(load.seconds))]
        words += ["-Q", max(1, round(load.rate))] if load.rate else []
        with tempfile.TemporaryDirectory(prefix="ebpf-dnsperf.") as directory:
            with open(os.path.join(directory, "queries"), "w", encoding="ascii") as queries:
                queries.write((self.query + "\n") * (load.requests or 1000))
            said = output_of(server, *words, directory=directory)
        latencies = [float(value) for value in re.findall(r"^> .* ([\d.]+)$", said, re.MULTILINE)]
        return Said(int(found(r"Queries completed: +(\d+)", said)[1]), load.connections, *percentiles(latencies))

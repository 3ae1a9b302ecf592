#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The blocks of conf/responses.conf, with the servers that they are for: each is made to fail so many times, and as many
responses are of the classes. What is not installed is left out.

Truth: what the servers answered, by their own protocols.
"""

import math
import os
import shutil
import time

import failing_databases
import failing_http2
import receiver
from failing import ROUNDS, Connection, Server
from receiver import lib

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2


class Nginx(Server):
    service = "nginx"
    CONFIGURATION = """\
daemon off;
user root;
worker_processes 1;
pid {home}/pid;
error_log stderr crit;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {home}/body;
  server {{
    listen 127.0.0.1:{port};
    root {home};
    location /broken {{ return 500; }}
    location /redirect {{ return 302 /page; }}
    location /upstream {{ proxy_pass http://127.0.0.1:{nobody}; }}
  }}
}}
"""

    def find(self):
        return shutil.which("nginx")

    def argv(self):
        receiver.write(os.path.join(self.home, "page"), "text")
        nobody, = receiver.free_ports(1)
        conf = receiver.write(os.path.join(self.home, "conf"),
                              self.CONFIGURATION.format(home=self.home, port=self.port, nobody=nobody))
        return "-p", self.home, "-e", "stderr", "-c", conf

    @staticmethod
    def head(connection):
        """The rest of a response; its status is known."""
        length = 0
        while (line := connection.file.readline().strip()):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        connection.file.read(length)

    def get(self, connection, path, want, more=b""):
        status = connection.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\n".encode() + more + b"\r\n")
        if status.split()[1] != want:
            raise RuntimeError(f"{path}: {status!r}")
        self.head(connection)

    def load(self):
        for _ in range(ROUNDS):
            for path, want in (("/page", b"200"), ("/broken", b"500"), ("/upstream", b"502"), ("/none", b"404"),
                               ("/redirect", b"302")):
                connection = Connection(self.port)  # a 500 closes it
                self.get(connection, path, want)
                connection.close()
        connection = Connection(self.port)
        self.get(connection, "/upstream", b"100", b"Expect: 100-continue\r\nContent-Length: 4\r\n")
        if connection.ask(b"body").split()[1] != b"502":
            raise RuntimeError("no 502 after the body")
        connection.close()
        return {"5xx": 2 * ROUNDS + 1, "4xx": ROUNDS, None: 2 * ROUNDS}


class Redis(Server):
    service = "redis-server"

    def find(self):
        return shutil.which("redis-server")

    def argv(self):
        return "--bind", "127.0.0.1", "--port", self.port, "--save", "", "--appendonly", "no"

    def load(self):
        connection = Connection(self.port)
        for _ in range(ROUNDS):
            for what, want in ((b"SET key value", b"+OK"), (b"NOSUCH", b"-ERR"), (b"LPUSH key x", b"-WRONGTYPE"),
                               (b"INCR key", b"-ERR"), (b"EXISTS key", b":1")):
                if not connection.ask(what + b"\r\n").startswith(want):
                    raise RuntimeError(f"{what!r} is not answered by {want!r}")
        connection.close()
        return {"wrong": 2 * ROUNDS, "error": ROUNDS, None: 2 * ROUNDS}


class Memcached(Server):
    service = "memcached"

    def find(self):
        return shutil.which("memcached")

    def argv(self):
        return "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-U", 0, "-t", 1

    def load(self):
        connection = Connection(self.port)
        large = 2 << 20
        for _ in range(ROUNDS):
            for what, want in ((b"set key 0 0 1\r\nx", b"STORED"), (b"nonsense", b"ERROR"), (b"get", b"ERROR"),
                               (b"set key 0 0 x", b"CLIENT_ERROR"), (b"get none", b"END")):
                if not connection.ask(what + b"\r\n").startswith(want):
                    raise RuntimeError(f"{what!r} is not answered by {want!r}")
        connection.close()
        # It swallows what it does not keep.
        for _ in range(ROUNDS):
            connection = Connection(self.port)
            if not connection.ask(f"set key 0 0 {large}\r\n".encode() + bytes(large) + b"\r\n").startswith(b"SERVER_ERROR"):
                raise RuntimeError("it keeps too much")
            connection.close()
        return {"error": 2 * ROUNDS, "client_error": ROUNDS, "server_error": ROUNDS, None: 2 * ROUNDS}


SERVERS = {"nginx": Nginx, "redis": Redis, "memcached": Memcached, **failing_databases.SERVERS,
           **failing_http2.SERVERS}


def check(test, daemon, name, counts, moment):
    test.equal(f"{name}: requests", daemon.row_after(name, "total_requests", moment)[1], sum(counts.values()))
    got = {one.removeprefix("total_requests-"): daemon.row_after(name, one, moment)[1]
           for one in daemon.metrics(name) if one.startswith("total_requests-")}
    test.equal(f"{name}: by class", {kind: count for kind, count in got.items() if count},
               {kind: count for kind, count in counts.items() if kind})
    for kind in filter(None, counts):
        times = [row[1] for row in daemon.rows(name, f"latency-service-{kind}-average") if row[1] == row[1]]
        test.within(f"{name}: {kind}: service time, s", max(times, default=-1), 0, math.inf)
        test.figures.within(f"{name}: {kind}: service time, s", max(times, default=-1), 0, 5)


def main():
    with lib.Test(limit=180) as test:
        made = [kind(test, name) for name, kind in SERVERS.items()]
        servers = [server for server in made if server.program]
        for server in made:
            if not server.program:
                test.left_out(f"responses of {server.name}", "it is not installed")
        if not servers:
            raise lib.Skip("none of the servers is installed")
        daemon = test.collectd("".join(server.block() for server in servers), interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        for server in servers:
            server.start()
        counts = {server.name: server.load() for server in servers}
        moment = time.time()
        for server in servers:
            check(test, daemon, server.name, counts[server.name], moment)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

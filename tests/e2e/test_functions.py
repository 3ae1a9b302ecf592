#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ready sets of Function blocks, conf/functions-*.conf, with the programs that they are for. What is not installed is
left out.

Truth: the clients, which know what they have asked, and a program that counts its allocations.
"""

import math
import os
import re
import shutil
import sys
import time

import receiver
from e2e import TOP
from failing import ROUNDS
from failing_databases import MariaDb, Postgres
from receiver import lib

sys.path += [os.path.join(TOP, "tests", "measure", where) for where in ("cost", "accuracy")]
import web_clients  # noqa: E402
import web_servers  # noqa: E402

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 1
POSTGRES = "/usr/lib/postgresql/15/bin/postgres"
LIBC = "/usr/lib/x86_64-linux-gnu/libc.so.6"
REQUESTS = 200
ALLOCATIONS = 5000
OFF = "".join(f'  <Probe "{name}">\n    Enable false\n  </Probe>\n' for name in ("process", "request", "delay", "disk"))


def functions(sample, paths):
    """The Function blocks of a sample."""
    text = receiver.sample(sample, paths)
    return re.search(r'^  <Probe "functions">\n(.*?)^  </Probe>\n', text, re.M | re.S).group(1)


class Site:
    def __init__(self, test, daemon):
        self.test, self.daemon = test, daemon

    def get(self, service, metric, moment):
        return self.daemon.wait_rows(service, metric, 1, moment)[0][1]

    def calls(self, what, service, function, moment, want):
        self.test.equal(f"{service}: {what}", self.get(service, "total_operations-function-" + function, moment), want)


def openssl(site, server):
    requested = sum(web_clients.python(server.ports[version], version, 4, REQUESTS // 4) for version in ("tls1.2", "tls1.3"))
    moment = time.time()
    reads = site.get("nginx", "total_operations-function-ssl_read", moment)
    failed = site.get("nginx", "errors-function-ssl_read", moment)
    site.test.equal("nginx: reads that had a request", reads - failed, requested)
    byte_count = site.get("nginx", "derive-argument-ssl_write", moment) / requested
    site.calls("writes, of 16 KiB of a response each", "nginx", "ssl_write", moment, requested * math.ceil(byte_count / 16384))
    page = os.path.getsize(os.path.join(server.home, "page"))
    site.test.within("nginx: bytes of a response, a page and its header", byte_count, page + 100, page + 1000)


def grpc(site, server):
    client = web_clients.Grpc(server.client, server.ports["grpc"], 2, 1)
    sent = client.ask(2)
    moment = time.time()
    client.close()
    site.calls("calls of the client", "grpc", "grpc_calls", moment, sent)
    site.calls("looks for trailing metadata, three for each call of the client", "grpc", "grpc_trailing_metadata", moment,
               3 * sent)


def databases(site, servers):
    for server in servers:
        server.start()
        server.load()
    moment = time.time()
    for server in servers:
        if server.name == "mariadb":
            site.calls("statements", "mariadb", "mariadb_command-3", moment, 4 * ROUNDS)
        else:
            site.calls("statements as text", "postgres", "postgresql_query", moment, 3 * ROUNDS + 1)


def private_libc(test):
    """A copy for the loads, in which no malloc of others costs anything."""
    directory = os.path.join(test.disk, "lib")
    os.mkdir(directory)
    return shutil.copy(LIBC, directory)


def malloc(site, libc):
    os.environ["LD_LIBRARY_PATH"] = os.path.dirname(libc)
    one, other = site.test.load("allocate", name="kt_one"), site.test.load("allocate", name="kt_other")
    del os.environ["LD_LIBRARY_PATH"]
    for load in (one, other):
        load.ask(str(ALLOCATIONS))
    moment = time.time()
    site.calls("allocations", "web", "malloc", moment, ALLOCATIONS)
    site.test.equal("allocations of others",
                    [name for name in site.daemon.metrics("other") if name.endswith("function-malloc")], [])
    for load in (one, other):
        load.end()


def main():
    with lib.Test(limit=180) as test:
        home = test.disk
        web = web_servers.start_all(home, ("nginx", "grpc"))
        bases = [server for server in (Postgres(test, "postgres"), MariaDb(test, "mariadb")) if server.program]
        samples = ["openssl", "database", "malloc"] + (["grpc"] if "grpc" in web else [])
        libc = private_libc(test)
        paths = {"malloc": {LIBC: libc, 'Service "nginx"': 'Service "web"'},
                 "database": {POSTGRES: server.program for server in bases if server.name == "postgres"}}
        blocks = "".join(functions(f"functions-{name}.conf", paths.get(name, {})) for name in samples)
        services = "".join(server.block() for server in web.values())
        services += "".join(f'  <Service "{server.name}">\n    Process "kt_{server.name}"\n  </Service>\n' for server in bases)
        services += '  <Service "web">\n    Process "kt_one"\n  </Service>\n'
        daemon = test.collectd(f'{OFF}{services}  <Probe "functions">\n    MaxOverhead 100\n{blocks}  </Probe>\n',
                               interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_functions", 2)
        site = Site(test, daemon)
        malloc(site, libc)
        if "nginx" in web:
            openssl(site, web["nginx"])
        if "grpc" in web:
            grpc(site, web["grpc"])
        databases(site, bases)
        absent = {"mariadb": "mariadbd", "postgres": "postgres"}
        missing = [part for name, part in absent.items() if name not in {server.name for server in bases}]
        test.equal("complaints", [it for it in daemon.complaints()
                                  if "functions" in it and not any(part in it for part in missing)], [])


if __name__ == "__main__":
    main()

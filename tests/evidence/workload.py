# SPDX-License-Identifier: MIT
"""The services that are measured, each with its client.

A workload has a server process with this pid and its children, connections that are open all the time, and load(rate,
seconds): what its client says of that, as load.c describes it; a rate of 0 is as many as are answered.
"""

import json
import os
import shutil

import pgbench
from need import compile_cpp, require
from process import Process, free_port


class Workload:
    connections = 32
    patient = True      # has more of them where they wait for the network
    alternates = True   # one exchange is one request
    like = None         # what is nearest to it in the paper
    asks = ()
    made = {}           # its programs in C++: the pkg-config name of their library

    def __init__(self, site):
        self.site = site
        self.connections *= site.patience if self.patient else 1
        self.port = free_port()
        self.server = self.client = None

    def __enter__(self):
        try:
            self.server = self.start()
            self.pid = self.server.pid
            self.server.wait_port(self.port)
            self.client = self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        for program in (self.client, self.server):
            if program:
                program.end()

    @classmethod
    def compile(cls, build):
        """Their paths."""
        return [compile_cpp(build, name, package) for name, package in cls.made.items()]

    def serve(self, *argv, talks=False):
        return Process(argv, self.site.server_cpus, self.site.nice, self.site.dir, talks)

    def ask_with(self, *argv):
        client = Process(argv, self.site.client_cpus, self.site.nice, talks=True)
        client.hear()
        return client

    def connect(self):
        protocol, *shape = self.asks
        return self.ask_with(self.site.built("load"), protocol, self.port, self.connections, *shape)

    def load(self, rate, seconds):
        return json.loads(self.client.ask(f"{rate} {seconds}"))

    def server_log(self):
        """What the server says of the requests since the last time, where it keeps a log."""
        return None


class Memcached(Workload):
    title = "memcached, 4 threads, 100 keys a request"
    like = "CloudSuite Data Caching"
    asks = ("memcached", 10, 100)

    def start(self):
        require("memcached")
        return self.serve("memcached", "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-U", 0, "-t", 4)


class Redis(Workload):
    title = "redis, 100 keys a request"
    asks = ("redis", 10, 100)

    def start(self):
        require("redis-server")
        return self.serve("redis-server", "--bind", "127.0.0.1", "--port", self.port, "--save", "",
                          "--appendonly", "no")


class Nginx(Workload):
    title = "nginx, 2 workers, a file of 30 kB"
    like = "CloudSuite Web Search"
    asks = ("http", 0)

    CONFIGURATION = """\
daemon off;
user root;
worker_processes 2;
pid nginx.pid;
error_log stderr crit;
events {{ }}
http {{
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  keepalive_timeout 1d;
  server {{
    listen 127.0.0.1:{port};
    root {root};
  }}
}}
"""

    def start(self):
        require("nginx")
        with open(os.path.join(self.site.dir, "page"), "w", encoding="ascii") as page:
            page.write(30000 * "x")
        conf = os.path.join(self.site.dir, "nginx.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(port=self.port, root=self.site.dir))
        return self.serve("nginx", "-p", self.site.dir, "-e", "stderr", "-c", conf)


class Postgres(Workload):
    title = "PostgreSQL, pgbench's selects"
    like = "TailBench silo"
    connections = 16
    patient = False     # pgbench connects one after the other, and its time runs

    def start(self):
        self.bench = pgbench.Pgbench(self.site, self.port, self.connections)
        return self.bench.server

    def connect(self):
        self.bench.connect()
        return self.bench

    def load(self, rate, seconds):
        return self.bench.load(rate, seconds)


class Search(Workload):
    title = "Xapian search service, a thread for each connection"
    like = "TailBench xapian"
    asks = ("search", 0)
    made = {"search": "xapian-core"}

    def start(self):
        program, = self.compile(self.site.build)
        return self.serve(program, self.port, os.path.join(self.site.dir, "database"))

    def __exit__(self, *error):
        super().__exit__(*error)
        shutil.rmtree(os.path.join(self.site.dir, "database"), ignore_errors=True)


class Inference(Workload):
    title = "HTTP inference, body of 150 kB, 1 + 2 threads"
    like = "Triton w/ HTTP"
    connections = 16
    asks = ("http", 3 * 224 * 224)

    def start(self):
        return self.serve(self.site.built("inference"), self.port, talks=True)

    def server_log(self):
        return json.loads(self.server.ask())


class Grpc(Workload):
    title = "gRPC, 8 requests at once on each of 4 connections"
    like = "Triton w/ gRPC"
    alternates = False
    connections = 4
    made = {"grpc_server": "grpc++", "grpc_client": "grpc++"}

    def start(self):
        server, self.client_program = self.compile(self.site.build)
        return self.serve(server, self.port)

    def connect(self):
        return self.ask_with(self.client_program, self.port, self.connections, 8, 1000)


WORKLOADS = {"memcached": Memcached, "redis": Redis, "nginx": Nginx, "postgresql": Postgres, "xapian": Search,
             "inference": Inference, "grpc": Grpc}

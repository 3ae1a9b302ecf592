# SPDX-License-Identifier: MIT
"""All services that are measured, by the name of their series."""

import os
import shutil

import databases
import web
from need import Missing, compile_cpp, require
from workload import Workload


class Search(Workload):
    title = "Xapian search service, a thread for each connection"
    like = "TailBench xapian"
    asks = ("search", 0)

    @classmethod
    def compile(cls, build):
        return [compile_cpp(build, "search", "xapian-core")]

    def start(self):
        program, = self.compile(self.site.build)
        return self.serve(program, self.port, os.path.join(self.site.dir, "database"))

    def __exit__(self, *error):
        super().__exit__(*error)
        shutil.rmtree(os.path.join(self.site.dir, "database"), ignore_errors=True)


class Grpc(Workload):
    title = "gRPC, 8 requests at once on each of 4 connections"
    like = "Triton w/ gRPC"
    connections = 4

    @classmethod
    def compile(cls, build):
        return [compile_cpp(build, name, "grpc++") for name in ("grpc_server", "grpc_client")]

    def start(self):
        server, self.client_program = self.compile(self.site.build)
        return self.serve(server, self.port)

    def connect(self):
        return self.ask_with(self.client_program, self.port, self.connections, 8, 1000)


class Nsd(Workload):
    title = "nsd, DNS over UDP, 90 mail servers of a host"
    asks = ("dns", 0)
    HOSTS, SERVERS = 1000, 90   # what a datagram of 4 kB has room for

    CONFIGURATION = """\
server:
  ip-address: 127.0.0.1@{port}
  server-count: 1
  username: ""
  chroot: ""
  zonesdir: "{home}"
  pidfile: ""
  zonelistfile: "{home}/zones"
  xfrdfile: "{home}/transfers"
  xfrdir: "{home}"
  ipv4-edns-size: 4096
  rrl-ratelimit: 0
  rrl-whitelist-ratelimit: 0
remote-control:
  control-enable: no
zone:
  name: "example"
  zonefile: "example.zone"
"""
    ZONE = """\
$ORIGIN example.
$TTL 3600
@ IN SOA ns root 1 3600 3600 3600 3600
@ IN NS ns
ns IN A 127.0.0.1
"""

    def _hosts(self):
        """Work enough for a request that its client keeps up."""
        servers = "".join(f"m{i} IN A 10.0.0.{i}\n" for i in range(self.SERVERS))
        return servers + "".join(f"host{n} IN MX {i} m{i}\n" for n in range(self.HOSTS) for i in range(self.SERVERS))

    def start(self):
        require("nsd")
        if self.site.loses:
            raise Missing("its client sends nothing again that is lost")
        home = self.make_home()
        with open(os.path.join(home, "example.zone"), "w", encoding="ascii") as zone:
            zone.write(self.ZONE + self._hosts())
        conf = os.path.join(home, "nsd.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(port=self.port, home=home))
        return self.serve("nsd", "-d", "-c", conf)


WORKLOADS = {"memcached": databases.Memcached, "redis": databases.Redis, "postgresql": databases.Postgres,
             "mariadb": databases.MariaDb, "nginx": web.Nginx, "apache-event": web.ApacheEvent,
             "apache-prefork": web.ApachePrefork, "go": web.Go, "java": web.Java, "inference": web.Inference,
             "xapian": Search, "grpc": Grpc, "nsd": Nsd}

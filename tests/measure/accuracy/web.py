# SPDX-License-Identifier: MIT
"""Web servers."""

import json
import os

from need import compile_go, compile_java, require
from workload import Workload

PAGE = 30000


def write_page(directory):
    """DIRECTORY/page, which anybody can read."""
    path = os.path.join(directory, "page")
    with open(path, "w", encoding="ascii") as page:
        page.write(PAGE * "x")
    os.chmod(path, 0o644)


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
        write_page(self.site.dir)
        conf = os.path.join(self.site.dir, "nginx.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(port=self.port, root=self.site.dir))
        return self.serve("nginx", "-p", self.site.dir, "-e", "stderr", "-c", conf)


class Apache(Workload):
    """By one of its multi-processing modules. limits: how many threads it has, `most` is twice its connections."""
    asks = ("http", 0)
    module = limits = None

    CONFIGURATION = """\
ServerName localhost
Listen 127.0.0.1:{port}
LoadModule mpm_{module}_module /usr/lib/apache2/modules/mod_mpm_{module}.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
User www-data
Group www-data
PidFile {home}/pid
ErrorLog /dev/null
DocumentRoot {home}
MaxKeepAliveRequests 0
KeepAliveTimeout 86400
{limits}
"""

    def start(self):
        require("apache2")
        home = self.make_home()
        write_page(home)
        conf = os.path.join(home, "apache.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(self.CONFIGURATION.format(port=self.port, home=home, module=self.module,
                                                 limits=self.limits.format(most=2 * self.connections)))
        return self.serve("apache2", "-DFOREGROUND", "-f", conf)


class ApacheEvent(Apache):
    """It closes connections that wait for a request when all threads are busy, so it has more of these."""
    title = "Apache event, 64 threads, a file of 30 kB"
    module = "event"
    limits = "StartServers 1\nServerLimit 1\nThreadLimit {most}\nThreadsPerChild {most}\nMaxRequestWorkers {most}"


class ApachePrefork(Apache):
    title = "Apache prefork, a process for each connection, a file of 30 kB"
    module = "prefork"
    patient = False     # each has its process
    limits = "StartServers 40\nMinSpareServers 1\nMaxSpareServers {most}\nServerLimit {most}\nMaxRequestWorkers {most}"


class Go(Workload):
    title = "Go, net/http, a text of 2 kB"
    asks = ("http", 0)

    @classmethod
    def compile(cls, build):
        return [compile_go(build, "go_server")]

    def start(self):
        program, = self.compile(self.site.build)
        return self.serve(program, self.port)


class Java(Workload):
    title = "Java, the JDK's HttpServer, 8 threads, a text of 1 kB"
    asks = ("http", 0)
    warm_s = 10         # until it is compiled

    @classmethod
    def compile(cls, build):
        return [compile_java(build, "JavaServer")]

    def start(self):
        directory, = self.compile(self.site.build)
        # Its defaults delay the body until the header is acknowledged, and close connections that are idle for 30 s.
        return self.serve("java", "-Dsun.net.httpserver.nodelay=true", "-Dsun.net.httpserver.idleInterval=86400",
                          "-cp", directory, "JavaServer", self.port)


class Inference(Workload):
    title = "HTTP inference, body of 150 kB, 1 + 2 threads"
    like = "Triton w/ HTTP"
    asks = ("http", 3 * 224 * 224)

    def start(self):
        return self.serve(self.site.built("inference"), self.port, talks=True)

    def server_log(self):
        return json.loads(self.server.ask())

# SPDX-License-Identifier: MIT
"""Servers of HTTP/2 and gRPC that are made to fail, asked by clients of the same."""

import os
import re
import shutil
import subprocess
import sys

import receiver
from failing import ROUNDS, Server

GRPC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grpc_peer.py")


class Http2(Server):
    """Asked by h2load: for each path ROUNDS times, and the statuses are as here."""
    service = "h2"
    PATHS = {}

    def find(self):
        return shutil.which(self.name.split("_")[0]) if shutil.which("h2load") else None

    def load(self):
        counts = {}
        for path, status in self.PATHS.items():
            url = f"http://127.0.0.1:{self.port}{path}"
            said = subprocess.run(["h2load", "-n", str(ROUNDS), "-c", "1", "-m", "2", url], capture_output=True, text=True,
                                  check=True).stdout
            if not re.search(rf"^status codes: .*\b{ROUNDS} {status}", said, re.M):
                raise RuntimeError(f"{path} is not answered by {status}: {said}")
            kind = status if status in ("4xx", "5xx") else None
            counts[kind] = counts.get(kind, 0) + ROUNDS
        return counts


class Nginx(Http2):
    PATHS = {"/page": "2xx", "/none": "4xx", "/broken": "5xx", "/upstream": "5xx", "/forbidden": "4xx",
             "/redirect": "3xx"}
    CONFIGURATION = """\
daemon off;
user root;
worker_processes 1;
pid {home}/pid;
error_log stderr crit;
events {{ }}
http {{
  access_log off;
  server {{
    listen 127.0.0.1:{port} http2;
    root {home};
    location /broken {{ return 500; }}
    location /forbidden {{ return 403; }}
    location /redirect {{ return 302 /page; }}
    location /upstream {{ proxy_pass http://127.0.0.1:{nobody}; }}
  }}
}}
"""

    def argv(self):
        receiver.write(os.path.join(self.home, "page"), "text")
        nobody, = receiver.free_ports(1)
        conf = receiver.write(os.path.join(self.home, "conf"),
                              self.CONFIGURATION.format(home=self.home, port=self.port, nobody=nobody))
        return "-p", self.home, "-e", "stderr", "-c", conf


class Nghttpd(Http2):
    PATHS = {"/page": "2xx", "/none": "4xx"}

    def argv(self):
        receiver.write(os.path.join(self.home, "page"), "text")
        return "--no-tls", "-n", "1", "-a", "127.0.0.1", "-d", self.home, self.port


class Grpc(Server):
    """gRPC's own library at both ends."""
    service = "api"

    def find(self):
        """The distribution's python has it, whichever runs this."""
        for python in ("/usr/bin/python3", sys.executable):
            if not subprocess.run([python, "-c", "import grpc"], stderr=subprocess.DEVNULL, check=False).returncode:
                return os.path.realpath(python)
        return None

    def argv(self):
        return GRPC, "serve", self.port

    def load(self):
        subprocess.run([self.program, GRPC, "ask", self.port, str(ROUNDS)], check=True)
        return {"error": 2 * ROUNDS, None: 2 * ROUNDS}


SERVERS = {"nginx_http2": Nginx, "nghttpd": Nghttpd, "grpc": Grpc}

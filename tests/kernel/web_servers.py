# SPDX-License-Identifier: MIT
"""Web servers, each a service: HTTP/2 without TLS, and HTTP/1.1 with TLS 1.2 and 1.3, each at its own port.

All serve the file /page. A server with a log writes a line for each request.
"""

import os
import subprocess
import sys
import time

import services
from check import Check
from connections import free_port
from lib import BUILD
from need import Missing, compile_go, require
from process import Process
from web import write_page

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = 2000 * "x"


def make_certificate(directory):
    """Makes DIRECTORY/cert with a certificate and its key."""
    require("openssl")
    path = os.path.join(directory, "cert")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-keyout", path + ".key", "-out", path],
                   check=True, capture_output=True)
    with open(path, "a", encoding="ascii") as whole, open(path + ".key", encoding="ascii") as key:
        whole.write(key.read())


class Server:
    """home: a directory that all users can read, with the files of make_certificate and write_page"""
    name = None         # of the service
    needs = ()          # programs that must be installed
    offers = ("http2", "tls1.2", "tls1.3")
    configuration = None
    keeps_log = False    # the log is complete even under load

    def __init__(self, home):
        require(*self.needs)
        self.home = home
        self.ports = {what: free_port() for what in self.offers}
        self.log = os.path.join(home, f"{self.name}.log")
        if self.configuration:
            with open(self._conf(), "w", encoding="ascii") as conf:
                conf.write(self.configuration.format(**self.words()))
        self.process = Process(self.command())
        for port in self.ports.values():
            self.process.wait_port(port)
        self.pid_file = os.path.join(home, f"{self.name}.pid")
        with open(self.pid_file, "w", encoding="ascii") as file:
            file.write(f"{self.process.pid}\n")

    def _conf(self):
        return os.path.join(self.home, f"{self.name}.conf")

    def words(self):
        """The words that are filled into its configuration."""
        return {"home": self.home, "log": self.log, "text": TEXT,
                **{what.replace(".", "_"): port for what, port in self.ports.items()}}

    def command(self):
        raise NotImplementedError

    def has_logged(self, count=0, seconds=10):
        """Waits until so many requests are in the log, as a response may be sent before. Returns their number."""
        give_up = time.monotonic() + seconds
        while True:
            with open(self.log, "rb") as log:
                found = log.read().count(b"\n")
            if found >= count or time.monotonic() > give_up:
                return found
            time.sleep(0.02)

    def block(self):
        return f'  <Service "{self.name}">\n    PidFile "{self.pid_file}"\n  </Service>\n'


class Nghttpd(Server):
    name = "nghttpd"
    needs = ("nghttpd",)
    offers = ("http2",)

    def command(self):
        return ["nghttpd", "--no-tls", "-n", "2", "-a", "127.0.0.1", "-d", self.home, self.ports["http2"]]


class Nginx(Server):
    """Pages below /sendfile/ are sent by sendfile, after the headers of their frames, which are sent by writev."""
    name = "nginx"
    keeps_log = True
    needs = ("nginx",)
    configuration = """\
daemon off;
user root;
worker_processes 2;
pid nginx.own;
error_log stderr crit;
events {{
  worker_connections 4096;
}}
http {{
  log_format port '$server_port $status';
  access_log {log} port;
  keepalive_requests 1000000000;
  keepalive_timeout 1d;
  root {home};
  ssl_certificate {home}/cert;
  ssl_certificate_key {home}/cert;
  ssl_session_cache shared:sessions:1m;
  server {{
    listen 127.0.0.1:{http2} http2;
    location /sendfile/ {{
      alias {home}/;
      sendfile on;
    }}
  }}
  server {{
    listen 127.0.0.1:{tls1_2} ssl;
    ssl_protocols TLSv1.2;
  }}
  server {{
    listen 127.0.0.1:{tls1_3} ssl;
    ssl_protocols TLSv1.3;
  }}
}}
"""

    def command(self):
        return ["nginx", "-p", self.home, "-e", "stderr", "-c", self._conf()]


class Apache(Server):
    """In HTTP/2, a thread of the connection uses the socket, and other threads make the responses."""
    name = "apache"
    keeps_log = True
    needs = ("apache2",)
    configuration = """\
ServerName localhost
Listen 127.0.0.1:{http2}
Listen 127.0.0.1:{tls1_2}
Listen 127.0.0.1:{tls1_3}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule http2_module {modules}/mod_http2.so
LoadModule socache_shmcb_module {modules}/mod_socache_shmcb.so
LoadModule ssl_module {modules}/mod_ssl.so
User www-data
Group www-data
PidFile {home}/apache.own
ErrorLog /dev/null
LogFormat "%p %s" port
CustomLog {log} port "expr=%{{REQUEST_STATUS}} != 101"
DocumentRoot {home}
StartServers 2
ServerLimit 2
ThreadsPerChild 128
ThreadLimit 128
MaxRequestWorkers 256
MaxSpareThreads 256
MaxKeepAliveRequests 0
KeepAliveTimeout 86400
SSLSessionCache shmcb:{home}/sessions(512000)
SSLCertificateFile {home}/cert
<VirtualHost 127.0.0.1:{http2}>
  Protocols h2c http/1.1
</VirtualHost>
<VirtualHost 127.0.0.1:{tls1_2}>
  SSLEngine on
  SSLProtocol TLSv1.2
</VirtualHost>
<VirtualHost 127.0.0.1:{tls1_3}>
  SSLEngine on
  SSLProtocol TLSv1.3
</VirtualHost>
"""

    def words(self):
        return {**super().words(), "modules": "/usr/lib/apache2/modules"}

    def command(self):
        return ["apache2", "-DFOREGROUND", "-f", self._conf()]


class Haproxy(Server):
    """A proxy: forwards HTTP/2 of one port as HTTP/1.1 and of another as HTTP/2. Serves TLS itself."""
    name = "haproxy"
    needs = ("haproxy",)
    offers = ("http2", "http2_on", "tls1.2", "tls1.3")
    configuration = """\
global
  nbthread 2
  maxconn 1000
  ssl-server-verify none
defaults
  mode http
  timeout connect 10s
  timeout client 1h
  timeout server 1h
frontend http2
  bind 127.0.0.1:{http2} proto h2
  default_backend http1
frontend http2_on
  bind 127.0.0.1:{http2_on} proto h2
  default_backend http2
frontend tls
  bind 127.0.0.1:{tls1_2} ssl crt {home}/cert ssl-max-ver TLSv1.2
  bind 127.0.0.1:{tls1_3} ssl crt {home}/cert ssl-min-ver TLSv1.3
  http-request return status 200 content-type text/plain string {text}
backend http1
  server python 127.0.0.1:{to_http1}
backend http2
  server nghttpd 127.0.0.1:{to_http2} proto h2
"""

    def __init__(self, home, python, nghttpd):
        """nghttpd: None if it is not installed"""
        self.offers = [what for what in self.offers if what != "http2_on" or nghttpd]
        self.backends = {"to_http1": python.ports["http"], "to_http2": nghttpd.ports["http2"] if nghttpd else 1}
        super().__init__(home)

    def words(self):
        return {**super().words(), **self.backends}

    def command(self):
        return ["haproxy", "-db", "-f", self._conf()]


class Python(Server):
    name = "python"
    offers = ("http", "tls1.2", "tls1.3")

    def command(self):
        return [sys.executable, os.path.join(HERE, "serve_http.py"), os.path.join(self.home, "cert"),
                *(self.ports[what] for what in self.offers)]


class Go(Server):
    """A server of tests/measure/accuracy."""
    name = "go"
    offers = ("http", "tls1.2", "tls1.3")

    def command(self):
        return [compile_go(BUILD, "go_server"), self.ports["http"], os.path.join(self.home, "cert"),
                self.ports["tls1.2"], self.ports["tls1.3"]]


class GoHttp2(Server):
    """A server of tests/measure/accuracy, too."""
    name = "go_http2"
    offers = ("http2",)

    def command(self):
        return [compile_go(BUILD, self.name, "golang.org/x/net/http2/h2c"), self.ports["http2"]]


class Grpc(Server):
    """A server of tests/measure/accuracy, too. Two of its threads may send on one connection."""
    name = "grpc"
    offers = ("grpc",)

    def command(self):
        server, self.client = services.Grpc.compile(BUILD)
        return [server, self.ports["grpc"]]


SERVERS = (Python, Nghttpd, Nginx, Apache, Haproxy)
COMPILED = (Go, GoHttp2, Grpc)


def start_all(home, names):
    """Starts the servers with these names and those behind the proxy. Returns {name: server} without those that are not
    installed."""
    write_page(home)
    make_certificate(home)
    wanted = {*names, *((Python.name, Nghttpd.name) if Haproxy.name in names else ())}
    found = {}
    for server in SERVERS + COMPILED:
        if server.name not in wanted:
            continue
        behind = (found[Python.name], found.get(Nghttpd.name)) if server is Haproxy else ()
        try:
            found[server.name] = server(home, *behind)
        except Missing as missing:
            Check.left_out(server.name, missing)
    return found

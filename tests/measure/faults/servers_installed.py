# SPDX-License-Identifier: MIT
"""PHP, Apache, HAProxy and Redis, each with a fault that is natural there."""

import contextlib
import os
import re
import socket
import subprocess

import databases
from app import App, Http
from case import Brief, read
from need import Missing, require
from process import Process, free_port

NGINX = """\
daemon off;
user root;
worker_processes 1;
pid nginx.pid;
error_log stderr crit;
events {{ }}
http {{
  access_log off;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME {home}/page.php;
      fastcgi_pass 127.0.0.1:{fpm};
    }}
  }}
}}
"""


class Files(Brief, Http):
    """What is not part of a server's command is in files."""

    def write(self, name, text, **words):
        """A file of its directory, with its path and its port for {home} and {port}. Returns the path."""
        path = os.path.join(self.home, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.format(home=self.home, port=self.port, **words))
        return path


class PhpSession(Files):
    """nginx asks php-fpm, whose `session_start` locks the session's file."""
    name = "php-session"
    title = "PHP: a session that requests share"
    causes = {"php-fpm": "lock"}
    truth_name = "PHP's clock: `session_start`"
    truths = {truth_name: ("php-fpm", ("lock",))}
    WORK = 0.02
    healthy = f"{Http.users} clients ask nginx, which asks php-fpm: a script starts a session and takes {1000 * WORK:g} ms."
    broken = "All requests have the same session."
    command = "touch shared"
    fpm = None

    CONFIGURATION = """\
[global]
error_log = /dev/null
daemonize = no
[www]
user = root
group = root
listen = 127.0.0.1:{fpm}
pm = static
pm.max_children = 20
php_value[session.save_path] = {home}
"""
    PAGE = """\
<?php
session_id(file_exists('{home}/shared') ? 'shared' : 'own' . getmypid());
$begin = microtime(true);
session_start();
file_put_contents('{home}/waited', sprintf("%f\\n", microtime(true) - $begin), FILE_APPEND);
usleep({work});
header('Content-Length: 0');
"""

    def start(self):
        require("nginx", "php-fpm8.2")
        self.make_home()
        fpm = free_port()
        self.write("page.php", self.PAGE, work=int(1e6 * self.WORK))
        conf = self.write("fpm", self.CONFIGURATION, fpm=fpm)
        self.fpm = self.serve("php-fpm8.2", "-R", "-F", "-n", "-y", conf)
        self.fpm.wait_port(fpm)
        return self.serve("nginx", "-p", self.home, "-e", "stderr", "-c", self.write("nginx.conf", NGINX, fpm=fpm))

    def pids(self):
        return {"php-fpm": self.fpm.pid}

    def break_it(self):
        self.write("shared", "")

    def mend(self):
        os.unlink(os.path.join(self.home, "shared"))

    def counters(self):
        return {self.truth_name: sum(map(float, read(os.path.join(self.home, "waited")).split()))}

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.fpm:
            self.fpm.end()


class ApacheCgi(Files):
    name = "apache-cgi"
    title = "Apache: a slow CGI program"
    causes = {"apache": "child"}
    truth_name = "Apache's `%D`"
    truths = {truth_name: ("apache", ("child",))}
    MODULES = "/usr/lib/apache2/modules"
    healthy = f"{Http.users} clients ask Apache, which executes a program for each request (prefork, CGI)."
    broken = "The program takes 100 ms."
    command = "echo 0.1 >slow"

    CONFIGURATION = """\
ServerName localhost
Listen 127.0.0.1:{port}
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule alias_module {modules}/mod_alias.so
LoadModule cgi_module {modules}/mod_cgi.so
LoadModule env_module {modules}/mod_env.so
# The program knows the length of its response.
SetEnv ap_trust_cgilike_cl yes
User www-data
Group www-data
PidFile {home}/pid
ErrorLog /dev/null
LogFormat "%D" duration
CustomLog {home}/durations duration
StartServers 16
MaxKeepAliveRequests 0
KeepAliveTimeout 60
ScriptAliasMatch "^/" {home}/program
"""
    PROGRAM = """\
#!/bin/sh
read -r seconds <{home}/slow
sleep "$seconds"
printf 'Content-Length: 0\\n\\n'
"""

    def start(self):
        require("apache2")
        if not os.path.exists(f"{self.MODULES}/mod_cgi.so"):
            raise Missing("Apache has no mod_cgi")
        self.make_home()
        self.mend()
        os.chmod(self.write("program", self.PROGRAM), 0o755)
        return self.serve("apache2", "-DFOREGROUND", "-f", self.write("conf", self.CONFIGURATION, modules=self.MODULES))

    def break_it(self):
        self.write("slow", "0.1\n")

    def mend(self):
        self.write("slow", "0.002\n")

    def counters(self):
        return {self.truth_name: sum(map(int, read(os.path.join(self.home, "durations")).split())) / 1e6}


class HaproxyQueue(Files, App):
    """Its upstream is a service on Python's ThreadingHTTPServer that sleeps."""
    name = "haproxy-queue"
    title = "HAProxy: too few connections to a server"
    causes = {"haproxy": "queue"}
    allows = {"async"}
    truth_name = "HAProxy's `qtime`"
    truths = {truth_name: ("haproxy", ("queue",))}
    healthy = f"{Http.users} clients ask HAProxy, which asks a service that takes 20 ms."
    broken = "HAProxy may have two connections to it. Other requests queue in HAProxy."
    command = "echo 'set maxconn server all/only 2' | socat - admin"
    upstream = None

    CONFIGURATION = """\
global
  stats socket {home}/admin level admin
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  timeout queue 60s
listen all
  bind 127.0.0.1:{port}
  server only 127.0.0.1:{upstream} maxconn 64
"""

    def start(self):
        require("haproxy")
        self.make_home()
        upstream = free_port()
        self.upstream = self.serve_app(upstream, "sleep", 0.02)
        self.upstream.wait_port(upstream)
        return self.serve("haproxy", "-db", "-f", self.write("conf", self.CONFIGURATION, upstream=upstream))

    def _say(self, line):
        with socket.socket(socket.AF_UNIX) as admin:
            admin.connect(os.path.join(self.home, "admin"))
            admin.sendall(f"{line}\n".encode())
            return admin.makefile().read()

    def break_it(self):
        self._say("set maxconn server all/only 2")

    def mend(self):
        self._say("set maxconn server all/only 64")

    def truth(self, before, after, said):
        """HAProxy's own average of the last 1,024 requests."""
        names, *lines = (line.split(",") for line in self._say("show stat").removeprefix("# ").splitlines())
        rows = [dict(zip(names, line)) for line in lines]
        return {self.truth_name: next(int(row["qtime"]) for row in rows if row.get("svname") == "only") / 1e3}

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.upstream:
            with contextlib.suppress(OSError):
                self.upstream.end()


class RedisScript(Brief, databases.Redis):
    name = "redis-script"
    title = "Redis: a slow script"
    causes = {"redis": "socket"}
    allows = {"cpu"}
    truth_name = "the client's clock, of these and of the script's requests"
    truths = {truth_name: ("redis", ("socket",))}
    rate = 200
    healthy = f"{databases.Redis.connections} clients ask for keys, {rate} times per second in total."
    broken = "Another client has a script executed that computes for about 50 ms, again and again."
    SCRIPT = "local sum = 0 for i = 1, 10000000 do sum = sum + i end return sum"
    command = f"redis-cli -p PORT -r -1 -i 0.01 EVAL '{SCRIPT}' 0"
    other = None

    def break_it(self):
        require("redis-cli")
        self.other = Process(["redis-cli", "-p", self.port, "-r", -1, "-i", 0.01, "EVAL", self.SCRIPT, 0], self.site.client_cpus,
                             self.site.nice)

    def mend(self):
        if self.other:
            self.other.end()
            self.other = None

    def counters(self):
        """How often a script was executed"""
        said = subprocess.run(["redis-cli", "-p", str(self.port), "INFO", "commandstats"], capture_output=True, text=True,
                              check=True).stdout
        return {self.truth_name: sum(map(int, re.findall(r"cmdstat_eval:calls=(\d+)", said)))}

    def truth(self, before, after, said):
        """That of others is 0: the script's client sends one at a time."""
        latency = said["latency"]
        scripts = after[self.truth_name] - before[self.truth_name]
        return {self.truth_name: latency["average"] * latency["count"] / (latency["count"] + scripts)}

    def __exit__(self, *error):
        self.mend()
        super().__exit__(*error)


CASES = (PhpSession, ApacheCgi, HaproxyQueue, RedisScript)

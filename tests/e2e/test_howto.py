#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of docs/howto/ to the letter, with the installed plugin and collectd's own start script: the files that a page names
are written, its commands are run, and their output is like that of the page, but for numbers.

Without arguments the pages of SHORT, with TEST_LONG=1 all of PAGES, else those that are named. Pages of receivers are left
to the tests of these. Truth: loads of which a known part fails, writes, or waits.
"""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import receiver
from cgroups import Cgroups
from e2e import TOP
from receiver import lib
from test_writing import install

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"`(/etc/[a-z/.-]+)`:\s*$")
NUMBER = re.compile(r"<?(\d|\N{EN DASH}).*")
CONFIGURATION = f"""\
Hostname "web1"
FQDNLookup false
Interval {INTERVAL}
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "/var/log/collectd.log"
</Plugin>
LoadPlugin rrdtool
<Plugin rrdtool>
  DataDir "/var/lib/collectd/rrd"
</Plugin>
<Include "/etc/collectd/collectd.conf.d">
  Filter "*.conf"
</Include>
"""
NGINX = """\
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
  }}
}}
"""
PATHS = ["/page"] * 18 + ["/none", "/broken"]
# A service with one thread, in which a request takes a tenth of a second.
SHOP = """
import http.server, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.1)
        self.send_response(200)
        self.end_headers()
http.server.HTTPServer.request_queue_size = 64
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
BACKUP = 'while dd if=/dev/zero of="$0" bs=1M count=8 conv=fsync status=none; do sleep 0.1; done'
CONTAINER = "f" * 64


def reap():
    """Daemons that have ended: the script that stops one waits until it is no zombie of this process."""
    for pid in lib.descendants():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                head, _, tail = stat.read().rpartition(") ")
            if "(collectd" in head and tail.startswith("Z"):
                os.waitpid(pid, os.WNOHANG)
        except (OSError, ChildProcessError):
            pass


class Machine:
    """What a page sees: directories and cgroups of its own."""

    def __init__(self, test, page):
        self.test, self.cgroups, self.loads, self.ended = test, Cgroups(), [], False
        self.group = test.own(f"kt_{page}")
        self.cgroups.make(self.group)
        test.at_end(self.cgroups.remove)
        etc, upper, work = (test.mkdir(f"{page}/{name}") for name in ("collectd", "etc", "work"))
        os.makedirs(f"{etc}/collectd.conf.d")
        receiver.write(f"{etc}/collectd.conf", CONFIGURATION)
        receiver.write(f"{etc}/collectd.conf.d/ebpf.conf", "LoadPlugin ebpf\n")
        shutil.copy(os.path.join(TOP, "conf", "unixsock.conf"), f"{etc}/collectd.conf.d/00-ebpf-unixsock.conf")
        mounts = lib.in_mounts(f"mount -t overlay -o lowerdir=/etc,upperdir={upper},workdir={work} none /etc",
                               "mkdir -p /etc/collectd", f"mount --bind {etc} /etc/collectd", "mount -t tmpfs none /run",
                               "mkdir /run/lock", "mount -t tmpfs none /var/log", "mount -t tmpfs none /var/lib",
                               "mkdir -p /var/lib/collectd /var/lib/graphite/whisper/collectd "
                               "/var/lib/containers/storage/overlay-containers", f"touch {work}/mounted")
        self.holder = subprocess.Popen([*install(test), *mounts, "sleep", "infinity"], preexec_fn=lib.die_with_test)
        receiver.wait_until("the mounts", lambda: os.path.exists(f"{work}/mounted"))

    def run(self, commands):
        """(exit status, output, what was said)"""
        enter = ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "sh", "-c", commands]
        with subprocess.Popen(enter, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/",
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}) as shell:
            while True:
                try:
                    out, said = shell.communicate(timeout=0.1)
                    return shell.returncode, out, said
                except subprocess.TimeoutExpired:
                    reap()

    def put(self, path, text):
        """A file as this machine sees it."""
        enter = ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", "tee", path]
        subprocess.run(enter, input=text, stdout=subprocess.DEVNULL, text=True, check=True)

    def start(self, unit, *argv):
        """A service in a cgroup of this name."""
        name = os.path.join(self.group, unit)
        if not os.path.exists(self.cgroups.path(name)):
            self.cgroups.make(name)
        procs = os.path.join(self.cgroups.path(name), "cgroup.procs")
        self.loads.append(subprocess.Popen(
            ["sh", "-c", f'echo $$ >{procs}; exec "$@"', "sh", *argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=lib.die_with_test))

    def end(self):
        self.ended = True
        for load in self.loads:
            load.terminate()
        self.run("service collectd stop")


def ask(machine, port, paths, pause):
    """Requests one after the other, as long as the page lasts."""
    def loop():
        while not machine.ended:
            for path in paths:
                connection = http.client.HTTPConnection("127.0.0.1", int(port))
                try:
                    connection.request("GET", path)
                    connection.getresponse().read()
                except (OSError, http.client.HTTPException):
                    pass
                connection.close()
                time.sleep(pause)
    threading.Thread(target=loop, daemon=True).start()


def serve_nginx(machine):
    """One of twenty requests fails with 404, one with 500."""
    home, (port,) = machine.test.disk, receiver.free_ports(1)
    receiver.write(f"{home}/page", "text")
    machine.start("nginx.service", "nginx", "-p", home, "-e", "stderr",
                  "-c", receiver.write(f"{home}/nginx.conf", NGINX.format(home=home, port=port)))
    receiver.wait_until("nginx", lambda: receiver.listens(port))
    ask(machine, port, PATHS, 0.002)


def serve_shop(machine, group="shop.service"):
    """Twenty clients of one thread."""
    port, = receiver.free_ports(1)
    machine.start(group, sys.executable, "-c", SHOP, port)
    receiver.wait_until("the shop", lambda: receiver.listens(port))
    for _ in range(20):
        ask(machine, port, ["/"], 0)


def run_container(machine):
    """As podman runs one and writes it down."""
    known = [{"id": CONTAINER, "names": ["worker"]}]
    machine.put("/var/lib/containers/storage/overlay-containers/containers.json", json.dumps(known))
    serve_shop(machine, f"libpod-{CONTAINER}.scope")


def write_backup(machine):
    machine.start("backup.service", "sh", "-c", BACKUP, f"{machine.test.disk}/backup")


# Page: its load, and the series that collectd has before the first step, if there is to be one.
PAGES = {
    "http-errors": (serve_nginx, None),
    "drop-series": (serve_nginx, None),
    "rename": (serve_nginx, "ebpf-nginx/latency-response-percentile-99"),
    "one-container": (run_container, None),
    "who-fills-the-disk": (write_backup, None),
    "alert-on-saturation": (serve_shop, None),
    "remove": (write_backup, "ebpf-backup/ps_cputime")}
SHORT = ["http-errors"]


def steps_of(page):
    """[(path of a file or None, commands or content, output or None), ...]"""
    with open(os.path.join(TOP, "docs", "howto", page + ".md"), encoding="utf-8") as file:
        text = file.read()
    steps = []
    for found in BLOCK.finditer(text):
        kind, content = found.groups()
        name = FILE.search(text[:found.start()].rstrip())
        if kind == "sh":
            steps.append((None, content, None))
        elif kind == "text":
            steps[-1] = (None, steps[-1][1], content)
        elif name:
            steps.append((name.group(1), content, None))
    return steps


def words(line):
    """Of a line, without their numbers and what follows these, as units do."""
    return [word for word in (NUMBER.sub("", part) for part in line.split()) if word]


def is_like(got, want):
    """All lines of the page are there in their order, each with its words in their order; others may come between."""
    lines = iter(map(words, got.splitlines()))
    return all(any(is_within(words(line), other) for other in lines) for line in want.splitlines())


def is_within(some, all_words):
    following = iter(all_words)
    return all(word in following for word in some) and bool(some) == bool(all_words)


def is_right(page, got, want):
    """Like the output of the page; a number is zero where the page has zero, and percents of errors are those of the load."""
    if want.strip().isdigit():
        return got.strip().isdigit() and bool(int(got)) == bool(int(want))
    shares = re.findall(r"value=(\S+)", got) if page == "http-errors" else []
    return is_like(got, want) and all(3 < float(share) < 7 for share in shares)


def follow(test, machine, page):
    load, before = PAGES[page]
    load(machine)
    if before:
        machine.run("service collectd start")
        receiver.wait_until(f"{page}: {before}", lambda: before in machine.run("collectdctl listval")[1])
    outputs = 0
    for path, text, want in steps_of(page):
        if path:
            machine.put(path, text)
        elif want is None:
            status, _, said = machine.run(text)
            test.equal(f"{page}: {text.splitlines()[0]}", (status, said), (0, ""))
        else:
            outputs += 1
            check_output(test, machine, page, text, want)
    test.within(f"{page}: outputs that were compared", outputs, 1, 9)
    machine.end()


def check_output(test, machine, page, commands, want):
    """As soon as there are values."""
    give_up = time.monotonic() + 30 * lib.SLOWNESS
    while not (done := is_right(page, got := machine.run(commands)[1], want)) and time.monotonic() < give_up:
        time.sleep(0.2)
    test.true(f"{page}: {commands.splitlines()[0]}: {got!r} is like {want!r}", done)


def main():
    with lib.Test(limit=400) as test:
        receiver.need("collectdctl", "nginx", "service")
        assert is_like("a 1 b\n2\nc 3.0MiB", "a 9 b\nc \N{EN DASH}") and not is_like("b\na", "a\nb") and not is_like("", "1")
        for page in sys.argv[1:] or (PAGES if os.environ.get("TEST_LONG") else SHORT):
            follow(test, Machine(test, page), page)


if __name__ == "__main__":
    main()

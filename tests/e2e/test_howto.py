#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pages of docs/howto/ to the letter, with the installed plugin and collectd's own start script: the files that a page names
are written, its commands are run, and their output is like that of the page, but for numbers. What an administrator had
configured before is still there, and in force.

Without arguments the pages of SHORT, with TEST_LONG=1 all of PAGES, else those that are named. Receivers run with the start
scripts of their packages. Truth: loads of which a known part fails, writes, or waits.
"""

import difflib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import follow
import receiver
from cgroups import Cgroups
from e2e import TOP
from receiver import lib
from test_network import Namespace
from test_writing import install

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2
LONG = bool(os.environ.get("TEST_LONG"))
FILE = re.compile(r"`(/etc/[a-z/.-]+)`:\s*$")
# Which of two machines the next commands are for.
MACHINE = re.compile(r"\b[Oo]n (?:the|each) (central machine|sender)\b")
CENTRAL, SENDER = "192.0.2.1", "192.0.2.11"
CONFIGURATION = """\
Hostname "{host}"
FQDNLookup false
Interval {interval}
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "/var/log/collectd.log"
</Plugin>
<Include "/etc/collectd/collectd.conf.d">
  Filter "*.conf"
</Include>
"""
PLUGINS = """\
LoadPlugin ebpf
LoadPlugin rrdtool
<Plugin rrdtool>
  DataDir "/var/lib/collectd/rrd"
</Plugin>
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
# Of the administrator of a machine that already has receivers.
PROMETHEUS = """\
rule_files:
  - own.yml
scrape_configs:
  - job_name: own
    scrape_interval: 1s
    static_configs:
      - targets: ["127.0.0.1:9090"]
alerting:
  alertmanagers: []
"""
RULES = "groups: [{name: own, interval: 1s, rules: [{record: own, expr: vector(7)}]}]\n"
SCHEMAS = """\
[own]
pattern = ^own\\.
retentions = 7s:1h
[others]
pattern = ^collectd\\.
retentions = 11s:1h
"""
GRAPHITE_INPUT = """\
[[graphite]]
  enabled = true
  bind-address = "127.0.0.1:2003"
  database = "own"
  batch-timeout = "1s"
"""
OWN = {
    "/etc/carbon/storage-schemas.conf": SCHEMAS,
    "/etc/collectd/collectd.conf.d/disk.conf": "# own\n",
    "/etc/collectd/collectd.conf.d/threshold.conf": "# own\n",
    "/etc/collectd/passwords": "own1: own\n",
    "/etc/prometheus/alertmanager.yml": "# own\n",
    "/etc/prometheus/own.yml": RULES,
    "/etc/prometheus/prometheus.yml": PROMETHEUS}
CARBON, INFLUXDB = "/etc/carbon/carbon.conf", "/etc/influxdb/influxdb.conf"
# What pages take away from them: (page, path, line)
REPLACED = [("graphite", CARBON, "MAX_CREATES_PER_MINUTE = 50")]
BACKUP = 'while dd if=/dev/zero of="$0" bs=1M count=8 conv=fsync status=none; do sleep 0.1; done'
CONTAINER = "f" * 64
# Other columns of a table, that depend on the load.
COLUMNS = r"\s+(?:\S+\s+)*?"
# What carbon's Python says of itself.
WARNING = re.compile(r"^.*Warning: .*\n(?:  .*\n)?", re.MULTILINE)


def reap():
    """Daemons that have ended: the script that stops one waits until it is no zombie of this process."""
    for pid in lib.descendants():
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                head, _, tail = stat.read().rpartition(") ")
            if re.search(r"\((collectd|carbon-cache)", head) and tail.startswith("Z"):
                os.waitpid(pid, os.WNOHANG)
        except (OSError, ChildProcessError):
            pass


class Machine:
    """What a page sees: directories and cgroups of its own, and a network, if it gets one."""

    def __init__(self, test, page, usr, host="web1", plugins=PLUGINS, space=None):
        """usr: the command that runs one with the installed plugin"""
        self.test, self.cgroups, self.loads, self.ended = test, Cgroups(), [], False
        self.group = test.own(f"kt_{page}_{host}")
        page = f"{page}/{host}"
        self.cgroups.make(self.group)
        test.at_end(self.cgroups.remove)
        etc, upper, work = (test.mkdir(f"{page}/{name}") for name in ("collectd", "etc", "work"))
        os.makedirs(f"{etc}/collectd.conf.d")
        receiver.write(f"{etc}/collectd.conf", CONFIGURATION.format(
            host=host, interval=1 if space and lib.SLOWNESS < 2 else INTERVAL))
        receiver.write(f"{etc}/collectd.conf.d/ebpf.conf", plugins)
        shutil.copy(os.path.join(TOP, "conf", "unixsock.conf"), f"{etc}/collectd.conf.d/00-ebpf-unixsock.conf")
        mounts = lib.in_mounts(f"mount -t overlay -o lowerdir=/etc,upperdir={upper},workdir={work} none /etc",
                               "mkdir -p /etc/collectd", f"mount --bind {etc} /etc/collectd", "mount -t tmpfs none /run",
                               "mkdir /run/lock", "mount -t tmpfs none /var/log", "mount -t tmpfs none /var/lib",
                               "mkdir -p /var/lib/collectd /var/lib/graphite/whisper/collectd "
                               "/var/lib/containers/storage/overlay-containers", f"touch {work}/mounted")
        self.holder = subprocess.Popen([*(space.enter if space else []), *usr, *mounts, "sleep", "infinity"],
                                       preexec_fn=lib.die_with_test)
        receiver.wait_until("the mounts", lambda: os.path.exists(f"{work}/mounted"))

    def run(self, commands):
        """(exit status, output, what was said)"""
        namespaces = f"/proc/{self.holder.pid}/ns"
        enter = ["nsenter", f"--mount={namespaces}/mnt", f"--net={namespaces}/net", "sh", "-c", commands]
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

    def read(self, path):
        """Nothing if there is no such file."""
        return self.run(f"cat {path} 2>/dev/null")[1]

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


def prepare(machine, user, *directories):
    """As the package of a receiver does it."""
    commands = f"install -d -o {user} -g {user} {' '.join(directories)}"
    machine.test.equal(commands, machine.run(commands), (0, "", ""))


def with_graphite(machine):
    whisper = "/var/lib/graphite/whisper"
    prepare(machine, "_graphite", whisper, f"{whisper}/collectd", "/var/log/carbon")
    machine.put("/etc/default/graphite-carbon", "CARBON_CACHE_ENABLED=true\n")
    machine.run("service carbon-cache start")
    serve_nginx(machine)


def with_influxdb(machine):
    prepare(machine, "influxdb", "/var/lib/influxdb", "/var/log/influxdb")
    machine.put(INFLUXDB, machine.read(INFLUXDB).replace("[[graphite]]\n", GRAPHITE_INPUT))
    # Its script does not start it if it may not raise the limit of open files.
    machine.run('sed -i "s/^OPEN_FILE_LIMIT=.*/OPEN_FILE_LIMIT=$(ulimit -n)/" /etc/init.d/influxdb')
    machine.run("service influxdb start")
    serve_nginx(machine)


def with_prometheus(machine, serve=serve_nginx):
    prepare(machine, "prometheus", "/var/lib/prometheus", "/var/log/prometheus")
    machine.run("service prometheus start")
    serve(machine)


# Page: its load, and the series that collectd has before the first step, if there is to be one.
PAGES = {
    "http-errors": (serve_nginx, None),
    "drop-series": (serve_nginx, None),
    "rename": (serve_nginx, "ebpf-nginx/latency-response-percentile-99"),
    "one-container": (run_container, None),
    "who-fills-the-disk": (write_backup, None),
    "alert": (lambda machine: with_prometheus(machine, serve_shop), None),
    "remove": (write_backup, "ebpf-backup/ps_cputime"),
    "central-collectd": (serve_nginx, None),
    "graphite": (with_graphite, None),
    "influxdb": (with_influxdb, None),
    "prometheus": (with_prometheus, None)}
# Pages of receivers: the programs that they need.
NEEDS = {
    "alert": ["prometheus", "promtool"],
    "central-collectd": ["unshare", "nsenter", "ip"],
    "graphite": ["carbon-cache", "whisper-fetch"],
    "influxdb": ["influxd", "influx"],
    "prometheus": ["prometheus", "promtool"]}
SHORT = ["http-errors"]
# Shows that what the administrator has, and what the page adds, are in force: {command: in its output}
QUERY = "promtool query instant http://127.0.0.1:9090"
SEND = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 2003)).sendall(b\"%s 1 -1\\n\")'"
SCHEMA = "whisper-info /var/lib/graphite/whisper/%s.wsp | grep -m 1 secondsPerPoint"
IN_FORCE = {f"{QUERY} own": "own => 7 ", f"{QUERY} 'up{{job=\"own\"}}'": "=> 1 "}
STAYS = {
    "alert": {**IN_FORCE, f"{QUERY} 'prometheus_rule_group_rules{{rule_group=~\".*;ebpf-alerts\"}}'": "=> "},
    "graphite": {
        f"{SEND % 'own.x'}; {SCHEMA % 'own/x'}": " 7\n",
        f"{SEND % 'collectd.web1.cpu.x'}; {SCHEMA % 'collectd/web1/cpu/x'}": " 11\n",
        SCHEMA % "collectd/web1/ebpf/nginx/ps_count/threads": " 10\n"},
    "influxdb": {f"{SEND % 'own.x'}; influx -database own -execute 'SHOW MEASUREMENTS'": "own.x"},
    "prometheus": IN_FORCE}


def machines_of(test, page, usr):
    """{name on the page: machine}; the last is the one that is measured."""
    if page not in NEEDS:
        return {"": Machine(test, page, usr)}
    space, central = Namespace(), Namespace()
    # Where a machine has no address but that of the loopback, write_prometheus does not listen.
    central.connect(space, CENTRAL, SENDER, "web1")
    if page != "central-collectd":
        return {"": Machine(test, page, usr, space=space)}
    return {"central machine": Machine(test, page, usr, "central1", "", central),
            "sender": Machine(test, page, usr, space=space)}


def steps_of(page, directory):
    """[(name of a machine or "", commands, output or None), ...]"""
    blocks = follow.with_files(follow.read(f"howto/{page}.md"), FILE, directory)
    if page == "influxdb":
        # Statements in its language.
        blocks = [(kind or "sh", text if kind else f'influx -database collectd -execute "{text.strip()}" >/dev/null', before)
                  for kind, text, before in blocks]
    # Its /tmp is a machine's own.
    blocks = [(kind, text.replace("/var/tmp/", "/tmp/"), before) for kind, text, before in blocks]
    names = [["", *MACHINE.findall(before)][-1] for kind, _, before in blocks if kind == "sh"]
    return [(name, *step) for name, step in zip(names, follow.steps(blocks))]


def is_right(page, got, want):
    """Like the output of the page; a number is zero where the page has zero, and percents of errors are those of the load."""
    if want.strip().isdigit():
        return got.strip().isdigit() and bool(int(got)) == bool(int(want))
    shares = re.findall(r"value=(\S+)", got) if page == "http-errors" else []
    return not follow.absent(want, got, COLUMNS) and all(3 < float(share) < 7 for share in shares)


def follow_page(test, page, usr):
    machines = machines_of(test, page, usr)
    machine = list(machines.values())[-1]
    for one in machines.values():
        one.run("mkdir -p /etc/carbon /etc/prometheus")
        for path, text in OWN.items():
            one.put(path, text)
    load, before = PAGES[page]
    load(machine)
    configured = {one: {path: one.read(path) for path in (*OWN, CARBON, INFLUXDB)} for one in machines.values()}
    if before:
        machine.run("service collectd start")
        receiver.wait_until(f"{page}: {before}", lambda: before in machine.run("collectdctl listval")[1])
    outputs = 0
    for name, commands, want in steps_of(page, test.mkdir(page)):
        if want is None:
            status, _, said = machines[name].run(commands)
            test.equal(f"{page}: {commands.splitlines()[0]}", (status, WARNING.sub("", said)), (0, ""))
        else:
            outputs += 1
            check_output(test, machines[name], page, commands, want)
    test.within(f"{page}: outputs that were compared", outputs, 1, 9)
    for one in machines.values():
        check_stays(test, one, page, configured[one])
        one.end()


def check_stays(test, machine, page, configured):
    """configured: {path: text} before the page was followed"""
    for path, text in configured.items():
        lines = difflib.ndiff(text.splitlines(), machine.read(path).splitlines())
        test.equal(f"{page}: lines that {path} lost", [(page, path, line[2:]) for line in lines if line.startswith("- ")],
                   [one for one in REPLACED if one[:2] == (page, path)])
    for command, want in STAYS.get(page, {}).items():
        receiver.wait_until(f"{page}: {command}: {want!r}", lambda: want in machine.run(command)[1])
        test.true(f"{page}: {command}: {want!r}", True)


def check_output(test, machine, page, commands, want):
    """As soon as there are values; receivers take minutes."""
    give_up = time.monotonic() + (240 if page in NEEDS else 30) * lib.SLOWNESS
    while not (done := is_right(page, got := machine.run(commands)[1], want)) and time.monotonic() < give_up:
        time.sleep(0.2)
    test.true(f"{page}: {commands.splitlines()[0]}: {got!r} is like {want!r}", done)


def main():
    with lib.Test(limit=1500 if LONG or sys.argv[1:] else 100) as test:
        receiver.need("collectdctl", "nginx", "service")
        assert not follow.absent("Fri 1\nc \N{EN DASH}\na 9 b", "a 1 b\n2\nc 3.0MiB\nSat 2") and follow.absent("a 1\na 2", "a 3")
        usr = install(test)
        for page in sys.argv[1:] or (PAGES if LONG else SHORT):
            missing = [program for program in NEEDS.get(page, []) if not shutil.which(program)]
            if missing:
                print(f"left out: {page}: not installed: {' '.join(missing)}")
            else:
                follow_page(test, page, usr)


if __name__ == "__main__":
    main()

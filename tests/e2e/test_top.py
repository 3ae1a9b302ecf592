#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-top with a real collectd: by unixsock and by network, on a terminal, and what it says of trouble.

Truth: what the same daemon wrote by the csv plugin, and the kernel's counts.
"""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import termios
import time

import receiver
from e2e import TOP
from receiver import lib

TOOL = os.path.join(TOP, "contrib", "ebpf-top")
INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2
ROWS, WIDTH = 30, 140
# The samples of a window of requests, soon.
SAMPLING = """
  <Probe "delay">
    Frequency 100
    Budget 10
  </Probe>
"""


def sample(path):
    return receiver.sample("unixsock.conf", {"/var/run/collectd-unixsock": path})


def run(*arguments, tool=TOOL, **options):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    return subprocess.run([tool, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=environment, timeout=300, **options)


def services(done):
    return {one["service"]: one for one in json.loads(done.stdout)["services"]}


class Terminal:
    """The tool on a pseudo terminal, and all that it has written there."""

    def __init__(self, *arguments):
        self.pid, self.descriptor = pty.fork()
        if not self.pid:
            os.environ.update(TERM="xterm", LC_ALL="C.UTF-8")
            os.execv(TOOL, [TOOL, *arguments])
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("4H", ROWS, WIDTH, 0, 0))
        self.said = b""

    def read_until(self, *texts, after=0, seconds=60):
        """True when all of these have been written, from a place in what was written on."""
        give_up = time.monotonic() + seconds
        while not all(text.encode() in self.said[after:] for text in texts):
            if time.monotonic() > give_up or not self._read(give_up - time.monotonic()):
                return False
        return True

    def _read(self, seconds):
        if not select.select([self.descriptor], [], [], max(0, seconds))[0]:
            return True
        try:
            some = os.read(self.descriptor, 65536)
        except OSError:
            return False
        self.said += some
        return bool(some)

    def press(self, keys):
        """Returns the place in what was written until then."""
        os.write(self.descriptor, keys)
        return len(self.said)

    def end(self):
        """Its exit status."""
        while self._read(20):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_unixsock(test, daemon, path):
    moment = time.time()
    # Two more readings: a counter has a rate then.
    daemon.wait_rows(test.own("kt_spin"), "ps_cputime", 2, moment)
    done = run("--socket", path, "--json")
    test.equal("exit status and complaints", (done.returncode, done.stderr), (0, ""))
    spin = services(done)[test.own("kt_spin")]
    dispatched = daemon.rows(test.own("kt_spin"), "ps_cputime")
    rates = [100 * ((b[1] + b[2]) - (a[1] + a[2])) / 1e6 / (b[0] - a[0]) for a, b in zip(dispatched, dispatched[1:])]
    test.true("its CPU is that of a reading", any(abs(spin["cpu"] - rate) < 1 for rate in rates), spin["cpu"])
    memory = [row[1] for row in daemon.rows(test.own("kt_spin"), "ps_rss")]
    test.true("its memory, too", spin["memory"] in memory)
    test.equal("processes", spin["processes"], 1)
    test.equal("no requests are null, not 0", spin["requests"], None)
    table = run("--socket", path, "--once", "--sort", "service").stdout.splitlines()
    test.equal("the begin of the heading", table[0].split()[0], "service")
    test.true("the column that everybody has", "CPU%" in table[0])
    names = [line.split()[0] for line in table[1:]]
    test.true("and a line for the service", test.own("kt_spin") in names)
    test.equal("sorted by name", names, sorted(names))
    test_sorting(test, path)
    test_triage(test, path)
    only = services(run("--socket", path, "--json", "--service", test.own("kt_spin")))
    test.equal("a choice", list(only), [test.own("kt_spin")])


def test_triage(test, path):
    """What spins is what the CPU is wanted by."""
    host, = json.loads(run("--socket", path, "--json", "--triage").stdout)["hosts"]
    layers = {layer["layer"]: layer for layer in host["layers"]}
    test.equal("triage: layers", list(layers), ["requests", "processes", "run_queue", "disk", "network", "system_calls"])
    spin = [one for one in layers["run_queue"]["services"] if one["service"] == test.own("kt_spin")]
    if test.true("triage: threads that want a CPU", spin and spin[0]["runnable"] > 0):
        test.figures.within("triage: threads that want a CPU", spin[0]["runnable"], 0.9, 1.1)
    test.true("triage: who has more is above", layers["run_queue"]["services"]
              == sorted(layers["run_queue"]["services"], key=lambda one: -one["runnable"]))
    lines = run("--socket", path, "--once", "--triage").stdout.splitlines()
    test.true("triage: as text", lines and lines[0].startswith("Requests: "), lines[:1])


def test_sorting(test, path):
    """By each column, in one direction after the other; what is unknown comes last in both."""
    for position, column in enumerate(columns_of(run("--socket", path, "--json"))):
        direction, factor = (((), -1), (("--reverse",), 1))[position % 2]
        done = json.loads(run("--socket", path, "--json", "--sort", column, *direction).stdout)
        figures = [one["why_percent" if column == "why" else column] for one in done["services"]]
        known = [figure for figure in figures if figure is not None]
        test.true(f"sorted by {column} {' '.join(direction)}",
                  known == sorted(known, key=lambda figure: factor * figure) == figures[:len(known)])


def columns_of(done):
    return [key for key in json.loads(done.stdout)["services"][0] if key not in ("host", "service", "why_percent", "why_samples", "why_age")]


def test_requests(test, path):
    """A server under load, seen by its requests."""
    name = test.own("kt_web")
    wanted = ("requests", "p50", "p99", "why", "slack")

    def figures():
        found = services(run("--socket", path, "--json")).get(name, {})
        return found if all(found.get(key) for key in wanted) else None

    found = receiver.wait_until(f"figures of requests: {wanted}", figures)
    test.true("percentiles in order", 0 < found["p50"] <= found["p99"], found)
    test.within("slack", found["slack"], 0, 100)
    # It sleeps for each request.
    test.figures.equal("what they wait for", found["why"], "sleep")
    test.within("the share of the largest part of 12, percent", found["why_percent"], 100 / 12, 100)
    shown = run("--socket", path, "--once", "--service", name).stdout
    test.true("in the table", "p99" in shown and re.search(r" [A-Za-z][A-Za-z ]+\s\d+\s%", shown), shown)


def test_network(test, port, closed_port):
    done = run("--listen", f"127.0.0.1:{port}", "--json")
    test.equal("network: exit status and complaints", (done.returncode, done.stderr), (0, ""))
    spin = services(done)[test.own("kt_spin")]
    test.true("network: rates are known", (spin["cpu"] or 0) > 1)
    test.equal("network: processes", spin["processes"], 1)

    def refused():
        done = run("--listen", f"127.0.0.1:{closed_port}", "--once", "--wait", "1")
        return done if "none so far" not in done.stderr else None

    done = receiver.wait_until("packets", refused)
    test.equal("encrypted packets: exit status", done.returncode, 1)
    test.true("encrypted packets: the message says so", "encrypted" in done.stderr)


def test_terminal(test, path):
    name = test.own("kt_spin")
    screen = Terminal("--socket", path, "--interval", "0.5")
    test.true("terminal: the service and the column that it is sorted by", screen.read_until(name, "▾CPU"))
    # As a terminal says in the mode that is set for the keys: right, right, left.
    for keys in (b"\x1bOC", b"\x1bOC", b"\x1bOD"):
        position = screen.press(keys)
        test.true("terminal: another column", screen.read_until("▾", after=position))
    position = screen.press(b"r")
    test.true("terminal: the other way round", screen.read_until("▴", after=position))
    for key, shown in ((b"t", ("Run queue: ", "runnable", '<Probe "sched">')), (b"u", ("no upstreams",)), (b"s", (name, "CPU"))):
        position = screen.press(key)
        test.true(f"terminal: after the key {key.decode()}", screen.read_until(*shown, after=position))
    test_keys(test, screen, path, name)
    screen.press(b"q")
    test.equal("terminal: exit status", screen.end(), 0)
    test.true("terminal: the old screen is back", b"\x1b[?1049l" in screen.said)
    screen = Terminal("--socket", path, "--service", "none")
    test.true("terminal: a choice that nobody fits", screen.read_until("no such service"))
    screen.press(b"q")
    test.equal("terminal: exit status then", screen.end(), 0)


def test_keys(test, screen, path, name):
    """Help, a filter, one service, a pause, and a narrow terminal."""
    def shows(what, keys, *texts):
        # Ctrl-L: all of the screen is written, not what is new.
        position = screen.press(keys)
        time.sleep(0.2)
        screen.press(b"\x0c")
        test.true(f"terminal: {what}", screen.read_until(*texts, after=position))
        return position

    shows("the line about the machine", b"", "testhost", "CPU ", "\xa0processes", "? help")
    shows("help says keys and columns", b"?", "Keys", "filter: type", "Columns")
    shows("back from help", b"\x1b", name)
    shows("a filter that is being typed", b"/" + name[:-1].encode(), f"with “{name[:-1]}”", f"/{name[:-1]}_")
    screen.press(b"\n")
    shows("one service", b"\n", f"testhost/{name}", "procs 1", "PerProcess true")
    shows("back to the table, filtered", b"\x1b", f"with “{name[:-1]}”")
    shows("all again", b"\x1b", f"services  {path}")
    shows("a filter that nobody fits", b"/nobody-has-this\n", "no name contains 'nobody-has-this'")
    screen.press(b"\x1b")
    shows("paused", b"p", "paused")
    screen.press(b"p")
    fcntl.ioctl(screen.descriptor, termios.TIOCSWINSZ, struct.pack("4H", ROWS, 40, 0, 0))
    os.kill(screen.pid, signal.SIGWINCH)
    shows("what fits 40 columns", b"", "? help", "/ filter")


def test_restart(test, daemon, path):
    """collectd ends while somebody looks on, and comes back."""
    screen = Terminal("--socket", path, "--interval", "0.5")
    test.true("restart: a table before", screen.read_until("▾CPU"))
    position = len(screen.said)
    test.stop(daemon)
    test.true("restart: collectd is away", screen.read_until("no such socket", after=position))
    position = len(screen.said)
    daemon.start()
    test.true("restart: a table after", screen.read_until("▾CPU", after=position, seconds=60 * lib.SLOWNESS))
    screen.press(b"q")
    test.equal("restart: exit status", screen.end(), 0)


def test_trouble(test, path):
    """Each with one line that names the way out."""
    def refused(what, *parts, arguments=("--socket", path), **options):
        done = run("--once", *arguments, **options)
        test.equal(f"{what}: exit status", done.returncode, 1)
        test.true(f"{what}: says {parts}", all(part in done.stderr for part in parts) and done.stderr.count("\n") == 1)

    refused("no socket", "LoadPlugin unixsock", "conf/unixsock.conf", arguments=("--socket", path + ".none"))
    refused("a file that is no socket", "not a socket", arguments=("--socket", TOOL))
    refused("a service that is not there", "no such service: 'kt_nobody'", arguments=("--socket", path, "--wait", "1", "--service", "kt_nobody"))
    refused("a host that is not there", "no such host: 'nowhere'; there is testhost", arguments=("--socket", path, "--wait", "1", "--host", "nowhere"))
    test.equal("no right: the socket is root's alone", oct(os.stat(path).st_mode & 0o777), "0o600")
    for directory in (test.dir, os.path.dirname(path)):
        os.chmod(directory, 0o755)
    # Where these tests are may be closed to others.
    tool = os.path.join(shutil.copytree(os.path.join(TOP, "contrib"), os.path.join(test.dir, "contrib")), "ebpf-top")
    refused("no right", "SocketGroup", tool=tool, user="nobody", group="nogroup", extra_groups=[])
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(path + ".left")
    refused("nobody listens", "is not running", arguments=("--socket", path + ".left"))
    refused("no such service", "no such service", arguments=("--socket", path, "--service", "none", "--wait", "0.1"))
    refused("a port that is taken", "cannot listen", arguments=("--listen", f"127.0.0.1:{taken_port(test)}"))
    port, = receiver.free_ports(1, socket.SOCK_DGRAM)
    refused("no packets", "none so far", arguments=("--listen", f"127.0.0.1:{port}", "--wait", "0.3"))
    done = run("--socket", path)
    test.equal("no terminal: exit status", done.returncode, 1)
    test.true("no terminal: says what to do", "--once" in done.stderr)


def taken_port(test):
    taken = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    taken.bind(("127.0.0.1", 0))
    test.at_end(taken.close)
    return taken.getsockname()[1]


def test_absent_plugin(test):
    """A collectd that has other values, but none of the ebpf plugin; and one that has none at all."""
    path = os.path.join(test.dir, "other.sock")
    conf = os.path.join(test.dir, "other.conf")
    for plugin, part in (("LoadPlugin load", "no values of the ebpf plugin"), ("", "has no values yet")):
        with open(conf, "w", encoding="ascii") as text:
            text.write(f'Hostname "h"\nFQDNLookup false\nBaseDir "{test.dir}"\nInterval 1\n{sample(path)}\n{plugin}\n')
        other = subprocess.Popen([lib.COLLECTD, "-f", "-C", conf, "-P", path + ".pid"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lib.die_with_test)
        give_up = time.monotonic() + 20 * lib.SLOWNESS
        done = None
        while time.monotonic() < give_up and (done is None or part not in done.stderr):
            time.sleep(0.2)
            done = run("--socket", path, "--once", "--wait", "0.1")
        test.equal(f"{part}: exit status", done.returncode, 1)
        test.true(f"the message says: {part}", part in done.stderr)
        other.send_signal(signal.SIGTERM)
        other.wait()


with lib.Test(180) as the_test:
    secrets = os.path.join(the_test.dir, "users")
    with open(secrets, "w", encoding="ascii") as users:
        users.write("somebody: secret\n")
    the_port, the_closed_port = receiver.free_ports(2, socket.SOCK_DGRAM)
    the_path = os.path.join(the_test.mkdir("sock"), "s")
    network = f"""
LoadPlugin network
<Plugin network>
  Server "127.0.0.1" "{the_port}"
  <Server "127.0.0.1" "{the_closed_port}">
    SecurityLevel Encrypt
    Username "somebody"
    Password "secret"
  </Server>
</Plugin>
"""
    spinning = the_test.load("spin", the_test.mkdir("log"), 1, 600, 0, name="kt_spin")
    receiver.Traffic(the_test)
    the_daemon = the_test.collectd(SAMPLING, extra=sample(the_path) + network, interval=INTERVAL)
    the_daemon.wait_rows(the_test.own("kt_spin"), "ps_cputime", 2)
    test_unixsock(the_test, the_daemon, the_path)
    test_network(the_test, the_port, the_closed_port)
    test_requests(the_test, the_path)
    test_terminal(the_test, the_path)
    test_restart(the_test, the_daemon, the_path)
    test_trouble(the_test, the_path)
    test_absent_plugin(the_test)
    spinning.kill()

# SPDX-License-Identifier: MIT
"""All probes with their options, and services that give each of them something to count."""

import os
import subprocess

import receiver
from e2e import TOP
from receiver import lib
from test_all import probes
from test_limits import Tree

MORE = {"request": {"clients"}}
LINES = {
    "functions": """
    <Function "loads">
      Attach "uprobe:libc.so.6:getloadavg"
      Latency true
      Errors "<=" 0
      Argument 2 "sum"
    </Function>
    <Function "samples">
      Attach "uprobe:libc.so.6:getloadavg"
      Argument 2 "histogram"
    </Function>
    <Function "unlink">
      Attach "uprobe:libc.so.6:unlink"
      Latency true
      Errors "<" 0
    </Function>
""",
    "delay": "    Frequency 50\n    Budget 20\n",
    "offcpu": "    Budget 20\n",
}
SERVICES = """
  MaxSampling 20
  <Service "web">
    Process "kt_web"
    Response "2xx" "HTTP/1.? 2"
    Response "teapot" "HTTP/1.? 418"
    Response "4xx" "HTTP/1.? 4"
    Response "5xx" "HTTP/1.? 5"
  </Service>
  <Service "db">
    Process "kt_db"
    PerProcess true
  </Service>
  <Service "shop.clients">
    Process "kt_ask"
  </Service>
  <Service "tls">
    Process "kt_tls"
  </Service>
  <Service "batch">
    Cgroup "{group}"
  </Service>
"""
LIMIT_PERCENT, LIMIT_MIB = 40, 40


def probe_block(name, options):
    lines = "".join(f'    Option "{option}"\n' for option in sorted(options))
    return f'  <Probe "{name}">\n    Enable true\n    MaxOverhead 100\n{lines}{LINES.get(name, "")}  </Probe>\n'


class Everything:
    """The configuration, and the load as long as the test lasts."""

    def __init__(self, test):
        self.test = test
        self.probes = {name: options | MORE.get(name, set()) for name, options in probes().items()}
        tree = Tree(test)
        self.group = tree.make("kt_box")
        self.group.limit_cpu(LIMIT_PERCENT)
        self.group.limit_memory(LIMIT_MIB)
        self.plugin = SERVICES.format(group=f"{tree.base}/kt_box") + "".join(probe_block(*one) for one in self.probes.items())
        self.loads = []

    def collectd(self, extra, interval):
        return self.test.collectd(self.plugin, extra, interval=interval, collect=tuple(self.probes),
                                  wrap=lib.in_mounts(lib.WITH_TRACEFS))

    def _start(self, mode, *words):
        name = os.path.join(self.test.disk, self.test.own(f"kt_{mode}"))
        os.symlink(os.path.realpath("/usr/bin/python3"), name)
        load = subprocess.Popen([name, os.path.join(TOP, "tests", "e2e", "load_services.py"), mode, *map(str, words)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                preexec_fn=lib.die_with_test)
        self.loads.append(load)
        return load

    def start(self):
        closed, = receiver.free_ports(1)
        upstream = self._start("db").stdout.readline().strip()
        port = self._start("web", upstream, closed, self.test.disk).stdout.readline().strip()
        self._start("ask", port)
        self._start("tls", self.test.disk)
        self.group.enter(self._start("batch", self.test.disk).pid)

    def end(self):
        for load in reversed(self.loads):   # clients first
            load.stdin.close()
            load.wait()


def dispatched(daemon):
    """{(subject, TYPE[-INSTANCE]): rows} of all readings."""
    return {(subject, name): daemon.rows(subject, name) for subject in daemon.subjects() for name in daemon.metrics(subject)}


def present(daemon):
    """What a daemon that was stopped has dispatched in its last complete reading, until that."""
    series = dispatched(daemon)
    end = series["web", "total_requests"][-2][0] + daemon.interval / 2
    until = {name: [row for row in rows if row[0] < end] for name, rows in series.items()}
    return {name: rows for name, rows in until.items() if rows and rows[-1][0] > end - daemon.interval}

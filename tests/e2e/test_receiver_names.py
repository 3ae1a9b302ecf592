#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names that anybody may choose arrive at Graphite and Prometheus as series of their own, with names that can be asked for.

Truth: each process has another number of threads. Names that a receiver would take for one are told apart, as are two
Service blocks whose names differ in a dot.
"""

import glob
import json
import os
import re
import subprocess
import urllib.request

import receiver
import test_graphite
from receiver import lib

STEP = 1  # s; whisper's times are whole seconds
# Command names, with what series have; of names that are alike, all but one end with a hash.
COMMANDS = {
    "a;b=c": "a_b_c", "semi;": "semi_", "*": "_", "{x}": "_x_", "a.b": "a.b", "a_b": "a_b", "a b": "a_b", "web.1": "web.1",
    "other": "other", "redis": "redis", "redis\N{ZERO WIDTH SPACE}": "redis_", "\N{RIGHT-TO-LEFT OVERRIDE}sider": "_sider",
    "r\N{CYRILLIC SMALL LETTER IE}dis": "r_dis"}
BLOCKS = {"web.1": "web.1", "web_1": "web_1"}
CONF = """
  ServicesFrom "commands"
""" + "".join(f"""  <Service "{name}">
    Process "kt_{name}"
  </Service>
""" for name in BLOCKS)
SAFE = re.compile(r"[A-Za-z0-9_.@:+-]+")
HASH = re.compile(r"\+[0-9a-f]{8}$")


class Names:
    """Processes of all these names; `threads` tells them apart."""

    def __init__(self, test):
        self.wanted, self.loads = {}, []
        for number, (name, shown) in enumerate(list(COMMANDS.items()) + list(BLOCKS.items())):
            load = test.load("task", name="kt_" + name if number >= len(COMMANDS) else name)
            load.ask(f"threads {10 + number}")
            self.wanted[11 + number] = name, shown
            self.loads.append(load)

    def by_threads(self, found, fold=str):
        """{threads: name}; found: {name: threads}, of other processes of the machine, too."""
        return {threads: name for name, threads in found.items()
                if threads in self.wanted and fold(HASH.sub("", name)) == fold(self.wanted[threads][1])}

    def check(self, test, where, found, fold=str):
        named = self.by_threads(found, fold)
        test.equal(f"{where}: processes whose values are missing",
                   [self.wanted[threads][0] for threads in self.wanted if threads not in named], [])
        test.equal(f"{where}: names with other letters", [name for name in found if not SAFE.fullmatch(name)], [])
        return named


def fold_dot(name):
    return name.replace(".", "_")


def in_graphite(tree):
    """{name: threads}, the newest values"""
    pattern = os.path.join(tree, "collectd", "*", "ebpf", "*", "ps_count", "threads.wsp")
    paths = {path.split(os.sep)[-3]: path for path in glob.glob(pattern)}
    fetched = subprocess.run(["/usr/bin/python3", "-c", test_graphite.FETCH], input="\n".join(paths.values()),
                             capture_output=True, text=True, check=True)
    values = {path: [value for value in row if value is not None] for path, (_, row) in json.loads(fetched.stdout).items()}
    return {name: int(values[path][-1]) for name, path in paths.items() if values[path]}


def in_prometheus(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        page = response.read().decode("utf-8")
    found = re.findall(r'^collectd_ebpf_ps_count_threads\{ebpf="([^"]*)".*?\} (\S+)', page, re.M)
    return {name: int(float(value)) for name, value in found}


def messages(daemon):
    return [line.split("series of the ", 1)[1] for line in daemon.log() if "series of the " in line]


def check_messages(test, daemon):
    """Each clash of blocks is said, and one an hour of commands."""
    receiver.wait_until("a message about commands", lambda: len(messages(daemon)) > 1)
    lines = messages(daemon)
    test.equal("messages about names", sorted(line.split()[0] for line in lines), ["command", "service"])
    test.true("both names are said, and what the second is called", any(re.match(
        r'service "web_1" are called "web_1\+[0-9a-f]{8}", as the service "web.1" has', line) for line in lines), lines)


def main():
    with lib.Test(limit=60) as test:
        receiver.need("carbon-cache")
        _, port, tree = test_graphite.start_carbon(test)
        scraped, = receiver.free_ports(1)
        names = Names(test)
        receivers = (receiver.sample("receiver-graphite.conf", {'"2003"': f'"{port}"'}) +
                     receiver.sample("receiver-prometheus.conf", {'"9103"': f'"{scraped}"'}))
        daemon = test.collectd(CONF, receivers, interval=STEP)
        receiver.wait_until("all names are in Graphite",
                            lambda: len(names.by_threads(in_graphite(tree), fold_dot)) == len(names.wanted))
        by_graphite = names.check(test, "Graphite", in_graphite(tree), fold_dot)
        by_prometheus = names.check(test, "Prometheus", in_prometheus(scraped))
        test.equal("names of both", {key: fold_dot(name) for key, name in by_prometheus.items()}, by_graphite)
        first, second = by_prometheus[max(names.wanted) - 1], by_prometheus[max(names.wanted)]
        test.equal("the block that comes first keeps its name", first, "web.1")
        test.true("and the other one gets a hash", HASH.search(second), second)
        test.equal("tags that a command has made", glob.glob(os.path.join(tree, "_tagged")), [])
        check_messages(test, daemon)
        test.stop(daemon)
        daemon = test.collectd(CONF, receivers, interval=STEP)
        daemon.wait_rows("other", "ps_count", 3)
        test.equal("names after a restart", names.check(test, "after a restart", in_prometheus(scraped)), by_prometheus)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""recvfrom and sendto of one container only: conf/container-calls.conf with other names of containers, and with its last
lines, which leave out all that is not of the container.

Truth: what the processes were told to do, inside of cgroups such as docker and LXC make, and outside.
"""

import os
import re
import time

from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 1
TALKS, SHORT_LIVES = 5000, 100
NAME = "kt-triton"
ALONE = without("process", "request", "delay") + """
  <Service "triton-server">
    Container "{identity}"
  </Service>
  <Probe "syscalls">
    Enable true
    Rows 512
{lines}
  </Probe>
"""


def sample(*containers):
    """The plugin's block of the example with these containers, and with no limit that the system calls of other tests
    could reach."""
    top = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    with open(os.path.join(top, "conf", "container-calls.conf"), encoding="utf-8") as file:
        text = re.search(r"^<Plugin ebpf>\n(.*)^</Plugin>", file.read(), re.M | re.S).group(1).replace("\n#  ", "\n  ")
    line, limit = '    Container "triton-server"\n', "    MaxOverhead 10\n"
    if line not in text or limit not in text:
        raise ValueError("conf/container-calls.conf has another container, or another limit")
    text = text.replace(limit, limit.replace("10", "100"))
    return text.replace(line, "".join(line.replace("triton-server", one) for one in containers))


class Workspace:
    """Cgroups of containers, at the root of a hierarchy."""

    def __init__(self, test):
        root = unified_root() or controller_root("pids")
        if not root:
            raise Skip("no cgroups are mounted")
        self.test, self.groups = test, Cgroups(root)
        test.at_end(self.groups.remove)

    def container(self, name):
        self.groups.make(self.test.own(name))
        return self.test.own(name)

    def docker(self):
        identity = os.urandom(32).hex()
        return identity, self.container(f"docker-{identity}.scope")

    def load(self, name, group=None):
        load = self.test.load("talk", name=name)
        if group:
            self.groups.enter(group, load.pid)
        return load


def of_calls(daemon):
    """{(service, series): last value} of all series about system calls."""
    daemon.wait_rows("self", "duration-read_syscalls", 2, time.time())
    return {(subject, metric): daemon.rows(subject, metric)[-1][1] for subject in daemon.subjects()
            for metric in daemon.metrics(subject) if "-syscall-" in metric or metric.endswith("-syscall")}


def one_container(test, workspace):
    identity, docker = workspace.docker()
    named = workspace.container(f"lxc.payload.{NAME}")
    other = workspace.docker()[1]
    daemon = test.collectd(sample(identity, NAME), interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_syscalls", 2)
    inside = [workspace.load("kt_server", docker), workspace.load("kt_helper", named)]
    # The same program, and another one.
    outside = [workspace.load("kt_server"), workspace.load("kt_other"), workspace.load("kt_server", other)]
    for load in inside + outside:
        load.ask(f"talk {TALKS}")
        load.ask(f"fork {SHORT_LIVES}")
    times = len(inside) * (TALKS + SHORT_LIVES)
    counts = of_calls(daemon)
    taken = {metric: counts.pop(("triton-server", metric), -1) for metric in (
        "total_time_in_ms-syscall-recvfrom", "total_time_in_ms-syscall-sendto")}
    service = "triton-server"
    test.equal("all series of system calls, but for the time in them", counts, {
        (service, "total_operations-syscall-sendto"): times, (service, "errors-syscall-sendto"): 0,
        (service, "total_operations-syscall-recvfrom"): 2 * times, (service, "errors-syscall-recvfrom"): times})
    for metric, milliseconds in taken.items():
        test.within(metric, milliseconds, 0, float("inf"))
    test.equal("services", sorted(daemon.subjects()), ["self", service])
    test.equal("complaints", daemon.complaints(), [])
    recreated(test, workspace, daemon, named, times)
    for load in inside[:1] + outside:
        load.end()
    inside[1].kill()
    test.stop(daemon)


def recreated(test, workspace, daemon, named, times):
    """The series continue for a new container of that name; a process that leaves it no longer counts."""
    load = workspace.load("kt_again", named)
    load.ask("talk 10")
    load.ask(f"enter {workspace.groups.root}")
    load.ask("talk 10")
    load.end()
    test.equal("with 10 further, of which 10 more were outside",
               of_calls(daemon)["triton-server", "total_operations-syscall-sendto"], times + 10)


def without_label(test, workspace):
    """All calls of the container are counted, except the call by which the process leaves it."""
    identity, docker = workspace.docker()
    daemon = test.collectd(ALONE.format(identity=identity, lines=""), interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_syscalls", 2)
    load = workspace.load("kt_leaver", docker)
    load.ask("talk 10")
    load.ask(f"enter {workspace.groups.root}")
    load.ask("talk 10")
    counts = of_calls(daemon)
    test.equal("all calls: services", sorted({service for service, _ in counts}), ["triton-server"])
    test.equal("all calls: sendmsg", counts.get(("triton-server", "total_operations-syscall-sendmsg")), 10)
    load.end()
    test.stop(daemon)


def mistakes(test, workspace):
    """Mistakes in Label lines are logged, and the rest of the line applies."""
    identity, docker = workspace.docker()
    daemon = test.collectd(ALONE.format(
        identity=identity, lines='    Label "syscall" "recv" "sendto"\n    Label "device" "vda"'), interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_syscalls", 2)
    load = workspace.load("kt_misled", docker)
    load.ask("talk 10")
    test.equal("with a mistyped name: series", sorted(of_calls(daemon)), [
        ("triton-server", metric + "-syscall-sendto") for metric in ("errors", "total_operations", "total_time_in_ms")])
    for text in ('ignoring "recv" of Label "syscall": there is no such syscall on this machine',
                 'ignoring Label "device": its rows have no such label, but "service", "syscall"'):
        test.true(f"it says: {text}", any(text in line for line in daemon.log()))
    load.end()
    test.stop(daemon)


def main():
    with Test(limit=120) as test:
        workspace = Workspace(test)
        one_container(test, workspace)
        without_label(test, workspace)
        mistakes(test, workspace)


if __name__ == "__main__":
    main()

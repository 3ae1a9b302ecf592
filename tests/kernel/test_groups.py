#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Units and containers: in each hierarchy of this machine a process belongs to that which its cgroup is named after,
from its first instruction, however it got there, and to the first Service block that names it.

Truth: what the processes were told to do, and the cgroups that they were put into.
"""

import os
import time

from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test

BESIDE = True
INTERVAL = 0.25 if SLOWNESS < 2 else 1
SHORT_LIVES = 200
MOVES = 5

CONF = """
  ServicesFrom "containers" "units" "commands"
  <Service "exact">
    Unit "kt_exact.service"
  </Service>
  <Service "wild">
    Unit "kt_wild@*.service"
  </Service>
  <Service "id">
    Container "{identity}"
  </Service>
  <Service "digits">
    Container "{digits}"
  </Service>
  <Service "first">
    Process "kt_first"
  </Service>
  <Service "second">
    Unit "kt_second.service"
  </Service>
"""

BY_NAME = """
  <Service "box">
    Container "kt_box-*"
  </Service>
"""


def new_id():
    return os.urandom(32).hex()


def count(daemon, service, moment=None):
    """Processes and threads of the first reading from then or now on, after the resolving reading if one is needed."""
    return list(daemon.wait_rows(service, "ps_count", 3, moment or time.time())[2][1:])


def lives(daemon, service):
    """How many processes have started, and ended, since the series began."""
    moment = time.time()
    return [daemon.row_after(service, "total_events-processes_" + word, moment)[1] for word in ("started", "ended")]


def scope(identity):
    return f"docker-{identity}.scope"


class Hierarchy:
    """One of them, and a directory in it."""

    def __init__(self, test, name, root):
        self.test, self.name = test, name
        self.groups = Cgroups(root)
        test.at_end(self.groups.remove)
        self.base = f"kt-groups-{os.getpid()}"
        self.groups.make(self.base)

    def make(self, name):
        return self.groups.make(f"{self.base}/{self.test.own(name)}")

    def enter(self, name, pid):
        self.groups.enter(f"{self.base}/{self.test.own(name)}" if name else "", pid)

    def what(self, text):
        return f"{self.name}: {text}"

    def load_in(self, group, source="task", **options):
        load = self.test.load(source, **options)
        self.enter(group, load.pid)
        return load


def early(hierarchy):
    """A process that ran before the plugin."""
    identity = new_id()
    hierarchy.make(scope(identity))
    return identity, hierarchy.load_in(scope(identity), name="kt_early")


def container(test, daemon, hierarchy):
    identity = new_id()
    service = identity[:12]
    hierarchy.make(scope(identity))
    load = test.load("task", name="kt_in")
    load.ask("threads 3")
    hierarchy.enter(scope(identity), load.pid)
    test.equal(hierarchy.what("container, entered with 3 further threads: ps_count"), count(daemon, service), [1, 4])
    load.ask("fork")
    load.ask(f"exec {test.program('task', 'kt_other')}")
    test.equal(hierarchy.what("container, with a child, after an exec: ps_count"), count(daemon, service), [2, 2])
    hierarchy.enter("", load.pid)
    test.equal(hierarchy.what("container, moved out: ps_count"), count(daemon, service), [1, 1])
    load.end()


def short_lives(test, daemon, hierarchy):
    identity = new_id()
    service = identity[:12]
    path = hierarchy.make(scope(identity))
    load = hierarchy.load_in(scope(identity), "group", name="kt_short")
    count(daemon, service)
    begin = lives(daemon, service)
    load.ask(f"fork {SHORT_LIVES}")
    end = lives(daemon, service)
    test.equal(hierarchy.what("short lives in a container: started, ended"), [b - a for a, b in zip(begin, end)],
               [SHORT_LIVES] * 2)
    if hierarchy.name == "cgroup2":
        other = test.load("group", name="kt_outside")
        other.ask(f"into {path} {SHORT_LIVES}")
        begin, end = end, lives(daemon, service)
        test.equal(hierarchy.what("clone into a container: started, ended"), [b - a for a, b in zip(begin, end)],
                   [SHORT_LIVES] * 2)
        other.end()
    load.end()


def moved_and_gone(test, daemon, hierarchy):
    """Processes that a reading meets in one container, and that end in another before the next."""
    identities = new_id(), new_id()
    for identity in identities:
        hierarchy.make(scope(identity))
    stays = [hierarchy.load_in(scope(identity), name="kt_stays") for identity in identities]
    loads = [hierarchy.load_in(scope(identities[0]), name="kt_moves") for _ in range(MOVES)]
    services = [identity[:12] for identity in identities]
    moment = time.time()
    for service, there in zip(services, (MOVES + 1, 1)):
        test.equal(hierarchy.what("before a move: ps_count"), count(daemon, service, moment), [there] * 2)
    begin = [lives(daemon, service) for service in services]
    for load in loads:
        hierarchy.enter(scope(identities[1]), load.pid)
        load.kill()
    grown = [[b - a for a, b in zip(was, lives(daemon, service))] for service, was in zip(services, begin)]
    test.equal(hierarchy.what("moved, and gone before a reading: started, ended; there and here"), grown,
               [[0, MOVES], [MOVES, MOVES]])
    for load in stays:
        load.end()


def units(test, daemon, hierarchy):
    for name in ("kt_unit.service", "kt_exact.service", "kt_second.service"):
        hierarchy.make(name)
    hierarchy.make("kt_wild@7.service")
    hierarchy.make("user-4321.slice")
    hierarchy.make("user-4321.slice/kt_unit.service")
    below = "kt_unit.service/docker"
    hierarchy.make(below)
    loads = [hierarchy.load_in(name, name="kt_of_unit") for name in (
        "kt_unit.service", below, "kt_exact.service", "kt_wild@7.service", "kt_second.service",
        "user-4321.slice/kt_unit.service")]
    loads.append(hierarchy.load_in("kt_second.service", name="kt_first"))
    moment = time.time()
    for what, service, want in (
            ("unit, and a directory below", test.own("kt_unit"), 2), ("Unit", "exact", 1),
            ("Unit with a wildcard", "wild", 1), ("Unit, an earlier block has another", "second", 1),
            ("Process, a later block has the unit", "first", 1), ("user", "user-4321", 1)):
        test.equal(hierarchy.what(what + ": ps_count"), count(daemon, service, moment), [want, want])
    for load in loads:
        load.end()
    moment = time.time()
    for service in ("exact", "wild", "second", "first"):
        test.equal(hierarchy.what(f"{service}, ended: ps_count"), count(daemon, service, moment), [0, 0])


def containers_by_rule(test, daemon, hierarchy, identity, digits):
    another = digits + new_id()[len(digits):]
    for name in (scope(identity), scope(another)):
        hierarchy.make(name)
    loads = [hierarchy.load_in(scope(identity), name="kt_by_id"), hierarchy.load_in(scope(another), name="kt_by_id")]
    moment = time.time()
    test.equal(hierarchy.what("Container by its id: ps_count"), count(daemon, "id", moment), [1, 1])
    test.equal(hierarchy.what("Container by 12 digits: ps_count"), count(daemon, "digits", moment), [1, 1])
    for load in loads:
        load.end()
    test.equal(hierarchy.what("Container, ended: ps_count"), count(daemon, "id"), [0, 0])


def by_name(test, daemon, hierarchy):
    """A container that nobody has looked at, and that is gone before anybody has; its block's row is the only one."""
    name = "lxc.payload.kt_box-" + hierarchy.name
    hierarchy.make(name + "_2")
    hierarchy.make(name.replace("box", "sack"))
    loads = [hierarchy.load_in(name + "_2", name="kt_boxed"),
             hierarchy.load_in(name.replace("box", "sack"), name="kt_boxed")]
    test.equal(hierarchy.what("Container by its name: ps_count"), count(daemon, "box"), [1, 1])
    load = test.load("group", name="kt_boxed")
    begin = lives(daemon, "box")
    path = hierarchy.make(name)
    hierarchy.enter(name, load.pid)
    load.ask(f"fork {SHORT_LIVES}")
    load.end()
    os.rmdir(path)
    count(daemon, "box")  # its name may come a reading later
    end = lives(daemon, "box")
    test.equal(hierarchy.what("Container by its name, gone at once: started, ended"),
               [b - a for a, b in zip(begin, end)], [SHORT_LIVES + 1] * 2)
    for load in loads:
        load.end()


def hierarchies(test):
    roots = [("cgroup2", unified_root()), ("pids", controller_root("pids")), ("memory", controller_root("memory"))]
    found = [Hierarchy(test, name, root) for name, root in roots if root]
    if not found:
        raise Skip("no cgroups are mounted")
    return found


def main():
    with Test(limit=150) as test:
        found = hierarchies(test)
        before = [early(hierarchy) for hierarchy in found]
        identity, digits = new_id(), os.urandom(6).hex()
        daemon = test.collectd(CONF.format(identity=identity, digits=digits), interval=INTERVAL, collect=("process",))
        moment = time.time()
        for (own, load), hierarchy in zip(before, found):
            test.equal(hierarchy.what("ran before the plugin: ps_count"), count(daemon, own[:12], moment), [1, 1])
            load.end()
        for hierarchy in found:
            container(test, daemon, hierarchy)
            short_lives(test, daemon, hierarchy)
            moved_and_gone(test, daemon, hierarchy)
            units(test, daemon, hierarchy)
            containers_by_rule(test, daemon, hierarchy, identity, digits)
        test.stop(daemon)
        daemon = test.collectd(BY_NAME, interval=INTERVAL, collect=("process",))
        for hierarchy in found:
            by_name(test, daemon, hierarchy)
        test.equal("series", sorted(daemon.services() - {"self"}), ["box", "kernel", "other"])


if __name__ == "__main__":
    main()

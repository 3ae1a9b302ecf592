#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Units and containers: in each hierarchy of this machine a process belongs to the unit or container of its cgroup,
from its first instruction and however it got there, and to the first Service block that names it.

Truth: what the processes were told to do, and the cgroups that they were moved into.
"""

import os
import time

from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test

INTERVAL = 0.25 if SLOWNESS < 2 else 1
SHORT_LIVES = 200
LIVES_AT_ONCE = 20   # so few that no reading comes between
MOVES = 5
PATIENCE = 20 * SLOWNESS

CONF = """
  # Those of the tests beside this one are services, too.
  MaxServices 4096
  MaxNewServices 10000
  ServicesFrom "containers" "units" "commands"
"""
# For each hierarchy.
SERVICES = """
  <Service "exact_{name}">
    Unit "kt_exact_{name}.service"
  </Service>
  <Service "wild_{name}">
    Unit "kt_{name}@*.service"
  </Service>
  <Service "escaped_{name}">
    Unit "kt_io_{name}.service"
    Unit "_kt_cpu_{name}.service"
    Unit "kt_d-ash_{name}.service"
    Unit "kt_b\\\\x2doth_{name}.service"
    Unit "kt_o\\x2dne_{name}.service"
  </Service>
  <Service "id_{name}">
    Container "{identity}"
  </Service>
  <Service "digits_{name}">
    Container "{digits}"
  </Service>
  <Service "first_{name}">
    Process "kt_f_{name}"
  </Service>
  <Service "second_{name}">
    Unit "kt_second_{name}.service"
  </Service>
"""

BY_NAME = """
  <Service "box_{name}">
    Container "kt_box-{name}*"
  </Service>
"""


def new_id():
    return os.urandom(32).hex()


def count(daemon, service, want=None, moment=None):
    """Processes and threads at the third reading after this moment or the call; or at the first after that which has the
    wanted ones, as a busy machine resolves them later."""
    row, give_up = daemon.wait_rows(service, "ps_count", 3, moment or time.time())[2], time.monotonic() + PATIENCE
    while want and list(row[1:]) != want and time.monotonic() < give_up:
        row = daemon.row_after(service, "ps_count", row[0])
    return list(row[1:])


def check_count(test, what, daemon, service, want, moment):
    test.equal(what + ": ps_count", count(daemon, service, want, moment), want)


def lives(daemon, service, moment=None):
    """The numbers of processes that have started and ended since the series began."""
    moment = moment or time.time()
    return [daemon.row_after(service, "total_events-processes_" + word, moment)[1] for word in ("started", "ended")]


def grown(begin, end):
    return [b - a for a, b in zip(begin, end)]


def scope(identity):
    return f"docker-{identity}.scope"


class Hierarchy:
    """A hierarchy of cgroups, and a directory in it."""

    def __init__(self, test, name, root, number):
        self.test, self.name = test, name
        self.user = f"user-{4321000 + number}"
        self.groups = Cgroups(root)
        test.at_end(self.groups.remove)
        self.base = f"kt-groups-{os.getpid()}"
        self.groups.make(self.base)
        self.identity, self.digits = new_id(), os.urandom(6).hex()

    def services(self):
        return SERVICES.format(name=self.name, identity=self.identity, digits=self.digits)

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
    """Starts a process before the plugin."""
    identity = new_id()
    hierarchy.make(scope(identity))
    return identity, hierarchy.load_in(scope(identity), name="kt_early")


def together(cases):
    """Runs cases in turn, each up to its next yield, so that they wait for the same readings."""
    cases = list(cases)
    while cases:
        cases = [case for case in cases if next(case, None)]


def container(test, daemon, hierarchy):
    identity = new_id()
    service = identity[:12]
    hierarchy.make(scope(identity))
    load = test.load("task", name="kt_in")
    load.ask("threads 3")
    hierarchy.enter(scope(identity), load.pid)
    yield (moment := time.time())
    check_count(test, hierarchy.what("container, entered with 3 further threads"), daemon, service, [1, 4], moment)
    load.ask("fork")
    load.ask(f"exec {test.program('task', 'kt_other')}")
    yield (moment := time.time())
    check_count(test, hierarchy.what("container, with a child, after an exec"), daemon, service, [2, 2], moment)
    hierarchy.enter("", load.pid)
    yield (moment := time.time())
    check_count(test, hierarchy.what("container, moved out"), daemon, service, [1, 1], moment)
    load.end()


def short_lives(test, daemon, hierarchy):
    identity = new_id()
    service = identity[:12]
    path = hierarchy.make(scope(identity))
    load = hierarchy.load_in(scope(identity), "group", name="kt_short")
    yield (moment := time.time())
    count(daemon, service, moment=moment)
    begin = lives(daemon, service)
    load.ask(f"fork {SHORT_LIVES}")
    yield (moment := time.time())
    end = lives(daemon, service, moment)
    test.equal(hierarchy.what("short lives in a container: started, ended"), grown(begin, end), [SHORT_LIVES] * 2)
    if hierarchy.name == "cgroup2":
        other = test.load("group", name="kt_outside")
        other.ask(f"into {path} {SHORT_LIVES}")
        test.equal(hierarchy.what("clone into a container: started, ended"), grown(end, lives(daemon, service)),
                   [SHORT_LIVES] * 2)
        other.end()
    load.end()


def moved_and_removed(test, daemon, hierarchy):
    """Processes that are in one container at a reading, and end in another before the next."""
    identities = new_id(), new_id()
    for identity in identities:
        hierarchy.make(scope(identity))
    stays = [hierarchy.load_in(scope(identity), name="kt_stays") for identity in identities]
    loads = [hierarchy.load_in(scope(identities[0]), name="kt_moves") for _ in range(MOVES)]
    services = [identity[:12] for identity in identities]
    yield (moment := time.time())
    for service, there in zip(services, (MOVES + 1, 1)):
        check_count(test, hierarchy.what("before a move"), daemon, service, [there] * 2, moment)
    begin = [lives(daemon, service) for service in services]
    for load in loads:
        hierarchy.enter(scope(identities[1]), load.pid)
        load.kill()
    yield (moment := time.time())
    test.equal(hierarchy.what("moved, and gone before a reading: started, ended; there and here"),
               [grown(was, lives(daemon, service, moment)) for service, was in zip(services, begin)],
               [[0, MOVES], [MOVES, MOVES]])
    for load in stays:
        load.end()


def units(test, daemon, hierarchy):
    name = hierarchy.name
    unit, exact, second = (f"kt_{word}_{name}.service" for word in ("unit", "exact", "second"))
    wild, user, below = f"kt_{name}@7.service", hierarchy.user + ".slice", unit + "/docker"
    escaped = [f"{word}_{name}.service" for word in ("_kt_io", "_kt_cpu", r"kt_d\x2dash", r"kt_b\x2doth", r"kt_o\x2dne")]
    for group in (unit, exact, second, wild, user, f"{user}/{unit}", below, *escaped):
        hierarchy.make(group)
    loads = [hierarchy.load_in(group, name="kt_of_unit")
             for group in (unit, below, exact, wild, second, f"{user}/{unit}", *escaped)]
    loads.append(hierarchy.load_in(second, name="kt_f_" + name))
    yield (moment := time.time())
    for what, service, want in (
            ("unit, and a directory below", test.own("kt_unit_") + name, 2), ("Unit", "exact_" + name, 1),
            ("Unit with a wildcard", "wild_" + name, 1), ("Unit, escaped names", "escaped_" + name, len(escaped)),
            ("Unit, an earlier block has another", "second_" + name, 1),
            ("Process, a later block has the unit", "first_" + name, 1), ("user", hierarchy.user, 1)):
        check_count(test, hierarchy.what(what), daemon, service, [want, want], moment)
    for load in loads:
        load.end()
    yield (moment := time.time())
    for service in ("exact_", "wild_", "escaped_", "second_", "first_"):
        check_count(test, hierarchy.what(f"{service}, ended"), daemon, service + name, [0, 0], moment)


def containers_by_rule(test, daemon, hierarchy):
    another = hierarchy.digits + new_id()[len(hierarchy.digits):]
    loads = []
    for identity in (hierarchy.identity, another):
        hierarchy.make(scope(identity))
        loads.append(hierarchy.load_in(scope(identity), name="kt_by_id"))
    yield (moment := time.time())
    for what, service in ("its id", "id_" + hierarchy.name), ("12 digits", "digits_" + hierarchy.name):
        check_count(test, hierarchy.what(f"Container by {what}"), daemon, service, [1, 1], moment)
    for load in loads:
        load.end()
    yield (moment := time.time())
    check_count(test, hierarchy.what("Container, ended"), daemon, "id_" + hierarchy.name, [0, 0], moment)


def by_name(test, daemon, hierarchy):
    """A container that is removed before the engine has inspected it; only its block has a row."""
    name, box = "lxc.payload.kt_box-" + hierarchy.name, "box_" + hierarchy.name
    sack = name.replace("box", "sack")
    hierarchy.make(name + "_2")
    hierarchy.make(sack)
    loads = [hierarchy.load_in(name + "_2", name="kt_boxed"), hierarchy.load_in(sack, name="kt_boxed")]
    yield (moment := time.time())
    check_count(test, hierarchy.what("Container by its name"), daemon, box, [1, 1], moment)
    load = test.load("group", name="kt_boxed")
    begin = lives(daemon, box)
    path = hierarchy.make(name)
    hierarchy.enter(name, load.pid)
    load.ask(f"fork {LIVES_AT_ONCE}")
    load.end()
    os.rmdir(path)
    yield (moment := time.time())
    count(daemon, box, moment=moment)  # its name may be known a reading later
    test.equal(hierarchy.what("Container by its name, gone at once: started, ended"), grown(begin, lives(daemon, box)),
               [LIVES_AT_ONCE + 1] * 2)
    for load in loads:
        load.end()


def hierarchies(test):
    roots = [("cgroup2", unified_root()), ("pids", controller_root("pids")), ("memory", controller_root("memory"))]
    found = [Hierarchy(test, name, root, number) for number, (name, root) in enumerate(roots) if root]
    if not found:
        raise Skip("no cgroups are mounted")
    return found


def main():
    with Test(limit=150) as test:
        found = hierarchies(test)
        before = [early(hierarchy) for hierarchy in found]
        conf = CONF + "".join(hierarchy.services() for hierarchy in found)
        daemon = test.collectd(conf, interval=INTERVAL, collect=("process",))
        moment = time.time()
        for (own, load), hierarchy in zip(before, found):
            check_count(test, hierarchy.what("ran before the plugin"), daemon, own[:12], [1, 1], moment)
            load.end()
        together(case(test, daemon, hierarchy) for hierarchy in found
                 for case in (container, short_lives, moved_and_removed, units, containers_by_rule))
        test.stop(daemon)
        daemon = test.collectd("".join(BY_NAME.format(name=hierarchy.name) for hierarchy in found), interval=INTERVAL,
                               collect=("process",))
        together(by_name(test, daemon, hierarchy) for hierarchy in found)
        test.equal("series", sorted(daemon.services() - {"self"}),
                   sorted(["box_" + hierarchy.name for hierarchy in found] + ["kernel", "other"]))


if __name__ == "__main__":
    main()

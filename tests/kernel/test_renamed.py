#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Containers that are renamed while they run, as docker writes it down, or named late: their series, and the Service
block that has the name.

Truth: what the processes were told to do, and the state of docker that the test writes.
"""

import json
import os
import time

from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test, in_mounts

INTERVAL = 0.25 if SLOWNESS < 2 else 1
CONF = """
  ServicesFrom "containers"
  <Service "block">
    Container "kt_front"
  </Service>
"""


def rows(daemon, service, moment=None):
    """The first processes and threads of a service that are read later than the moment or the call."""
    return list(daemon.row_after(service, "ps_count", moment or time.time())[1:])


def lives(daemon, service):
    return daemon.row_after(service, "total_events-processes_started", time.time())[1]


def wait_until(what, is_done, seconds=20 * SLOWNESS):
    give_up = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > give_up:
            raise TimeoutError(what)
        time.sleep(0.05)


class Container:
    """A container of docker with one process. Without a name it has no state yet."""

    def __init__(self, test, groups, state, name=None):
        self.test, self.identity = test, os.urandom(32).hex()
        self.directory = os.path.join(state, "containers", self.identity)
        os.makedirs(self.directory)
        if name:
            self.rename(name)
        self.load = test.load("group", name="kt_inside")
        groups.make(f"docker-{self.identity}.scope")
        groups.enter(f"docker-{self.identity}.scope", self.load.pid)

    def rename(self, name):
        """As docker does."""
        new = os.path.join(self.directory, ".tmp-config.v2.json")
        with open(new, "w", encoding="ascii") as file:
            json.dump({"ID": self.identity, "Name": "/" + self.test.own(name), "Config": {"Labels": {}}}, file)
        os.rename(new, os.path.join(self.directory, "config.v2.json"))

    def fork(self, count):
        self.load.ask(f"fork {count}")


def gaps(daemon, service):
    """Times between readings of a service that are longer than two intervals."""
    times = [row[0] for row in daemon.rows(service, "ps_count")]
    return [b - a for a, b in zip(times, times[1:]) if b - a > 2.5 * INTERVAL]


def named_late(test, daemon, late):
    """One whose state is written after it has series."""
    digits, name = late.identity[:12], test.own("kt_late")
    test.equal("without state: ps_count", rows(daemon, digits), [1, 1])
    late.rename("kt_late")
    wait_until("the name of the late one", lambda: name in daemon.services())
    test.equal("late: ps_count", rows(daemon, name), [1, 1])
    end = time.time()
    begin = lives(daemon, name)
    late.fork(60)
    test.equal("started in late", lives(daemon, name) - begin, 60)
    test.equal("readings of its id after it", [row for row in daemon.rows(digits, "ps_count") if row[0] > end], [])


def swapped(test, daemon, old, new):
    """The old version of a service makes way for the new one."""
    web, web_old, web_new = map(test.own, ("kt_web", "kt_web-old", "kt_web-new"))
    for service in web, web_new:
        test.equal(f"{service}, before: ps_count", rows(daemon, service), [1, 1])
    old.fork(10)
    begin = lives(daemon, web)
    old.rename("kt_web-old")
    new.rename("kt_web")
    wait_until("series of web-old", lambda: web_old in daemon.services())
    for service in web, web_old:
        test.equal(f"{service}, after: ps_count", rows(daemon, service), [1, 1])
    end = time.time()
    old_begin = lives(daemon, web_old)
    old.fork(20)
    new.fork(40)
    test.equal("started in web", lives(daemon, web) - begin, 40)
    test.equal("started in web-old", lives(daemon, web_old) - old_begin, 20)
    test.equal("readings of web-new after it", [row for row in daemon.rows(web_new, "ps_count") if row[0] > end], [])
    test.equal("gaps of web", gaps(daemon, web), [])


def of_a_block(test, daemon, spare):
    """One that gets the name in a Service block, and loses it."""
    before, after = map(test.own, ("kt_spare", "kt_spare-2"))
    test.equal("block, before: ps_count", rows(daemon, "block"), [0, 0])
    spare.rename("kt_front")
    wait_until("the block's container", lambda: rows(daemon, "block") == [1, 1])
    moment = time.time()
    begin = lives(daemon, "block")
    spare.fork(30)
    test.equal("started in the block", lives(daemon, "block") - begin, 30)
    spare.rename("kt_spare-2")
    wait_until("the container without the block", lambda: after in daemon.services())
    test.equal("block, after: ps_count", rows(daemon, "block"), [0, 0])
    test.equal("spare-2: ps_count", rows(daemon, after), [1, 1])
    begin = lives(daemon, after)
    spare.fork(50)
    test.equal("started in spare-2", lives(daemon, after) - begin, 50)
    test.equal("readings of spare after it", [row for row in daemon.rows(before, "ps_count") if row[0] > moment], [])


def main():
    root = unified_root() or controller_root("pids")
    with Test(limit=90) as test:
        if not root:
            raise Skip("no cgroups are mounted")
        groups = Cgroups(root)
        test.at_end(groups.remove)
        state = test.mkdir("docker")
        old, new, spare = (Container(test, groups, state, name) for name in ("kt_web", "kt_web-new", "kt_spare"))
        late = Container(test, groups, state)
        daemon = test.collectd(CONF, interval=INTERVAL, collect=("process",), wrap=in_mounts(
            "mount -t tmpfs tmpfs /var/lib", "mkdir /var/lib/docker", f"mount --bind {state} /var/lib/docker"))
        named_late(test, daemon, late)
        swapped(test, daemon, old, new)
        of_a_block(test, daemon, spare)
        names = {name for name in daemon.services() if name.startswith(test.prefix)}
        test.equal("names", names, set(map(test.own, ("kt_web", "kt_web-old", "kt_web-new", "kt_spare", "kt_spare-2",
                                                     "kt_late"))))
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""200 processes of an unprivileged user serve requests, each under its own name, and there are fewer rows. The service
of a block and a unit have their series nevertheless, a command that starts later and serves many requests gets series,
and no request is lost.

Truth: the responses that the clients of all these servers have received.
"""

import os
import time

import truth
from cgroups import Cgroups
from lib import SLOWNESS, Test, without

INTERVAL = 0.5 if SLOWNESS < 2 else 2
CROWD = 200
NOBODY = 65534
ORDER = 50
PATIENCE = 60  # readings within which a server must get a row that one of the crowd had
MIB = 1 << 20
# Enough services for the crowd, so that only the rows of the probe request are scarce; and few series, only of this
# probe.
BASE = """
  MaxServices 1000
  Percentile 99
""" + without("process", "poll", "oom")
BLOCK = BASE + """
  ServicesFrom "units" "commands"
  <Service "kept">
    Process "kt_kept"
  </Service>
"""
COMMANDS = BASE + """
  ServicesFrom "commands"
"""


class Crowd:
    """A load and the number of its responses."""

    def __init__(self, test, count, name, user=0):
        self.load = test.load("crowd", count, name, user)
        self.count, self.answered = count, 0
        test.crowds.append(self)

    def ask(self, requests):
        self.load.say(str(requests))
        said = self.load.result()
        self.answered += said["requests"]
        return [said[key] for key in ("requests", "rx", "tx")]


def has_series(daemon, service):
    return "total_requests" in daemon.metrics(service)


def wait_series(daemon, service, server, crowd):
    """Serves requests until there are series. Returns the number of readings before them, or None."""
    for reading in range(PATIENCE):
        moment = time.time()
        server.ask(ORDER)
        if reading % 3 == 0:
            crowd.ask(1)
        daemon.row_after("self", "objects-services", moment)
        if has_series(daemon, service):
            return reading
    return None


def check_server(test, daemon, what, service, server, crowd):
    readings = wait_series(daemon, service, server, crowd)
    test.true(f"{what} has series of requests", readings is not None)
    if readings is None:
        return
    print(f"     {what}: after {readings} readings")
    before = daemon.exchanges(service, time.time())
    want = server.ask(ORDER)
    after = daemon.exchanges(service, time.time())
    test.equal(f"{what}: requests, bytes received and sent", [b - a for a, b in zip(before, after)], want)


def requests_of_all(daemon):
    moment = time.time()
    daemon.wait_rows("other", "total_requests", 3, moment)
    last = [daemon.rows(subject, "total_requests") for subject in daemon.subjects()]
    return sum(rows[-1][1] for rows in last if rows)


def sizes(daemon):
    moment = time.time()
    return (daemon.row_after("self", "memory-maps_request", moment)[1],
            truth.memory(daemon.process.pid)[1])


def figure(daemon, name):
    return daemon.row_after("self", name, time.time())[1]


def main():
    with Test(limit=240) as test:
        test.crowds = []
        mixed = test.collectd(BLOCK, interval=INTERVAL)
        commands = test.collectd(COMMANDS, interval=INTERVAL)
        groups = Cgroups()
        test.at_end(groups.remove)
        base = f"kt-crowd-{os.getpid()}"
        unit = f"{base}/{test.own('kt_unit.service')}"
        for name in (base, unit):
            groups.make(name)
        for daemon in (mixed, commands):
            daemon.wait_rows("self", "objects-services", 2)
        crowd = Crowd(test, CROWD, "kt_w", NOBODY)
        crowd.ask(1)
        for daemon in (mixed, commands):
            daemon.wait_rows("self", "objects-services", 4, time.time())
        crowd.ask(3)
        before = [sizes(daemon) for daemon in (mixed, commands)]
        for daemon, name in ((mixed, "with a block"), (commands, "by command names")):
            print(f"     {name}: {figure(daemon, 'objects-services')} services, "
                  f"{figure(daemon, 'objects-rows_request')} rows")
        reserved, later, real = (Crowd(test, 1, name) for name in ("kt_kept", "kt_u", "kt_real"))
        later.ask(1)  # it has started
        for pid in truth.children(later.load.pid):
            groups.enter(unit, pid)
        check_server(test, mixed, "the service of a block", "kept", reserved, crowd)
        check_server(test, mixed, "the unit", test.own("kt_unit"), later, crowd)
        check_server(test, commands, "the command that came later", test.own("kt_real"), real, crowd)
        check_server(test, mixed, "the command beside units", test.own("kt_real"), real, crowd)
        want = sum(one.answered for one in test.crowds)
        for daemon, (maps, memory), name in ((mixed, before[0], "with a block"), (commands, before[1], "by names")):
            # Other programs of this machine may serve requests, too.
            got = requests_of_all(daemon)
            test.true(f"{name}: requests of all services, {got}, are no fewer than were answered, {want}", got >= want)
            now = sizes(daemon)
            test.equal(f"{name}: kernel memory of the maps has grown by", now[0] - maps, 0)
            test.within(f"{name}: memory of collectd has grown by", now[1] - memory, -8 * MIB, 4 * MIB)
            test.true(f"{name}: rows were given back", figure(daemon, "total_events-rows_returned_request"))
            logged = any("services are counted under" in line for line in daemon.log())
            test.true(f"{name}: the log tells of those without a row", logged)
        for one in test.crowds:
            one.load.end()


if __name__ == "__main__":
    main()

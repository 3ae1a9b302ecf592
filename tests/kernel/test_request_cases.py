#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exchanges and octets however a service divides its work, receives and sends; and more services than rows.

Truth: load_case.c, whose numbers follow from what it was asked.
"""

import json
import subprocess
import sys
import time

from lib import BPFTOOL, Test, bpf_objects_of

CASES = ("threads", "large", "noise", "splice", "ring", "ring_file", "forking", "prefork", "pool", "pipeline",
         "rename")
# Not of this test, and unavailable on some kernels.
NO_POLL = """
  <Probe "poll">
    Enable false
  </Probe>"""
CONF = NO_POLL + "\n".join(f"""
  <Service "{case}">
    Process "kt_{case}"
  </Service>""" for case in (*CASES, "renamed"))
ROWS = 4
MANY = ROWS + 2
MANY_CONF = NO_POLL + f"""
  <Probe "request">
    Rows {ROWS}
  </Probe>""" + "\n".join(f"""
  <Service "c{i}">
    Process "kt_c{i}"
  </Service>""" for i in range(MANY))
ORDER = 40


def check_cases(test, daemon):
    loads = {case: test.load("case", case, "kt_renamed", name=f"kt_{case}") for case in CASES}
    for load in loads.values():
        load.ask("1")
    begin = time.time()
    before = {case: daemon.exchanges(case, begin) for case in CASES}
    before["renamed"] = 0, 0, 0
    said = {}
    for case, load in loads.items():
        load.say(str(ORDER))
        said[case] = load.result()
    # End of file on each connection is no request either.
    for load in loads.values():
        load.end()
    end = time.time()
    got = {case: [now - then for now, then in zip(daemon.exchanges(case, end), before[case])] for case in before}
    for name in ("rename", "renamed"):
        test.true(f"{name}: has exchanges", got[name][0])
    got["rename"] = [a + b for a, b in zip(got["rename"], got["renamed"])]
    for case in CASES:
        want = [said[case][key] for key in ("requests", "rx", "tx")]
        test.equal(f"{case}: exchanges, octets received, octets sent", got[case], want)


def check_many(test, daemon):
    """Services in the order of their first exchange, until there are no more rows."""
    loads = [test.load("case", "threads", name=f"kt_c{i}") for i in range(MANY)]
    before = daemon.wait_rows("self", "objects-rows_request", after=time.time())[-1]
    test.equal("services with rows before any request", before[1], 0)
    for load in loads:
        load.ask("1")
    stranger = test.load("case", "threads", name="kt_stranger")
    moment = time.time()
    rows = daemon.row_after("self", "objects-rows_request", moment)
    test.equal("services with rows", rows[1], ROWS - 1)
    # Of the first of two readings everything is written.
    daemon.wait_rows("other", "total_requests", 2, moment)
    own = [i for i in range(MANY) if "total_requests" in daemon.metrics(f"c{i}")]
    test.equal("services with series of requests", own, list(range(ROWS - 1)))
    subjects = [f"c{i}" for i in own] + ["other"]
    then = {subject: daemon.exchanges(subject, moment) for subject in subjects}
    wanted = [order(load) for load in loads]
    stranger.ask(str(ORDER))
    moment = time.time()
    refused = daemon.row_after("self", "total_events-refused_request", moment)
    test.equal("refused, however often they ask", refused[1], MANY - len(own))
    got = {subject: daemon.exchanges(subject, moment)[0] - then[subject][0] for subject in subjects}
    test.equal("exchanges of services with rows", [got[f"c{i}"] for i in own], [wanted[i] for i in own])
    # What no Service block names is not looked at.
    test.equal("exchanges of those without, under other", got["other"], sum(wanted[len(own):]))
    check_freed(test, daemon, loads)


def order(load):
    load.say(str(ORDER))
    return load.result()["requests"]


class Numbers:
    """A map of u32 of a daemon."""

    def __init__(self, daemon, name):
        ids = [number for kind, number in bpf_objects_of(daemon.process.pid) if kind == "map"]
        maps = json.loads(subprocess.check_output([BPFTOOL, "-j", "map", "show"]))
        self.id = next(str(one["id"]) for one in maps if one["id"] in ids and one["name"] == name)

    def read(self):
        entries = json.loads(subprocess.check_output([BPFTOOL, "-j", "map", "dump", "id", self.id]))
        return [int.from_bytes(bytes(int(byte, 0) for byte in entry["value"]), sys.byteorder) for entry in entries]

    def write(self, i, value):
        subprocess.check_call([BPFTOOL, "map", "update", "id", self.id, "key", *words(i), "value", *words(value)])


def words(value):
    return list(map(str, value.to_bytes(4, sys.byteorder)))


def check_freed(test, daemon, loads):
    """A slot that is taken back, as the engine does when a service is gone: the first that asks has it, on connections
    that were there, and the former owner counts in it no more."""
    slots, owners = Numbers(daemon, "row_slots"), Numbers(daemon, "slot_owners")
    row = owners.read()[1] - 1
    slots.write(row, 0)
    owners.write(1, 0)
    owners.write(0, 1)
    first, late = loads[ROWS - 1], loads[0]
    order(first)
    daemon.wait_rows(f"c{ROWS - 1}", "total_requests", 2)
    moment = time.time()
    then = {name: daemon.exchanges(name, moment)[0] for name in (f"c{ROWS - 1}", "other")}
    order(late)
    wanted = order(first)
    moment = time.time()
    now = {name: daemon.exchanges(name, moment)[0] for name in then}
    refused = daemon.row_after("self", "total_events-refused_request", moment)
    test.equal("exchanges of the one that has got it", now[f"c{ROWS - 1}"] - then[f"c{ROWS - 1}"], wanted)
    test.equal("exchanges of the one that had it, under other", now["other"] - then["other"], wanted)
    test.equal("refused, with the one that had it", refused[1], MANY - (ROWS - 1) + 1)


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(CONF, interval=2)
        many = test.collectd(MANY_CONF, interval=2)
        for one in (daemon, many):
            one.wait_rows("self", "duration-read_request", 1)
        check_cases(test, daemon)
        check_many(test, many)
        for one in (daemon, many):
            test.equal(f"collectd {one.number}: complaints", one.complaints(), [])


if __name__ == "__main__":
    main()

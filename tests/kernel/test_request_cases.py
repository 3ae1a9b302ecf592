#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exchanges and bytes however a service divides its work, receives and sends; and rows for all services
of blocks.

Truth: load_case.c, whose numbers follow from what it was asked.
"""

import time

from lib import SLOWNESS, Test, without

INTERVAL = 0.5 if SLOWNESS < 2 else 2
CASES = ("threads", "large", "noise", "splice", "ring", "ring_file", "forking", "prefork", "pool", "pipeline",
         "rename")
# Not of this test, and unavailable on some kernels.
NO_POLL = without("poll", "delay")
CONF = NO_POLL + "\n".join(f"""
  <Service "{case}">
    Process "kt_{case}"
  </Service>""" for case in (*CASES, "renamed"))
ROWS = 2
MANY = ROWS + 4
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
        test.equal(f"{case}: exchanges, bytes received, bytes sent", got[case], want)


def check_many(test, daemon):
    """Each service of a block has its row, however few there are for others."""
    before = daemon.wait_rows("self", "objects-rows_request", after=time.time())[-1]
    test.equal("services with rows before any listens", before[1], 0)
    loads = [test.load("case", "threads", name=f"kt_c{i}") for i in range(MANY)]
    stranger = test.load("case", "threads", name="kt_stranger")
    for load in (*loads, stranger):
        load.ask("1")
    moment = time.time()
    rows = daemon.row_after("self", "objects-rows_request", moment)
    test.equal("services with rows", rows[1], MANY)
    then = [daemon.exchanges(f"c{i}", moment)[0] for i in range(MANY)]
    wanted = [order(load) for load in loads]
    order(stranger)
    moment = time.time()
    got = [daemon.exchanges(f"c{i}", moment)[0] for i in range(MANY)]
    test.equal("exchanges", [b - a for a, b in zip(then, got)], wanted)
    for figure in ("total_events-refused_request", "objects-services_without_row_request"):
        test.equal(figure, daemon.row_after("self", figure, moment)[1], 0)
    # What no Service block names is not looked at.
    test.equal("series of requests under other", "total_requests" in daemon.metrics("other"), False)


def order(load):
    load.say(str(ORDER))
    return load.result()["requests"]


def main():
    with Test(limit=120) as test:
        daemon = test.collectd(CONF, interval=INTERVAL)
        many = test.collectd(MANY_CONF, interval=INTERVAL)
        for one in (daemon, many):
            one.wait_rows("self", "duration-read_request", 1)
        check_cases(test, daemon)
        check_many(test, many)
        for one in (daemon, many):
            test.equal(f"collectd {one.number}: complaints", one.complaints(), [])


if __name__ == "__main__":
    main()

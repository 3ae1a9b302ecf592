#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows by key in maps of every kind: their growth is dispatched. An object that makes thousands of new names at each
reading gets only its limit of series, and does not slow down others.

Truth: the object adds known numbers at each walk, and counts its walks.
"""

import os
import time

import lib
from lib import Test, without

KINDS = ("hash", "lru_hash", "percpu_hash", "lru_percpu_hash", "array", "narrow")
SIGNALS = ("SIGHUP", "SIGINT", "SIGQUIT")
ROWS = 16
INTERVAL = 0.2 if lib.SLOWNESS < 2 else 1
CONF = """
  <Service "good">
    Process "kt_good"
  </Service>
""" + without("poll", "request") + """
  <Probe "hostile">
    Object "%s"
    Rows %d
  </Probe>
"""


def main():
    with Test(limit=60) as test:
        load = test.load("task", name="kt_good")
        path = os.path.join(lib.BUILD, "tests", "bpf", "hostile_keys.bpf.o")
        daemon = test.collectd(CONF % (path, ROWS), interval=INTERVAL)
        daemon.wait_rows("hostile", "derive-walks", 8)
        daemon.wait_rows("self", "objects-keys_hostile", 1, time.time())
        walks = dict(daemon.rows("hostile", "derive-walks"))
        for kind in KINDS:
            for number, signal in enumerate(SIGNALS, 1):
                rows = daemon.rows("hostile", f"derive-{kind}-{signal}")
                test.within(f"{kind}, {signal}: readings", len(rows), 5, 1000)
                test.equal(f"{kind}, {signal}: counts that are not 11 times the walks times {number}",
                           [row for row in rows if row[0] in walks and row[1] != 11 * number * walks[row[0]]], [])
        texts = {metric for metric in daemon.metrics("hostile") if metric.startswith("derive-text")}
        test.within("series of names that come and go", len(texts), 2, ROWS + 1)
        test.true("and of what has no room", "derive-text-other" in texts)
        test.equal("subjects", daemon.services() - {"good", "other", "kernel", "self", "hostile"}, set())
        test.within("names with series", daemon.rows("self", "objects-keys_hostile")[-1][1], len(SIGNALS) * len(KINDS),
                    len(SIGNALS) * len(KINDS) + ROWS)
        test.within("names without", daemon.rows("self", "objects-other_hostile")[-1][1], 1000, 8192)
        test.within("what they counted, percent", daemon.rows("self", "percent-other_hostile")[-1][1], 50, 100)
        longest = max(row[1] for row in daemon.rows("self", "duration-read_hostile"))
        test.figures.within("s of a reading", longest, 0, 0.5 * lib.SLOWNESS)
        test.equal("counters that fell", daemon.fallen(), [])
        test.equal("complaints", daemon.complaints(), [])
        now = daemon.row_after("good", "ps_count", time.time())
        test.equal("processes and threads of a service", now[1:], (1, 1))
        load.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of command names that are gone go to others at once, although one probe reads once a day.

Truth: a process that has used up all rows by its names, and a name that comes after it.
"""

import ctypes
import os
import time

import lib
from lib import SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else SLOWNESS / 4
MAX_SERVICES = 512  # by far more than all others on this machine are
PR_SET_NAME = 15
PLUGIN = """
  MaxServices {most}
  MaxNewServices 10000
  <Probe "process">
    Interval 86400
  </Probe>
""" + without("poll", "request") + """
  <Probe "sample">
    Object "{sample}"
  </Probe>
"""


def read_names(count):
    """A child that has had so many names."""
    pid = os.fork()
    if pid == 0:
        for number in range(count):
            lib.LIBC.prctl(PR_SET_NAME, ctypes.c_char_p(b"kt_r%d" % number), 0, 0, 0)
        os._exit(0)
    os.waitpid(pid, 0)


def main():
    with Test(limit=60) as test:
        sample = os.path.join(lib.BUILD, "tests", "bpf", "sample.bpf.o")
        daemon = test.collectd(PLUGIN.format(most=MAX_SERVICES, sample=sample), interval=INTERVAL)
        before = daemon.wait_rows("self", "objects-services_other")[-1][1]
        moment = time.time()
        read_names(2 * MAX_SERVICES)
        # The plugin's own reading tells what the last one of a probe has seen.
        full = max(row[1] for row in daemon.wait_rows("self", "objects-services_other", 3, moment))
        print(f"     names without series: {before}, then {full}")
        test.within("rows that the names took", full - before, MAX_SERVICES / 4, MAX_SERVICES)
        while daemon.row_after("self", "objects-services_other", time.time())[1] > before + MAX_SERVICES / 8:
            pass
        load = test.load("task", name="kt_new")
        rows = daemon.wait_rows(test.own("kt_new"), "derive-renames", 2)
        test.true("a name that comes later has series", rows)
        left = daemon.row_after("self", "objects-services_other", time.time())[1]
        test.within("names without series, in the end", left, 0, before + MAX_SERVICES / 8)
        load.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An Attach line of a perf event when the list of online CPUs changes: its events are opened again, and all other hooks
stay attached.

Truth: the list, which is a file of the test that only the daemon sees; the links of the daemon.
"""

import os
import time

import bpf_objects
import lib
from lib import Test
from test_attach import OFF, block

ONLINE = "/sys/devices/system/cpu/online"
INTERVAL = 0.2 if lib.SLOWNESS < 2 else 0.5
PATIENCE = 60 * lib.SLOWNESS  # seconds until the daemon has noticed the change


def write_list(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def links_of(daemon):
    return bpf_objects.numbers("link", daemon.process.pid)


def links_after_change(daemon, links):
    """Waits until the links change; returns those after a further reading."""
    give_up = time.monotonic() + PATIENCE
    while links_of(daemon) == links and time.monotonic() < give_up:
        time.sleep(0.1)
    daemon.row_after("attach", "derive-samples", time.time())
    return links_of(daemon)


def main():
    with Test(limit=120) as test:
        path = os.path.join(test.dir, "online")
        with open(ONLINE, encoding="ascii") as file:
            write_list(path, file.read())
        config = OFF + block("attach", "attach", 'Attach "perf:cpu-clock:frequency=50"',
                             'Attach "tracepoint:sched:sched_process_fork"')
        daemon = test.collectd(config, interval=INTERVAL, wrap=lib.in_mounts(lib.WITH_TRACEFS,
                                                                             f"mount --bind {path} {ONLINE}"))
        daemon.wait_rows("attach", "derive-samples")
        links = links_of(daemon)
        daemon.row_after("attach", "derive-samples", time.time())
        test.equal("links that change with the same CPUs", links_of(daemon) ^ links, set())
        write_list(path, "0-0\n")  # no kernel writes it so
        after = links_after_change(daemon, links)
        cpus = os.sysconf("SC_NPROCESSORS_ONLN")
        test.equal("links that are closed, and opened", [len(links - after), len(after - links)], [cpus, cpus])
        test.true("other links stay", links & after)
        before = daemon.row_after("attach", "derive-samples", time.time())[1]
        time.sleep(2 * INTERVAL)
        test.true("the program counts again", daemon.row_after("attach", "derive-samples", time.time())[1] > before)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program counts while it is preempted, and the same program runs for another thread on the same CPU, is counted for
the service, the label and the result that it is of: calls and errors of a function of two services, whose threads preempt
each other, by name of the thread. Of programs of others that are not safe from that the log says so.

Truth: the threads count their own calls, and those that fail.
"""

import os
import re
import time

from lib import SLOWNESS, Test
from test_attach import OFF, block

INTERVAL = 0.5 if SLOWNESS < 2 else 1
SECONDS = 5
SERVICES = ("hot_a", "hot_b")
CALLS, ERRORS, TIME = ("total_operations-function-busy-", "errors-function-busy-", "total_time_in_ms-function-busy-")
FUNCTION = """
<Probe "functions">
  <Function "busy">
    Attach "uprobe:{}:busy"
    Argument 1 "label" "string"
    Errors "<" 0
    Latency true
  </Function>
</Probe>
"""


# Of tests/bpf/frame.bpf.c, at a function that is not called.
FRAMES = ("frame_large", "frame_of_thread", "frame_small")
PRIVATE_STACKS = (6, 13)  # the first kernel that has them


def attached(path):
    kinds = {"frame_of_thread": "uretprobe"}
    return block("frame", "frame", *(f'Attach "{kinds.get(name, "uprobe")}:{path}:main" "{name}"' for name in FRAMES))


def check_frames(test, daemon):
    kernel = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))
    logged = [line.split("ebpf plugin: ")[1] for line in daemon.log() if "may count wrong" in line]
    test.equal("programs whose frames threads may overwrite", [line.split(" may count")[0] for line in logged],
               ["probe frame: the program frame_large"] if kernel >= PRIVATE_STACKS else [])


def names(daemon, service, kind):
    """Labels of the series of this kind."""
    return {metric.removeprefix(kind) for metric in daemon.metrics(service) if metric.startswith(kind)}


def check_service(test, daemon, service, truth, moment):
    got = {name: [daemon.row_after(service, kind + name, moment)[1] for kind in (CALLS, ERRORS)] for name in truth}
    test.equal(f"{service}: [calls, failed] of each thread", got, truth)
    for kind in (CALLS, ERRORS, TIME):
        test.equal(f"{service}: series {kind}", names(daemon, service, kind), set(truth))


def main():
    with Test(limit=60) as test:
        path = test.program("preempt", "kt_hot_a")
        blocks = "".join(f'<Service "{name}">\n Process "kt_{name}"\n</Service>\n' for name in SERVICES)
        daemon = test.collectd(OFF + blocks + FUNCTION.format(path) + attached(path), interval=INTERVAL)
        loads = {name: test.load_at(test.program("preempt", "kt_" + name), name[-1]) for name in SERVICES}
        daemon.wait_rows("self", "duration-read_functions")
        daemon.wait_rows("self", "duration-read_frame")
        for load in loads.values():
            load.say(str(SECONDS))
        truth = {name: load.result() for name, load in loads.items()}
        moment = time.time()
        for name in SERVICES:
            check_service(test, daemon, name, truth[name], moment)
        test.equal("calls that were refused", daemon.row_after("self", "total_events-refused_functions", moment)[1], 0)
        test.equal("series of others", names(daemon, "other", CALLS), set())
        check_frames(test, daemon)
        test.equal("complaints", [it for it in daemon.complaints() if "functions" in it], [])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects that would take the engine's maps or the machine's memory: each that cannot be a probe costs one message, and
no series of a service changes.

Truth: the objects themselves, and one process that is there all the time.
"""

import os
import time

import lib
from lib import Test

BESIDE = True
GOOD = """
  <Service "good">
    Process "kt_good"
  </Service>
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Enable false
  </Probe>
"""
# Object, what is replaced in it, and the text that its message must show; None: it is a probe.
OBJECTS = {
    "names": ("hostile_names", None, None),
    "value": ("hostile_value", None, "map service_tasks: its value size is 48"),
    "layout": ("sample", (b"\0shared:1\0", b"\0shared:9\0"), "map service_tasks: its layout is number 9, the plugin's 1"),
    "rows": ("hostile_rows", None, "map rows: it has 1000000 rows, and a table has 16384 at most"),
    "sharded": ("hostile_sharded", None, "map sharded: it has 2147483649 rows"),
    "hash": ("hostile_hash", None, "most of it for the map hashed, but of MaxMemory 256 only "),
    "walk": ("hostile_walk", None, "cannot run its iterator: it does not come to an end"),
}


def write_object(directory, name, source, change):
    with open(os.path.join(lib.BUILD, "tests", "bpf", source + ".bpf.o"), "rb") as file:
        content = file.read()
    if change:
        assert change[0] in content
        content = content.replace(*change)
    path = os.path.join(directory, name + ".o")
    with open(path, "wb") as file:
        file.write(content)
    return path


def main():
    with Test(limit=60) as test:
        directory = test.mkdir("hostile")
        load = test.load("task", name="kt_good")
        blocks = ""
        for name, (source, change, _) in OBJECTS.items():
            path = write_object(directory, name, source, change)
            blocks += f'<Probe "{name}">\n Object "{path}"\n</Probe>\n'
        daemon = test.collectd(GOOD + blocks, interval=1)
        rows = daemon.wait_rows("good", "ps_count", 3)
        test.equal("processes and threads of the service, after the first reading", set(rows[1:]),
                   {(row[0], 1, 1) for row in rows[1:]})
        for name, (_, _, text) in OBJECTS.items():
            lines = [line for line in daemon.complaints() if f"probe {name} " in line]
            if text:
                test.equal(f"{name}: messages {lines}", len(lines), 1)
                test.true(f"{name}: {text!r} is in it", text in "".join(lines))
            else:
                test.equal(f"{name}: messages", lines, [])
        test.within("names: walks", daemon.wait_rows("names", "derive-walks", 2)[-1][1], 2, 100)
        test.within("names: assignments, of which the engine knows nothing", daemon.rows("names", "gauge-assignments")[-1][1], 2,
                    1e6)
        now = daemon.row_after("good", "ps_count", time.time())
        test.equal("processes and threads of the service", now[1:], (1, 1))
        load.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TypesDB with a file of the user's that lacks types, has none, or has others of the same names: all probes that are on with
collectd's own file are on, series of the types that are left are dispatched, and one message has the lines that are missing.

Truth: collectd's own file.
"""

import glob
import os
import re
import time

import collectd
from lib import BUILD, SLOWNESS, Test

INTERVAL = 1 if SLOWNESS < 2 else 5
NAMES = sorted(os.path.basename(path).partition(".")[0] for path in glob.glob(os.path.join(BUILD, "bpf", "*.bpf.o")))
ALL = "".join(f'  <Probe "{name}">\n    Enable true\n    Collect "*"\n  </Probe>\n' for name in NAMES if name != "functions")
LACKS = "types.db lacks these lines"
REMOVED = {"ps_rss", "io_octets", "objects"}  # the last of the plugin's own figures
CHANGED = {"ps_count": "ps_count value:GAUGE:0:U", "ps_vm": "ps_vm value:DERIVE:0:U"}
# These still fit.
FITTING = {"ps_cputime": "ps_cputime syst:DERIVE:0:U, user:DERIVE:0:U",
           "ps_pagefaults": "ps_pagefaults minflt:DERIVE:0:9, majflt:DERIVE:0:U"}


def own_lines():
    """{type: its line in collectd's own file, with single spaces}"""
    with open(collectd.TYPES, encoding="ascii") as file:
        return {line.split()[0]: " ".join(line.split()) for line in file if line.strip() and not line.startswith("#")}


def start(test, name, lines):
    path = os.path.join(test.mkdir(name), "types.db")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(line + "\n" for line in lines)
    return test.collectd(ALL, interval=INTERVAL, types=path)


def probes(daemon, off=False):
    """The probes that the log says are on, or off."""
    return sorted(set(re.findall(rf"probe (\S+) is {'off' if off else 'on'}", "\n".join(daemon.log()))))


def wait_reading(daemon, seconds=60):
    give_up = time.monotonic() + seconds * SLOWNESS
    while not any("entering read-loop" in line for line in daemon.log()):
        if time.monotonic() > give_up:
            raise TimeoutError("collectd has not begun to read")
        time.sleep(0.05)


def messages(daemon):
    """(number of messages, lines in them)"""
    log, count, lines = daemon.log(), 0, []
    for i, line in enumerate(log):
        if LACKS in line:
            count += 1
            for following in log[i + 1:]:
                if following.startswith("["):
                    break
                lines.append(following)
    return count, lines


def main():
    own = own_lines()
    with Test(limit=150) as test:
        full = start(test, "full", own.values())
        full.wait_rows("self", "duration-read_process", 2)
        test.equal("with all types: messages", messages(full), (0, []))
        used = {metric.partition("-")[0] for subject in full.subjects() for metric in full.metrics(subject)}
        test.true("types in use", REMOVED | set(CHANGED) | set(FITTING) <= used, sorted(used))
        test.stop(full)

        some = start(test, "some", ({**own, **CHANGED, **FITTING}[name] for name in own if name not in REMOVED))
        some.wait_rows("self", "duration-read_process", 2)
        test.equal("without some: probes", (probes(some), probes(some, off=True)), (probes(full), probes(full, off=True)))
        count, lines = messages(some)
        test.equal("without some: messages", count, 1)
        test.equal("without some: lines", sorted(lines), sorted(own[name] for name in REMOVED | set(CHANGED)))
        left = {metric.partition("-")[0] for subject in some.subjects() for metric in some.metrics(subject)}
        test.equal("without some: types dispatched", sorted(left & (REMOVED | set(CHANGED))), [])
        test.equal("without some: the others", sorted(set(FITTING) - left), [])
        test.equal("without some: messages of collectd", [line for line in some.log() if "check your types.db" in line], [])
        test.stop(some)

        empty = start(test, "empty", ())
        wait_reading(empty)
        test.equal("without any: probes", (probes(empty), probes(empty, off=True)), (probes(full), probes(full, off=True)))
        _, lines = messages(empty)
        test.equal("without any: lines that are missing", sorted({own[name] for name in used} - set(lines)), [])
        test.equal("without any: lines that are not collectd's", sorted(set(lines) - set(own.values())), [])
        test.equal("without any: types without a line", [line for line in empty.log() if "lacks these types" in line], [])


if __name__ == "__main__":
    main()

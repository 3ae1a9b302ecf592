#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All probes at once, each with all its options and all its metrics: each loads, with whichever set of hooks the kernel
has, and is read, without a complaint in the log.

Truth: the sources, which say which probes and options there are.
"""

import glob
import os
import re
import time

from lib import NEEDED, SLOWNESS, WITH_TRACEFS, Test, in_mounts

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
READINGS = 3
INTERVAL = 0.5 if SLOWNESS < 2 else 1


def probes():
    """{name: options}"""
    found = {}
    for path in glob.glob(os.path.join(TOP, "bpf", "*.bpf.c")):
        with open(path, encoding="utf-8") as source:
            text = source.read()
        headers = [os.path.join(TOP, "bpf", "lib", name) for name in re.findall(r'#include "([\w.]+)"', text)]
        for header in filter(os.path.exists, headers):
            with open(header, encoding="utf-8") as source:
                text += source.read()
        found[os.path.basename(path).split(".")[0]] = set(re.findall(r'^\w*[^/*\n]*(?:OPTION|BY_CPU)\("(\w+)"\)', text, re.M))
    return found


def block(name, options):
    lines = "".join(f'    Option "{option}"\n' for option in sorted(options)) + NEEDED.get(name, "")
    return f'  <Probe "{name}">\n    Enable true\n    MaxOverhead 100\n{lines}  </Probe>\n'


def main():
    with Test(limit=90) as test:
        wanted = probes()
        test.within("probes", len(wanted), 18, 100)
        daemon = test.collectd('  <Service "all">\n    Process "kt_all"\n  </Service>\n' +
                               "".join(block(*probe) for probe in wanted.items()), interval=INTERVAL,
                               collect=tuple(wanted), wrap=in_mounts(WITH_TRACEFS))
        load = test.load("task", name="kt_all")
        daemon.wait_rows("all", "ps_count", READINGS, time.time())
        for name in sorted(wanted):
            hook_sets = [row[1] for row in daemon.rows("self", f"count-tier_{name}")]
            test.true(f"{name} is on: hook set {hook_sets[-1:]}", hook_sets and hook_sets[-1] > 0)
        test.equal("complaints", daemon.complaints(), [])
        test.equal("counters that fell", daemon.fallen(), [])
        load.end()


if __name__ == "__main__":
    main()

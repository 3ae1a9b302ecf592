#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints of each probe of this build which hook set its kernel lets it have, 0 for a probe that is off, and all that the
kernel offers: NAME TIER TIER,TIER..."""

import os
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "kernel")]
import collectd
import hooks
import lib


def wait_hook_sets(daemon, probes):
    give_up = time.monotonic() + 30 * lib.SLOWNESS
    while time.monotonic() < give_up:
        hook_sets = {probe: daemon.rows("self", f"count-tier_{probe}") for probe in probes}
        if all(hook_sets.values()):
            return {probe: int(rows[-1][1]) for probe, rows in hook_sets.items()}
        time.sleep(0.2)
    raise TimeoutError("\n".join(daemon.log()))


def block(probe, number, hook_set):
    option = hook_set.option() if hook_set else None
    return f"""
  <Probe "{probe}">
    Enable {"true" if hook_set else "false"}
    HookSet {number}
    {f'Option "{option}"' if option else ""}
  </Probe>"""


# The probe syscalls is off where there is none.
SERVICE = """
  <Service "none">
    Process "kt_none"
  </Service>"""


class Kernel:
    def __init__(self, directory):
        self.directory, self.daemons = directory, 0

    def ask(self, plugin, probes):
        """{probe: hook set in use}"""
        daemon = collectd.Daemon(lib.COLLECTD, self.directory, lib.BUILD, self.daemons, plugin + SERVICE, interval=1,
                                 wrap=lib.in_mounts(lib.WITH_TRACEFS), preexec=lib.die_with_test)
        self.daemons += 1
        daemon.start()
        try:
            return wait_hook_sets(daemon, probes(daemon))
        finally:
            daemon.stop()


def all_probes(daemon):
    return [name.removesuffix(".bpf.o") for name in os.listdir(daemon.objects)]


def built():
    return [name.removesuffix(".bpf.o") for name in os.listdir(os.path.join(lib.BUILD, "bpf")) if name.endswith(".bpf.o")]


def main():
    with tempfile.TemporaryDirectory() as directory:
        kernel = Kernel(directory)
        # Also those that are off by default.
        enabled = "".join(f'<Probe "{name}">\n Enable true\n{lib.NEEDED.get(name, "")}</Probe>\n' for name in built())
        chosen = kernel.ask(enabled, all_probes)
        hook_sets = {probe: hooks.hooks(probe) for probe in chosen}
        offered = {probe: {1} if len(hook_sets[probe]) == 1 and hook_set else set() for probe, hook_set in chosen.items()}
        several = [probe for probe in chosen if len(hook_sets[probe]) > 1]
        for number in sorted({number for probe in several for number in hook_sets[probe]}):
            wanted = [probe for probe in several if number in hook_sets[probe]]
            blocks = "".join(block(probe, number, hook_sets[probe].get(number)) for probe in several)
            for probe, hook_set in kernel.ask(blocks, lambda _daemon, names=wanted: names).items():
                if hook_set:
                    offered[probe].add(hook_set)
        for probe, hook_set in sorted(chosen.items()):
            print(probe, hook_set, ",".join(map(str, sorted(offered[probe]))) or 0)


main()

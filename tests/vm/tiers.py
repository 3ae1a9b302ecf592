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


def wait_tiers(daemon, probes):
    give_up = time.monotonic() + 30 * lib.SLOWNESS
    while time.monotonic() < give_up:
        tiers = {probe: daemon.rows("self", f"count-tier_{probe}") for probe in probes}
        if all(tiers.values()):
            return {probe: int(rows[-1][1]) for probe, rows in tiers.items()}
        time.sleep(0.2)
    raise TimeoutError("\n".join(daemon.log()))


def block(probe, number, tier):
    option = tier.option() if tier else None
    return f"""
  <Probe "{probe}">
    Enable {"true" if tier else "false"}
    Tier {number}
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
            return wait_tiers(daemon, probes(daemon))
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
        tiers = {probe: hooks.hooks(probe) for probe in chosen}
        offered = {probe: {1} if len(tiers[probe]) == 1 and tier else set() for probe, tier in chosen.items()}
        several = [probe for probe in chosen if len(tiers[probe]) > 1]
        for number in sorted({number for probe in several for number in tiers[probe]}):
            wanted = [probe for probe in several if number in tiers[probe]]
            blocks = "".join(block(probe, number, tiers[probe].get(number)) for probe in several)
            for probe, tier in kernel.ask(blocks, lambda _daemon, names=wanted: names).items():
                if tier:
                    offered[probe].add(tier)
        for probe, tier in sorted(chosen.items()):
            print(probe, tier, ",".join(map(str, sorted(offered[probe]))) or 0)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints of each probe of this build which tier its kernel lets it have: NAME TIER, 0 for a probe that is off."""

import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernel"))
import collectd
import lib


def wait_tiers(daemon, probes):
    give_up = time.monotonic() + 30 * lib.SLOWNESS
    while time.monotonic() < give_up:
        tiers = {probe: daemon.rows("self", f"count-tier_{probe}") for probe in probes}
        if all(tiers.values()):
            return {probe: int(rows[-1][1]) for probe, rows in tiers.items()}
        time.sleep(0.2)
    raise TimeoutError("\n".join(daemon.log()))


def main():
    with tempfile.TemporaryDirectory() as directory:
        daemon = collectd.Daemon(lib.COLLECTD, directory, lib.BUILD, 0, "", interval=1, preexec=lib.die_with_test)
        probes = [name.removesuffix(".bpf.o") for name in os.listdir(daemon.objects) if name != "service.bpf.o"]
        daemon.start()
        for probe, tier in sorted(wait_tiers(daemon, probes).items()):
            print(probe, tier)
        daemon.stop()


main()

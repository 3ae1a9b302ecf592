#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The frequency of each CPU.

Truth: the kernel's file, read around the time of the reading. Where no CPU is scaled, there must be no series and no
complaint; then the same object reads another file of each CPU.
"""

import glob
import os
import time

from lib import BUILD, SLOWNESS, Skip, Test

INTERVAL = 0.2 if SLOWNESS < 2 else 1
CONF = """
  ServicesFrom "none"
  <Probe "cpufreq">
    Enable true
  </Probe>
"""
FILES = "/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"


def frequencies():
    """{CPU: Hz}"""
    found = {}
    for path in glob.glob(FILES):
        with open(path, encoding="ascii") as file:
            found[path.split("/")[5]] = int(file.read()) * 1000
    return found


# A link if possible, as cpufreq is one.
STANDINS = ("node0/distance", "topology/core_id")
OTHER = """
  ServicesFrom "none"
  <Probe "standin">
    Object "%s"
    Enable true
  </Probe>
"""


def stand_in(test):
    """Compares another file of each CPU, which the object reads instead of the frequency."""
    name = next((name for name in STANDINS if os.path.exists(f"/sys/devices/system/cpu/cpu0/{name}")), None)
    if not name:
        raise Skip("no file of CPUs in /sys")
    with open(os.path.join(BUILD, "bpf", "cpufreq.bpf.o"), "rb") as file:
        content = file.read()
    old = b"cpu*/cpufreq/scaling_cur_freq lines"
    new = f"cpu*/{name}".encode()
    assert content.count(old) == 1
    path = os.path.join(test.dir, "standin.bpf.o")
    with open(path, "wb") as file:
        file.write(content.replace(old, new + b" " * (len(old) - len(new) - 5) + b"lines"))
    daemon = test.collectd(OTHER % path, interval=INTERVAL)
    daemon.wait_rows("self", "duration-read_standin", 3)
    wanted = {}
    for path in glob.glob(f"/sys/devices/system/cpu/cpu[0-9]*/{name}"):
        with open(path, encoding="ascii") as file:
            wanted[path.split("/")[5]] = 1000 * int(file.read().split()[0])
    test.equal(f"{name} of each CPU, times 1000",
               {cpu: daemon.rows(cpu, "cpufreq")[-1][1] for cpu in daemon.subjects() if "cpufreq" in daemon.metrics(cpu)}, wanted)
    test.equal("complaints", daemon.complaints(), [])
    test.stop(daemon)


def main():
    with Test(limit=60) as test:
        daemon = test.collectd(CONF, interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_cpufreq", 3)
        snapshots = [frequencies()]
        moment = time.time()
        while snapshots[0] and time.time() < moment + 3 * INTERVAL:
            snapshots.append(frequencies())
            time.sleep(0.01)
        said = {cpu for cpu in daemon.subjects() if "cpufreq" in daemon.metrics(cpu)}
        test.equal("CPUs that have a frequency", said, set(snapshots[0]))
        for cpu in said:
            seen = [snapshot[cpu] for snapshot in snapshots]
            got = daemon.row_after(cpu, "cpufreq", moment)[1]
            test.true(f"{cpu}: Hz", got > 0, got)
            test.figures.within(f"{cpu}: Hz", got, 0.7 * min(seen), 1.3 * max(seen))
        test.equal("complaints", daemon.complaints(), [])
        test.stop(daemon)
        if not snapshots[0]:
            test.left_out("frequencies", "no CPU is scaled here")
            stand_in(test)


if __name__ == "__main__":
    main()

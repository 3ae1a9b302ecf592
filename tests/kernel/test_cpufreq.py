#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The frequency of each CPU.

Truth: what the kernel's file says around the reading. Where it scales no CPU, that nothing is said, and nobody complains.
"""

import glob
import time

from lib import Test

CONF = """
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


def main():
    with Test(limit=60) as test:
        daemon = test.collectd(CONF, interval=1)
        daemon.wait_rows("self", "duration-read_cpufreq", 3)
        looks = [frequencies()]
        moment = time.time()
        while time.time() < moment + 3:
            looks.append(frequencies())
            time.sleep(0.01)
        said = {cpu for cpu in daemon.subjects() if "cpufreq" in daemon.metrics(cpu)}
        if not looks[0]:
            print("note: no CPU is scaled here, so that there are no frequencies to compare")
        test.equal("CPUs that have a frequency", said, set(looks[0]))
        for cpu in said:
            seen = [look[cpu] for look in looks]
            test.within(f"{cpu}: Hz", daemon.row_after(cpu, "cpufreq", moment)[1], 0.7 * min(seen), 1.3 * max(seen))
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

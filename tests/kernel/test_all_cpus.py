#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_all on a machine with many possible CPUs: per-CPU maps have a copy for each, and all fit into MaxMemory.

Truth: /sys/devices/system/cpu/possible, for the number of CPUs.
"""

import sys

import test_all

POSSIBLE_CPUS = "240"


def main():
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as file:
        last = file.read().strip().rpartition("-")[2]
    if int(last) + 1 != int(POSSIBLE_CPUS):
        sys.exit(f"FAIL: the last possible CPU is {last}")
    test_all.main()


if __name__ == "__main__":
    main()

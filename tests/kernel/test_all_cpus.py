#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_all where many CPUs may be plugged in: maps per CPU have a copy for each, and all are within MaxMemory.

Truth: /sys/devices/system/cpu/possible says how many that are.
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

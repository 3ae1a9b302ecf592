#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A kernel booted with BOOT forbids to read its memory: the plugin is off and says why, and the daemon keeps running.

Truth: /sys/kernel/security/lockdown.
"""

from lib import Skip, Test
from test_absence import plugin_is_off

BOOT = "lockdown=confidentiality"
REMEDY = "the kernel's lockdown forbids reading its memory; boot it with lockdown=integrity, or without"


def require_lockdown(boot):
    """Skips the test unless the kernel was booted with this parameter."""
    try:
        with open("/sys/kernel/security/lockdown", encoding="ascii") as levels:
            if f"[{boot.partition('=')[2]}]" in levels.read():
                return
    except FileNotFoundError:
        pass
    raise Skip(f"this kernel was not booted with {boot}")


def main():
    with Test(limit=60) as test:
        require_lockdown(BOOT)
        plugin_is_off(test, "lockdown", [], "bpf_probe_read", REMEDY)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An option that fails costs the option, not the probe: without tracefs the classic tracepoints of an option are missing.

Truth: the mounts of the daemon.
"""

import time

from lib import Test, in_mounts

OPTIONS = ("mappings", "pages", "kmalloc")
REMEDY = "tracefs is not there; mount -t tracefs tracefs /sys/kernel/tracing"
NO_TRACEFS = [f"[ ! -d {path} ] || mount -t tmpfs tmpfs {path}" for path in ("/sys/kernel/tracing", "/sys/kernel/debug")]


def main():
    with Test(limit=60) as test:
        lines = "".join(f'    Option "{option}"\n' for option in OPTIONS)
        daemon = test.collectd(f'  <Service "own">\n    Process "kt_own"\n  </Service>\n'
                               f'  <Probe "memory">\n    Enable true\n{lines}  </Probe>\n',
                               interval=0.2, wrap=in_mounts(*NO_TRACEFS))
        test.load("memory", name="kt_own")
        for metric in ("vmpage_action-alloc", "total_operations-kmalloc"):
            test.true(f"{metric} is there", daemon.wait_rows("own", metric, 2, time.time(), 10))
        test.equal("count-tier_memory", daemon.wait_rows("self", "count-tier_memory")[-1][1], 1)
        test.equal("series of the option that fails",
                   {name for name in daemon.metrics("own") if name.endswith(("-brk", "-mmap", "-munmap"))}, set())
        said = [line for line in daemon.log() if "probe memory" in line and "[info]" not in line]
        test.equal(f"messages {said}", len(said), 1)
        for part in ("[error]", 'ignoring Option "mappings": cannot attach to tracepoint/syscalls/sys_enter_brk: ', REMEDY):
            test.contains(f"the message has {part}", said[0], part)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""On a kernel booted with BOOT nothing is missing: the probe request has the same hook sets as without it, they count, and
no probe logs a message.

Truth: /sys/kernel/security/lockdown; the server's log of each request (load_request.c) and its client's count.
"""

import os

from lib import Test
from test_absence import said
from test_lockdown import require_lockdown
from request_hook_sets import OFFERED
from test_requests import Pair, check_counts, start_all

BOOT = "lockdown=integrity"
REQUESTS = 30


def main():
    with Test(limit=120) as test:
        require_lockdown(BOOT)
        pair = Pair(test, "tcp", 4)
        daemons = start_all(test)
        test.equal("hook sets that this kernel offers", set(daemons), OFFERED[os.environ["VM_KERNEL"]])
        check_counts(test, daemons, [pair], REQUESTS)
        for hook_set, daemon in daemons.items():
            test.equal(f"hook set {hook_set}: processes", daemon.wait_rows(pair.kind, "ps_count")[-1][1], 1)
            test.equal(f"hook set {hook_set}: messages", said(daemon), [])


if __name__ == "__main__":
    main()

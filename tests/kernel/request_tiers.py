# SPDX-License-Identifier: MIT
"""The sets of hooks of the request probe, see bpf/request.bpf.c, and what tests ask of daemons that use them."""

import contextlib
import os
import signal
import time

from lib import SLOWNESS

TIERS = (1, 2, 3, 4, 5)
IN_SOCKET = (1, 2, 3)         # keep what they know of a socket in it
KNOWS_ARRIVAL = (1, 2, 3, 4)  # know when a request has come
# What Debian's kernels are known to have; of any other one at least one.
OFFERED = {"6.1": {3, 4, 5}, "6.12": {1, 2, 5}}


@contextlib.contextmanager
def no_readings(daemons):
    """By these. What is done meanwhile is in one interval of each metric, however long it takes."""
    pids = [daemon.process.pid for daemon in daemons]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def gets(daemon, subject, metric, want, moment):
    """Its value after this moment, when it is what is wanted, or the last. The first may be of an interval that was not
    over yet, or without an answer whose call was not."""
    give_up = time.monotonic() + 30 * SLOWNESS
    while (got := daemon.row_after(subject, metric, moment)[1]) != want and time.monotonic() < give_up:
        moment = time.time()
    return got

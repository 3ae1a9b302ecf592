# SPDX-License-Identifier: MIT
"""The hook sets of the request probe, see bpf/request.bpf.c, and functions for daemons that use them."""

import contextlib
import os
import signal
import time

from lib import SLOWNESS

HOOK_SETS = (1, 2, 3, 4, 5)
IN_SOCKET = (1, 2, 3)         # hook sets that store their data of a socket in it
KNOWS_ARRIVAL = (1, 2, 3, 4)  # hook sets that know the time at which a request arrived
# The hook sets that Debian's kernels offer. Any other kernel must offer at least one.
OFFERED = {"6.1": {3, 4, 5}, "6.12": {1, 2, 5}}


@contextlib.contextmanager
def no_readings(daemons):
    """Stops these daemons meanwhile, so that all that is done is in one interval of each metric, however long it takes."""
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
    """Waits until the metric has the wanted value in a reading after `moment`, and returns it, or the last value. The first
    reading may be too early: before the end of the interval, or of the call that sends the last response."""
    give_up = time.monotonic() + 30 * SLOWNESS
    while (got := daemon.row_after(subject, metric, moment)[1]) != want and time.monotonic() < give_up:
        moment = time.time()
    return got

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What blocked threads are blocked on: a thread for each way to be blocked, with and without a request in hand.

Truth: what the threads do (load_blocked.c).
"""

import os
import time

import lib
from lib import Test, without

INTERVAL = 0.5 if lib.SLOWNESS < 2 and not os.environ.get("TEST_FIGURES") else 2
CONF = """
  MaxSampling 20
  <Service "load">
    Process "kt_blocked"
  </Service>
""" + without("disk", "poll") + """
  <Probe "blocked">
    Object "{object}"
    Rows 512
  </Probe>
"""

WAYS = {
    "LOCK": ("n_futex", "n_flock", "n_fcntl", "n_semop", "h05_futex", "h11_epoll_latch", "h16_epoll_unix"),
    "SLEEP": ("n_nanosleep", "n_clock_sleep", "n_poll_none", "n_select_none"),
    "PIPE": ("n_pipe", "n_full_pipe", "n_fifo", "n_socketpair"),
    "UPSTREAM": ("n_upstream", "n_upstream_unix", "n_full_upstream", "n_connect", "h04_upstream", "h07_poll_other",
                 "h12_epoll_up"),
    "CLIENT": ("n_full_accepted", "h01_held", "h02_full_held"),
    "EVENTS": ("n_epoll", "h10_epoll_held", "h13_epoll_lstn", "h14_epoll_other", "h15_epoll_nest"),
    "IDLE": ("n_accept", "n_accepted", "n_accepted_unix", "n_poll", "h06_poll", "n_inotify", "n_tty"),
    "OTHER": ("n_poll_pause", "n_pause", "n_wait", "n_msgrcv", "n_eventfd", "n_timerfd", "n_signalfd", "h03_accepted"),
}
# These run in between: the least share of their samples that must be of this kind.
BUSY = {"n_fsync": ("DISK", 0.95), "n_direct": ("DISK", 0.95), "n_fault": ("MEMORY", 0.5)}
# Missing on kernels without io_uring.
OPTIONAL = {"n_io_uring": "EVENTS"}


def seen(daemon):
    """{thread: {what: samples}} of the last reading."""
    found = {}
    for metric in daemon.metrics("blocked"):
        if not metric.startswith("derive-seen-"):
            continue
        thread, what = metric[len("derive-seen-"):].rsplit("-", 1)
        count = daemon.rows("blocked", metric)[-1][1]
        found.setdefault(thread, {})[what.replace("BLOCKED_", "")] = count
    return found


def wait_seen(daemon, names, seconds=60):
    """Waits until each of these has been sampled, and some more intervals for the optional ones."""
    moment, give_up = time.time(), time.monotonic() + seconds * lib.SLOWNESS
    while not names <= set(seen(daemon)) and time.monotonic() < give_up:
        daemon.row_after("blocked", "derive-seen-n_futex-BLOCKED_LOCK", time.time())
    daemon.row_after("blocked", "derive-seen-n_futex-BLOCKED_LOCK", moment + 3 * INTERVAL * lib.SLOWNESS)
    return seen(daemon)


def main():
    with Test(limit=90) as test:
        path = os.path.join(lib.BUILD, "tests", "bpf", "blocked.bpf.o")
        load = test.load("blocked", test.disk, name="kt_blocked")
        threads = load.result()["threads"]
        daemon = test.collectd(CONF.format(object=path), interval=INTERVAL)
        counts = wait_seen(daemon, set().union(*WAYS.values()))
        known = sum(len(names) for names in WAYS.values()) + len(BUSY) + len(OPTIONAL)
        test.equal("ways to be blocked", threads, known)
        for what, names in WAYS.items():
            for name in names:
                test.equal(f"{name}: what it is blocked on", list(counts.get(name, {})), [what])
        for name, what in OPTIONAL.items():
            if name in counts:
                test.equal(f"{name}: what it is blocked on", list(counts[name]), [what])
            else:
                test.left_out(name, "this kernel or file system lacks it")
        for name, (what, least) in BUSY.items():
            samples = counts.get(name, {})
            print(f"     {name}: {samples}")
            if sum(samples.values()) >= 20:
                test.figures.within(f"{name}: share that is {what}", samples.get(what, 0) / sum(samples.values()), least,
                                    1)
        test.equal("complaints", daemon.complaints(), [])
        load.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What blocked threads are blocked on: a thread for each way to be blocked, with and without a request in hand.

Truth: what the threads do (load_blocked.c).
"""

import os
import time

import lib
import truth
from cgroups import Cgroups, controller_root, unified_root
from lib import Test, without

INTERVAL = 0.5 if lib.SLOWNESS < 2 and not os.environ.get("TEST_FIGURES") else 2
CONF = """
  MaxSampling 20
  <Service "load">
    ProcessMatch "kt_blocked"
  </Service>
""" + without("disk", "poll") + """
  <Probe "blocked">
    Object "{object}"
    Rows 512
  </Probe>
"""

WAYS = {
    "LOCK": ("n_futex", "n_flock", "n_fcntl", "n_semop", "h05_futex", "h11_epoll_latch", "h16_epoll_unix"),
    "TIMED_WAIT": ("n_futex_timed", "n_cond_timed", "n_futex_waitv", "n_semop_timed", "n_futex_again"),
    "SLEEP": ("n_nanosleep", "n_clock_sleep", "n_poll_none", "n_select_none", "n_timerfd", "n_sleep_again"),
    "PIPE": ("n_pipe", "n_full_pipe", "n_fifo", "n_socketpair", "l18_pipe_child"),
    "CHILD": ("n_wait", "n_waitid", "n_vfork", "h17_pipe_child", "h19_poll_child", "h23_epoll_child"),
    "EVENT": ("n_join", "n_poll_pause", "n_pause", "n_sigwait", "n_msgrcv", "n_mq", "n_eventfd", "n_signalfd",
              "h22_inotify"),
    "STOPPED": ("n_stopped", "n_traced"),
    "UPSTREAM": ("n_upstream", "n_upstream_unix", "n_full_upstream", "n_connect", "h04_upstream", "h07_poll_other",
                 "h12_epoll_up", "h20_poll_upstr", "l21_poll_child", "h24_poll_output"),
    "CLIENT": ("n_full_accepted", "h01_held", "h02_full_held"),
    "EVENTS": ("n_epoll", "h10_epoll_held", "h13_epoll_lstn", "h14_epoll_other", "h15_epoll_nest"),
    "IDLE": ("n_accept", "n_accepted", "n_accepted_unix", "n_poll", "n_poll_again", "h06_poll", "n_inotify", "n_tty"),
    "OTHER": ("h03_accepted",),
}
# These run in between: the least share of their samples that must be of this kind.
BUSY = {"n_fsync": ("DISK", 0.95), "n_direct": ("DISK", 0.95), "n_fault": ("DISK", 0.5)}
# Missing on kernels without io_uring.
OPTIONAL = {"n_io_uring": "EVENTS"}


# By version: the file to write, what freezes, what thaws.
FREEZERS = {"n_frozen_v1": ("freezer.state", "FROZEN", "THAWED"), "n_frozen": ("cgroup.freeze", "1", "0")}


class Freezer:
    """A cgroup in which the process with this command name is frozen. file is None where the kernel lacks that version."""

    def __init__(self, test, pids, name):
        file, self.freeze, self.thaw = FREEZERS[name]
        root = controller_root("freezer") if file == "freezer.state" else unified_root()
        self.file = None
        if not root:
            return
        groups = Cgroups(root)
        test.at_end(groups.remove)
        directory = groups.make(test.own(f"kt_{name}"))
        groups.enter(os.path.basename(directory),
                     next(pid for pid in pids if truth.proc(pid, "comm").strip() == name))
        self.file = os.path.join(directory, file)
        self.write(self.freeze)

    def write(self, text):
        if self.file:
            with open(self.file, "w", encoding="ascii") as file:
                file.write(text)


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
        freezers = {name: Freezer(test, truth.children(load.pid), name) for name in FREEZERS}
        daemon = test.collectd(CONF.format(object=path), interval=INTERVAL)
        counts = wait_seen(daemon, set().union(*WAYS.values()))
        known = sum(len(names) for names in WAYS.values()) + len(BUSY) + len(OPTIONAL) + len(FREEZERS)
        test.equal("ways to be blocked", threads, known)
        for what, names in WAYS.items():
            for name in names:
                test.equal(f"{name}: what it is blocked on", list(counts.get(name, {})), [what])
        frozen = {name: "STOPPED" for name in FREEZERS if freezers[name].file}
        for name, what in (OPTIONAL | frozen).items():
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
        for freezer in freezers.values():
            freezer.write(freezer.thaw)
        load.end()


if __name__ == "__main__":
    main()

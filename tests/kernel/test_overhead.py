#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MaxOverhead: a probe at system calls is switched off when somebody makes many of them, tells so, and is back when they are
over, without false values; what it is said to cost is what it costs. Likewise the probe request: what was in progress
when it was switched off is not in progress for ever. Of the probe functions, one function that is too hot goes alone.

Truth: the CPU time of a load that makes system calls, with the probe and without it; the moments at which the load begins
and ends; the links that the daemon holds.
"""

import os
import re
import select
import signal
import socket
import statistics
import subprocess
import threading
import time

import bpf_objects
import lib
import truth
from lib import Test, die_with_test
from test_request_roles import rename

INTERVAL = 1
CHUNK = 200000 // lib.SLOWNESS
ROUNDS = 15
CALLS = 1000
FACTOR = 1.5     # between what it is said to cost, and what it does
PAUSE = 60       # s, the first time
# Percent of the machine: a few times what its other system calls cost, and a part of what the load's do.
LIMIT = 15 / truth.CPUS / lib.SLOWNESS
OVERHEAD = "percent-overhead_hot"
HOOK_SET = "count-tier_hot"
RECENT = "operations_per_second-recent"
LONGEST = "duration-longest"
WITHOUT_SYS_ADMIN = ["setpriv", "--bounding-set", "-all,+bpf,+perfmon", "--inh-caps", "-all", "--"]

CONF = """
  <Service "storm">
    Process "kt_storm"
  </Service>
  <Service "waiter">
    Process "kt_waiter"
  </Service>
  <Probe "hot">
    Object "{object}"
    Enable true
{lines}  </Probe>
"""


REQUEST_LIMIT = 0.3  # percent of the machine
REQUEST_CONF = f"""
  MaxOverhead 100
  <Service "slow">
    Process "kt_slow"
  </Service>
  <Probe "request">
    MaxOverhead {REQUEST_LIMIT}
  </Probe>
"""


FUNCTION_LIMIT = LIMIT / 3  # of what the load's calls cost a fifth
FUNCTION_CONF = """
  MaxOverhead 100
  <Service "caller">
    Process "kt_caller"
  </Service>
  <Probe "functions">
    <Function "hot">
      Attach "uprobe:{path}:called"
      Latency true
      MaxOverhead {limit:g}
    </Function>
    <Function "calm">
      Attach "uprobe:{path}:other"
      Latency true
    </Function>
  </Probe>
"""


def conf(lines=""):
    """Without further lines in the probe's block the limit is the plugin's."""
    limit = "" if lines else f"  MaxOverhead {LIMIT:g}\n"
    return limit + CONF.format(object=os.path.join(lib.BUILD, "tests", "bpf", "run_counter.bpf.o"), lines=lines)


class Storm:
    """System calls, one chunk after the other, until it is told to end."""

    def __init__(self, load):
        self.load, self.finished, self.chunks = load, threading.Event(), []
        self.begin = time.time()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.finished.is_set():
            self.chunks.append(chunk(self.load))

    def end(self):
        self.finished.set()
        self.thread.join()


def chunk(load):
    """(CPU time in ns, time in ns) of a system call."""
    load.say(f"{CHUNK:.0f}")
    durations = load.result()
    return durations["cpu_ns"] / CHUNK, durations["ns"] / CHUNK


def fork(test, name, function, *args):
    """A process under a command name of its own."""
    pid = os.fork()
    if pid == 0:
        try:
            die_with_test()
            rename(test, name)
            function(*args)
        finally:
            os._exit(0)
    return pid


def keep_requests(listener, order):
    """Takes requests; answers those that have come, and takes no more, when it is told to."""
    taken = []
    listener.settimeout(0.05)
    while not select.select([order], [], [], 0)[0]:
        try:
            one = listener.accept()[0]
        except TimeoutError:
            continue
        one.recv(1)
        taken.append(one)
    order.recv(1)
    for one in taken[::2]:
        one.send(b"a")
    order.send(b"d")
    order.recv(1)


def pong(listener):
    one = listener.accept()[0]
    while one.recv(1):
        one.send(b"a")


class Requests:
    """To a service: one after the other, as fast as it goes, and others that are not answered; until the end."""

    def __init__(self, test):
        listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        self.order, theirs = socket.socketpair()
        self.pids = [fork(test, "kt_slow", keep_requests, listeners[0], theirs),
                     fork(test, "kt_pong", pong, listeners[1])]
        self.addresses = [listener.getsockname() for listener in listeners]
        self.finished, self.unanswered = threading.Event(), []
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self._ask, self._ping)]
        for thread in self.threads:
            thread.start()

    def _ask(self):
        while not self.finished.wait(0.05):
            one = socket.create_connection(self.addresses[0])
            one.send(b"q")
            self.unanswered.append(one)

    def _ping(self):
        one = socket.create_connection(self.addresses[1])
        while not self.finished.is_set():
            one.send(b"q")
            one.recv(1)

    def end(self):
        """Half of those that are left are answered now."""
        self.finished.set()
        for thread in self.threads:
            thread.join()
        self.order.send(b"o")
        self.order.recv(1)

    def stop(self):
        """They have this process's descriptors, too, on whose end others wait."""
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def notes(daemon):
    """[(severity, type instance, text), ...] of notifications."""
    found = (re.search(r"Notification: severity = (\w+), .*plugin_instance = self, .*type_instance = ([^,]*), "
                       r"message = (.*)", line) for line in daemon.log())
    return [match.groups() for match in found if match]


def wait_note(daemon, severity, seconds):
    give_up = time.monotonic() + seconds * lib.SLOWNESS
    while not (found := [note for note in notes(daemon) if note[0] == severity]):
        if time.monotonic() > give_up:
            raise TimeoutError(f"no notification {severity} after {seconds} s")
        time.sleep(0.05)
    return found


def links(test, daemon):
    test.ledger.note(daemon.process.pid)
    return len(bpf_objects.numbers("link", daemon.process.pid))


def estimate(test, load):
    """A limit that is not reached; and what the probe says that it costs, against the CPU time of the same calls without
    it."""
    rounds = ROUNDS if test.measures else 0
    without = [chunk(load) for _ in range(rounds)]
    storm = Storm(load)
    daemon = test.collectd(conf("    MaxOverhead 100\n"), interval=INTERVAL)
    # Of the first readings the kernel has not said yet what a run takes.
    reported = daemon.wait_rows("self", OVERHEAD, 6)[3:]
    storm.end()
    daemon.wait_rows("self", HOOK_SET, 2, time.time())
    test.equal("a limit that is not reached: notifications", notes(daemon), [])
    test.true("a limit that is not reached: cost, percent", max(row[1] for row in reported) > 0, reported)
    test.stop(daemon)
    without += [chunk(load) for _ in range(rounds)]
    if without:
        check_cost(test, [row[1] for row in reported], storm.chunks[-ROUNDS:], without)


def check_cost(test, reported, beside, without):
    cost_ns = statistics.median(row[0] for row in beside) - statistics.median(row[0] for row in without)
    call_ns = statistics.median(row[1] for row in beside)
    reported_ns = statistics.median(reported) / 100 * truth.CPUS * call_ns
    print(f"note: ns a call: {reported_ns:.0f} by the plugin, {cost_ns:.0f} by the load; a call takes {call_ns:.0f}")
    if lib.SLOWNESS == 1:
        test.figures.within("cost, as a part of what it is", reported_ns / cost_ns, 1 / FACTOR, FACTOR)


def getppids(daemon, moment):
    return daemon.row_after("waiter", "total_operations-getppid", moment)[1]


def check_off(test, daemon, begin, seconds):
    """It is off, and says so once."""
    found = wait_note(daemon, "WARNING", seconds)
    print(f"note: off after {time.time() - begin:.1f} s: {found[0][2]}")
    test.equal("notifications", len(notes(daemon)), 1)
    test.equal("it is about", found[0][1], "tier_hot")
    test.contains("it says what", found[0][2], f"more than MaxOverhead {LIMIT:g};")
    test.equal("and the log as well",
               sum("probe hot is off for 1 minute" in line and "Notification" not in line for line in daemon.log()), 1)
    test.equal("hook set while it is off", daemon.row_after("self", HOOK_SET, time.time())[1], 0)
    test.equal("cost while it is off", daemon.wait_rows("self", OVERHEAD, 2, time.time())[1][1], 0)
    for probe in ("process", "request"):
        test.true(f"{probe}, which nobody limits, is on", daemon.rows("self", f"count-tier_{probe}")[-1][1] > 0)


def check_back(test, daemon, waiter, hook_set):
    """It is on again, with values of the time since alone."""
    text = wait_note(daemon, "OKAY", 2 * PAUSE)[0][2]
    test.contains("it is told", text, "probe hot is on again: it costs ")
    back = time.time()
    print(f"note: {text}")
    waiter.ask("1")  # it has waited for this since before the pause
    daemon.wait_rows("waiter", RECENT, 3, back)
    # The time of the longest call is kept for ever.
    longest = daemon.rows("waiter", LONGEST)[-1][1]
    test.within("a call that began before the pause, s", longest, 0, PAUSE / 2)
    for service in ("storm", "waiter"):
        rates = [row[1] for row in daemon.rows(service, RECENT) if row[0] > back - 5]
        test.within(f"{service}: highest rate since, calls/s", max(rates), 0, 100)
    test.equal("hook set", daemon.row_after("self", HOOK_SET, time.time())[1], hook_set)
    if hook_set == 1:
        before = getppids(daemon, time.time())
        waiter.ask(f"{CALLS}")
        test.equal("calls of a function that is attached to again", getppids(daemon, time.time()) - before, CALLS)


def check_pause(test, daemon, begin, end):
    """Nothing is dispatched in between."""
    rows = [row for row in daemon.rows("storm", "total_operations") if begin < row[0] < end]
    test.equal("readings while it is off", rows, [])


def with_fewer_rights(test, load):
    """The kernel does not tell what a run takes, and the load is there from the start."""
    try:
        fine = subprocess.run(WITHOUT_SYS_ADMIN + ["true"], check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        fine = False
    if not fine:
        test.left_out("the limit with fewer rights", "setpriv cannot take rights away here")
        return
    storm = Storm(load)
    daemon = test.collectd(conf(), interval=INTERVAL, wrap=WITHOUT_SYS_ADMIN)
    daemon.wait_rows("self", HOOK_SET)
    check_off(test, daemon, time.time(), 100)
    storm.end()
    test.stop(daemon)


def begin_requests(test):
    """A daemon whose probe request is off from the first second on."""
    requests = Requests(test)
    time.sleep(0.5)
    daemon = test.collectd(REQUEST_CONF, interval=INTERVAL)
    found = wait_note(daemon, "WARNING", 100)
    test.equal("requests: it is about", found[0][1], "tier_request")
    requests.end()
    print(f"note: requests: {found[0][2]}; {len(requests.unanswered)} not answered then")
    return daemon, requests


def check_requests(test, daemon, requests):
    """After the pause nothing is in progress: half has been answered in it, and of the others it is not known."""
    print("note:", wait_note(daemon, "OKAY", 2 * PAUSE)[0][2])
    back = time.time()
    daemon.wait_rows("self", "duration-read_request", 4, back)
    for metric in ("gauge-requests_in_progress", "gauge-requests_waiting", "gauge-requests_oldest"):
        rows = daemon.rows("slow", metric)
        test.equal(f"after a pause: {metric}", {row[1] for row in rows if row[0] > back}, {0})
    requests.stop()
    test.stop(daemon)


class Functions:
    """A load that calls two functions as fast as it goes until one is detached, and a daemon that counts both."""

    def __init__(self, test):
        self.test, self.load, self.rounds = test, test.load("call", name="kt_caller"), 0
        self.daemon = test.collectd(FUNCTION_CONF.format(path=test.program("call", "kt_caller"), limit=FUNCTION_LIMIT),
                                    interval=INTERVAL)
        self.daemon.wait_rows("self", "duration-read_functions")
        self.attached = links(test, self.daemon)
        while not notes(self.daemon):
            self.call(5000)
        found = wait_note(self.daemon, "WARNING", 1)
        print(f"note: functions: {found[0][2]}")
        test.contains("functions: which", found[0][2], "function hot of the probe functions is off for 1 minute: it costs ")
        test.equal("functions: it is about", found[0][1], "tier_functions")
        test.true("functions: links while it is off", links(test, self.daemon) < self.attached, self.attached)
        busy = self.counts()["hot"]
        self.call(CALLS)
        test.equal("functions: while one is off", self.counts(), {"hot": busy, "calm": 2 * self.rounds})

    def call(self, times):
        self.load.ask(str(times))
        self.rounds += times

    def counts(self):
        moment = time.time()
        return {name: self.daemon.row_after("caller", f"total_operations-function-{name}", moment)[1]
                for name in ("hot", "calm")}

    def check_back(self):
        print("note:", wait_note(self.daemon, "OKAY", 2 * PAUSE)[0][2])
        busy = self.counts()["hot"]
        self.call(CALLS)
        self.test.equal("functions: when it is on again", self.counts(),
                        {"hot": busy + CALLS, "calm": 2 * self.rounds})
        self.test.equal("functions: links when it is on again", links(self.test, self.daemon), self.attached)
        durations = [row[1] for row in self.daemon.rows("caller", "latency-function-hot-average") if row[1] == row[1]]
        self.test.within("functions: highest latency of the one that was off, s", max(durations), 1e-7, PAUSE / 2)
        self.test.figures.within("functions: highest latency of the one that was off, s", max(durations), 1e-7, 1)
        self.load.end()
        self.test.stop(self.daemon)


def main():
    with Test(limit=600) as test:
        load = test.load("getppid", name="kt_storm")
        waiter = test.load("getppid", name="kt_waiter")
        daemon = test.collectd(conf(), interval=INTERVAL)
        daemon.wait_rows("self", OVERHEAD, 4)
        waiter.ask("1")
        daemon.wait_rows("waiter", RECENT, 3, time.time())
        test.figures.equal("a quiet machine: notifications", notes(daemon), [])
        attached, hook_set = links(test, daemon), daemon.rows("self", HOOK_SET)[-1][1]
        storm = Storm(load)
        check_off(test, daemon, storm.begin, 100)
        off = time.time()
        test.equal("links of the probe while it is off", attached - links(test, daemon), 3)
        storm.end()
        # A probe that is off is as none. The pause is long enough for these.
        estimate(test, load)
        with_fewer_rights(test, load)
        functions = Functions(test)
        of_requests = begin_requests(test)
        check_back(test, daemon, waiter, hook_set)
        check_requests(test, *of_requests)
        functions.check_back()
        check_pause(test, daemon, off, off + PAUSE - 10)
        test.equal("links of the probe when it is on again", links(test, daemon), attached)
        test.equal("complaints", [line for line in daemon.complaints() if "probe hot is off for" not in line and
                                  "otification" not in line], [])
        load.end()
        waiter.end()


if __name__ == "__main__":
    main()

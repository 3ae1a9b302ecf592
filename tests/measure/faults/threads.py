# SPDX-License-Identifier: MIT
"""Faults of a service that has a thread for each connection: app_server.py and its kinds of work."""

import os
import signal

from app import App
from case import Brief, Rhythm
from group import Group
from waits import Throttled

LOCKED_S, WAIT_S = 0.05, 0.06
STOPPED_S, GOING_S = 0.2, 0.06
MEMORY = 60 << 20
LARGE, LARGE_FILES, LARGE_PER_SECOND = 1 << 20, 56, 10 << 20
ONE_OF_30_S = 0.051     # see app_work.py


class Threaded(Brief, App):
    """kind: of work; amounts: its argument without the fault, and with it."""
    kind = None
    amounts = (0, 0)
    truth_name = "the service's clock"

    @property
    def arguments(self):
        return self.kind, self.amounts[0]

    def break_it(self):
        self.server.ask(f"wait {self.amounts[1]}")

    def mend(self):
        self.server.ask(f"wait {self.amounts[0]}")

    def counters(self):
        return {self.truth_name: self.stats(self.server)["waited"]}


def waits(kind, what, cause, amounts, base=Threaded, **more):
    """A case. cause: the part of its requests' time that the wait is."""
    return type(kind, (base,), {"name": f"threads-{kind}", "title": f"A threaded server: {what}", "kind": kind,
                                "causes": {"app": cause}, "truths": {base.truth_name: ("app", (cause,))}, "amounts": amounts,
                                **more})


class Namespace(Threaded):
    """What it makes of System V's ends with it."""

    def serve(self, *argv, talks=False):
        return super().serve("unshare", "--ipc", *argv, talks=talks)


class Stopped(Threaded):
    """For most of the time, so that naps are the smaller part."""
    think = 0.002
    stops = None

    def halt(self, halted):
        os.kill(self.pid, signal.SIGSTOP if halted else signal.SIGCONT)

    def _step(self, pause):
        self.halt(True)
        pause(STOPPED_S)
        self.halt(False)
        pause(GOING_S)

    def break_it(self):
        self.stops = Rhythm(self._step)

    def mend(self):
        self.stops.end()


class Grouped(Threaded):
    """In a cgroup."""
    controllers = ()
    group = None

    def connect(self):
        self.group = Group(*self.controllers)
        self.group.enter([self.pid])
        return super().connect()

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.group:
            self.group.remove()


class Frozen(Grouped, Stopped):
    controllers = ("freezer", "")

    def halt(self, halted):
        if self.group.is_v1:
            self.group.write("freezer.state", "FROZEN" if halted else "THAWED")
        else:
            self.group.write("cgroup.freeze", int(halted))


class FrozenUnified(Frozen):
    controllers = (None, "")


class SlowDisk(Throttled, Threaded):
    think = 0.01

    def start(self):
        self.make_files()
        return super().start()

    def serve(self, *argv, talks=False):
        return super().serve("env", "-C", self.home, *argv, talks=talks)


class LimitedMemory(SlowDisk):
    """Its cgroup may have less memory than its files have bytes, on a slow disk."""
    size, count, rate = LARGE, LARGE_FILES, LARGE_PER_SECOND
    v2_controllers = "io memory"
    memory = None

    def keep_cold(self):
        self.memory = Group("memory") if self.group.is_v1 else self.group
        self.memory.enter([self.pid])

    def _limit(self, most):
        self.memory.write("memory.limit_in_bytes" if self.memory.is_v1 else "memory.max", most)

    def break_it(self):
        super().break_it()
        self._limit(MEMORY)

    def mend(self):
        self._limit(-1 if self.memory.is_v1 else "max")
        super().mend()

    def __exit__(self, *error):
        super().__exit__(*error)
        if self.memory and self.memory.is_v1:
            self.memory.remove()


LOCKED, WAIT = (0, LOCKED_S), (0.001, WAIT_S)
CASES = (
    waits("flock", "flock", "lock", LOCKED),
    waits("fcntl", "a record lock of fcntl", "lock", LOCKED),
    waits("semop", "a semaphore of System V", "lock", LOCKED, Namespace),
    waits("mutex", "a mutex of pthread", "lock", LOCKED),
    waits("timed", "a wait with a timeout that passes", "timed_wait", WAIT),
    waits("join", "pthread_join", "event", WAIT),
    waits("child", "a child process", "child", WAIT),
    waits("output", "the output of a child process", "child", WAIT),
    waits("eventfd", "an eventfd", "event", WAIT),
    waits("inotify", "inotify", "event", WAIT),
    waits("timerfd", "a timerfd", "sleep", WAIT),
    waits("signal", "a signal", "event", WAIT),
    waits("log", "a pipe that is not read", "pipe", (0, 0.03)),
    waits("nap", "SIGSTOP", "stopped", (0, 0), Stopped),
    waits("nap", "the freezer", "stopped", (0, 0), Frozen, name="threads-freezer"),
    waits("nap", "cgroup.freeze", "stopped", (0, 0), FrozenUnified, name="threads-freeze"),
    waits("mapped", "a mapped file on a throttled disk", "disk", (0, 0), SlowDisk),
    waits("sync", "fsync on a throttled disk", "disk", (0, 0), SlowDisk),
    waits("read", "files beyond the memory limit", "memory", (0, 0), LimitedMemory, allows={"disk"},
          truths={Threaded.truth_name: ("app", ("memory", "disk"))}),
    waits("tail", "a lock for one request of 30, then sleep for all", "sleep", (0, ONE_OF_30_S),
          truths={Threaded.truth_name: ("app", ("lock",))}, slow={"app": {"lock": 46, "sleep": 54}}),
)

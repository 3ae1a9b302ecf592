# SPDX-License-Identifier: MIT
"""The fault of each alert: a service that is well, until its fault begins, and again after its end."""

import ctypes
import os
import signal
import socket
import subprocess
import sys

from limited import Limits, FreezingDisk

HERE = os.path.dirname(os.path.abspath(__file__))
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
CPU_LIMITS = 100, 5         # percent of one CPU
MEMORY_MIB, NEAR_MIB, BEYOND_MIB = 256, 226, 400      # less what the interpreter has


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Player:
    """One of the programs here, which answers lines, and is killed when this process is."""

    def __init__(self, program, *words):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, program), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
        self._hear()

    def _hear(self):
        if not self.process.stdout.readline():
            raise RuntimeError(f"{self.process.args[1]} has ended")

    def say(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        self._hear()

    def end(self):
        self.process.kill()
        self.process.wait()


class Fault:
    """A service with this command name (of at most 15 letters), and its clients.

    alert: what it shows; word: a name for its service, which is no probe's; block: further lines of its Service block; probes:
    {probe: a line that it needs}; cause: a text that the alert has, as the largest part of the request's time; true: {another
    alert: why it is true, too}; beyond: {receiver: why it cannot raise it}; way: of several faults of an alert; is_past:
    the fault is there from the beginning; steps: of the fault, as lines for shop.py; mended: for the time after it."""
    alert = word = None
    cause = ""
    block = ""
    probes = {}
    true, beyond, is_past, way = {}, {}, False, ""
    steps, mended = (), ("healthy",)
    clients = 8, 1.0, "keep"    # how many, their pause, their connections

    def __init__(self, name):
        self.name, self.port = name, free_port()
        self.players = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        for player in self.players:
            player.end()

    def play(self, program, *words):
        self.players.append(Player(program, *words))
        return self.players[-1]

    def start(self):
        self.shop = self.play("shop.py", self.name, self.port)
        self.customers = self.play("customers.py", self.port)
        self.customers.say(*self.clients)

    def service_block(self, service):
        """The lines by which the plugin knows it."""
        return f'<Service "{service}">\n  Process "{self.name}"\n{self.block}</Service>\n'

    def begin(self):
        for step in self.steps:
            self.shop.say(step)

    def end(self):
        for step in self.mended:
            self.shop.say(step)


def probe_blocks(*faults):
    """What these faults need of the plugin's probes, each once."""
    needed = {probe: line for fault in faults for probe, line in fault.probes.items()}
    return "".join(f'<Probe "{probe}">\n  {line}\n</Probe>\n' for probe, line in needed.items())


class Saturated(Fault):
    """More clients ask, and each request sleeps for 50 ms: no thread of the service is free."""
    alert, word, cause = "EbpfSaturated", "saturated", "socket"
    steps = ("sleep 0.05",)

    def begin(self):
        super().begin()
        self.customers.say(24, 0, "keep")

    def end(self):
        self.customers.say(*self.clients)
        super().end()


class SaturatedSoon(Fault):
    """Nothing is wrong yet: its past, which the test writes, shows that it has less left each day."""
    alert, word = "EbpfSaturatedSoon", "growing"
    is_past = True
    mended = ()


class SlowerThanYesterday(Fault):
    """Each request takes half a second. Its past, which the test writes, shows that it took 20 ms a day ago."""
    alert, word, cause = "EbpfSlowerThanYesterday", "slower", "sleep"
    steps = ("sleep 0.5",)


class Errors(Fault):
    """A third of the responses have status 500."""
    alert, word, cause = "EbpfErrors", "errors", "5xx"
    block = '  Response "5xx" "HTTP/1.? 5"\n'
    steps = ("errors 0.33",)


class Stuck(Fault):
    """All requests of four clients get no answer; other threads are free."""
    alert, word = "EbpfStuck", "stuck"
    true = {"EbpfSaturated": "its serving threads are those that hang"}
    steps = ("hang",)
    clients = 4, 0.5, "keep"


class ConnectionLeak(Fault):
    """The service does not close the connections that its clients have closed."""
    alert, word, cause = "EbpfConnectionLeak", "leak", "CLOSE_WAIT"
    probes = {"tcp": "Enable true"}
    steps = ("leak",)
    clients = 8, 1.0, "close"


class CpuThrottled(Fault):
    """The cgroup of the service may use 5 % of a CPU, and it needs 16 %."""
    alert, word, cause = "EbpfCpuThrottled", "throttled", "runqueue"
    true = {"EbpfSaturated": "without CPU time its threads are never free"}

    def start(self):
        self.limits = Limits(self.name)
        self.limits.cpu(CPU_LIMITS[0])
        super().start()
        self.limits.enter(self.shop.process.pid)
        self.shop.say("compute", 0.02)

    def service_block(self, service):
        return f'<Service "{service}">\n  Cgroup "{self.name}"\n</Service>\n'

    def begin(self):
        self.limits.cpu(CPU_LIMITS[1])

    def end(self):
        self.limits.cpu(CPU_LIMITS[0])

    def __exit__(self, *error):
        super().__exit__(*error)
        self.limits.close()


class MemoryLimitNear(CpuThrottled):
    """The service uses 226 of the 256 MiB that its cgroup may have, and its interpreter has some, too."""
    alert, word, cause = "EbpfMemoryLimitNear", "near_limit", f"{MEMORY_MIB}MiB"
    true = {}
    mib = NEAR_MIB
    order = "fill"

    def start(self):
        super().start()
        self.limits.memory(MEMORY_MIB)
        self.shop.say("healthy")

    def begin(self):
        self.shop.say(self.order, self.mib)

    def end(self):
        self.shop.say("healthy")


class OomKill(MemoryLimitNear):
    """Children of the service, one after the other, want 400 MiB; its cgroup may have 256."""
    alert, word = "EbpfOomKill", "killed"
    mib = BEYOND_MIB
    order = "kill"


class DiskSlow(Fault):
    """The service writes and waits for its disk, each of whose writes takes up to 0.4 s."""
    alert, word, cause = "EbpfDiskSlow", "storage", "Slowest disk: loop"
    clients = 6, 0.5, "keep"

    def start(self):
        self.disk = FreezingDisk()
        super().start()
        self.shop.say("files", self.disk.path)

    def begin(self):
        self.disk.slow()

    def end(self):
        self.disk.fast()

    def __exit__(self, *error):
        self.disk.fast()
        super().__exit__(*error)
        self.disk.close()


class UpstreamSlow(Fault):
    """The service asks another one, NAME_up, for each request; that takes 0.8 s."""
    alert, word, cause = "EbpfUpstreamSlow", "upstream", "upstream"
    probes = {"request": 'Option "clients"'}

    def start(self):
        self.upstream_port = free_port()
        self.upstream = self.play("shop.py", f"{self.name[:12]}_up", self.upstream_port)
        super().start()
        self.shop.say("upstream", self.upstream_port)

    def begin(self):
        self.upstream.say("sleep", 0.8)

    def end(self):
        self.upstream.say("healthy")


class Blind(Fault):
    """collectd stops (SIGSTOP), as if it hung: nothing arrives any more."""
    alert, word = "EbpfBlind", "blind"
    beyond, way = {"threshold": "it is a plugin of the collectd that hangs"}, "collectd hangs"

    def __init__(self, name, pid=None):
        """pid: of collectd"""
        super().__init__(name)
        self.pid = pid or int(subprocess.run(["pidof", "-s", "collectd"], capture_output=True, text=True, check=True).stdout)

    def start(self):
        """It is no service's."""

    def begin(self):
        os.kill(self.pid, signal.SIGSTOP)

    def end(self):
        os.kill(self.pid, signal.SIGCONT)


FAULTS = {fault.alert: fault for fault in (
    Saturated, SaturatedSoon, SlowerThanYesterday, Errors, Stuck, ConnectionLeak, CpuThrottled, MemoryLimitNear, OomKill,
    DiskSlow, UpstreamSlow, Blind)}

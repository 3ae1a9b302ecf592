# SPDX-License-Identifier: MIT
"""What all kernel tests share: how a test starts and ends, and what it must not leave behind.

A test runs a real collectd with this build's plugin and real load, and compares what is dispatched with a truth
that does not come from the plugin. A test has a time limit. However it ends, it ends all processes that it started. It
fails if the kernel has a BPF object afterwards that it did not have before.

TEST_SLOWNESS in the environment says how many times slower than usual this machine is; tests/vm/run sets it
under emulation. Time limits are multiplied by it, and a load whose size is free may be divided by it (SLOWNESS).
"""

import ctypes
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import bpf_objects
import collectd
from check import SKIPPED, Check, Skip

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("abs_top_builddir") or os.getcwd()
COLLECTD = os.environ.get("COLLECTD") or "collectd"
SLOWNESS = float(os.environ.get("TEST_SLOWNESS") or 1)
WITH_TRACEFS = "mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing"
# Lines of the Probe block without which a probe has nothing to do.
NEEDED = {"functions": '<Function "load">\n Attach "uprobe:libc.so.6:getloadavg"\n Latency true\n</Function>\n'}

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Overtime(Exception):
    """The test did not end within its limit."""


def in_mounts(*commands):
    """The command that runs a daemon in a mount namespace with these mounts."""
    return ["unshare", "--mount", "sh", "-ec", "\n".join(commands) + '\nexec "$@"', "sh"]


def without(*probes):
    """The blocks of a configuration that switch these probes off."""
    return "".join(f'\n  <Probe "{probe}">\n    Enable false\n  </Probe>\n' for probe in probes)


def end_after(seconds):
    def overtime(_signum, _frame):
        raise Overtime(f"not done after {seconds} s")

    signal.signal(signal.SIGALRM, overtime)
    signal.alarm(seconds)


def stop_on_signal(signum, _frame):
    raise KeyboardInterrupt(signal.Signals(signum).name)


def die_with_test():
    """For a new process: it is killed when the test is."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def require():
    """Skip, with the reason, where BPF cannot work at all. A plugin that was not built is a failure."""
    if os.geteuid() != 0:
        raise Skip("needs root to load BPF programs")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        raise Skip("this kernel has no BTF (/sys/kernel/btf/vmlinux)")
    for tool in (COLLECTD, bpf_objects.BPFTOOL):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")
    if not os.path.exists(collectd.plugin_path(BUILD)):
        raise FileNotFoundError(f"{collectd.plugin_path(BUILD)}: not built, or abs_top_builddir is wrong")


def descendants():
    """All descendants of this process. Orphans are included, because the test is their subreaper."""
    children = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        children.setdefault(parent, []).append(int(pid))
    found, todo = [], [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def kill_descendants():
    """Repeats until none is left, because a load may fork while the list is read."""
    give_up = time.monotonic() + 10 * SLOWNESS
    while time.monotonic() < give_up:
        for pid in descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.02)


class Ledger:
    """The BPF objects that the kernel has before and after a test.

    The kernel does not reuse ids, so an id identifies an object. Other users of BPF may start and end during a test:
    an object is theirs if a process outside of the test has a descriptor of it and no daemon of the test ever had one.
    """

    def __init__(self):
        self.before = bpf_objects.existing()
        self.owned = set()

    def note(self, pid):
        """Record the objects that a daemon of the test has now."""
        self.owned |= bpf_objects.of_process(pid)

    def left(self):
        """The objects that are new since the start of the test and not another user's."""
        new = bpf_objects.existing() - self.before
        if new:
            new -= set().union(*map(bpf_objects.of_process, filter(str.isdigit, os.listdir("/proc")))) - self.owned
        return sorted(new)

    def wait_empty(self, seconds=10 * SLOWNESS):
        """Waits, because the kernel frees programs and maps some time after their last user has ended."""
        give_up = time.monotonic() + seconds
        while (remaining := self.left()) and time.monotonic() < give_up:
            time.sleep(0.25)
        return [f"{kind} {shown['id']} {shown.get('name', '')}" for kind in bpf_objects.KINDS
                for shown in bpf_objects.show(kind, {number for of, number in remaining if of == kind})]


class Load:
    """A load program with its own command name. It gets orders and replies line by line."""

    def __init__(self, argv, environment=None):
        self.name = os.path.basename(argv[0])
        # The program sets its own parent-death signal: no code of the test runs in the child before exec.
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True, env=environment)
        self.pid = self.process.pid

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} (pid {self.pid}) ended without an answer")
        return line.strip()

    def ask(self, line):
        self.say(line)
        return self.hear()

    def result(self):
        return json.loads(self.hear())

    def zombie(self):
        """Wait for the end without reaping: /proc/PID then shows the final counts."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def end(self):
        """Close its input, at which each load program ends, and reap it."""
        self.process.stdin.close()
        return self.process.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


def three_digits(number):
    """A number below 36^3 in base 36."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    return digits[number // 36 // 36 % 36] + digits[number // 36 % 36] + digits[number % 36]


class Test(Check):
    """with Test(limit) as test: ...

    In the text of tests, command names start with kt_. own() replaces that by a prefix of this run, so that processes of
    another run at the same time do not count for the services of this one.
    """

    def __init__(self, limit=120):
        super().__init__()
        self.limit = math.ceil(limit * SLOWNESS)
        self.prefix = f"k{three_digits(os.getpid())}_"
        self.daemons = []
        self.last_things = []

    def __enter__(self):
        try:
            require()
        except Skip as reason:
            print(f"skip: {reason}")
            sys.exit(SKIPPED)
        except FileNotFoundError as reason:
            print(f"fail: {reason}")
            sys.exit(1)
        for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(signum, stop_on_signal)
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        super().__enter__()
        self.disk = self.dir
        # Load programs log to mapped files. These are in memory, so that they cause no disk traffic.
        if os.path.isdir("/dev/shm"):
            self.dir = self.make_dir("/dev/shm")
        self.ledger = Ledger()
        end_after(self.limit)
        return self

    def __exit__(self, kind, error, trace):
        signal.alarm(0)
        super().__exit__(kind, error, trace)

    def clean(self):
        try:
            for daemon in self.daemons:
                self.stop(daemon)
                self.equal(f"collectd {daemon.number}: counters that fell", daemon.fallen()[:5], [])
        finally:
            kill_descendants()
            for last_thing in self.last_things:
                last_thing()
            self.equal("BPF objects left in the kernel", self.ledger.wait_empty(), [])
            if self.failed:
                for daemon in self.daemons:
                    print(f"--- log of collectd {daemon.number}\n" + "\n".join(daemon.log()[-40:]))
            shutil.rmtree(self.dir, ignore_errors=True)
            shutil.rmtree(self.disk, ignore_errors=True)

    def at_end(self, function):
        """Registers a function to be called when all processes of the test have ended."""
        self.last_things.append(function)

    def own(self, text):
        # Not again in a text that has the prefix already, which may itself end so.
        return re.sub(r"(?<![a-z0-9])kt_", self.prefix, text)

    # Starting things

    def collectd(self, plugin="", extra="", **options):
        """Start a daemon with this text in the plugin's block; None: without a block."""
        text = None if plugin is None else self.own(plugin)
        daemon = collectd.Daemon(COLLECTD, self.dir, BUILD, len(self.daemons), text, extra=self.own(extra),
                                 preexec=die_with_test, patience=SLOWNESS, **options)
        self.daemons.append(daemon)
        daemon.start()
        return daemon

    def stop(self, daemon):
        """Stop a daemon with SIGTERM. If it has to be killed, the test fails."""
        if not daemon.running():
            return
        self.ledger.note(daemon.process.pid)
        self.true(f"collectd {daemon.number} ends on SIGTERM", daemon.stop())

    def program(self, source, name=None):
        """Make a copy of load_SOURCE with this command name. Returns its path."""
        copy = os.path.join(self.disk, "load_" + source)
        if not os.path.exists(copy):
            shutil.copy(os.path.join(BUILD, "tests", "kernel", "load_" + source), copy)
        if name is None:
            return copy
        link = os.path.join(self.disk, source, self.own(name))
        os.makedirs(os.path.dirname(link), exist_ok=True)
        if not os.path.exists(link):
            os.link(copy, link)
        return link

    def load(self, source, *args, name=None):
        return Load([self.program(source, name)] + [self.own(str(arg)) for arg in args])

    @staticmethod
    def load_at(path, *args, environment=None):
        """Start the load program that was copied to this path."""
        return Load([path] + [str(arg) for arg in args], environment)

    def own_libc(self, name):
        """(path, environment) of a copy of libc for the loads that get this environment, of any user."""
        directory = os.path.join(self.disk, name)
        path = os.path.join(directory, "libc.so.6")
        os.chmod(self.disk, 0o711)
        os.makedirs(directory, exist_ok=True)
        if not os.path.exists(path):
            with open("/proc/self/maps", encoding="utf-8") as maps:
                shutil.copy(next(line.split()[-1] for line in maps if line.endswith("/libc.so.6\n")), path)
        return path, {"LD_LIBRARY_PATH": directory}

    def stress(self, *args):
        """stress(1) as kt_stress; None where it is not installed."""
        installed = shutil.which("stress")
        if not installed:
            self.left_out("the load of stress", "stress is not installed")
            return None
        copy = os.path.join(self.disk, self.own("kt_stress"))
        shutil.copy(installed, copy)
        return subprocess.Popen([copy, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                cwd=self.disk, start_new_session=True, preexec_fn=die_with_test)

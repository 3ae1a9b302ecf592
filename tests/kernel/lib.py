# SPDX-License-Identifier: MIT
"""What every kernel test shares: its life, and what it leaves behind.

A test runs a real collectd with this build's plugin and real load, and compares what is dispatched with a truth
that does not come from the plugin. It is bounded in time, ends every process that it started however it ends, and
fails if the kernel then holds a BPF object that it did not hold before.

TEST_SLOWNESS in the environment says how many times slower this machine runs what is started here; tests/vm/run sets
it under emulation. Time limits grow by it, and a load that need not be of one size may shrink by it (SLOWNESS).
"""

import ctypes
import json
import math
import os
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
# Without which a probe has nothing to do: lines of its Probe block.
NEEDED = {"functions": '<Function "load">\n Attach "uprobe:libc.so.6:getloadavg"\n Latency true\n</Function>\n'}

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


class Overtime(Exception):
    """The test did not end within its limit."""


def in_mounts(*commands):
    """What to run a daemon under for it to see these mounts."""
    return ["unshare", "--mount", "sh", "-ec", "\n".join(commands) + '\nexec "$@"', "sh"]


def end_after(seconds):
    def overtime(_signum, _frame):
        raise Overtime(f"not done after {seconds} s")

    signal.signal(signal.SIGALRM, overtime)
    signal.alarm(seconds)


def stop_on_signal(signum, _frame):
    raise KeyboardInterrupt(signal.Signals(signum).name)


def die_with_test():
    """In a new process: a test that is killed leaves nothing running."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def require():
    """Skip with the reason where the kernel side cannot work at all; a plugin that was not built is a failure."""
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
    """Every process below this one. Orphans are among them, because the test is their subreaper."""
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
    """Twice through the list is not enough for a load that forks: repeat until nothing is left."""
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
    """The BPF objects in the kernel, before and after.

    Ids are not used again, so an id says which object it is. Other users of BPF may come and go while a test runs:
    an object that a process outside of the test has a descriptor of, and no daemon of the test ever had, is theirs.
    """

    def __init__(self):
        self.before = bpf_objects.existing()
        self.held = set()

    def note(self, pid):
        """Remember what a daemon of the test holds now."""
        self.held |= bpf_objects.of_process(pid)

    def left(self):
        """What is there now, was not there before, and is not somebody else's."""
        new = bpf_objects.existing() - self.before
        if new:
            new -= set().union(*map(bpf_objects.of_process, filter(str.isdigit, os.listdir("/proc")))) - self.held
        return sorted(new)

    def wait_empty(self, seconds=10 * SLOWNESS):
        """The kernel frees programs and maps some time after their last user is gone."""
        give_up = time.monotonic() + seconds
        while (rest := self.left()) and time.monotonic() < give_up:
            time.sleep(0.25)
        return [f"{kind} {shown['id']} {shown.get('name', '')}" for kind in bpf_objects.KINDS
                for shown in bpf_objects.show(kind, {number for of, number in rest if of == kind})]


class Load:
    """A load program under a command name of its own, spoken to line by line."""

    def __init__(self, argv):
        self.name = os.path.basename(argv[0])
        # The program itself asks to die with the test: no code of ours runs in it before its exec.
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True)
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
        """Wait for the end, but leave the process there: /proc/PID then shows its final counts."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def end(self):
        """Close its input, on which every load program ends, and reap it."""
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

    Command names begin with kt_ in the tests' text, and with a prefix of this run's own in fact (own()): another run
    at the same time shall not be in our services.
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
        # Logs of load programs are mapped files: in memory they cause no disk traffic of their own.
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
        """To be called when no process of the test is left."""
        self.last_things.append(function)

    def own(self, text):
        return text.replace("kt_", self.prefix)

    # Starting things

    def collectd(self, plugin="", extra="", **options):
        """Start a daemon with this text in the plugin's block; None: as without one."""
        text = None if plugin is None else self.own(plugin)
        daemon = collectd.Daemon(COLLECTD, self.dir, BUILD, len(self.daemons), text, extra=self.own(extra),
                                 preexec=die_with_test, patience=SLOWNESS, **options)
        self.daemons.append(daemon)
        daemon.start()
        return daemon

    def stop(self, daemon):
        """Stop a daemon as init does; one that has to be killed has failed the test."""
        if not daemon.running():
            return
        self.ledger.note(daemon.process.pid)
        self.true(f"collectd {daemon.number} ends on SIGTERM", daemon.stop())

    def program(self, source, name=None):
        """Make load_SOURCE run under this command name. Returns its path."""
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
    def load_at(path, *args):
        """A load program that was copied there."""
        return Load([path] + [str(arg) for arg in args])

    def stress(self, *args):
        """The load program that others wrote, as kt_stress; None where it is not installed."""
        installed = shutil.which("stress")
        if not installed:
            self.left_out("the load of stress", "stress is not installed")
            return None
        copy = os.path.join(self.disk, self.own("kt_stress"))
        shutil.copy(installed, copy)
        return subprocess.Popen([copy, *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                cwd=self.disk, start_new_session=True, preexec_fn=die_with_test)

    def mkdir(self, name):
        path = os.path.join(self.dir, name)
        os.makedirs(path, exist_ok=True)
        return path

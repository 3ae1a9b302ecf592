#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits and pressure of services: of a unit, a user, a container and a Service block what their cgroups' files say,
whichever cgroup below a process is in; nothing of what has no limit, and of nobody else's cgroups.

Truth: the files of the cgroups as the test reads them, the limits that it wrote, the CPU time that processes got of
those, and how they ended.
"""

import os
import subprocess
import tempfile
import time

import truth
from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test

BESIDE = True
MIB = 1 << 20
INTERVAL = 1 if SLOWNESS < 2 else 2
PERIOD = 100000  # us
MEMORY = 32      # MiB
LATE = 0.25 * SLOWNESS  # s, of a reading
SERIES = {"gauge-cpu_limit_percent", "total_events-cpu_periods", "total_events-cpu_periods_throttled",
          "percent-cpu_periods_throttled", "total_time_in_ms-cpu_throttled", "memory-limit", "total_events-cgroup_oom_kills"}
PRESSURES = {f"percent-pressure_{what}_{who}" for what in ("cpu", "io", "memory") for who in ("some", "full")}

CONF = """
  # Those of the tests beside this one are services, too.
  MaxNewServices 10000
  ServicesFrom "containers" "units" "commands"
  <Probe "limits">
    Collect "*"
  </Probe>
  <Service "kt_boxes">
    Container "{boxes[0]}"
    Container "{boxes[1]}"
  </Service>
  <Service "kt_path">
    Cgroup "{base}/kt_path"
  </Service>
  <Service "kt_twice">
    Unit "kt_wild@*.service"
    Cgroup "{base}/kt_wild@1.service/below"
  </Service>
  <Service "kt_named">
    Process "kt_named"
  </Service>
  <Probe "pressure">
    Enable true
  </Probe>
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Enable false
  </Probe>
"""


def keyed(text):
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines())}


class Group:
    """A cgroup in each of the hierarchies that this machine has."""

    def __init__(self, tree, name):
        self.tree, self.name = tree, name

    def _path(self, controller, name):
        return os.path.join(self.tree.root(controller), self.tree.base, self.name, name)

    def _read(self, controller, name):
        with open(self._path(controller, name), encoding="ascii") as file:
            return file.read()

    def _write(self, controller, name, value):
        with open(self._path(controller, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def limit_cpu(self, percent):
        """None: none."""
        if self.tree.is_v1("cpu"):
            self._write("cpu", "cpu.cfs_quota_us", -1 if percent is None else percent * PERIOD // 100)
        else:
            self._write("cpu", "cpu.max", f"{'max' if percent is None else percent * PERIOD // 100} {PERIOD}")

    def limit_memory(self, mib):
        self._write("memory", "memory.limit_in_bytes" if self.tree.is_v1("memory") else "memory.max", mib * MIB)
        for name in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
            if os.path.exists(self._path("memory", name)):
                self._write("memory", name, mib * MIB if self.tree.is_v1("memory") else 0)

    def throttling(self):
        """Periods, throttled ones, and ms."""
        stat = keyed(self._read("cpu", "cpu.stat"))
        ms = stat["throttled_time"] / 1e6 if self.tree.is_v1("cpu") else stat["throttled_usec"] / 1e3
        return stat["nr_periods"], stat["nr_throttled"], ms

    def kills(self):
        return keyed(self._read("memory", "memory.oom_control" if self.tree.is_v1("memory") else "memory.events"))["oom_kill"]

    def pressure(self, what, who):
        lines = self._read(None, f"{what}.pressure").splitlines()
        return next(int(line.split("total=")[1]) for line in lines if line.startswith(who))

    def has_pressure(self):
        try:
            return bool(self._read(None, "cpu.pressure"))
        except OSError:
            return False

    def enter(self, pid):
        for groups in self.tree.groups.values():
            groups.enter(os.path.join(self.tree.base, self.name), pid)


class Tree:
    """Directories of the test's own in the hierarchies of the controllers that tell services, and their limits."""

    def __init__(self, test):
        self.test = test
        self.base = f"kt-limits-{os.getpid()}"
        unified = unified_root()
        self.roots = {name: controller_root(name) or unified for name in ("cpu", "memory", "pids")}
        self.roots[None] = unified
        self.groups = {root: Cgroups(root) for root in self.roots.values() if root}
        for groups in self.groups.values():
            test.at_end(groups.remove)
        for controller in ("cpu", "memory"):
            if not self.is_v1(controller):
                self._enable(controller, "")
        self._make("")
        for controller in ("cpu", "memory"):
            if not self.is_v1(controller):
                self._enable(controller, self.base)

    def root(self, controller):
        return self.roots[controller]

    def is_v1(self, controller):
        return controller_root(controller) is not None

    def _enable(self, controller, name):
        root = self.roots[controller]
        try:
            if root is None:
                raise OSError("no cgroups are mounted")
            with open(os.path.join(root, name, "cgroup.subtree_control"), "w", encoding="ascii") as control:
                control.write(f"+{controller}")
        except OSError as error:
            raise Skip(f"no cgroups with the controller {controller} here: {error}") from error

    def _make(self, name):
        for groups in self.groups.values():
            groups.make(os.path.join(self.base, name).rstrip("/"))

    def make(self, name):
        name = self.test.own(name)
        self._make(name)
        return Group(self, name)

    def remove(self, group):
        for groups in self.groups.values():
            path = groups.path(os.path.join(self.base, group.name))
            for _ in range(100):
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.05)
            groups.made.remove(path)


def row(daemon, subject, metric):
    """What the first reading that begins after this moment says."""
    return daemon.wait_rows(subject, metric, 2, time.time())[-1][1]


def is_silent(daemon, subject, metric):
    """It says nothing more."""
    moment = time.time()
    daemon.wait_rows("other", "ps_count", 4, moment)
    return not [stamp for stamp, *_ in daemon.rows(subject, metric) if stamp > moment + 2 * INTERVAL]


def shown(daemon, subject):
    return set(daemon.metrics(subject)) & (SERIES | PRESSURES)


def counted(daemon, subject):
    return [row(daemon, subject, f"total_events-{name}") for name in ("cpu_periods", "cpu_periods_throttled")]


def burn(load, ms):
    """CPU time and time that it took, ms."""
    begin, used = time.time(), truth.schedstat(load.pid)[0]
    load.ask(f"use {ms}")
    return (truth.schedstat(load.pid)[0] - used) / 1e6, (time.time() - begin) * 1e3


def cpu(test, daemon, group, below, before):
    service = test.own("kt_cpu")
    load = test.load("task", name="kt_in")
    below.enter(load.pid)
    test.equal("CPU limit, percent", row(daemon, service, "gauge-cpu_limit_percent"), 20)
    start = counted(daemon, service) + [row(daemon, service, "total_time_in_ms-cpu_throttled")]
    begin = group.throttling()
    used, taken = burn(load, 600)
    shares = [value for _, value in daemon.rows(service, "percent-cpu_periods_throttled")[-2:]]
    # On a machine that does other work, too, it may get less, and waits for that.
    test.within("share of a CPU that it got, percent", used / taken * 100, 5, 24)
    time.sleep(2 * INTERVAL)
    end = group.throttling()
    now = counted(daemon, service) + [row(daemon, service, "total_time_in_ms-cpu_throttled")]
    for what, i in (("periods", 0), ("throttled periods", 1), ("throttled ms", 2)):
        test.close(what, now[i] - start[i], end[i] - begin[i], slack=1)
        test.true(f"{what}: those before the plugin are not in it", now[i] < end[i] - before[i] / 2, (now[i], end[i]))
    test.within("throttled ms, by what it did not get", (now[2] - start[2]) / (taken - used), 0.3, 1.1)
    test.within("throttled periods, percent", max(shares), 50, 100)
    group.limit_cpu(50)
    test.equal("another CPU limit, percent", row(daemon, service, "gauge-cpu_limit_percent"), 50)
    group.limit_cpu(None)
    time.sleep(2 * INTERVAL)
    test.true("without a limit it is silent", is_silent(daemon, service, "gauge-cpu_limit_percent"))
    test.true("so are its counters", is_silent(daemon, service, "total_events-cpu_periods"))
    load.end()


def again(test, daemon, tree, group):
    """A unit that is started again has a new cgroup."""
    service = test.own("kt_again")
    want = [0, 0]
    for starts in (1, 2):
        load = test.load("task", name="kt_in")
        group.enter(load.pid)
        before = [0, 0]
        if starts == 1:
            row(daemon, service, "gauge-cpu_limit_percent")
            before = [a - b for a, b in zip(group.throttling(), counted(daemon, service))]
        burn(load, 200)
        time.sleep(2 * INTERVAL)
        want = [a + b - c for a, b, c in zip(want, group.throttling(), before)]
        now = counted(daemon, service)
        for i, what in ((0, "periods"), (1, "throttled periods")):
            test.close(f"after {starts} starts: {what}", now[i], want[i], slack=1)
        load.end()
        tree.remove(group)
        time.sleep(2 * INTERVAL)
        if starts == 1:
            group = tree.make(group.name)
            group.limit_cpu(20)


def memory(test, daemon, group):
    service = test.own("kt_memory")
    test.equal("memory limit", row(daemon, service, "memory-limit"), MEMORY * MIB)
    test.equal("OOM kills before", row(daemon, service, "total_events-cgroup_oom_kills"), 0)
    for kills in (1, 2):
        load = test.load("memory", name="kt_in")
        group.enter(load.pid)
        load.say(f"grow {2 * MEMORY}")
        test.equal("ended by signal", -load.process.wait(), 9)
        test.equal("OOM kills by the file", group.kills(), kills)
        test.equal("OOM kills", row(daemon, service, "total_events-cgroup_oom_kills"), kills)


def boxes(test, daemon, tree, found, loads):
    """Of two containers there is no one limit; what they count adds up."""
    service = test.own("kt_boxes")
    burn(loads[0], 100)
    burn(loads[1], 150)
    time.sleep(2 * INTERVAL)
    want = [sum(numbers) for numbers in zip(*(group.throttling() for group in found))]
    test.close("two containers: periods", counted(daemon, service)[0], want[0], slack=2)
    test.equal("two containers: limits", shown(daemon, service) & {"gauge-cpu_limit_percent", "memory-limit"}, set())
    loads[1].end()
    tree.remove(found[1])
    test.equal("the one that is left", row(daemon, service, "gauge-cpu_limit_percent"), 20)


def compare_pressure(test, daemon, service, name, curve):
    """Percent of the time, by readings from the first to the last one that the curve covers."""
    rows = [row for row in daemon.rows(service, name) if curve.covers(row[0]) and curve.covers(row[0] + LATE)]
    test.true(f"{name}: rows", len(rows) > 3, len(rows))
    first, last = rows[0][0], rows[-1][0]
    got = sum((row[0] - before[0]) * row[1] * 1e4 for before, row in zip(rows, rows[1:]))
    test.between(f"{name}: us", got, (curve.growth(first + LATE, last)[0], curve.growth(first, last + LATE)[1]), rel=0.02,
                 slack=20000)
    return got / (last - first) / 1e4


def watch_pressure(test, daemon, group, service, work):
    """{name: percent} while that work goes on."""
    sampler = truth.Sampler(lambda: {name: group.pressure(*name.split("_")[1:]) for name in PRESSURES}, every=0.02)
    work()
    time.sleep(2 * LATE)
    sampler.stop()
    daemon.wait_rows(service, "percent-pressure_cpu_some", 2, time.time())
    return {name: compare_pressure(test, daemon, service, name, sampler.curve(lambda value, name=name: value[name]))
            for name in sorted(PRESSURES)}


def spin(test, group):
    """Two threads on one CPU: one of them waits, whoever else is there."""
    load = test.load("spin", test.mkdir("log"), 2, int(8 * SLOWNESS), 0, max(os.sched_getaffinity(0)), name="kt_in")
    group.enter(load.pid)
    load.result()


def thrash(test, group):
    """Reads a file that is larger than the memory that it may have."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        file.write(os.urandom(MIB) * (2 * MEMORY))
        file.flush()
        os.fsync(file.fileno())
        # What is in memory is its writer's.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        load = test.load("task", name="kt_in")
        group.enter(load.pid)
        with subprocess.Popen(["sh", "-c", f"read go; while :; do cat {file.name} > /dev/null; done"],
                              stdin=subprocess.PIPE) as reader:
            group.enter(reader.pid)
            reader.stdin.write(b"go\n")
            reader.stdin.close()
            time.sleep(8 * SLOWNESS)
            reader.kill()
        load.end()


def pressure(test, daemon, groups):
    if not groups["kt_wait.service"].has_pressure():
        print("note: this kernel counts no pressure of cgroups, its part is left out")
        return
    group = groups["kt_wait.service"]
    percents = watch_pressure(test, daemon, group, test.own("kt_wait"), lambda: spin(test, group))
    test.within("percent of the time that one waits for the CPU", percents["percent-pressure_cpu_some"], 70, 101)
    if groups["kt_memory.service"].tree.is_v1("memory"):
        print("note: memory and disks are not of cgroup2 here, their pressure is left out")
        return
    group = groups["kt_memory.service"]
    percents = watch_pressure(test, daemon, group, test.own("kt_memory"), lambda: thrash(test, group))
    least = 1 if SLOWNESS < 2 else 0.001  # an emulated CPU is slow, its disk is not
    for what in ("io", "memory"):
        test.within(f"percent of the time that one waits, {what}", percents[f"percent-pressure_{what}_some"], least, 101)


def nobodys(test, daemon):
    """What has no limit, no cgroup, or is below what is a user's."""
    evil = test.own("kt_evil")
    test.equal("no limit", shown(daemon, test.own("kt_free")) - PRESSURES, set())
    test.equal("no cgroup", shown(daemon, test.own("kt_named")), set())
    test.equal("other", shown(daemon, "other"), set())
    test.equal("a user's limit", row(daemon, "user-4322", "gauge-cpu_limit_percent"), 30)
    test.equal("a unit below a user", evil in daemon.subjects(), False)
    test.equal("a path", row(daemon, test.own("kt_path"), "gauge-cpu_limit_percent"), 40)
    test.equal("a unit, and a path below it", row(daemon, test.own("kt_twice"), "gauge-cpu_limit_percent"), 60)


def start(test, tree):
    """{name: its group} with a process in each."""
    groups = {}
    for name, percent, mib in (
            ("kt_cpu.service", 20, None), ("kt_again.service", 20, None), ("kt_memory.service", None, MEMORY),
            ("kt_free.service", None, None), ("kt_wait.service", None, None), ("user-4322.slice", 30, None),
            ("kt_path", 40, None), ("kt_wild@1.service", 60, None), ("kt_odd \x1b[1m\"%s.service", 20, None)):
        group = groups[name] = tree.make(name)
        if percent:
            group.limit_cpu(percent)
        if mib:
            group.limit_memory(mib)
    for name in ("kt_cpu.service/below", "kt_path/below", "kt_wild@1.service/below", "user-4322.slice/kt_evil.service"):
        groups[name] = tree.make(name)
    for name in ("kt_memory.service", "kt_free.service", "kt_wait.service", "user-4322.slice/kt_evil.service",
                 "kt_path/below", "kt_wild@1.service/below", "kt_odd \x1b[1m\"%s.service"):
        groups[name].enter(test.load("task", name="kt_in").pid)
    return groups


def start_boxes(test, tree, names):
    found, loads = [], []
    for name in names:
        group = tree.make(f"docker-{name}.scope")
        group.limit_cpu(20)
        found.append(group)
        loads.append(test.load("task", name="kt_in"))
        group.enter(loads[-1].pid)
    return found, loads


def main():
    with Test(limit=200) as test:
        tree = Tree(test)
        groups = start(test, tree)
        load = test.load("task", name="kt_in")
        groups["kt_cpu.service/below"].enter(load.pid)
        burn(load, 100)
        load.end()
        before = groups["kt_cpu.service"].throttling()
        test.true("it was throttled before the plugin", before[1] > 0, before)
        named = test.load("task", name="kt_named")
        names = [os.urandom(32).hex() for _ in range(2)]
        daemon = test.collectd(CONF.format(boxes=names, base=tree.base), interval=INTERVAL)
        daemon.wait_rows(test.own("kt_named"), "ps_count", 3)
        found, loads = start_boxes(test, tree, names)
        cpu(test, daemon, groups["kt_cpu.service"], groups["kt_cpu.service/below"], before)
        memory(test, daemon, groups["kt_memory.service"])
        boxes(test, daemon, tree, found, loads)
        nobodys(test, daemon)
        pressure(test, daemon, groups)
        again(test, daemon, tree, groups["kt_again.service"])
        test.equal("complaints", [line for line in daemon.complaints() if "OOM kill" not in line], [])
        test.equal("counters that fell", daemon.fallen(), [])
        named.end()


if __name__ == "__main__":
    main()

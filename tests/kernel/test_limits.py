#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Limits and pressure of services: for a unit, a user, a container and a Service block, the values in the files of their
cgroups, even if the processes are in a cgroup below. Without a limit there are no series, nor for other cgroups.

Truth: the files of the cgroups as the test reads them, the limits that it wrote, the CPU time that processes got under
these, and how they ended.
"""

import os
import subprocess
import tempfile
import time

import truth
from cgroups import Cgroups, controller_root, unified_root
from lib import SLOWNESS, Skip, Test, without

MIB = 1 << 20
INTERVAL = 0.5 if SLOWNESS < 2 else 2  # a unit that is started again within 10 intervals keeps its series
FIGURES = bool(os.environ.get("TEST_FIGURES"))
PERIOD = 100000  # us
PERCENT = 5      # of a CPU: where others want the CPU, too, one time slice exceeds that
MEMORY = 32      # MiB
SECONDS = int((8 if FIGURES else 3) * SLOWNESS)  # of load; the kernel updates the pressure every 2 s
LATE = 0.25 * SLOWNESS  # s that a reading may be late
SERIES = {"gauge-cpu_limit_percent", "total_events-cpu_periods", "total_events-cpu_periods_throttled",
          "percent-cpu_periods_throttled", "total_time_in_ms-cpu_throttled", "memory-limit", "total_events-cgroup_oom_kills"}
PRESSURES = {f"percent-pressure_{what}_{who}" for what in ("cpu", "io", "memory") for who in ("some", "full")}

CONF = """
  # Those of the tests beside this one are services, too.
  MaxServices 4096
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
""" + without("disk", "poll", "request")


def keyed(text):
    return {words[0]: int(words[1]) for words in map(str.split, text.splitlines())}


class Group:
    """A cgroup in each hierarchy of this machine."""

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
        """percent: of one CPU; None: no limit."""
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
        """(periods, throttled periods, throttled ms)"""
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
    """The test's directories in the hierarchies of the controllers that identify services and limit them."""

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
    """The value of the first reading that begins after the call."""
    return daemon.wait_rows(subject, metric, 2, time.time())[-1][1]


def is_silent(daemon, subject, metric):
    """Does the series end, two readings after the call?"""
    since = daemon.wait_rows("other", "ps_count", 2, time.time())[-1][0]
    daemon.wait_rows("other", "ps_count", 2, since + 0.001)
    return not [stamp for stamp, *_ in daemon.rows(subject, metric) if stamp > since + INTERVAL / 2]


def shown(daemon, subject):
    return set(daemon.metrics(subject)) & (SERIES | PRESSURES)


def counted(daemon, subject):
    """(periods, throttled periods, throttled ms)"""
    moment = time.time()
    return [daemon.wait_rows(subject, name, 2, moment)[-1][1] for name in (
        "total_events-cpu_periods", "total_events-cpu_periods_throttled", "total_time_in_ms-cpu_throttled")]


class Reading:
    """The plugin's counts, and those of the files before and after its reading."""

    def __init__(self, daemon, service, *groups):
        self.low = self._sum(groups)
        self.got = counted(daemon, service)
        self.high = self._sum(groups)

    @staticmethod
    def _sum(groups):
        return [sum(numbers) for numbers in zip(*(group.throttling() for group in groups))]


def burn(load, ms):
    """Uses CPU time; returns the CPU time and the elapsed time, ms."""
    begin, used = time.time(), truth.schedstat(load.pid)[0]
    load.ask(f"use {ms}")
    return (truth.schedstat(load.pid)[0] - used) / 1e6, (time.time() - begin) * 1e3


def throttle(group, load, periods=5):
    """Uses CPU time until so many more periods were throttled; returns the CPU time and the elapsed time, ms."""
    enough, parts = group.throttling()[1] + periods, []
    while group.throttling()[1] < enough:
        parts.append(burn(load, 20))
    return [sum(column) for column in zip(*parts)]


def cpu(test, daemon, group, below, before):
    service = test.own("kt_cpu")
    load = test.load("task", name="kt_in")
    below.enter(load.pid)
    test.equal("CPU limit, percent", row(daemon, service, "gauge-cpu_limit_percent"), PERCENT)
    start, first = Reading(daemon, service, group), time.time()
    used, taken = throttle(group, load, 30 if FIGURES else 5)
    end = Reading(daemon, service, group)
    for i, (what, slack) in enumerate((("periods", 0), ("throttled periods", 0), ("throttled ms", 1))):
        test.between(what, end.got[i] - start.got[i], (end.low[i] - start.high[i], end.high[i] - start.low[i]), slack=slack)
        test.within(f"{what}: those before the plugin are not in it", end.got[i], 1, end.high[i] - before[i] + slack)
    shares = [value for stamp, value in daemon.rows(service, "percent-cpu_periods_throttled") if stamp > first]
    test.within("throttled periods, percent", max(shares), 0.1, 100)
    test.figures.within("throttled periods, percent, at most", max(shares), 50, 100)
    # On a busy machine it may get less CPU time than its limit allows.
    test.figures.within("share of a CPU that it got, percent", used / taken * 100, PERCENT / 4, PERCENT * 1.2)
    test.figures.within("throttled ms, by what it did not get", (end.got[2] - start.got[2]) / (taken - used), 0.3, 1.1)
    group.limit_cpu(50)
    test.equal("another CPU limit, percent", row(daemon, service, "gauge-cpu_limit_percent"), 50)
    group.limit_cpu(None)
    test.true("without a limit it is silent", is_silent(daemon, service, "gauge-cpu_limit_percent"))
    test.true("so are its counters", is_silent(daemon, service, "total_events-cpu_periods"))
    load.end()


def again(test, daemon, tree, group):
    """A unit that is started again has a new cgroup. Counts of the old one after its last reading may be lost."""
    service = test.own("kt_again")
    load = test.load("task", name="kt_in")
    group.enter(load.pid)
    row(daemon, service, "gauge-cpu_limit_percent")
    start = Reading(daemon, service, group)
    throttle(group, load)
    end = Reading(daemon, service, group)
    load.end()
    last = group.throttling()
    tree.remove(group)
    daemon.wait_rows("other", "ps_count", 2, time.time())
    group = tree.make(group.name)
    group.limit_cpu(PERCENT)
    load = test.load("task", name="kt_in")
    group.enter(load.pid)
    throttle(group, load)
    new = Reading(daemon, service, group)
    load.end()
    for i, what in ((0, "periods"), (1, "throttled periods")):
        test.between(f"after the first start: {what}", end.got[i] - start.got[i],
                     (end.low[i] - start.high[i], end.high[i] - start.low[i]))
        test.between(f"after the second start: {what}", new.got[i] - end.got[i],
                     (new.low[i], last[i] - end.low[i] + new.high[i]))


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
    """Two containers of one service have no common limit; their counts add up."""
    service = test.own("kt_boxes")
    burn(loads[0], 30)
    burn(loads[1], 50)
    reading = Reading(daemon, service, *found)
    test.between("two containers: periods", reading.got[0], (reading.low[0], reading.high[0]))
    test.equal("two containers: limits", shown(daemon, service) & {"gauge-cpu_limit_percent", "memory-limit"}, set())
    loads[1].end()
    tree.remove(found[1])
    test.equal("the one that is left", row(daemon, service, "gauge-cpu_limit_percent"), PERCENT)


def compare_pressure(test, daemon, service, name, curve):
    """Compares the readings within the curve; returns their percentage of the time."""
    rows = [row for row in daemon.rows(service, name) if curve.covers(row[0]) and curve.covers(row[0] + LATE)]
    first, last = rows[0][0], rows[-1][0]
    got = sum((row[0] - before[0]) * row[1] * 1e4 for before, row in zip(rows, rows[1:]))
    test.figures.between(f"{name}: us", got, (curve.growth(first + LATE, last)[0], curve.growth(first, last + LATE)[1]),
                         rel=0.02, slack=20000)
    return got / (last - first) / 1e4


def watch_pressure(test, daemon, group, service, work):
    """Compares the pressure during the work; returns {name: percent}."""
    def totals():
        return {name: group.pressure(*name.split("_")[1:]) for name in PRESSURES}

    sampler = truth.Sampler(totals, every=0.02)
    before = totals()
    row(daemon, service, "percent-pressure_cpu_some")
    begin, moment = totals(), time.time()
    work()
    end = totals()
    row(daemon, service, "percent-pressure_cpu_some")
    after = totals()
    sampler.stop()
    for name in sorted(PRESSURES):
        reported = sum(value for stamp, value in daemon.rows(service, name) if stamp > moment)
        if end[name] - begin[name] > 1000:
            test.true(f"{name}: it is told, of {end[name] - begin[name]} us", reported > 0, reported)
        elif after[name] == before[name]:
            test.equal(f"{name}: of nothing it tells nothing", reported, 0)
    return {name: compare_pressure(test, daemon, service, name, sampler.curve(lambda value, name=name: value[name]))
            for name in sorted(PRESSURES)}


def spin(test, group):
    """Runs two threads on one CPU: one of them always waits."""
    load = test.load("spin", test.mkdir("log"), 2, SECONDS, 0, max(os.sched_getaffinity(0)), name="kt_in")
    group.enter(load.pid)
    load.result()


def thrash(test, group):
    """Reads a file that is larger than the memory limit."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        file.write(os.urandom(MIB) * (2 * MEMORY))
        file.flush()
        os.fsync(file.fileno())
        # Pages in memory belong to the cgroup of their writer.
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        load = test.load("task", name="kt_in")
        group.enter(load.pid)
        with subprocess.Popen(["sh", "-c", f"read go; while :; do cat {file.name} > /dev/null; done"],
                              stdin=subprocess.PIPE) as program:
            group.enter(program.pid)
            program.stdin.write(b"go\n")
            program.stdin.close()
            time.sleep(SECONDS)
            program.kill()
        load.end()


def pressure(test, daemon, groups):
    if not groups["kt_wait.service"].has_pressure():
        test.left_out("pressure", "this kernel counts none of cgroups")
        return
    group = groups["kt_wait.service"]
    percents = watch_pressure(test, daemon, group, test.own("kt_wait"), lambda: spin(test, group))
    test.true("a service waits for its CPU", percents["percent-pressure_cpu_some"] > 0)
    test.figures.within("percent of the time that one waits for the CPU", percents["percent-pressure_cpu_some"], 70, 101)
    if groups["kt_memory.service"].tree.is_v1("memory"):
        test.left_out("pressure of memory and disks", "their controllers are not of cgroup2 here")
        return
    group = groups["kt_memory.service"]
    percents = watch_pressure(test, daemon, group, test.own("kt_memory"), lambda: thrash(test, group))
    least = 1 if SLOWNESS < 2 else 0.001  # an emulated CPU is slow, its disk is not
    for what in ("io", "memory"):
        percent = percents[f"percent-pressure_{what}_some"]
        test.true(f"a service waits, {what}", percent > 0)
        test.figures.within(f"percent of the time that one waits, {what}", percent, least, 101)


def nobodys(test, daemon):
    """Services without a limit or cgroup, and units below a user's slice, have no series; what is above them has."""
    evil = test.own("kt_evil")
    test.equal("no limit", shown(daemon, test.own("kt_free")) - PRESSURES, set())
    test.equal("no cgroup", shown(daemon, test.own("kt_named")), set())
    test.equal("other", shown(daemon, "other"), set())
    test.equal("a user's limit", row(daemon, "user-4322", "gauge-cpu_limit_percent"), 30)
    test.equal("a unit below a user", evil in daemon.subjects(), False)
    test.equal("a path", row(daemon, test.own("kt_path"), "gauge-cpu_limit_percent"), 40)
    test.equal("a unit, and a path below it", row(daemon, test.own("kt_twice"), "gauge-cpu_limit_percent"), 60)


def start(test, tree):
    """Makes cgroups with processes in them; returns {name: cgroup}."""
    groups = {}
    for name, percent, mib in (
            ("kt_cpu.service", PERCENT, None), ("kt_again.service", PERCENT, None), ("kt_memory.service", None, MEMORY),
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
        group.limit_cpu(PERCENT)
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
        throttle(groups["kt_cpu.service"], load)
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

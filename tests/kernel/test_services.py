#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whose process is it? Each option of a Service block, before and after the plugin started, and the odd things that
happen in a process's life.

Truth: what the processes were told to do, and /proc.
"""

import os
import time

import truth
from cgroups import Cgroups
from lib import SLOWNESS, Test

INTERVAL = 0.2 if SLOWNESS < 2 else 1
PATIENCE = 60 * SLOWNESS
AROUND = 200 * SLOWNESS  # us: between an answer and the sleep that follows

# A name for each, so that what one case does is not seen in another.
CONF = """
  <Service "name">
    Process "kt_name"
  </Service>
  <Service "next">
    Process "kt_next"
  </Service>
  <Service "match">
    ProcessMatch "kt_mark-[0-9]+ x$"
  </Service>
  <Service "group">
    Cgroup "{group}"
  </Service>
  <Service "pidfile">
    PidFile "{pidfile}"
  </Service>
  <Service "early">
    Process "kt_early"
    ProcessMatch "kt_early-mark"
    Cgroup "{early}"
    PidFile "{early_pidfile}"
  </Service>
  <Service "leader">
    Process "kt_leader"
  </Service>
  <Service "zombie">
    Process "kt_zombie"
  </Service>
  <Service "threads">
    Process "kt_threads"
    PerProcess true
  </Service>
  <Service "both">
    Process "kt_both_a"
    Process "kt_both_b"
  </Service>
"""


FITS = """
  ServicesFrom "containers" "units" "commands"
  <Service "brief">
    Process "kt_brief"
    Unit "ktfit{id}.service"
    Unit "ktfits{id}@*.service"
    Cgroup "ktfit{id}.service"
  </Service>
  <Service "never">
    Process "kt_nveer"
    ProcessMatch "kt_nveer-mark"
    Unit "ktnveer{id}.service"
  </Service>
"""
NEVER = 'Process "kt_nveer"', 'ProcessMatch "kt_nveer-mark"', 'Unit "ktnveer{id}.service"'


def count(daemon, service):
    """Processes and threads of the first reading from now on, after the resolving reading if one is needed."""
    moment = time.time()
    return list(daemon.wait_rows(service, "ps_count", 2, moment)[1][1:])


def cpu(daemon, service):
    return sum(daemon.row_after(service, "ps_cputime", time.time())[1:])


def use(test, what, daemon, service, load, us):
    """A process that uses this much, and what it has used by the kernel's count."""
    truth.wait_state(load.pid, "SZ")
    before, begin = cpu(daemon, service), truth.schedstat(load.pid)[0]
    load.ask(f"use {us // 1000}")
    truth.wait_state(load.pid, "SZ")
    after, end = cpu(daemon, service), truth.schedstat(load.pid)[0]
    used = (end - begin) / 1000
    test.true(f"{what}: it has used what it was told", used >= us, used)
    test.close(f"{what}: CPU, us", after - before, used, slack=AROUND)


def early(test, daemon, loads):
    want = [len(loads), sum(int(truth.stat(load.pid)[20]) for load in loads)]
    test.equal("ran before the plugin, by name, match, cgroup and pid file: ps_count", count(daemon, "early"), want)
    for load in loads:
        load.end()


def by_name(test, daemon):
    load = test.load("task", name="kt_name")
    test.equal("Process: ps_count", count(daemon, "name"), [1, 1])
    load.ask("fork")
    load.ask("threads 3")
    test.equal("Process, with a child and 3 further threads: ps_count", count(daemon, "name"), [2, 5])
    load.end()
    test.equal("Process, ended: ps_count", count(daemon, "name"), [0, 0])


def several_names(test, daemon):
    loads = [test.load("task", name=name) for name in ("kt_both_a", "kt_both_b")]
    test.equal("Process twice: ps_count", count(daemon, "both"), [2, 2])
    for load in loads:
        load.end()


def by_match(test, daemon):
    load = test.load("task", "kt_mark-12", "x", name="kt_match")
    other = test.load("task", "kt_mark-", "x", name="kt_match")
    test.equal("ProcessMatch: ps_count", count(daemon, "match"), [1, 1])
    load.ask("fork")
    test.equal("ProcessMatch, with a child: ps_count", count(daemon, "match"), [2, 2])
    load.ask(f"exec {test.program('task', 'kt_plain')}")
    test.equal("ProcessMatch, exec of what does not match: ps_count", count(daemon, "match"), [1, 1])
    load.end()
    other.end()


def by_cgroup(test, daemon, groups, group):
    load = test.load("task", name="kt_grouped")
    below = test.load("task", name="kt_grouped")
    groups.enter(group, load.pid)
    groups.enter(group + "/below", below.pid)
    test.equal("Cgroup, and one below: ps_count", count(daemon, "group"), [2, 2])
    load.ask("fork")
    test.equal("Cgroup, with a child: ps_count", count(daemon, "group"), [3, 3])
    groups.enter("", load.pid)
    test.equal("Cgroup, one moved out: ps_count", count(daemon, "group"), [2, 2])
    load.end()
    below.end()


def by_deep_cgroup(test, daemon, groups, group):
    """Whoever may make cgroups below one may make them deeper than any rule is."""
    path = group
    for _ in range(40):
        path += "/d"
        groups.make(path)
    load = test.load("task", name="kt_deep")
    groups.enter(path, load.pid)
    test.equal("Cgroup, one 40 below: ps_count", count(daemon, "group"), [1, 1])
    load.end()


def by_pid_file(test, daemon, pidfile):
    loads = [test.load("task", name="kt_pidfile") for _ in range(2)]
    for load in loads:
        with open(pidfile, "w", encoding="ascii") as file:
            file.write(f"{load.pid}\n")
        load.ask("use 300")
        test.equal("PidFile: ps_count", count(daemon, "pidfile"), [1, 1])
        use(test, "PidFile", daemon, "pidfile", load, 200000)
        load.end()
        test.equal("PidFile, ended: ps_count", count(daemon, "pidfile"), [0, 0])
    os.unlink(pidfile)


def moves(test, daemon, how, word):
    """CPU used before stays with the old service, what comes after goes to the new one."""
    before = cpu(daemon, "name"), cpu(daemon, "next")
    load = test.load("task", name="kt_name")
    # From its first answer on it is certain that the exec is over, whose time is in part another service's.
    load.ask("use 0")
    truth.wait_state(load.pid, "SZ")
    start = truth.schedstat(load.pid)[0] / 1000
    load.ask("use 300")
    early_us = truth.schedstat(load.pid)[0] / 1000
    load.ask(word)
    load.ask("use 200")
    test.equal(f"{how}: ps_count of the old service", count(daemon, "name"), [0, 0])
    test.equal(f"{how}: ps_count of the new service", count(daemon, "next"), [1, 1])
    old, new = cpu(daemon, "name") - before[0], cpu(daemon, "next") - before[1]
    total = truth.cpu_us(load.pid)
    test.within(f"{how}: CPU of both services, us", old + new, total - start - 10, total + truth.CPU_STEP)
    # In between is what the move itself takes: much under emulation.
    test.within(f"{how}: CPU of the old service, us", old, early_us - start - 10, total - 200000 + truth.CPU_STEP)
    test.within(f"{how}: CPU of the new service, us", new, 200000, total - early_us + truth.CPU_STEP)
    load.end()


def threads_end(test, daemon):
    """The end of a thread is not that of its process."""
    load = test.load("task", name="kt_threads")
    single = f"threads-{load.pid}-{truth.start_ticks(load.pid)}"
    load.ask("threads 1")
    daemon.wait_rows(single, "ps_count", 1)
    load.ask("brief 3")
    moment = time.time()
    rows = daemon.wait_rows("threads", "ps_count", 4, moment)
    test.equal("threads have ended: ps_count", rows[-1][1:], (1, 2))
    # Of the same readings; the last may still be being written.
    want = rows[:3]
    test.equal("threads have ended: ps_count of the single process",
               [row for row in daemon.rows(single, "ps_count") if moment < row[0] <= want[-1][0] + INTERVAL / 2], want)
    load.end()
    moment = time.time()
    daemon.wait_rows("threads", "ps_count", 8, moment)
    left = [row for row in daemon.rows(single, "ps_count") if row[0] > moment]
    test.within("the process has ended: readings of its own series", len(left), 0, 4)


def leader_first(test, daemon):
    load = test.load("task", name="kt_leader")
    load.ask("threads 2")
    load.ask("use 100")
    load.ask("leader-exit")
    test.equal("leader has ended: ps_count", count(daemon, "leader"), [1, 3])
    use(test, "leader has ended, what goes on", daemon, "leader", load, 300000)
    load.process.stdin.close()
    load.zombie()
    total = truth.cpu_us(load.pid)
    load.end()
    test.equal("leader and the others have ended: ps_count", count(daemon, "leader"), [0, 0])
    test.within("leader and the others have ended: CPU in all, us", cpu(daemon, "leader"), 400000, total + truth.CPU_STEP)
    moment = time.time()
    started, ended = (daemon.row_after("leader", "total_events-processes_" + word, moment)[1]
                      for word in ("started", "ended"))
    test.equal("leader and the others have ended: started, ended", [started, ended], [1, 1])


def zombie(test, daemon):
    load = test.load("task", name="kt_zombie")
    load.ask("zombie")
    test.equal("zombie: ps_count", count(daemon, "zombie"), [1, 1])
    test.close("zombie: ps_rss, that of its parent, bytes", daemon.row_after("zombie", "ps_rss", time.time())[1],
               truth.memory(load.pid)[1], rel=0.01)
    load.ask("reap")
    count(daemon, "zombie")
    moment = time.time()
    started, ended = (daemon.row_after("zombie", "total_events-processes_" + word, moment)[1]
                      for word in ("started", "ended"))
    test.equal("zombie was reaped: started, ended", [started, ended], [2, 1])
    load.end()


def count_kernel_threads():
    threads = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            threads += int(truth.stat(pid)[9]) & 0x00200000 != 0  # PF_KTHREAD
        except (FileNotFoundError, ProcessLookupError):
            continue
    return threads


def kernel_threads(test, daemon):
    sampler = truth.Sampler(count_kernel_threads, every=0.01)
    got = count(daemon, "kernel")[0]
    sampler.stop()
    numbers = sampler.values
    # Workers come and go.
    test.within("kernel threads: ps_count of kernel", got, min(numbers) - 8, max(numbers) + 8)
    kernel = {"kworker", "kthreadd", "ksoftirqd", "rcu", "migration", "kswapd0", "kdevtmpfs", "jbd2"}
    named = [subject for subject in daemon.subjects() if any(subject.startswith(word) for word in kernel)]
    test.equal("kernel threads: services of their own", named, [])


def logged(daemon, text, count):
    """What the log says with this text, as soon as it has so many such lines."""
    give_up = time.monotonic() + PATIENCE
    while len(said := [line for line in daemon.log() if text in line]) < count and time.monotonic() < give_up:
        time.sleep(INTERVAL / 2)
    return [line.split("plugin: ", 1)[1].split(" since the start: ")[0] for line in said]


def brief(test, groups, number):
    """Processes and cgroups that end at once; the kernel takes a row for one that no line of its own fits."""
    for name, command in (f"ktfit{number}.service", "kt_brief"), (f"ktfits{number}@7.service", "kt_globbed"):
        groups.make(name)
        load = test.load("task", name=command)
        groups.enter(name, load.pid)
        load.end()
        groups.remove()


def fits(test, groups):
    """A line that no process fits is told after ten readings, but not one that a short life fits between two."""
    number = os.getpid()
    daemon = test.collectd(FITS.format(id=number), interval=INTERVAL)
    count(daemon, "never")
    brief(test, groups, number)
    want = [test.own(f'<Service "never">: no process has fitted {line.format(id=number)}') for line in NEVER]
    test.equal("lines that no process fits", logged(daemon, "has fitted", len(want)), want)
    load = test.load("task", name="kt_nveer")
    want = [test.own(f'<Service "never">: a process fits {NEVER[0]} now')]
    test.equal("and now one does", logged(daemon, "a process fits", 1), want)
    load.end()
    test.stop(daemon)


def main():
    with Test(limit=150) as test:
        groups = Cgroups()
        test.at_end(groups.remove)
        above, early_group = f"kt-{os.getpid()}", f"kt-early-{os.getpid()}"
        group = above + "/a"  # shorter than the one above
        for name in (above, group, group + "/below", early_group):
            groups.make(name)
        pidfile, early_pidfile = (os.path.join(test.dir, name) for name in ("pidfile", "early_pidfile"))
        loads = [test.load("task", name="kt_early"), test.load("task", "kt_early-mark", name="kt_e1"),
                 test.load("task", name="kt_e2"), test.load("task", name="kt_e3")]
        loads[0].ask("threads 4")
        groups.enter(early_group, loads[2].pid)
        with open(early_pidfile, "w", encoding="ascii") as file:
            file.write(f"{loads[3].pid}\n")
        daemon = test.collectd(CONF.format(group=group, early=early_group, pidfile=pidfile,
                                           early_pidfile=early_pidfile), interval=INTERVAL, collect=("process",))
        early(test, daemon, loads)
        by_name(test, daemon)
        several_names(test, daemon)
        by_match(test, daemon)
        by_cgroup(test, daemon, groups, group)
        by_deep_cgroup(test, daemon, groups, group)
        by_pid_file(test, daemon, pidfile)
        program = test.program("task", "kt_next")
        moves(test, daemon, "exec", f"exec {program}")
        moves(test, daemon, "exec by another thread", f"thread-exec {program}")
        moves(test, daemon, "PR_SET_NAME", test.own("name kt_next"))
        threads_end(test, daemon)
        leader_first(test, daemon)
        zombie(test, daemon)
        kernel_threads(test, daemon)
        test.stop(daemon)
        fits(test, groups)


if __name__ == "__main__":
    main()

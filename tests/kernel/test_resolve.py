#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that only user space can tell apart, and those that find no room: forked before anybody has looked at
their parents, under another title, named by a file that is not to be trusted, or started when all rows are taken.

Truth: what the processes were told to do.
"""

import os
import signal
import subprocess
import time

from lib import SLOWNESS, Test, die_with_test

INTERVAL = 1
PATIENCE = 100 * SLOWNESS
NOBODY = 65534
CONF = """
  <Service "forked">
    ProcessMatch "kt_forked-[0-9]+ x$"
  </Service>
  <Service "file">
    PidFile "{file}"
  </Service>
"""

# Lets nobody but the test's own keep rows.
ROWS, NAMES, LEFT = 12, 30, 4
EARLY = 20  # of the names
NEWCOMERS = 300
FULL = f"""
  MaxServices {ROWS}
  MaxNewServices 1000
  ServicesFrom "commands"
  <Service "rest">
    ProcessMatch "^(?!.*kt_row)"
  </Service>
"""
FULL_INTERVAL = 0.5
LATE = """
  <Service "late">
    ProcessMatch "kt_is-late"
  </Service>
"""


def count(daemon, service):
    """Processes at the second reading from now on: the first one may look at those that are new."""
    return daemon.wait_rows(service, "ps_count", 2, time.time())[1][1]


def count_becomes(daemon, service, want):
    """Processes as soon as they are as many as wanted; in the end, how many they are then. A busy machine may need some
    readings to look at all that are new."""
    give_up = time.monotonic() + PATIENCE
    while (found := daemon.row_after(service, "ps_count", time.time())[1]) != want and time.monotonic() < give_up:
        pass
    return found


def logged(daemon, text):
    return sum(text in line for line in daemon.log())


def at_once(test, daemon):
    """A daemon that forks before the first reading after its start, its children under titles of their own."""
    daemon.row_after("forked", "ps_count", time.time())
    load = test.load("task", "kt_forked-1", "x", name="kt_forks")
    for title in ("", " kt_other: worker", " kt_other: helper"):
        load.ask("fork" + title)
    test.equal("ProcessMatch, three children forked before the first reading: processes",
               count_becomes(daemon, "forked", 4), 4)
    load.ask("fork")
    test.equal("ProcessMatch, and one after it", count_becomes(daemon, "forked", 5), 5)
    load.end()
    test.equal("ProcessMatch, ended", count_becomes(daemon, "forked", 0), 0)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def late(test):
    """A command line that cannot be read in time is read later. Played by stopping the process that reads."""
    daemon = test.collectd(LATE, interval=FULL_INTERVAL)
    daemon.wait_rows("late", "ps_count", 2)
    helpers = [helper for starter in children_of(daemon.process.pid) for helper in children_of(starter)]
    for helper in helpers:
        os.kill(helper, signal.SIGSTOP)
    load = test.load("task", "kt_is-late", name="kt_late")
    test.equal("ProcessMatch, while the command line cannot be read: processes", count(daemon, "late"), 0)
    for helper in helpers:
        os.kill(helper, signal.SIGCONT)
    test.equal("ProcessMatch, when it can be read: processes", count_becomes(daemon, "late", 1), 1)
    load.end()
    test.stop(daemon)


def retitled(test, daemon):
    load = test.load("task", "kt_unknown-and-long-enough", name="kt_titled")
    test.equal("before it takes a title: processes", count(daemon, "forked"), 0)
    load.ask(test.own("title kt_forked-7 x"))
    test.equal("ProcessMatch of a title that it takes later: processes", count_becomes(daemon, "forked", 1), 1)
    load.end()


def rename_onto(path, make):
    make(path + ".new")
    os.rename(path + ".new", path)


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def write_pid(path, pid, owner):
    def make(new):
        with open(new, "w", encoding="ascii") as file:
            file.write(f"{pid}\n")
        os.chown(new, owner, owner)

    rename_onto(path, make)


def owners(test, daemon, path):
    """Whose file it is, and whose process."""
    root = test.load("task", name="kt_root")
    other = subprocess.Popen(["sleep", "1000"], user=NOBODY, group=NOBODY, extra_groups=[])
    for process, owner, want in ((root, NOBODY, 0), (root, 0, 1), (other, NOBODY, 1), (other, 0, 1)):
        write_pid(path, process.pid, owner)
        test.equal(f"PidFile of user {owner} with {'root' if process is root else 'nobody'}'s process: processes",
                   count_becomes(daemon, "file", want) if want else count(daemon, "file"), want)
        if process is root and owner == 0:
            root.end()
    other.kill()
    other.wait()
    test.equal("one warning of a file that is not believed",
               logged(daemon, f"the file is user {NOBODY}'s, the process is user 0's"), 1)


def no_regular_file(test, daemon, path):
    """Each costs one message, and no reading."""
    cases = (("a FIFO", os.mkfifo, "it is not a regular file"),
             ("a symbolic link", lambda new: os.symlink("/run/none", new), "it is a symbolic link"),
             ("a directory", os.mkdir, "Is a directory"))
    os.unlink(path)
    for what, make, message in cases:
        make(path)
        begin = time.time()
        rows = daemon.wait_rows("file", "ps_count", 3, begin)
        # The first one may have been due before.
        test.figures.within(f"PidFile is {what}: seconds until the third reading", rows[2][0] - begin, INTERVAL,
                            3 * INTERVAL + 2 * SLOWNESS)
        test.equal(f"PidFile is {what}: messages", logged(daemon, message), 1)
        if what == "a directory":
            os.rmdir(path)
        else:
            os.unlink(path)


def newcomers(test):
    """Processes of ever new names, that live for a moment and would take any row that comes free."""
    programs = test.mkdir("newcomers")
    for i in range(NEWCOMERS):
        os.symlink("/bin/true", os.path.join(programs, f"kt_row-new{i}"))
    script = os.path.join(test.dir, "newcomers.sh")
    with open(script, "w", encoding="ascii") as file:
        file.write(f"while :; do for program in {programs}/*; do $program; done; done\n")
    return subprocess.Popen(["sh", script], preexec_fn=die_with_test)


def settled(daemon):
    """Subjects, when who has a row has series, too."""
    while True:
        seen = daemon.subjects()
        daemon.wait_rows("self", "objects-processes_without_row", 5, time.time())
        if daemon.subjects() == seen:
            return seen


def alternating(test, daemon, loads, early, later):
    """A few rows come free: those have them who have waited longest, whoever else comes meanwhile."""
    for name in [name for name in loads if name not in early + later][:LEFT]:
        loads[name].end()
    give_up = time.monotonic() + PATIENCE
    while len(set(early) & (shown := settled(daemon))) < LEFT and time.monotonic() < give_up:
        pass
    have, after = (sum(name in shown for name in names) for names in (early, later))
    test.within(f"{LEFT} rows come free: those who have waited longest and have one", have, LEFT, len(early))
    test.true("nobody has one before another who has waited for longer", after == 0 or have == len(early), (have, after))


def start_full(test, daemon, numbers):
    """Each with a child. When this is over, all of them have been looked at."""
    loads = {test.own(name): test.load("task", name=name) for name in (f"kt_row{i}" for i in numbers)}
    for load in loads.values():
        load.ask("fork")
    settled(daemon)
    return loads


def full(test):
    """More names than rows: those that found none have series of their own as soon as there is room, before others that
    come later."""
    daemon = test.collectd(FULL, interval=FULL_INTERVAL)
    daemon.wait_rows("self", "objects-processes_without_row", 3)
    loads = start_full(test, daemon, range(EARLY)) | start_full(test, daemon, range(EARLY, NAMES))
    least = 2 * (NAMES - ROWS)
    while (row := daemon.row_after("self", "objects-processes_without_row", time.time()))[1] < least:
        pass
    # Others on this machine are among them until they have been looked at.
    test.figures.within("all rows are taken: processes without one", row[1], least, 2 * NAMES + 99)
    test.within("all rows are taken: refused",
                daemon.row_after("self", "total_events-refused_services", time.time())[1], least, 1e9)
    test.equal("all rows are taken: told once", logged(daemon, "all rows for services or processes are in use"), 1)
    shown = settled(daemon)
    late = [name for name in loads if name not in shown]
    early = [name for name in list(loads)[:EARLY] if name in late]
    test.within("all rows are taken: names without series", len(late), NAMES - ROWS, NAMES)
    storm = newcomers(test)
    alternating(test, daemon, loads, early, late[len(early):])
    for name in set(loads) - set(late[:LEFT]):
        loads[name].end()
    for name in late[:LEFT]:
        test.equal(f"there is room again: processes of {name}", count_becomes(daemon, name, 2), 2)
    newest = daemon.rows("self", "objects-processes_without_row")[-1][1]
    test.within("there is room again: processes without a row that came later", newest, 0, NEWCOMERS)
    storm.kill()
    storm.wait()
    for name in late[:LEFT]:
        loads[name].end()
    test.stop(daemon)


def zombie(test):
    """A PidFile of a process that has ended, but was not reaped: it is no process of a service any more, and what
    another of its name does still shows."""
    path = os.path.join(test.dir, "zombie")
    daemon = test.collectd(f'  ServicesFrom "commands"\n  <Service "ended">\n    PidFile "{path}"\n  </Service>\n',
                           interval=FULL_INTERVAL)
    load = test.load("task", name="kt_alive")
    name = test.own("kt_alive")
    daemon.wait_rows(name, "ps_count", 2)
    pids = set(os.listdir("/proc"))
    load.ask("zombie")
    ended = [pid for pid in os.listdir("/proc") if pid not in pids and parent_of(pid) == load.pid]
    test.equal("zombies", len(ended), 1)
    write_pid(path, ended[0], 0)
    rows = daemon.wait_rows(name, "ps_count", daemon.FORGET_INTERVALS + 4, time.time())
    test.equal("the process beside a zombie is still counted", rows[-1][1], 1)
    load.end()
    test.stop(daemon)


def main():
    with Test(limit=400) as test:
        path = os.path.join(test.dir, "pidfile")
        daemon = test.collectd(CONF.format(file=path), interval=INTERVAL)
        daemon.wait_rows("file", "ps_count", 2)
        test.equal("a PidFile that is not there yet: told once", logged(daemon, "names no process: No such file"), 1)
        at_once(test, daemon)
        retitled(test, daemon)
        owners(test, daemon, path)
        no_regular_file(test, daemon, path)
        os.mkfifo(path)
        test.stop(daemon)
        full(test)
        zombie(test)
        late(test)


if __name__ == "__main__":
    main()

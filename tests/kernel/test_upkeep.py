#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files, command lines and symbols that do not answer, all at once: readings go on, new processes are counted in their
service, healthy files are read, and SIGTERM ends collectd.

Truth: the processes that the test starts and when, the calls that it asks for, /etc/passwd, and collectd's own plugin
load, whose readings show how late the machine is.
"""

import os
import shutil
import subprocess
import time

import lib
from lib import SLOWNESS, Test, descendants
from test_hostile_user import attack, silent_file_system
from test_symbols import wait_for_program

# Less than a second: with a second and more, two readings within one second of the clock are one (dispatch.c).
INTERVAL = 0.9 if SLOWNESS < 2 else 2
SYMBOLS_S = 6           # until load_slow_symbols.c reads the symbols of a program
PATIENCE = 60 * SLOWNESS
TERM_S = 2 * SLOWNESS   # from SIGTERM to the end
START_S = 3 * SLOWNESS  # that files which hang may cost a start; one of them alone would take 5 s
EARLY_S = 0.3           # from the start of collectd to an early SIGTERM
CALLS = 1000
USERS = range(4)       # whose names a label shows
OWNERS = {"root": 0, "nobody": 65534}  # of new processes and of those that hang

CONF = """
  SymbolHelper "{slow}"
  <Service "new_root">
    ProcessMatch "/kt_new root$"
  </Service>
  <Service "new_nobody">
    ProcessMatch "/kt_new nobody$"
  </Service>
  <Service "caller">
    Process "kt_one"
  </Service>
  <Service "silent">
    PidFile "{silent}/pid"
  </Service>
  <Probe "silent">
    Object "{silent}/object"
  </Probe>
  <Probe "functions">
    <Function "silent">
      Attach "uprobe:{silent}/program:called"
    </Function>
    <Function "one">
      Attach "uprobe:{one}:called"
    </Function>
    <Function "two">
      Attach "uprobe:{two}:called"
    </Function>
    <Function "libc">
      Attach "uprobe:{libc}:sprintf"
    </Function>
  </Probe>
  <Probe "users">
    Object "{users}"
    Parameter "watched_pid" {pid}
    <Table "plain_array">
      <Key "user">
        Decode "user"
      </Key>
      <Value>
        Metric "derive-calls"
      </Value>
    </Table>
  </Probe>
"""
# About each file that hangs, once.
MESSAGES = {"object": "probe silent is off: cannot read ",
        "program": 'probe functions: Function "silent" is not attached yet and is tried again: cannot read ',
        "pid": '<Service "silent">: PidFile '}
NO_REPLY = "its file system does not answer"
READY = "Initialization complete"
HANGING = len(MESSAGES) + 2  # and two command lines
FUNCTIONS = {name: "total_operations-function-" + name for name in ("one", "libc")}
# Of probes that have nothing to do with those files, of the one that has, and of the plugin itself.
SERIES = (("new_root", "ps_count"), ("caller", FUNCTIONS["one"]), ("self", "objects-services"))


class Silence:
    """A file system that does not answer, and two processes whose command lines are on it."""

    def __init__(self, test):
        self.directory, self.server = silent_file_system(test)
        file = os.path.join(self.directory, "read")
        self.processes = [attack(test, "command-line", file, *user) for user in ([], ["root"])]

    def end(self):
        """Of the file system first: nothing else ends who waits for it."""
        self.server.end()
        for process in self.processes:
            process.end()


class Newcomers:
    """Processes of two services, of the users of those that hang."""

    def __init__(self, test):
        self.path = test.program("task", "kt_new")
        self.processes = []
        self.starts = {owner: [] for owner in OWNERS}

    def add(self):
        for owner, user in OWNERS.items():
            self.processes.append(subprocess.Popen([self.path, owner], stdin=subprocess.PIPE, start_new_session=True,
                                                   user=user, group=user, extra_groups=[]))
            self.starts[owner].append(time.time())

    def readings_until_counted(self, owner, rows):
        """Of each: at which reading after its start the service has as many processes as were started with it. None: it
        is not counted."""
        found = []
        for number, start in enumerate(self.starts[owner]):
            counts = [row[1] for row in rows if row[0] > start + 0.001]  # the csv plugin rounds
            found.append(next((i + 1 for i, count in enumerate(counts) if count > number), None))
        return found

    def end(self):
        for process in self.processes:
            process.stdin.close()
            process.wait()


class Caller:
    """A program and its libc, which nobody else has. A second program, which nobody runs, is
    installed later."""

    def __init__(self, test):
        self.test, self.daemon = test, None
        self.paths = {name: os.path.join(test.disk, test.own("kt_" + name)) for name in ("one", "two")}
        self.paths["libc"], environment = test.own_libc("caller")
        self.install("one")
        self.load = test.load_at(self.paths["one"], environment=environment)

    def install(self, name):
        shutil.copy(self.test.program("call"), self.paths[name])

    def call(self):
        self.load.ask(str(CALLS))

    def counts(self, moment):
        """{function: calls} at the first reading after the moment."""
        return {name: self.daemon.row_after("caller", metric, moment)[1] for name, metric in FUNCTIONS.items()}

    def first_counted(self, name):
        """The time of the first reading with calls of this function, or None."""
        return next((row[0] for row in self.daemon.rows("caller", FUNCTIONS[name]) if row[1] > 0), None)


def slow_symbols(test):
    """The program that reads symbols late, where nobody may run it: see own_libc()."""
    if not os.path.exists(os.path.join(test.disk, "ebpf-symbols")):
        shutil.copy(os.path.join(lib.BUILD, "ebpf-symbols"), test.disk)
    return test.program("slow_symbols")


def start(test, silence, paths):
    text = CONF.format(slow=slow_symbols(test), silent=silence.directory, pid=os.getpid(), **paths,
                       users=os.path.join(lib.BUILD, "tests", "bpf", "foreign_shapes.bpf.o"))
    # More threads than probes: readings that hang do not keep collectd's own plugins from theirs.
    return test.collectd(text, interval=INTERVAL, extra="ReadThreads 30\nLoadPlugin load")


def check_waits(test, daemon, what):
    """What hangs costs a start: most of the rest is the kernel's work on programs, which takes longer on a busy machine."""
    # Threads may read before collectd says that it has started.
    while READY not in "".join(lines := daemon.log()) and daemon.running():
        time.sleep(0.05)
    numbers = [number for number, line in enumerate(lines) if MESSAGES["object"] in line and "Notification: " not in line]
    ready = [line for line in lines if READY in line]
    test.equal(f"{what}: messages about the object, and of the end of the start", (len(numbers), len(ready)), (1, 1))
    waits = moment(ready[0]) - moment(lines[numbers[0] - 1])
    test.within(f"{what}: seconds from the last probe of the plugin itself to the end of the start", waits, 0, START_S)


def moment(line):
    """The whole second of a line of the log."""
    return time.mktime(time.strptime(line[1:20], "%Y-%m-%d %H:%M:%S"))


def check_start(test, daemon):
    """Collectd reads before the first symbols can have been read, whatever hangs: see check_calls()."""
    first = daemon.wait_rows("new_root", "ps_count")[0][0]
    test.figures.within("seconds until the first reading", first - daemon.starts[0], 0, SYMBOLS_S)
    check_waits(test, daemon, "first start")
    return first


def go_on(newcomers, caller):
    """New processes in each interval, until the calls are counted, also those of the program whose symbols are read
    late."""
    give_up = time.monotonic() + PATIENCE
    due = time.monotonic()
    while not all(map(caller.first_counted, FUNCTIONS)) and time.monotonic() < give_up and caller.daemon.running():
        newcomers.add()
        caller.call()
        for _ in USERS:
            os.getppid()
        due += INTERVAL
        time.sleep(max(0, due - time.monotonic()))


def check_calls(test, caller):
    before = caller.counts(time.time())
    caller.call()
    after = caller.counts(time.time())
    test.equal("calls when the symbols have been read", {name: after[name] - before[name] for name in after},
               {"one": CALLS, "libc": 1})
    test.true("calls of libc are counted before the symbols of the program are read",
              caller.first_counted("libc") < caller.first_counted("one"))


def check_newcomers(test, daemon, newcomers):
    number = len(newcomers.processes)
    test.true("newcomers while symbols are read", number >= len(OWNERS) * SYMBOLS_S / INTERVAL, number)
    for owner, starts in newcomers.starts.items():
        service = "new_" + owner
        daemon.wait_rows(service, "ps_count", 2, time.time())
        rows = daemon.rows(service, "ps_count")
        found = newcomers.readings_until_counted(owner, rows)
        test.equal(f"newcomers of {service} that are counted at the second reading at the latest; readings of each: {found}",
                   sum(readings in (1, 2) for readings in found), len(starts))
        test.equal(f"processes of {service} in the end", rows[-1][1], len(starts))


def missed(rows, first):
    """Intervals without a reading."""
    stamps = [row[0] for row in rows if row[0] >= first]
    return sum(max(0, round((b - a) / INTERVAL) - 1) for a, b in zip(stamps, stamps[1:]))


def check_readings(test, daemon, first):
    of_machine = missed(daemon.rows("", "load", "load"), first)
    for subject, metric in SERIES:
        test.within(f"intervals without a reading of {subject}/{metric}", missed(daemon.rows(subject, metric), first),
                    0, of_machine)
    longest = {metric.rpartition("_")[2]: max(row[1] for row in daemon.rows("self", metric))
               for metric in daemon.metrics("self") if metric.startswith("duration-read_")}
    slowest = max(longest, key=longest.get)
    test.within(f"seconds of the longest reading, of {len(longest)} probes ({slowest})", longest[slowest], 0, INTERVAL)


def user_names():
    with open("/etc/passwd", encoding="utf-8") as lines:
        names = {int(number): name for name, _, number, *_ in (line.split(":") for line in lines)}
    return {names[number] for number in USERS}


def check_names(test, daemon):
    test.equal("users of a label", daemon.metrics("users"), {"derive-calls-" + name for name in user_names()})


def check_messages(test, daemon, directory):
    for name, text in MESSAGES.items():
        path = os.path.join(directory, name)
        lines = [line for line in daemon.log() if path in line and NO_REPLY in line and "Notification: " not in line]
        test.equal(f"messages for the {name} that hangs", len(lines), 1)
        test.contains("what hangs", "".join(lines), text + (f'"{path}"' if name == "pid" else path))
    wrong = [line for line in daemon.log() if NO_REPLY in line and directory not in line]
    test.equal("messages about a file that does not hang", wrong, [])


def check_helpers(test, daemon):
    """Those of the files that hang; of the program until its symbols have been read, too, and of what a busy machine is late
    with."""
    stuck = [row[1] for row in daemon.rows("self", "objects-helpers_stuck")]
    test.true("readings of helpers_stuck", stuck)
    if stuck:
        test.within("helpers that hang, least", min(stuck), 1, HANGING)
        test.figures.within("helpers that hang, most", max(stuck), 1, HANGING + 1)
        test.within("helpers that hang, in the end", stuck[-1], 1, HANGING)


def end(test, daemon, what):
    """Seconds."""
    test.ledger.note(daemon.process.pid)
    begin = time.monotonic()
    test.true(f"{what}: SIGTERM ends collectd", daemon.stop())
    elapsed = time.monotonic() - begin
    test.equal(f"{what}: status of its end", daemon.process.returncode, 0)
    return elapsed


def check_early_end(test, silence, paths):
    daemon = start(test, silence, paths)
    time.sleep(EARLY_S * SLOWNESS)
    test.equal("at the start: it has not read yet", daemon.services(), set())
    # Collectd handles the signal after its start.
    test.figures.within("at the start: seconds until then", end(test, daemon, "at the start"), 0, TERM_S)
    check_waits(test, daemon, "early end")


def processes_left(seconds=10 * SLOWNESS):
    """Of all that the test and its daemons have started; orphans are the test's children."""
    give_up = time.monotonic() + seconds
    while (pids := descendants()) and time.monotonic() < give_up:
        os.waitpid(-1, os.WNOHANG)
        time.sleep(0.02)
    return pids


def main():
    with Test(limit=200) as test:
        silence = Silence(test)
        caller, newcomers = Caller(test), Newcomers(test)
        caller.daemon = daemon = start(test, silence, caller.paths)
        first = check_start(test, daemon)
        go_on(newcomers, caller)
        check_calls(test, caller)
        check_newcomers(test, daemon, newcomers)
        caller.install("two")
        wait_for_program(test, slow_symbols(test))
        test.within("while symbols are read: seconds until then", end(test, daemon, "while symbols are read"), 0, TERM_S)
        check_readings(test, daemon, first)
        check_names(test, daemon)
        check_messages(test, daemon, silence.directory)
        check_helpers(test, daemon)
        check_early_end(test, silence, caller.paths)
        caller.load.end()
        newcomers.end()
        silence.end()
        test.equal("processes left", processes_left(), [])


if __name__ == "__main__":
    main()

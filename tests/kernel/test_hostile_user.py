#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An unprivileged user attacks the plugin: with names, renames, threads and sockets, and with files that the plugin
reads: FIFOs, endless files, files of others, and files on a file system that hangs.

Meanwhile readings continue, the figures of other services stay exact, the memory of collectd and its maps stays bounded,
and SIGTERM ends collectd.

Truth: what the victims were told to do, /proc, and the names that the user chose. TEST_LONG in the environment: the full
sizes, each attack alone, and for longer.
"""

import os
import sys
import time
import unicodedata

import truth
from lib import LIBC, SLOWNESS, Skip, Test

LONG = bool(os.environ.get("TEST_LONG"))
INTERVAL = 1 if LONG or SLOWNESS >= 2 else 0.5
THREADS, SOCKETS = (20000, 100000) if LONG else (2000, 5000)
RENAMES = 300          # a second
DURATION = 30 if LONG else INTERVAL
GAP = 2                # intervals between two readings, at most
ORDER, USE_MS = 20, 100
AROUND = 200 * SLOWNESS  # us: CPU time that the victim may use after its reply
MIB = 1 << 20
RSS_LIMIT = 32 * MIB   # of collectd with all probes
MAPS_LIMIT = 16 * MIB  # twice that of test_map_memory: whatever answers requests meanwhile has rows of its responses
TERM_SECONDS = 5
PATIENCE = 100 * SLOWNESS
NOBODY = 65534
PLAIN = "hostile-plain"  # one of the names
CLONE_NEWNS, MS_REC, MS_PRIVATE, MNT_DETACH = 0x20000, 0x4000, 0x40000, 2

CONF = """
  ServicesFrom "commands"
  <Service "v">
    PidFile "{dir}/victim.pid"
    PerProcess true
  </Service>
  <Service "server">
    ProcessMatch "kt_server threads$"
  </Service>
  <Service "prey">
    PidFile "{dir}/prey/read"
  </Service>
"""


attacks = []  # those that run


class Victims:
    """Services of other users, each with its expected processes and threads."""

    def __init__(self, test):
        self.test = test
        self.one = test.load("task", name="kt_one")
        self.server = test.load("case", "threads", name="kt_server")
        self.bystander = test.load("task", name="kt_bystander")
        self.prey = test.load("task", name="kt_prey")
        self.pid_file = os.path.join(test.dir, "prey", "read")
        with open(os.path.join(test.dir, "victim.pid"), "w", encoding="ascii") as file:
            file.write(f"{self.one.pid}\n")
        self.write_prey(self.prey.pid, owner=0)
        self.single = f"v-{self.one.pid}-{truth.start_ticks(self.one.pid)}"
        self.counts = {"v": (1, 1), self.single: (1, 1), test.own("kt_bystander"): (1, 1), "server": (2, 5)}

    def remove_pid_file(self):
        directory = os.path.dirname(self.pid_file)
        if os.path.islink(directory):
            os.unlink(directory)
        os.makedirs(directory, exist_ok=True)
        if os.path.lexists(self.pid_file):
            (os.rmdir if os.path.isdir(self.pid_file) else os.unlink)(self.pid_file)

    def link_directory(self, target):
        os.rmdir(os.path.dirname(self.pid_file))
        os.symlink(target, os.path.dirname(self.pid_file))

    def write_prey(self, text, owner=NOBODY):
        """Writes the pid file in the directory of the user who attacks."""
        self.remove_pid_file()
        with open(self.pid_file, "w", encoding="ascii") as file:
            file.write(f"{text}\n")
        os.chown(self.pid_file, owner, owner)

    def end(self):
        for load in (self.one, self.server, self.bystander, self.prey):
            load.end()


class Daemon:
    """A daemon under attack."""

    def __init__(self, test, victims, what, plugin=""):
        self.test, self.victims, self.what = test, victims, what
        self.daemon = test.collectd(CONF.format(dir=test.dir) + plugin, interval=INTERVAL, extra="LoadPlugin load")
        self.settle()
        victims.server.ask("1")
        self.daemon.wait_rows("server", "total_requests", 1)

    def settle(self):
        """Waits until all victims are resolved: a busy machine may need some readings for all command lines."""
        give_up, found = time.monotonic() + PATIENCE, None
        while found != self.victims.counts:
            if time.monotonic() > give_up:
                raise TimeoutError(f"ps_count {found}, want {self.victims.counts}")
            moment = time.time()
            found = {subject: self.daemon.row_after(subject, "ps_count", moment)[1:] for subject in self.victims.counts}

    def figures(self):
        moment = time.time()
        cpu = sum(self.daemon.row_after("v", "ps_cputime", moment)[1:])
        return self.daemon.exchanges("server", moment), cpu

    def check_during(self, how):
        """Checks what must hold during the attack."""
        test, what = self.test, f"{self.what}: {how}" if how else self.what
        begin = time.time()
        exchanges, cpu = self.figures()
        self.victims.server.say(str(ORDER))
        said = self.victims.server.result()
        before = truth.schedstat(self.victims.one.pid)[0]
        self.victims.one.ask(f"use {USE_MS}")
        time.sleep(DURATION)
        now, cpu_now = self.figures()
        used = (truth.schedstat(self.victims.one.pid)[0] - before) / 1000
        test.equal(f"{what}: requests, bytes received and sent of a service", [b - a for a, b in zip(exchanges, now)],
                   [said[key] for key in ("requests", "rx", "tx")])
        test.true(f"{what}: it has used what it was told", used >= USE_MS * 1000, used)
        test.close(f"{what}: CPU of a service, us", cpu_now - cpu, used, slack=AROUND)
        self.readings(what, begin)
        self.memory(what)

    def readings(self, what, begin):
        """Each service has as many readings, all with the right figures. Those before a service's last one are complete."""
        test, end = self.test, self.daemon.rows("v", "ps_cputime")[-1][0]
        numbers = []
        for subject, want in self.victims.counts.items():
            rows = [row for row in self.daemon.rows(subject, "ps_count") if begin <= row[0] < end]
            wrong = [row for row in rows if row[1:] != want]
            test.equal(f"{what}: readings of {subject} with another ps_count than {want}", wrong, [])
            numbers.append(len(rows))
        # If another plugin of collectd is late, the cause is the machine.
        late = max(0, self.gap("", "load", "load", begin, end) - INTERVAL)
        longest = self.gap("server", "ps_count", "ebpf", begin, end)
        test.figures.within(f"{what}: most time between readings, s", longest, 0, GAP * INTERVAL * SLOWNESS + late)
        test.within(f"{what}: readings of each service, {numbers}", max(numbers) - min(numbers), 0, 1)

    def gap(self, subject, metric, plugin, begin, end):
        stamps = [row[0] for row in self.daemon.rows(subject, metric, plugin) if begin <= row[0] < end]
        return max(b - a for a, b in zip([begin] + stamps, stamps + [end]))

    def memory(self, what):
        test = self.test
        test.within(f"{what}: RSS of collectd, MiB", truth.memory(self.daemon.process.pid)[1] / MIB, 0, RSS_LIMIT / MIB)
        maps = [metric for metric in self.daemon.metrics("self") if metric.startswith("memory-maps_")]
        size = sum(self.daemon.rows("self", metric)[-1][1] for metric in maps)
        test.within(f"{what}: kernel memory of {len(maps)} objects' maps, MiB", size / MIB, 0, MAPS_LIMIT / MIB)

    def end(self):
        self.test.ledger.note(self.daemon.process.pid)
        begin = time.monotonic()
        self.test.true(f"{self.what}: SIGTERM ends collectd", self.daemon.stop(seconds=10 * TERM_SECONDS))
        self.test.figures.within(f"{self.what}: seconds until then", time.monotonic() - begin, 0, TERM_SECONDS)
        self.test.equal(f"{self.what}: status of its end", self.daemon.process.returncode, 0)


def attack(test, *args):
    _, environment = test.own_libc("libraries")
    load = test.load_at(test.program("hostile", "kt_hostile"), *args, environment=environment)
    attacks.append(load)
    test.equal(f"attack {args[0]}", load.hear(), "ok")
    return load


def refused(daemon):
    return daemon.row_after("self", "total_events-refused_services", time.time())[1]


def check_names(test, victims, daemon):
    """Each name is a service, and a name can do nothing else."""
    where = os.fsencode(daemon.csv)
    found = os.listdir(os.path.join(where, daemon.host.encode()))
    test.equal("names: hosts in the data", os.listdir(where), [daemon.host.encode()])
    test.equal("names: subjects that are no text", [name for name in found if not is_text(name)], [])
    test.true("names: a plain one is a service", PLAIN in daemon.subjects())
    test.within("names: services in all", len(daemon.subjects()), 30, 400)
    for subject in ("other", "kernel", "self", victims.single):
        test.equal(f"names: readings of {subject} at one time", twice(daemon.rows(subject, metric_of(subject))), [])
    forged = [line for line in daemon.log() if line.startswith("[error] x")]
    test.equal("names: lines in the log that one of them wrote", forged, [])


def metric_of(subject):
    return "count-tier_process" if subject == "self" else "ps_count"


def is_text(name):
    try:
        return not any(unicodedata.category(letter) == "Cc" for letter in name.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def twice(rows):
    return [(a, b) for a, b in zip(rows, rows[1:]) if b[0] - a[0] < INTERVAL / 4]


def storm(test, daemon):
    """Names without end: a service that found no row meanwhile has one afterwards."""
    load = attack(test, "renames", RENAMES)
    while refused(daemon.daemon) == 0:
        pass
    newcomer = test.load("task", name="kt_newcomer")
    attacks.append(newcomer)
    daemon.check_during(f"{RENAMES} renames a second")
    attacks.remove(load)
    load.end()
    rows = daemon.daemon.wait_rows(test.own("kt_newcomer"), "ps_count")
    test.true("renames: who came meanwhile is a service afterwards", rows)


def floods(*kinds):
    """An attack of all these kinds at once."""
    def function(test, victims, *_):
        sizes = {"names": victims.single, "threads": THREADS, "sockets": SOCKETS}
        daemon = Daemon(test, victims, ", ".join(kinds))
        for kind in kinds:
            attack(test, kind, sizes[kind])
        daemon.check_during("")
        if "names" in kinds:
            check_names(test, victims, daemon.daemon)
            storm(test, daemon)
        daemon.end()
        while attacks:
            attacks.pop().end()

    return function


def pid_files(test, victims, directory, _):
    """A pid file is replaced by its owner."""
    path = victims.pid_file
    daemon = Daemon(test, victims, "pid file")
    replaced = {
        "a FIFO": lambda: os.mkfifo(path),
        "a directory": lambda: os.mkdir(path),
        "a link to an endless file": lambda: os.symlink("/dev/zero", path),
        "a link to a file that cannot be read": lambda: os.symlink(os.path.join(directory, "read"), path),
        "a file that cannot be read": lambda: victims.link_directory(directory),
        "in a directory without an answer": lambda: victims.link_directory(os.path.join(directory, "look")),
    }
    victims.remove_pid_file()
    victims.link_directory(os.path.join(directory, f"root-{victims.bystander.pid}"))
    daemon.check_during("the pid of another user's process, in a file that is said to be root's")
    short = ("a FIFO", "a file that cannot be read")
    for how in replaced if LONG else short:
        victims.remove_pid_file()
        replaced[how]()
        daemon.check_during(how)
    victims.write_prey(victims.bystander.pid)
    daemon.check_during("the pid of another user's process")
    test.equal("pid file: processes of its service, which that one is not among",
               daemon.daemon.row_after("prey", "ps_count", time.time())[1:], (1, 1))
    victims.remove_pid_file()
    os.mkfifo(path)
    daemon.daemon.wait_rows("self", "memory-maps_services", 2, time.time())
    daemon.end()
    victims.remove_pid_file()


def command_line(test, victims, directory, server):
    daemon = Daemon(test, victims, "command line that nobody can read")
    attack(test, "command-line", os.path.join(directory, "read"))
    daemon.check_during("")
    daemon.end()
    server.end()


def objects(test, victims, directory, _):
    """Such files as the Object of a probe, when collectd starts: this probe is off, the others are on."""
    fifo = os.path.join(test.dir, "fifo.bpf.o")
    os.mkfifo(fifo)
    paths = {"fifo": fifo, "zero": "/dev/zero", "look": os.path.join(directory, "look")}
    if LONG:
        paths |= {name: os.path.join(directory, name) for name in ("open", "read")}
    blocks = "".join(f'<Probe "{name}">\n Object "{path}"\n</Probe>\n' for name, path in paths.items())
    daemon = Daemon(test, victims, "objects", blocks)
    for name, path in paths.items():
        lines = [line for line in daemon.daemon.complaints() if path in line]
        test.equal(f"object {name}: messages {lines}", len(lines), 1)
        test.equal(f"object {name}: count-tier", daemon.daemon.wait_rows("self", f"count-tier_{name}")[0][1], 0)
    daemon.check_during("")
    daemon.end()


def silent_file_system(test):
    """Mounts a file system that hangs, for this test and its children. When its server ends, all waits for it end."""
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None):
        raise Skip("cannot have mounts of its own")
    directory = test.mkdir("silent")
    load = test.load("hostile", "file-system", directory, name="kt_files")
    if load.process.stdout.readline().strip() != "ok":
        raise Skip("cannot mount a FUSE file system")
    test.at_end(lambda: LIBC.umount2(directory.encode(), MNT_DETACH))
    return directory, load


def go_on(test, victims, name, *args):
    """Runs an attack; after a failure, the others are run nevertheless."""
    try:
        ATTACKS[name](test, victims, *args)
    except (RuntimeError, TimeoutError) as error:
        test.true(f"{name}: {error}", False)
    for daemon in test.daemons:
        if daemon.running():
            daemon.stop(seconds=0)
    for load in attacks:
        load.process.kill()
    attacks.clear()
    victims.write_prey(victims.prey.pid, owner=0)


ATTACKS = {kind: floods(kind) for kind in ("names", "threads", "sockets")} if LONG else {
    "floods": floods("names", "threads", "sockets")}
# The last one ends the file system: else the attacking process, and what waits for it, would never end.
ATTACKS |= {"pid-files": pid_files, "objects": objects, "command-line": command_line}


def main():
    with Test(limit=1800 if LONG else 400) as test:
        directory, server = silent_file_system(test)
        victims = Victims(test)
        for name in sys.argv[1:] or ATTACKS:
            go_on(test, victims, name, directory, server)
        victims.end()


if __name__ == "__main__":
    main()

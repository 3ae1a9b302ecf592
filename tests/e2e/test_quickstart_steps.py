#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/quickstart with a make and a collectd that are the test's: it waits for a collectd that is slow, keeps what it has
built, shows that a long step goes on, is alone in its directory, and says what it was not tried on."""

import os
import re
import shutil
import subprocess

import receiver
from e2e import TOP, Check, Skip
from test_quickstart import Quickstart, write_program

PARTS = ("contrib/quickstart", "contrib/copy-source", "conf/quickstart.conf.in", "conf/threshold.conf")
LINE = "CC " + "thing " * 30
STORE = "mkdir -p ${3%/*}/rrd/host/ebpf-web; : >${3%/*}/rrd/host/ebpf-web/ps_rss.rrd; exec sleep 60"
IDLE = "exec sleep 60"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


class Machine:
    """Programs in the place of those of the machine, a tree of sources, and a directory for the quick start."""

    def __init__(self, check, name, make=":", collectd=IDLE):
        self.directory = os.path.join(check.dir, name)
        self.tools, self.calls, self.output, self.tree = (self.path(part) for part in ("bin", "calls", "out", "all/release"))
        called = f'echo "${{0##*/}}" >>{self.calls}'
        self.program("autoreconf", called, f"printf '#!/bin/sh\\necho configure >>{self.calls}\\n' >configure", "chmod +x configure")
        self.program("make", f'[ "$1" = install ] && mkdir -p "${{2#DESTDIR=}}" && echo "make install" >>{self.calls} && exit',
                     called, make)
        self.program("collectd", collectd)
        # What is around an unpacked release is no concern of it.
        if shutil.which("git"):
            subprocess.run(["git", "init", "-q", self.path("all")], check=True)
            write(self.path("all/.gitignore"), "*\n")
        for part in PARTS:
            os.makedirs(os.path.dirname(os.path.join(self.tree, part)), exist_ok=True)
            shutil.copy(os.path.join(TOP, part), os.path.join(self.tree, part))

    def path(self, name):
        return os.path.join(self.directory, name)

    def program(self, name, *lines):
        write_program(self.tools, name, *lines)

    def start(self, patience=1, command=(), stdout=subprocess.PIPE):
        return Quickstart(self.output, "--no-install", "--patience", str(patience), path=self.tools + ":",
                          command=(*command, os.path.join(self.tree, "contrib", "quickstart")), stdout=stdout)

    def called(self):
        """What was run since it was asked last."""
        with open(self.calls, "a+", encoding="ascii") as file:
            file.seek(0)
            said = file.read().splitlines()
            file.truncate(0)
        return said

    def run(self, check, what, *wanted, calls, **options):
        """It fails, having said this and run that."""
        run = self.start(**options)
        check.equal(f"{what}: exit status", run.read_all(), 1)
        for part in wanted:
            check.contains(what, run.said, part)
        check.equal(f"{what}: what was run", self.called(), calls)
        return run.said


WHOLE = ["autoreconf", "configure", "make", "make install"]


def on_system(directory, text):
    """A command that runs another where /etc/os-release is this."""
    write(os.path.join(directory, "os-release"), text)
    return ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/os-release && exec "$@"',
            os.path.join(directory, "os-release"))


def test_build(check):
    """Of a start that fails each time."""
    machine = Machine(check, "build")
    system = on_system(machine.directory, 'ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"\n')
    said = machine.run(check, "a collectd that does nothing", "delivers no values: collectd has done nothing for 1 s", "nothing to ",
                       "Debian 12 and 13, not on Ubuntu 22.04.4 LTS\n", calls=WHOLE, command=system)
    check.true("its log is not said to name a reason", "the log names" not in said)
    copied = [os.path.exists(os.path.join(machine.output, "work", "source", part)) for part in PARTS]
    check.equal("the sources are copied", copied, [True] * len(PARTS))

    system = on_system(machine.directory, 'ID=debian\nVERSION_ID="12"\n')
    said = machine.run(check, "again", "Build the plugin                                  kept", calls=[], command=system)
    check.true("nothing is remarked on Debian 12", "not on" not in said)
    machine.program("collectd", "exit 3")
    machine.run(check, "a collectd that ends", "has ended without values of the plugin (exit status 3)", calls=[])
    machine.run(check, "other flags", calls=WHOLE, command=("env", "CFLAGS=-O0"))
    machine.run(check, "the same flags", "kept", calls=[], command=("env", "CFLAGS=-O0"))
    write(os.path.join(machine.tree, "plugin", "new.c"), "int new;\n")
    machine.program("make", f"echo make >>{machine.calls}", "exit 1")
    machine.run(check, "another source", "make failed", calls=["autoreconf", "configure", "make"])
    machine.run(check, "what was not finished", "make failed", calls=["make"])


def start_slow(check):
    """Of collectds that use CPU time, or write to their log, for longer than they may do nothing."""
    busy = f"exec bash -c 'while ((SECONDS < 6)); do :; done; {STORE}' \"$0\" \"$@\""
    talking = f"for i in $(seq 15); do echo $i; sleep 1; done; {STORE}"
    return [(name, Machine(check, name, collectd=collectd).start(patience=3))
            for name, collectd in (("busy", busy), ("talking", talking))]


def end_slow(check, name, run):
    run.read_until("4/6")
    check.contains(name, run.said, "4/6")
    if run.process.poll() is None:
        run.process.terminate()
    run.read_all()


def test_terminal(check):
    machine = Machine(check, "terminal", make=f"echo '{LINE}'; sleep 3")
    ours, theirs = os.openpty()
    run = machine.start(stdout=theirs)
    os.close(theirs)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # It has ended.
        pass
    os.close(ours)
    run.process.wait()
    shown = re.split(r"\r\x1b\[K|\n", said.decode())
    signs = [line for line in shown if re.match(r"2/6  Build the plugin: \d+ s  CC thing", line)]
    check.true("signs of life on a terminal", signs, shown)
    check.true("each fits into a line", all(len(line) < 80 for line in signs), signs)
    build = [line for line in shown if "Build the plugin" in line]
    check.true("the result follows", re.search(r"Build the plugin\S*\s+\d+ s\r$", build[-1]), build[-1:])


def start_long(check):
    machine = Machine(check, "long", make=f"echo '{LINE}'; sleep 12")
    run = machine.start()
    receiver.wait_until("its build", lambda: os.path.exists(machine.calls))
    return machine, run


def test_alone(check, machine):
    other = machine.start()
    check.equal("two at once: exit status", other.read_all(), 1)
    check.contains("two at once", other.said, f"another quick start works in {machine.output}\n")


def end_long(check, run):
    run.read_all()
    check.true("a sign of life in a pipe", re.search(r"\n {5} +\d+ s  CC thing", run.said), run.said)
    check.true("the result follows", re.search(r"\n2/6  Build the plugin +\d+ s\n", run.said), run.said)


def main():
    with Check() as check:
        if os.geteuid() != 0 or not os.path.exists("/sys/kernel/btf/vmlinux"):
            raise Skip("needs root and a kernel with BTF (/sys/kernel/btf/vmlinux)")
        machine, long = start_long(check)
        slow = start_slow(check)
        test_alone(check, machine)
        for test in (test_build, test_terminal):
            print("---", test.__name__)
            test(check)
        for name, run in slow:
            end_slow(check, name, run)
        end_long(check, long)


if __name__ == "__main__":
    main()

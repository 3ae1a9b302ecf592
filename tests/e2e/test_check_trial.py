#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How trials of contrib/ebpf-check end, its exit status, and what it says of disks and of other eBPF programs. The collectd of the
trials is a script of the test."""

import ctypes
import json
import os
import runpy
import shutil
import signal
import subprocess
import sys
import time

from e2e import TOP, Skip

import bpf_objects
import lib

TOOL = os.path.join(TOP, "contrib", "ebpf-check")
sys.dont_write_bytecode = True
NOBODY = "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"
CGROUPS = (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"))
PR_SET_NAME = 15
# For scripts: $log is the log that the configuration names.
LOG = """log=$(sed -n 's/^ *File "\\(.*\\)"$/\\1/p' "$3")\n"""
SAY = LOG + "echo '[10:00] [info] ebpf plugin: probe kt is on (hook set 1)' >$log\n"
READS = "echo 'entering read-loop' >>$log\n"


class Machine:
    def __init__(self, test):
        self.test, self.folder = test, test.disk
        os.chmod(self.folder, 0o711)
        self.temporary = self.make("tmp")
        self.base = self.make("base")
        self.conf = os.path.join(self.make("etc"), "collectd.conf")
        plugins = self.make("plugins")
        with open(os.path.join(plugins, "ebpf.so"), "wb"):
            pass
        self.configure()

    def make(self, name):
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def configure(self, plugin="", base=None):
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write(f'BaseDir "{base or self.base}"\nPIDFile "{self.folder}/pid"\nPluginDir "{self.folder}/plugins"\n'
                       f'LoadPlugin ebpf\n<Plugin ebpf>\n{plugin}\n</Plugin>\n')

    def command(self, script, *arguments):
        """The command and the environment of ebpf-check with this script as collectd."""
        program = os.path.join(self.make("sbin"), "collectd")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(program, 0o755)
        environment = {**os.environ, "PATH": os.path.dirname(program) + os.pathsep + os.environ["PATH"], "TMPDIR": self.temporary}
        return [TOOL, "--config", self.conf, *arguments], environment

    def check(self, script, *arguments, wrap=()):
        """(exit status, {(section, name): (state, text)})"""
        command, environment = self.command(script, "--json", "--seconds", "1", *arguments)
        done = subprocess.run([*wrap, *command], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=100)
        document = json.loads(done.stdout)
        self.test.equal("its status in JSON", document["status"], done.returncode)
        return done.returncode, {(section, one["name"]): (one["state"], one["text"].replace("\N{NO-BREAK SPACE}", " "))
                                 for section, found in document["sections"].items() for one in found["findings"]}


def test_ends(test, machine):
    long = "".join(f"echo line {number}\n" for number in range(40))
    for script, state, text in (
            ("kill -SEGV $$", "missing", "collectd was ended by SIGSEGV at its start"),
            (SAY + READS + "kill -ABRT $$", "missing", "collectd was ended by SIGABRT while it was reading"),
            ("kill -KILL $$", "unknown", "another process ended collectd (SIGKILL) at its start"),
            ("kill -TERM $$", "unknown", "another process ended collectd (SIGTERM) at its start"),
            (long + "exit 7", "missing", "collectd ended at its start (status 7): line 37; line 38; line 39")):
        status, found = machine.check(script)
        test.equal(f"a trial that ends: {text}", (status, found.get(("probes", "trial"))),
                   ({"missing": 2, "unknown": 3}[state], (state, text)))


def test_memory(test, machine):
    """In a cgroup of the test, where one can be made."""
    name = test.own("kt_memory")
    for hierarchy, limit in CGROUPS:
        folder = os.path.join(hierarchy, name)
        try:
            os.mkdir(folder)
        except OSError:
            continue
        test.at_end(lambda made=folder: os.rmdir(made))
        if os.path.exists(os.path.join(folder, limit)):
            break
    else:
        test.left_out("a trial that the kernel kills", "no cgroup with a memory controller can be made here")
        return
    with open(os.path.join(folder, limit), "w", encoding="ascii") as file:
        file.write(str(96 << 20))
    enter = "sh", "-c", f'echo $$ >{folder}/cgroup.procs && exec "$@"', "sh"
    status, found = machine.check(f'exec {sys.executable} -c "bytearray(1 << 30)"', wrap=enter)
    test.equal("a trial that the kernel kills", (status, found.get(("probes", "trial"))), (3, (
        "unknown", f"collectd was killed by the kernel (SIGKILL) at its start: the memory limit of /{name} is 96 MiB")))


def test_statuses(test, machine):
    for what, script, arguments, wrap, want in (
            ("it works", "", (), (), 0),
            ("a note", "echo '[10:00] [warning] ebpf plugin: it is so' >>$log\n", (), (), 0),
            ("a limit", "echo '[10:00] [error] ebpf plugin: ignoring it' >>$log\n", (), (), 1),
            ("a probe that is on and another that cannot run",
             "echo '[10:00] [error] ebpf plugin: probe other is off: it fails' >>$log\n", (), (), 1),
            ("no probe", "echo '[10:00] [error] ebpf plugin: probe kt is off: it fails' >$log\n", (), (), 2),
            ("the plugin is off", "echo '[10:00] [error] ebpf plugin: the plugin is off: it fails' >>$log\n", (), (), 2),
            ("no trial", "", ("--no-trial",), (), 0),
            ("not root", "", (), NOBODY, 3)):
        status, found = machine.check(SAY + script + READS + "exec sleep 1000", *arguments, wrap=wrap)
        test.equal(f"exit status: {what}", status, want)
    test.equal("not root: what could not be seen", [name for (_, name), (state, _) in found.items() if state == "unknown"],
               ["running", "CAP_BPF, CAP_PERFMON", "trial"])
    command, environment = machine.command(SAY + READS + "exec sleep 1000", "--seconds", "1")
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=100)
    test.contains("the page of one that works", done.stdout, "Nothing is missing.")


def test_signals(test, machine):
    """It leaves nothing."""
    pid_file = os.path.join(machine.folder, "started")
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        command, environment = machine.command(f"{SAY}{READS}echo $$ >{pid_file}.new\nmv {pid_file}.new {pid_file}\nexec sleep 1000",
                                               "--seconds", "1000")
        with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, preexec_fn=lib.die_with_test) as process:
            while not os.path.exists(pid_file):
                time.sleep(0.05)
            process.send_signal(number)
        with open(pid_file, encoding="ascii") as file:
            pid = file.read().strip()
        os.unlink(pid_file)
        test.equal(f"{number.name}: status, files, collectd", (process.returncode, os.listdir(machine.temporary),
                                                             os.path.exists(f"/proc/{pid}")), (128 + number, [], False))


def test_disks(test, machine):
    """With file systems of the test."""
    small, fixed = machine.make("small"), machine.make("fixed")
    mounts = lib.in_mounts(f"mount -t tmpfs -o ro tmpfs {fixed}", f"mount -t tmpfs -o size=64k tmpfs {small}")
    machine.configure(f'EventFile "{machine.base}/events.jsonl"\n<Profiles>\n Directory "{small}/profiles"\n</Profiles>', fixed)
    status, found = machine.check("", "--no-trial", wrap=mounts)
    test.equal("disks: exit status", status, 1)
    for name, want in (("BaseDir", ("limit", f"{fixed}: the file system is read-only")),
                       ("profiles", ("limit", f"{small}/profiles: the disk is full"))):
        test.equal(f"disks: {name}", found.get(("profiles", name)), want)
    test.equal("disks: events", found.get(("profiles", "events"), ("none",))[0], "fine")
    machine.configure()


def test_other_programs(test, machine):
    name = test.own("kt_bpf")
    lib.LIBC.prctl(PR_SET_NAME, name.encode())
    nothing = ctypes.create_string_buffer(b"\xb7" + 7 * b"\0" + b"\x95" + 7 * b"\0")     # return 0
    handle = bpf_objects.libbpf().bpf_prog_load(1, b"kt_nothing", b"GPL", nothing, ctypes.c_size_t(2), None)
    test.true("a program is loaded", handle >= 0, handle)
    _, found = machine.check("", "--no-trial")
    test.contains("other programs: who has them", found.get(("kernel", "other programs"), ("", ""))[1], f"{name} (1)")
    os.close(handle)


def test_shares(test):
    trial = runpy.run_path(TOOL)
    probe = trial["trial"].Probe("kt", 1)
    test.equal("shares of the CPUs", [trial["say_probe"](probe, share, None, "on").text for share in (0, 0.004, 0.01, 1.25)],
               [f"hook set 1, {text} %" for text in ("below 0.01", "below 0.01", "0.01", "1.2")])


with lib.Test(100) as the_test:
    if not shutil.which("setpriv"):
        raise Skip("not installed: setpriv")
    the_machine = Machine(the_test)
    test_ends(the_test, the_machine)
    test_memory(the_test, the_machine)
    test_statuses(the_test, the_machine)
    test_signals(the_test, the_machine)
    test_disks(the_test, the_machine)
    test_other_programs(the_test, the_machine)
    test_shares(the_test)

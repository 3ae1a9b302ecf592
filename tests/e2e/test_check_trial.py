#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How trials of contrib/ebpf-check end, its exit status, and what it says of directories, disks and other eBPF programs. The
collectd of the trials is a script of the test, except for directories that the plugin cannot use."""

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
sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import collectd_conf  # noqa: E402
import kernel  # noqa: E402
import path_copy  # noqa: E402
import privileges  # noqa: E402
import trial  # noqa: E402

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
        # The sources may be where other users see nothing.
        self.tool = os.path.join(shutil.copytree(os.path.join(TOP, "contrib"), os.path.join(self.folder, "contrib")), "ebpf-check")
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
        return [self.tool, "--config", self.conf, *arguments], environment

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
        # A signal before the tool knows its collectd leaves that to the kernel, which ends it with its parent.
        patience = time.monotonic() + 20
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < patience:
            time.sleep(0.05)
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


def test_copies(test, machine):
    """Owners and modes of what is on a path, and nothing else."""
    top = machine.make("copied")
    for name, mode, owner in (("open", 0o1777, 0), ("open/theirs", 0o2750, 65534)):
        os.mkdir(os.path.join(top, name))
        os.chown(os.path.join(top, name), owner, owner)
        os.chmod(os.path.join(top, name), mode)
    for name in ("open/theirs/file", "open/theirs/other"):
        with open(os.path.join(top, name), "w", encoding="ascii") as file:
            file.write("content")
    for name, target in (("absolute", f"{top}/open"), ("relative", "open/../open"), ("open/loop", "loop"), ("dead", "nothing/there")):
        os.symlink(target, os.path.join(top, name))
    tree = machine.make("tree")
    for path in ("absolute/theirs/file/below", "relative/theirs/missing/x", "open/loop/x", "dead/x"):
        test.equal(f"the copy of {path}", path_copy.copy(os.path.join(top, path), tree), os.path.join(tree + top, path))

    def listed(folder):
        return {name: (info.st_mode, info.st_uid, info.st_gid) for parent, folders, files in os.walk(folder)
                for name in folders + files for info in [os.lstat(os.path.join(parent, name))]}

    want = listed(top)
    del want["other"]
    test.equal("copies: owners and modes", listed(tree + top), want)
    test.equal("copies: no content", os.path.getsize(os.path.join(tree + top, "open", "theirs", "file")), 0)
    test.equal("copies: links lead to copies", os.path.realpath(os.path.join(tree + top, "absolute")), os.path.join(tree + top, "open"))


def test_directories(test, machine):
    """That the plugin cannot use: the trial says of the copies what it would say of them."""
    built, wide = machine.make("built"), machine.make("wide")
    os.chmod(wide, 0o777)
    # And the build.
    for name in ("ebpf.so", "ebpf-symbols", "bpf/limits.bpf.o", "bpf/profile.bpf.o"):
        shutil.copy(os.path.join(lib.BUILD, name), built)
    text = f"""
BaseDir "{machine.base}"
PluginDir "{built}"
LoadPlugin ebpf
<Plugin ebpf>
  ObjectDirectory "{built}"
  SymbolHelper "{built}/ebpf-symbols"
"""
    with open(machine.conf, "w", encoding="utf-8") as file:
        file.write(f'{text}  EventFile "{machine.base}/gone/x/events"\n<Profiles>\nDirectory "{wide}/profiles"\n</Profiles>\n</Plugin>\n')
    done = subprocess.run([machine.tool, "--config", machine.conf, "--seconds", "1", "--json"], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False, timeout=100, env={**os.environ, "TMPDIR": machine.temporary})
    said = {one["text"]: one["state"] for one in json.loads(done.stdout)["sections"]["probes"]["findings"] if one["name"] == "message"}
    test.equal("directories: what the trials say", {text: said.get(text) for text in (
        f"events are not kept in {machine.base}/gone/x/events: {machine.base}/gone: No such file or directory",
        f"no profiles are written: users other than its owner can write to {wide}")}, {
            f"events are not kept in {machine.base}/gone/x/events: {machine.base}/gone: No such file or directory": "limit",
            f"no profiles are written: users other than its owner can write to {wide}": "note"})
    test.equal("directories: exit status", done.returncode, 1)
    with open(machine.conf, "w", encoding="utf-8") as file:
        file.write(text + "</Plugin>\n")
    configuration = collectd_conf.load(machine.conf)
    nobody = privileges.Privileges(privileges.parse("cap_bpf,cap_perfmon"), "test", (65534, 65534, []))
    # The recorder has a thread of its own, which may be late.
    for seconds in (0, 2, 20):
        found = trial.run(lib.COLLECTD, configuration, trial.own(configuration), nobody, seconds, kernel.Kernel())
        errors = [text for severity, text in found.complaints if severity == "error"]
        if errors:
            break
    test.equal("directories: of root, for another user", errors,
               [f"events are not kept in {machine.base}/ebpf/events.jsonl: {machine.base}/ebpf: Permission denied; all else goes on "
                "(EventFile chooses another file)"])
    test.equal("directories: what trials leave", [os.listdir(folder) for folder in (machine.base, wide, machine.temporary)], 3 * [[]])
    done = subprocess.run([*nobody.command(), "grep", "-E", "^(Uid|Gid|Groups|CapEff):", "/proc/self/status"], text=True,
                          capture_output=True, check=True)
    test.equal("directories: the other user", done.stdout.split(),
               ["Uid:", *4 * ["65534"], "Gid:", *4 * ["65534"], "Groups:", "CapEff:", f"{nobody.mask:016x}"])
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
    say, probe = runpy.run_path(TOOL)["say_probe"], trial.Probe("kt", 1)
    test.equal("shares of the CPUs", [say(probe, share, None, "on").text for share in (0, 0.004, 0.01, 1.25)],
               [f"hook set 1, {text} %" for text in ("below 0.01", "below 0.01", "0.01", "1.2")])


with lib.Test(400) as the_test:
    if not shutil.which("setpriv"):
        raise Skip("not installed: setpriv")
    the_machine = Machine(the_test)
    test_ends(the_test, the_machine)
    test_memory(the_test, the_machine)
    test_statuses(the_test, the_machine)
    test_signals(the_test, the_machine)
    test_disks(the_test, the_machine)
    test_copies(the_test, the_machine)
    test_directories(the_test, the_machine)
    test_other_programs(the_test, the_machine)
    test_shares(the_test)

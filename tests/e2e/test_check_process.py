#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which process contrib/ebpf-check takes for the machine's collectd. Truth: the processes that the test starts, all of which are
called collectd."""

import json
import os
import shutil
import subprocess
import sys

from e2e import TOP

import lib

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import collectd_conf  # noqa: E402
import daemon  # noqa: E402
import privileges  # noqa: E402
import systemd  # noqa: E402

NOBODY = 65534
DROPPED = "capsh", "--drop=cap_sys_admin,cap_bpf,cap_perfmon", "--", "-c", 'exec "$0" "$@"'
# The unit of collectd as systemctl(1) shows it.
SHOWN = "MainPID={pid}\nUser={user}\nCapabilityBoundingSet=cap_bpf cap_perfmon\nAmbientCapabilities=cap_bpf\nLoadState=loaded\n"


class Machine:
    def __init__(self, test):
        self.test, self.folder = test, os.path.join(test.disk, "sbin")
        os.chmod(test.disk, 0o711)
        self.program = self.copy("sbin")
        self.pid_file = os.path.join(test.dir, "pid")
        self.conf = os.path.join(test.dir, "conf")
        with open(self.conf, "w", encoding="utf-8") as file:
            file.write(f'PIDFile "{self.pid_file}"\n')

    def copy(self, name):
        path = os.path.join(self.test.disk, name, "collectd")
        os.makedirs(os.path.dirname(path))
        shutil.copy("/bin/sh", path)
        return path

    def start(self, program=None, user=0, wrap=(), script="echo; read end; :"):
        """A process called collectd, which waits for input."""
        process = subprocess.Popen([*wrap, program or self.program, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 preexec_fn=lib.die_with_test, user=user)
        process.stdout.readline()
        return process

    def write_pid(self, pid):
        with open(self.pid_file, "w", encoding="ascii") as file:
            file.write(f"{pid}\n")

    def said(self):
        """(state, text) of what ebpf-check says of the running collectd, and of its capabilities"""
        path = self.folder + os.pathsep + os.environ["PATH"]
        done = subprocess.run([os.path.join(TOP, "contrib", "ebpf-check"), "--no-trial", "--json", "--config", self.conf],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=100,
                              env={**os.environ, "PATH": path})
        sections = json.loads(done.stdout)["sections"]
        return [next((one["state"], one["text"]) for one in sections[section]["findings"] if one["name"] == name)
                for section, name in (("collectd", "running"), ("privileges", "CAP_BPF, CAP_PERFMON"))]


def end(*processes):
    for process in processes:
        process.kill()
        process.wait()


def test_names(test, machine):
    """Those that only look like it: none has any effect."""
    none = [("note", "collectd does not run"), ("fine", "you: has them")]
    other = machine.copy("other")
    for what, options in (("another user's", {"user": NOBODY}), ("of another program", {"program": other, "wrap": DROPPED}),
                          ("in another PID namespace", {"wrap": ("unshare", "--pid", "--fork", "--kill-child")}),
                          ("in another mount namespace", {"wrap": ("unshare", "--mount")})):
        process = machine.start(**options)
        machine.write_pid(process.pid)
        test.equal(f"a collectd {what}", machine.said(), none)
        end(process)


def test_instances(test, machine):
    first = machine.start(script="(sleep 1000; :) & echo; read end", wrap=DROPPED)
    test.equal("one collectd and its helper, which lack capabilities", machine.said(),
               [("fine", f"process {first.pid}"), ("missing", f"collectd (process {first.pid}): lacks them")])
    second, user = machine.start(), machine.start(user=NOBODY)
    for what, pid in (("no PIDFile", ""), ("a PIDFile of another user's process", user.pid), ("of none", 1 << 22)):
        machine.write_pid(pid)
        running, capable = machine.said()
        test.equal(f"two collectds, {what}", running, (
            "note", f"the processes {first.pid}, {second.pid}: which of these is the machine's collectd?"))
        test.equal(f"two collectds, {what}: nothing is wrong with either", capable, ("fine", "you: has them"))
    machine.write_pid(second.pid)
    test.equal("two collectds, a PIDFile", machine.said(),
               [("fine", f"process {second.pid}"), ("fine", f"collectd (process {second.pid}): has them")])
    test_unit(test, machine, first.pid, user.pid)
    os.unlink(machine.program)
    machine.copy("new")
    os.rename(os.path.join(test.disk, "new", "collectd"), machine.program)
    machine.write_pid(second.pid)
    test.equal("a collectd that runs when its package is upgraded", machine.said()[0], ("fine", f"process {second.pid}"))
    end(first, second, user)


def test_unit(test, machine, pid, of_user):
    """With a systemctl of the test."""
    configuration = collectd_conf.load(machine.conf)
    command = os.path.join(machine.folder, "systemctl")
    before, systemd.RUNS = (systemd.RUNS, os.environ["PATH"]), machine.folder
    os.environ["PATH"] = machine.folder + os.pathsep + before[1]
    for what, shown, want, mask in (
            ("the unit's process is it", {"pid": pid, "user": ""}, [pid], 2),
            ("a unit that does not run", {"pid": 0, "user": ""}, None, 2),
            ("the user of the unit", {"pid": 0, "user": "nobody"}, [of_user], 1)):
        with open(command, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\ncat <<END\n{SHOWN.format(**shown)}END\n")
        os.chmod(command, 0o755)
        machine.write_pid(of_user)
        unit = systemd.unit()
        found = daemon.find(configuration, machine.program, unit)
        test.equal(f"systemd: {what}", found if want else len(found), want or 2)
        test.equal(f"systemd, {what}: capabilities", bin(privileges.of_unit(unit)).count("1"), mask)
    systemd.RUNS, os.environ["PATH"] = before
    os.unlink(command)


with lib.Test(200) as the_test:
    if not shutil.which("capsh"):
        raise lib.Skip("not installed: capsh")
    the_machine = Machine(the_test)
    test_names(the_test, the_machine)
    test_instances(the_test, the_machine)

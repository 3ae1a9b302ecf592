#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Containers of users, by rootless podman: each is a service of its own under the name that its user's state has, and a
user can neither make one up nor join a Service block that does not name the user.

Truth: what the processes were told to do, and the cgroups that they were moved into. The state is that of
tests/unit/state/podman_rootless.json, in a home of this test.
"""

import json
import os
import subprocess
import sys
import time

import bpf_objects
from cgroups import Cgroups
from lib import LIBC, SLOWNESS, Skip, Test

INTERVAL = 0.25 if SLOWNESS < 2 else 1
ALICE, BOB = 4322001, 4322002
MADE_UP = 40
USER_CONTAINER = 10  # enum group_kind
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000
STATE = ".local/share/containers/storage/vfs-containers/containers.json"

CONF = """
  MaxServices 4096
  MaxNewServices 10000
  ServicesFrom "containers" "units" "commands"
  <Service "named">
    Container "user-{alice}:db"
  </Service>
  <Service "not-joined">
    Container "web"
    Container "user-{bob}:*"
    Container "{identity}"
  </Service>
"""


def own_passwd(test, names):
    """Users of this test, with homes in its directory, which only it and its children see."""
    if LIBC.unshare(CLONE_NEWNS) or LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None):
        raise Skip("cannot have mounts of its own")
    path = os.path.join(test.dir, "passwd")
    with open("/etc/passwd", encoding="utf-8") as real, open(path, "w", encoding="utf-8") as passwd:
        passwd.write(real.read())
        for name, uid in names.items():
            passwd.write(f"{name}:x:{uid}:{uid}::{test.dir}/{name}:/bin/sh\n")
    os.chmod(path, 0o644)
    if LIBC.mount(path.encode(), b"/etc/passwd", None, MS_BIND, None):
        raise Skip("cannot have a passwd of its own")


def write_state(test, name, uid):
    """The recorded state, as a user's; returns the ids by name."""
    with open(os.path.join(os.environ.get("abs_top_srcdir", "."), "tests/unit/state/podman_rootless.json"),
              encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(test.dir, name, STATE)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chown(path, uid, uid)
    return {container["names"][0]: container["id"] for container in json.loads(text)}


class Slice:
    """The slice of a user, with a manager."""

    def __init__(self, test, groups, base, uid):
        self.test, self.groups, self.made = test, groups, set()
        self.manager = f"{base}/user-{uid}.slice/user@{uid}.service"
        self.make("user.slice")
        self.make("app.slice")

    def make(self, name):
        at = ""
        for part in f"{self.manager}/{name}".split("/"):
            at = os.path.join(at, part)
            if not os.path.isdir(self.groups.path(at)):
                self.groups.make(at)

    def enter(self, name, pid):
        self.make(name)
        self.groups.enter(f"{self.manager}/{name}", pid)

    def load_in(self, name):
        load = self.test.load("task", name="kt_rootless")
        self.enter(name, load.pid)
        return load


def processes(daemon, service, moment):
    """At the third reading after this moment: all are resolved by then."""
    return daemon.wait_rows(service, "ps_count", 3, moment)[2][1]


def scope(identity):
    return f"user.slice/libpod-{identity}.scope/container"


def quadlet(identity):
    return f"app.slice/web.service/libpod-payload-{identity}"


def row_keys(daemon, kind):
    """The keys of a kind, of users of this test, that have a row."""
    number = bpf_objects.map_number(daemon.process.pid, "service_names")
    dump = subprocess.run([bpf_objects.BPFTOOL, "-j", "map", "dump", "id", str(number)], capture_output=True, check=True)
    keys = [bytes(int(byte, 16) for byte in entry["key"]) for entry in json.loads(dump.stdout)]
    users = [f"user-{uid}".encode() for uid in (ALICE, BOB)]
    return sorted(key.rstrip(b"\0") for key in keys
                  if int.from_bytes(key[:4], sys.byteorder) == kind and key[4:].split(b"\0")[0] in users)


def made_up(test, daemon, bob, user):
    """Ids that no state has, one after the other."""
    before, before_keys = daemon.services(), row_keys(daemon, USER_CONTAINER)
    test.equal("rows of containers of users, by number", len(before_keys), 1)
    load = test.load("task", name="kt_made_up")
    ids = [os.urandom(32).hex() for _ in range(MADE_UP)]
    for identity in ids:
        bob.enter(f"user.slice/docker-{identity}.scope", load.pid)
    moment = time.time()
    test.equal("processes of a user with a made-up id", processes(daemon, user, moment), 2)
    test.equal("rows of containers of users", row_keys(daemon, USER_CONTAINER), before_keys)
    short = {identity[:12] for identity in ids}
    made = {name for name in daemon.services() - before if name in short or name.startswith(user)}
    test.equal("services by ids that are made up", made, set())
    load.end()


def main():
    with Test(limit=100) as test:
        alice, bob = test.own("kt_alice"), test.own("kt_bob")
        own_passwd(test, {alice: ALICE, bob: BOB})
        ids = write_state(test, alice, ALICE)
        write_state(test, bob, ALICE)  # a copy that is not bob's
        groups = Cgroups()
        test.at_end(groups.remove)
        base = f"kt-rootless-{os.getpid()}"
        slices = {uid: Slice(test, groups, base, uid) for uid in (ALICE, BOB)}
        loads = [slices[ALICE].load_in(scope(ids["web"]))]
        conf = CONF.format(alice=alice, bob=bob, identity=ids["web"])
        daemon = test.collectd(conf, interval=INTERVAL, collect=("process",))
        moment = time.time()
        test.equal("a container that ran before the plugin", processes(daemon, f"user-{alice}:web", moment), 1)
        loads += [slices[ALICE].load_in(quadlet(ids["web"])),
                  slices[ALICE].load_in(scope(ids["db"])),
                  slices[ALICE].load_in(f"user.slice/libpod-conmon-{ids['db']}.scope"),
                  slices[ALICE].load_in("app.slice/shell.scope"),
                  slices[BOB].load_in(scope(ids["db"]))]
        moment = time.time()
        for service, want in {f"user-{alice}:web": 2, "named": 1, f"user-{alice}": 2, f"user-{bob}": 1,
                              "not-joined": 0}.items():
            test.equal(f"processes of {service}", processes(daemon, service, moment), want)
        made_up(test, daemon, slices[BOB], f"user-{bob}")
        messages = [line for line in daemon.log() if "counts for the user" in line]
        test.equal(f"messages of containers without state: {messages}", len(messages), 1)
        for load in loads:
            load.end()


if __name__ == "__main__":
    main()

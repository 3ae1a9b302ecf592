#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names of containers whose runtime keeps its state elsewhere: of podman with another --root, of a runtime with mounts of its
own, of a directory that ContainerState names. What a container or a user says of itself names nothing, and a container
without a name is said and counted.

Truth: the names that podman and this test have given.
"""

import contextlib
import json
import os
import shutil
import subprocess
import time

from cgroups import Cgroups
from lib import Test, die_with_test

INTERVAL = 0.5
BUSYBOX = "/bin/busybox"
# Programs of these names need no more than to run.
RUNTIME = "#!/bin/sh\nread line\n"
UNNAMED = "no state of their runtime was found"


class Boxed:
    """A directory of docker, with a container in a cgroup that it names."""

    def __init__(self, test, groups, directory, name):
        self.identity = os.urandom(32).hex()
        self.group = groups.make(f"docker-{self.identity}.scope")
        self.directory, self.name = directory, test.own(name)
        load = test.load("task", name="kt_boxed")
        groups.enter(os.path.basename(self.group), load.pid)

    def write(self, root=""):
        path = f"{root}{self.directory}/containers/{self.identity}"
        os.makedirs(path)
        with open(f"{path}/config.v2.json", "w", encoding="utf-8") as file:
            json.dump({"Name": "/" + self.name}, file)


def start_runtime(test, directory, before=(), **options):
    """A process called dockerd that says where its state is."""
    path = os.path.join(test.mkdir("bin"), "dockerd")
    with open(path, "w", encoding="ascii") as file:
        file.write(RUNTIME)
    os.chmod(path, 0o755)
    return subprocess.Popen([*before, path, "--data-root", directory], stdin=subprocess.PIPE, preexec_fn=die_with_test,
                            **options)


def read_command(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as file:
        return file.read().strip()


def podman(test, *argv):
    storage = os.path.join(test.disk, "podman")
    command = ["podman", "--runtime", "runc", "--cgroup-manager=cgroupfs", "--storage-driver=vfs", f"--root={storage}/graph",
               f"--runroot={storage}/run", *argv]
    # podman 5 warns of version 1 of cgroups.
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env={**os.environ, "PODMAN_IGNORE_CGROUPSV1_WARNING": "1"})


def run_podman(test, ends):
    """Starts a container; its name, or None: podman cannot run here."""
    if not shutil.which("podman") or not shutil.which("runc") or not os.path.exists(BUSYBOX):
        test.left_out("a container of podman", "podman, runc or busybox is not installed")
        return None
    root = os.path.join(test.disk, "root")
    os.makedirs(root + "/bin")
    shutil.copy(BUSYBOX, root + "/bin")
    name = test.own("kt_podman")
    done = podman(test, "run", "--detach", "--name", name, "--network=none", "--ulimit=nofile=1024:1024",
                  "--ulimit=nproc=10000:10000", "--rootfs", root, BUSYBOX, "sleep", "600")
    ends.callback(podman, test, "rm", "--force", "--time=0", name)
    test.equal("podman run", (done.returncode, done.stderr), (0, ""))
    return name


def main():
    # podman removes its container while what monitors it runs.
    with Test(limit=60) as test, contextlib.ExitStack() as ends:
        groups = Cgroups()
        test.at_end(groups.remove)
        os.chmod(test.dir, 0o711)
        own, given, of_container, of_user = (Boxed(test, groups, test.mkdir(name), f"kt_{name}")
                                             for name in ("own_mounts", "given", "of_container", "of_user"))
        for box in given, of_container, of_user:
            box.write()
        runtimes = [start_runtime(test, of_container.directory), start_runtime(test, of_user.directory, user=65534)]
        groups.enter(os.path.basename(of_container.group), runtimes[0].pid)
        # What this one sees there, nobody else does.
        runtimes.append(start_runtime(test, own.directory, ("unshare", "--mount", "sh", "-ec",
                        f'mount -t tmpfs none {own.directory}\nchmod 755 {own.directory}\nexec "$@"', "sh")))
        its_root = f"/proc/{runtimes[-1].pid}/root"
        while read_command(runtimes[-1].pid) != "dockerd":
            time.sleep(0.01)
        own.write(its_root)
        named = [own.name, given.name, *filter(None, [run_podman(test, ends)])]
        daemon = test.collectd(f'  ServicesFrom "containers"\n  MaxServices 4096\n  ContainerState "{given.directory}"\n'
                               '  ContainerState "/none"\n', interval=INTERVAL)
        for name in named:
            daemon.wait_rows(name, "ps_count")
        for box in of_container, of_user:
            daemon.wait_rows(box.identity[:12], "ps_count")
        services = daemon.services()
        test.equal("names", sorted({box.name for box in (own, given, of_container, of_user)} & services),
                   sorted([own.name, given.name]))
        test.true("without a name: 2 or more, of other tests", daemon.wait_rows("self", "objects-services_without_name")[-1][1] >= 2)
        give_up = time.monotonic() + 30
        while UNNAMED not in "".join(daemon.log()) and time.monotonic() < give_up:
            time.sleep(0.1)
        log = "\n".join(daemon.log())
        test.equal("messages of ContainerState", log.count('ContainerState "'), 1)
        test.equal("messages of ids", log.count(UNNAMED), 1)
        for runtime in runtimes:
            runtime.communicate()


if __name__ == "__main__":
    main()

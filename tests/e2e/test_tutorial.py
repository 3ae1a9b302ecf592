#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/tutorial.md to the letter: its commands, in a copy of the source, show what the page shows: the same names and
words, and other numbers. TEST_LONG in the environment: with the load as long as on the page, and a plugin that is built."""

import os
import signal
import subprocess
import time

import follow
import receiver
from e2e import TOP, Skip
from test_quickstart import built, living

from lib import Test

LONG = bool(os.environ.get("TEST_LONG"))
SHORT = {"--seconds 900": "--seconds 180", "sleep 240": "sleep 48", "timeout 900": "timeout 150"}
INSTALL, READY, CLEAN_UP = "apt-get install ", "Watch it:", "rm -rf "
OF_STEP_8 = "ps", "ss"
HOST, CLONE = "web1", "/root/collectd-ebpf"   # of the page
PATIENCE = 900 if LONG else 180  # s


def run(words, **options):
    """Under the name of the host that the page has."""
    return subprocess.Popen(["unshare", "--uts", "sh", "-c", f'hostname {HOST}; exec sh -c "$1"', "-", words],
                            stdin=subprocess.DEVNULL, text=True, start_new_session=True, **options)


class Tutorial:
    def __init__(self, test):
        self.test, self.directory = test, os.path.join(test.disk, "clone")
        subprocess.run([os.path.join(TOP, "contrib", "copy-source"), self.directory], check=True)
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        self.environment = {"PATH": path if LONG else f"{built(test.disk)}:{path}", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        self.load = None

    def start(self, commands):
        """What it says until the load runs."""
        said = os.path.join(self.test.disk, "said")
        with open(said, "w", encoding="utf-8") as file:
            self.load = run(f"exec {commands}", cwd=self.directory, env=self.environment, stdout=file, stderr=file)
        give_up = time.monotonic() + PATIENCE
        while True:
            with open(said, encoding="utf-8") as file:
                text = file.read()
            if READY in text or self.load.poll() is not None or time.monotonic() > give_up:
                return text
            time.sleep(0.2)

    def interrupt(self):
        """Ctrl-C."""
        if not self.load:
            return None
        if self.load.poll() is None:
            os.killpg(self.load.pid, signal.SIGINT)
        return self.load.wait()

    def follow(self, commands, shown):
        name = commands.strip().partition("\n")[0]
        for there, here in SHORT.items() if not LONG else ():
            commands = commands.replace(there, here)
        if not self.load:
            said = self.start(commands)
        else:
            if commands.startswith(CLEAN_UP):
                self.test.equal("exit status of the quick start", self.interrupt(), 130)
            process = run(commands, cwd=self.directory, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            said, complaints = process.communicate(timeout=PATIENCE)
            self.test.equal(f"{name}: exit status, complaints", (process.returncode, complaints), (0, ""))
        print(said)
        absent = follow.absent(shown or "", said.replace(self.directory, CLONE))
        self.test.equal(f"{name}: lines of the page that it does not print", absent, [])


def packages(programs):
    """Those that these programs are in, which this machine has."""
    owners = subprocess.run(["dpkg-query", "-S", *(f"*/bin/{name}" for name in programs)], capture_output=True, text=True, check=True)
    return {line.partition(":")[0] for line in owners.stdout.splitlines()}


def main():
    with Test(limit=PATIENCE + 300) as test:
        if not os.path.exists("/sys/kernel/btf/vmlinux"):
            raise Skip("this kernel has no BTF (/sys/kernel/btf/vmlinux)")
        steps = follow.steps(follow.read("tutorial.md"))
        test.within("its steps", len(steps), 10, 15)
        install, *steps = steps
        test.equal("packages of its programs", set(install[0].removeprefix(INSTALL).split()), packages(OF_STEP_8))
        test.true("all but the last show what they print", all(shown for _, shown in steps[:-1]), len(steps))
        tutorial = Tutorial(test)
        try:
            for commands, shown in steps:
                tutorial.follow(commands, shown)
        finally:
            tutorial.interrupt()
        test.equal("its directory is left", os.path.exists(os.path.join(tutorial.directory, "quickstart-out")), False)
        receiver.wait_until("its processes have ended", lambda: not living())


if __name__ == "__main__":
    main()

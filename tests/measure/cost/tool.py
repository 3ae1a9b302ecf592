# SPDX-License-Identifier: MIT
"""A program of libbpf-tools while it runs, and what it has printed in the end."""

import os
import re
import shutil
import signal
import subprocess
import time

from process import WITH_TRACEFS, prepare
from programs import programs_of

SETTLED_S = 0.4  # so long it has opened nothing more: all of it is attached
START_S = 60
END_S = 30


class Unavailable(Exception):
    """It does not run here."""


class Tool:
    def __init__(self, site, command):
        self.command = command
        self.paths = [os.path.join(site.dir, name) for name in ("tool.output", "tool.error")]
        self.process = None

    def __enter__(self):
        if not shutil.which(self.command[0]):
            raise Unavailable("not installed")
        with open(self.paths[0], "wb") as output, open(self.paths[1], "wb") as error:
            self.process = subprocess.Popen(WITH_TRACEFS + self.command, stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=error, preexec_fn=prepare())
        try:
            self._wait_settled()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_error):
        self.stop()

    @property
    def pid(self):
        return self.process.pid

    def _loaded(self):
        try:
            return programs_of(self.pid), len(os.listdir(f"/proc/{self.pid}/fd"))
        except FileNotFoundError:
            return set(), 0

    def _wait_settled(self):
        give_up = time.monotonic() + START_S
        loaded, since = self._loaded(), time.monotonic()
        while not loaded[0] or time.monotonic() < since + SETTLED_S:
            time.sleep(0.05)
            if self.process.poll() is not None:
                raise Unavailable(self._reason())
            if time.monotonic() > give_up:
                raise Unavailable(f"no BPF program of it is loaded after {START_S} s")
            before, loaded = loaded, self._loaded()
            since = since if loaded == before else time.monotonic()

    def _reason(self):
        """What it says first of what has failed."""
        with open(self.paths[1], encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
        failed = [line for line in lines if re.search("fail|cannot|can't|error|not ", line, re.I)]
        return (failed or lines or [f"ends with status {self.process.returncode}"])[0]

    def stop(self):
        """As a user does: then it prints what it has counted."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def output(self):
        """Complete when it has been stopped."""
        with open(self.paths[0], encoding="utf-8", errors="replace") as file:
            return file.read()

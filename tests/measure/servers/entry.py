# SPDX-License-Identifier: MIT
"""What a table of servers consists of, and a server that runs.

In the texts of an entry @HOME@ is the server's own directory, @PORT@ its port, @OTHER@ a second one and @BACKEND@ the port of
the server behind it.
"""

import contextlib
import dataclasses
import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

from process import Process, free_port

SELF_SIGNED = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
               "-subj", "/CN=localhost", "-keyout", "@HOME@/key", "-out", "@HOME@/cert")


@dataclasses.dataclass(frozen=True)
class Entry:
    """One server: how it is started, and by what it is loaded."""

    name: str           # of the service, and of the row
    protocol: str
    package: str        # of Debian
    command: tuple      # stays in the foreground
    client: object      # of client_programs.py
    needs: tuple = ()   # further programs, and paths of files
    files: dict = dataclasses.field(default_factory=dict)   # {name in its directory: text}
    setup: tuple = ()   # commands before it is started, in its directory, as its user
    fill: tuple = ()    # a command when it is started
    environment: dict = dataclasses.field(default_factory=dict)
    user: str = "nobody"
    commands: tuple = ()    # names of those that it executes: not only what it forks belongs to it
    backend: "Entry" = None
    connections: int = 8
    counters: tuple = ("total_requests",)   # of which the sum is compared with what the client has sent

    def absent(self):
        """The first thing that is missing of what it needs; None: nothing is."""
        for need in (self.command[0], *self.needs, *self.client.needs):
            if need.startswith("@HOME@"):   # made by its setup
                continue
            if not (glob.glob(need) if need.startswith("/") else shutil.which(need)):
                return need
        return self.backend.absent() if self.backend else None


class Running:
    """with Running(entry, site) as server: ... -- its process and port"""

    def __init__(self, entry, site):
        self.entry = entry
        self.site = site
        self.port, self.other = free_port(), free_port()
        self.home = self.process = self.backend = None

    def __enter__(self):
        try:
            if self.entry.backend:
                self.backend = Running(self.entry.backend, self.site).__enter__()
            self._make_home()
            for command in self.entry.setup:
                self._run(command)
            self.process = Process(self._as_user(self.entry.command), self.site.server_cpus, self.site.nice, self.home)
            self.process.wait_port(self.port, 30)
            if self.entry.fill:
                self._run(self.entry.fill)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error):
        if self.process:
            self.process.end(5)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        if self.home:
            shutil.rmtree(self.home, ignore_errors=True)
        if self.backend:
            self.backend.__exit__()

    @property
    def pid(self):
        return self.process.pid

    def words(self, text):
        for word, value in (("HOME", self.home), ("PORT", self.port), ("OTHER", self.other),
                            ("BACKEND", self.backend and self.backend.port)):
            text = text.replace(f"@{word}@", str(value))
        return text

    def _make_home(self):
        self.home = tempfile.mkdtemp(prefix="ebpf-server.", dir="/var/tmp")
        os.chmod(self.home, 0o755)
        owner = pwd.getpwnam(self.entry.user)
        os.chown(self.home, owner.pw_uid, owner.pw_gid)
        for name, text in self.entry.files.items():
            path = os.path.join(self.home, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.words(text))
            os.chmod(path, 0o644)

    def _as_user(self, command):
        words = [self.words(str(word)) for word in command]
        if words[0].startswith("/"):
            words[0] = sorted(glob.glob(words[0]))[-1]
        environment = [f"{name}={self.words(value)}" for name, value in {"HOME": "@HOME@", "PWD": "@HOME@",
                                                                         **self.entry.environment}.items()]
        if self.entry.user == "root":
            return ["env", *environment, *words]
        group = pwd.getpwnam(self.entry.user).pw_gid
        return ["setpriv", "--reuid", self.entry.user, "--regid", str(group), "--clear-groups", "--pdeathsig", "keep",
                "env", *environment, *words]

    def _run(self, command):
        done = subprocess.run(self._as_user(command), cwd=self.home, capture_output=True, text=True, timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        if done.returncode:
            raise RuntimeError(f"{command[0]}: {(done.stdout + done.stderr).strip()[-300:]}")

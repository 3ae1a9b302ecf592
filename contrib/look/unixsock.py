# SPDX-License-Identifier: MIT
"""collectd's unixsock plugin as a source: what collectd has in its cache, with the rates of counters."""

import math
import re
import socket

import live
import name
from live import Trouble

PATIENCE = 10       # seconds
AT_ONCE = 50        # questions, before the answers are read
HELP = {
    FileNotFoundError: "there is no such socket: collectd does not run, or lacks the unixsock plugin "
                       "(LoadPlugin unixsock, see conf/unixsock.conf); --socket names another one",
    ConnectionRefusedError: "nobody answers: collectd has ended",
    PermissionError: "no right to use it: be root, or in the group that SocketGroup names in <Plugin unixsock>",
}


def quote(identifier):
    return '"' + re.sub(r'(["\\])', r"\\\1", identifier) + '"'


def split(identifier):
    """(host, service, file) of what is wanted, else None."""
    parts = identifier.split("/")
    if len(parts) != 3 or parts[2] not in live.WANTED:
        return None
    service = name.of_directory(parts[1])
    return (parts[0], service, parts[2]) if service else None


class Unixsock:
    def __init__(self, path):
        self.path = path
        self.lines = self.socket = None

    def __str__(self):
        return self.path

    def listens(self):
        """Nothing comes unasked."""
        return False

    def settled(self):
        return True

    def _connect(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(self.path)
        self.lines = self.socket.makefile("r", encoding="utf-8", errors="surrogateescape", newline="\n")

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def _ask(self, *commands):
        """The answers, each a list of lines; a refusal is None."""
        self.socket.sendall("".join(command + "\n" for command in commands).encode("utf-8", "surrogateescape"))
        return [self._answer() for _ in commands]

    def _answer(self):
        status = re.match(r"(-?\d+) ", self.lines.readline())
        if not status:
            raise ConnectionResetError
        count = int(status.group(1))
        return [self.lines.readline().rstrip("\n") for _ in range(count)] if count >= 0 else None

    def services(self):
        try:
            if not self.socket:
                self._connect()
            return self._read()
        except OSError as error:
            self.close()
            why = next((text for kind, text in HELP.items() if isinstance(error, kind)), "collectd stopped answering")
            raise Trouble(f"{self.path}: {why}") from error

    def _read(self):
        listed = [line.partition(" ")[2] for line in self._ask("LISTVAL")[0] or []]
        wanted = [identifier for identifier in listed if split(identifier)]
        if not wanted:
            self._refuse({identifier.split("/")[1].partition("-")[0] for identifier in listed})
        services = {}
        for first in range(0, len(wanted), AT_ONCE):
            some = wanted[first:first + AT_ONCE]
            for identifier, answer in zip(some, self._ask(*(f"GETVAL {quote(one)}" for one in some))):
                host, service, file = split(identifier)
                services.setdefault((host, service), {}).update(
                    {(file, source): value for source, value in map(parse, answer or [])})
        return services

    def _refuse(self, plugins):
        """plugins: of which there are values, but none of services"""
        if not plugins:
            raise Trouble(f"{self}: collectd has no values yet; the first ones come within its Interval", True)
        if "ebpf" in plugins:
            raise Trouble(f"{self}: the ebpf plugin has no values of services yet; its next reading brings them", True)
        raise Trouble(f"{self}: collectd has no values of the ebpf plugin. Without LoadPlugin ebpf it is not loaded, "
                      "else collectd's log says why it is off. Values are there of: " + ", ".join(sorted(plugins)))


def parse(line):
    """(data source, value)"""
    source, _, value = line.partition("=")
    try:
        return source, float(value)
    except ValueError:
        return source, math.nan

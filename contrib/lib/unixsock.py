# SPDX-License-Identifier: MIT
"""collectd's unixsock plugin as a source: the values in collectd's cache, with the rates of counters."""

import math
import os
import re
import socket
import stat
import time

import live
import name
from live import Trouble
from samples import sample

PATIENCE = 10       # seconds to wait for a response
AT_ONCE = 50        # requests that are sent before responses are read
# The other end need not be collectd, so responses are bounded.
LINE = 4096         # bytes
LINES = 1000000     # of a response; collectd lists a series in each
RESPONSE_SIZE = 2 ** 28    # bytes of a response
NAMED = 20          # plugins named in a message
HELP = {
    FileNotFoundError: "no such socket: collectd does not run, or lacks the unixsock plugin "
                       f"(LoadPlugin unixsock, see {sample('unixsock.conf')}); --socket names another one",
    ConnectionRefusedError: "connection refused: collectd is not running",
    NotADirectoryError: "a part of the path is not a directory; --socket names another one",
    PermissionError: "permission denied: be root, or in a group that SocketGroup names in <Plugin unixsock>, with "
                     "SocketPerms 0660",
}


def quote(identifier):
    return '"' + re.sub(r'(["\\])', r"\\\1", identifier) + '"'


def split(identifier):
    """(host, service, file) of an identifier of the ebpf plugin or of a column, else None."""
    parts = identifier.split("/")
    if len(parts) != 3 or not live.is_wanted(parts[2]):
        return None
    service = name.of_directory(parts[1])
    return (parts[0], service, parts[2]) if service else None


class Unixsock:
    def __init__(self, path):
        self.path = path
        self.socket = None
        self.received, self.lines = b"", iter(())

    def __str__(self):
        return self.path

    def listens(self):
        """Whether values arrive without a request: no."""
        return False

    def settled(self):
        return True

    def _connect(self):
        if os.path.exists(self.path) and not stat.S_ISSOCK(os.stat(self.path).st_mode):
            raise Trouble(f"{self.path}: not a socket; --socket names the SocketFile of collectd's unixsock plugin")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(PATIENCE)
        self.received, self.lines = b"", iter(())
        self.socket.connect(self.path)

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def _ask(self, *commands):
        """The responses, each a list of lines, or None for an error."""
        self.socket.sendall("".join(command + "\n" for command in commands).encode("utf-8", "surrogateescape"))
        return [self._response(time.monotonic() + PATIENCE) for _ in commands]

    def _line(self, give_up):
        while (line := next(self.lines, None)) is None:
            # The limit is for the whole response: single bytes do not extend it.
            left = give_up - time.monotonic()
            if len(self.received) > LINE or left <= 0:
                raise ConnectionResetError
            self.socket.settimeout(left)
            some = self.socket.recv(65536)
            if not some:
                raise ConnectionResetError
            *lines, self.received = (self.received + some).split(b"\n")
            self.lines = iter(lines)
        return line.decode("utf-8", "surrogateescape")

    def _response(self, give_up):
        status = re.match(r"(-?[0-9]{1,9}) ", self._line(give_up))
        count = int(status.group(1)) if status else LINES
        if count >= LINES:
            raise ConnectionResetError
        if count < 0:
            return None
        lines, room = [], RESPONSE_SIZE
        for _ in range(count):
            lines.append(self._line(give_up))
            room -= len(lines[-1])
            if room < 0:
                raise ConnectionResetError
        return lines

    def services(self):
        try:
            if not self.socket:
                self._connect()
            return self._read()
        except OSError as error:
            self.close()
            why = next((text for kind, text in HELP.items() if isinstance(error, kind)), "collectd stopped answering")
            raise Trouble(f"{self.path}: {why}") from error

    def all_of(self, begin, of):
        """(identifiers that start with `begin`, {(series, data source): value} of those that start with `of`)"""
        try:
            self._connect()
            listed = [line.partition(" ")[2] for line in self._ask("LISTVAL")[0] or []]
            wanted = [one for one in listed if one.startswith(of)]
            responses = self._ask(*(f"GETVAL {quote(one)}" for one in wanted))
            return [one for one in listed if one.startswith(begin)], {
                (one.removeprefix(of), source): value for one, response in zip(wanted, responses)
                for source, value in map(parse, response or [])}
        except OSError as error:
            raise Trouble(f"{self.path}: collectd stopped answering") from error
        finally:
            self.close()

    def _read(self):
        listed = {one: moment for moment, _, one in (line.partition(" ") for line in self._ask("LISTVAL")[0] or [])}
        wanted = [identifier for identifier in listed if split(identifier)]
        if not wanted:
            self._refuse({parts[1].partition("-")[0] for parts in (one.split("/") for one in listed) if len(parts) == 3})
        services = {}
        for first in range(0, len(wanted), AT_ONCE):
            some = wanted[first:first + AT_ONCE]
            for identifier, response in zip(some, self._ask(*(f"GETVAL {quote(one)}" for one in some))):
                host, service, file = split(identifier)
                # collectd itself forgets a value that is older than two intervals, or its Timeout.
                services.setdefault((host, service), {}).update(
                    {(file, source): live.stored(file, value, number(listed[identifier]))
                     for source, value in map(parse, response or [])})
        return services

    def _refuse(self, plugins):
        """plugins: those that have values, none of which is of a service"""
        if not plugins:
            raise Trouble(f"{self}: collectd has no values yet; the first ones come within its Interval", True)
        if "ebpf" in plugins:
            raise Trouble(f"{self}: {live.NO_SERVICES}", True)
        raise Trouble(f"{self}: collectd has no values of the ebpf plugin. Without LoadPlugin ebpf it is not loaded, "
                      "else collectd's log says why it is off. Values are there of: "
                      + ", ".join(sorted(plugins)[:NAMED]) + (", ..." if len(plugins) > NAMED else ""))


def parse(line):
    """(data source, value) of a line"""
    source, _, value = line.partition("=")
    return source, number(value)


def number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan

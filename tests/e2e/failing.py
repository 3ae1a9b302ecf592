# SPDX-License-Identifier: MIT
"""Servers that are made to fail, each with its block of conf/responses.conf."""

import os
import re
import socket

import receiver

ROUNDS = 5


class Connection:
    """To a server, byte by byte."""

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", int(port)))
        self.file = self.sock.makefile("rb")

    def say(self, byte_count):
        self.sock.sendall(byte_count)

    def ask(self, byte_count, end=b"\r\n"):
        """The answer's first line."""
        self.say(byte_count)
        line = self.file.readline()
        if not line.endswith(end):
            raise RuntimeError(f"{byte_count!r}: the server said {line!r}")
        return line.rstrip()

    def close(self):
        self.file.close()
        self.sock.close()


class Server:
    """One of them, under a command name of this test. program: None: it is not installed."""
    service = None  # its name in the sample

    def __init__(self, test, name):
        self.test, self.name = test, name
        self.home = os.path.join(test.disk, name)
        os.mkdir(self.home)
        self.port, = receiver.free_ports(1)
        self.program = self.find()

    def find(self):
        raise NotImplementedError

    def argv(self):
        raise NotImplementedError

    def prefix(self):
        return []

    def block(self):
        """The Service block of the sample, without its comment signs, for this server."""
        lines = receiver.sample("responses.conf", {}).partition(f'#  <Service "{self.service}">\n')[2]
        lines = lines.partition("#  </Service>\n")[0].replace("#", "")
        lines = re.sub(r'Unit ".*"', f'Process "kt_{self.name}"', lines)
        return f'  <Service "{self.name}">\n{lines}  </Service>\n'

    def ready(self):
        return receiver.listens(self.port)

    def start(self):
        link = os.path.join(self.home, self.test.own(f"kt_{self.name}"))
        os.symlink(self.program, link)
        receiver.Receiver(self.home, [*self.prefix(), link, *map(str, self.argv())], self.ready)

    def load(self):
        """Returns how many responses there were of each class, None: of none."""
        raise NotImplementedError

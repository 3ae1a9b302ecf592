# SPDX-License-Identifier: MIT
"""Databases that are made to fail, for failing.py."""

import glob
import os
import pwd
import shutil
import struct
import subprocess

from failing import ROUNDS, Connection, Server

USER = "postgres"


class Postgres(Server):
    service = "postgresql"

    def find(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
        return found[-1] if found else None

    def prefix(self):
        return ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]

    def argv(self):
        user = pwd.getpwnam(USER)
        os.chown(self.home, user.pw_uid, user.pw_gid)
        os.chmod(self.test.disk, 0o755)
        data = os.path.join(self.home, "data")
        initdb = os.path.join(os.path.dirname(self.program), "initdb")
        subprocess.run([*self.prefix(), initdb, "-D", data, "-A", "trust", "-N", "--no-instructions"], check=True,
                       cwd=self.home, stdout=subprocess.DEVNULL)
        return "-D", data, "-h", "127.0.0.1", "-p", self.port, "-k", self.home, "-c", "fsync=off"

    def ready(self):
        """It listens before it answers."""
        try:
            with open(os.path.join(self.home, "data", "postmaster.pid"), encoding="ascii") as file:
                return "ready" in file.read()
        except FileNotFoundError:
            return False

    @staticmethod
    def message(kind, *parts):
        text = b"".join(parts)
        return kind + struct.pack("!I", 4 + len(text)) + text

    @staticmethod
    def respond(connection):
        """The kinds of the messages up to that it is ready."""
        kinds = b""
        while not kinds.endswith(b"Z"):
            kind, length = struct.unpack("!cI", connection.file.read(5))
            connection.file.read(length - 4)
            kinds += kind
        return kinds

    def extended(self, text):
        """Parse, Bind, Describe, Execute and Sync."""
        return b"".join((self.message(b"P", b"\0", text, b"\0\0\0"), self.message(b"B", b"\0\0", bytes(6)),
                         self.message(b"D", b"P\0"), self.message(b"E", b"\0", bytes(4)), self.message(b"S")))

    def load(self):
        who = f"user\0{USER}\0database\0postgres\0\0".encode()
        connection = Connection(self.port)
        connection.say(struct.pack("!II", 8 + len(who), 0x30000) + who)
        self.respond(connection)
        requested = ((self.message(b"Q", b"SELECT 1\0"), b"TDCZ"), (self.message(b"Q", b"SELECT nonsense\0"), b"EZ"),
                 (self.message(b"Q", b"CREATE TABLE IF NOT EXISTS t (i int PRIMARY KEY)\0"), None),
                 (self.message(b"Q", b"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING\0"), b"CZ"),
                 (self.extended(b"SELECT 1"), b"12TDCZ"), (self.extended(b"SELECT nonsense"), b"EZ"),
                 (self.extended(b"INSERT INTO t VALUES (1)"), b"12nEZ"))
        for cycle in range(ROUNDS):
            for what, want in requested:
                if want is None and cycle:
                    continue
                connection.say(what)
                got = self.respond(connection)
                if want and got != want:
                    raise RuntimeError(f"{what!r}: {got!r}, not {want!r}")
        connection.close()
        return {"error": 3 * ROUNDS, None: 3 * ROUNDS + 2}


class MariaDb(Server):
    service = "mariadb"
    CAPABILITIES = 0x1 | 0x200 | 0x8000 | 0x80000  # long password, 4.1, its way to log in, plug-ins

    def find(self):
        return shutil.which("mariadbd") if shutil.which("mariadb-install-db") else None

    def argv(self):
        where = ["--no-defaults", "--user=root", f"--datadir={self.home}/data"]
        subprocess.run(["mariadb-install-db", *where, "--skip-test-db"], check=True, cwd=self.home,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return [*where, "--bind-address=127.0.0.1", f"--port={self.port}", f"--socket={self.home}/socket",
                "--skip-grant-tables"]

    @staticmethod
    def packet(connection):
        head = connection.file.read(4)
        return connection.file.read(int.from_bytes(head[:3], "little"))

    def query(self, connection, text):
        """The first packet of the answer; all of it is received."""
        body = b"\x03" + text
        connection.say(len(body).to_bytes(3, "little") + b"\0" + body)
        first = self.packet(connection)
        ends = 0 if first[0] not in (0, 255) else 2
        while ends < 2:
            packet = self.packet(connection)
            ends += packet[0] == 0xfe and len(packet) < 9
        return first

    def load(self):
        connection = Connection(self.port)
        self.packet(connection)
        body = struct.pack("<IIB23x", self.CAPABILITIES, 1 << 24, 33) + b"root\0\0mysql_native_password\0"
        connection.say(len(body).to_bytes(3, "little") + b"\1" + body)
        if self.packet(connection)[0] != 0:
            raise RuntimeError("the server refuses user root")
        for _ in range(ROUNDS):
            for text, fails in ((b"SELECT 1", False), (b"SELECT nonsense", True), (b"nonsense", True),
                                (b"SET @a = 1", False)):
                if (self.query(connection, text)[0] == 255) != fails:
                    raise RuntimeError(f"{text!r} {'does not fail' if fails else 'fails'}")
        connection.close()
        return {"error": 2 * ROUNDS, None: 2 * ROUNDS + 1}


SERVERS = {"postgres": Postgres, "mariadb": MariaDb}

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ready sets of Response, conf/responses-*.conf, with the servers that they are for: each is made to fail so many
times, and as many responses are of the classes. What is not installed is left out.

Truth: what the servers answered, by their own protocols.
"""

import glob
import os
import pwd
import shutil
import struct
import subprocess
import time

import failing_http2
import receiver
from failing import ROUNDS, Connection, Server
from receiver import lib

BESIDE = True
INTERVAL = 2
USER = "postgres"


class Nginx(Server):
    sample, unit = "responses-http1.conf", "nginx.service"
    CONFIGURATION = """\
daemon off;
user root;
worker_processes 1;
pid {home}/pid;
error_log stderr crit;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {home}/body;
  server {{
    listen 127.0.0.1:{port};
    root {home};
    location /broken {{ return 500; }}
    location /redirect {{ return 302 /page; }}
    location /upstream {{ proxy_pass http://127.0.0.1:{nobody}; }}
  }}
}}
"""

    def find(self):
        return shutil.which("nginx")

    def argv(self):
        receiver.write(os.path.join(self.home, "page"), "text")
        nobody, = receiver.free_ports(1)
        conf = receiver.write(os.path.join(self.home, "conf"),
                              self.CONFIGURATION.format(home=self.home, port=self.port, nobody=nobody))
        return "-p", self.home, "-e", "stderr", "-c", conf

    @staticmethod
    def head(connection):
        """The rest of a response; its status is known."""
        length = 0
        while (line := connection.file.readline().strip()):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        connection.file.read(length)

    def get(self, connection, path, want, more=b""):
        status = connection.ask(f"GET {path} HTTP/1.1\r\nHost: x\r\n".encode() + more + b"\r\n")
        if status.split()[1] != want:
            raise RuntimeError(f"{path}: {status!r}")
        self.head(connection)

    def load(self):
        for _ in range(ROUNDS):
            for path, want in (("/page", b"200"), ("/broken", b"500"), ("/upstream", b"502"), ("/none", b"404"),
                               ("/redirect", b"302")):
                connection = Connection(self.port)  # a 500 closes it
                self.get(connection, path, want)
                connection.close()
        connection = Connection(self.port)
        self.get(connection, "/upstream", b"100", b"Expect: 100-continue\r\nContent-Length: 4\r\n")
        if connection.ask(b"body").split()[1] != b"502":
            raise RuntimeError("no 502 after the body")
        connection.close()
        return {"5xx": 2 * ROUNDS + 1, "4xx": ROUNDS, None: 2 * ROUNDS}


class Redis(Server):
    sample, unit = "responses-redis.conf", "redis-server.service"

    def find(self):
        return shutil.which("redis-server")

    def argv(self):
        return "--bind", "127.0.0.1", "--port", self.port, "--save", "", "--appendonly", "no"

    def load(self):
        connection = Connection(self.port)
        for _ in range(ROUNDS):
            for what, want in ((b"SET key value", b"+OK"), (b"NOSUCH", b"-ERR"), (b"LPUSH key x", b"-WRONGTYPE"),
                               (b"INCR key", b"-ERR"), (b"EXISTS key", b":1")):
                if not connection.ask(what + b"\r\n").startswith(want):
                    raise RuntimeError(f"{what!r} is not answered by {want!r}")
        connection.close()
        return {"wrong": 2 * ROUNDS, "error": ROUNDS, None: 2 * ROUNDS}


class Memcached(Server):
    sample, unit = "responses-memcached.conf", "memcached.service"

    def find(self):
        return shutil.which("memcached")

    def argv(self):
        return "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-U", 0, "-t", 1

    def load(self):
        connection = Connection(self.port)
        large = 2 << 20
        for _ in range(ROUNDS):
            for what, want in ((b"set key 0 0 1\r\nx", b"STORED"), (b"nonsense", b"ERROR"), (b"get", b"ERROR"),
                               (b"set key 0 0 x", b"CLIENT_ERROR"), (b"get none", b"END")):
                if not connection.ask(what + b"\r\n").startswith(want):
                    raise RuntimeError(f"{what!r} is not answered by {want!r}")
        connection.close()
        # It swallows what it does not keep.
        for _ in range(ROUNDS):
            connection = Connection(self.port)
            if not connection.ask(f"set key 0 0 {large}\r\n".encode() + bytes(large) + b"\r\n").startswith(b"SERVER_ERROR"):
                raise RuntimeError("it keeps too much")
            connection.close()
        return {"error": 2 * ROUNDS, "client_error": ROUNDS, "server_error": ROUNDS, None: 2 * ROUNDS}


class Postgres(Server):
    sample, unit = "responses-postgresql.conf", "postgresql@*.service"

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
    def answer(connection):
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
        self.answer(connection)
        asked = ((self.message(b"Q", b"SELECT 1\0"), b"TDCZ"), (self.message(b"Q", b"SELECT nonsense\0"), b"EZ"),
                 (self.message(b"Q", b"CREATE TABLE IF NOT EXISTS t (i int PRIMARY KEY)\0"), None),
                 (self.message(b"Q", b"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING\0"), b"CZ"),
                 (self.extended(b"SELECT 1"), b"12TDCZ"), (self.extended(b"SELECT nonsense"), b"EZ"),
                 (self.extended(b"INSERT INTO t VALUES (1)"), b"12nEZ"))
        for turn in range(ROUNDS):
            for what, want in asked:
                if want is None and turn:
                    continue
                connection.say(what)
                got = self.answer(connection)
                if want and got != want:
                    raise RuntimeError(f"{what!r}: {got!r}, not {want!r}")
        connection.close()
        return {"error": 3 * ROUNDS, None: 3 * ROUNDS + 2}


class MariaDb(Server):
    sample, unit = "responses-mysql.conf", "mariadb.service"
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


SERVERS = {"nginx": Nginx, "redis": Redis, "memcached": Memcached, "postgres": Postgres, "mariadb": MariaDb,
           **failing_http2.SERVERS}


def check(test, daemon, name, counts, moment):
    test.equal(f"{name}: requests", daemon.row_after(name, "total_requests", moment)[1], sum(counts.values()))
    got = {one.removeprefix("total_requests-"): daemon.row_after(name, one, moment)[1]
           for one in daemon.metrics(name) if one.startswith("total_requests-")}
    test.equal(f"{name}: by class", {kind: count for kind, count in got.items() if count},
               {kind: count for kind, count in counts.items() if kind})
    for kind in filter(None, counts):
        times = [row[1] for row in daemon.rows(name, f"latency-service-{kind}-average") if row[1] == row[1]]
        test.within(f"{name}: {kind}: service time, s", max(times, default=-1), 0, 5)


def main():
    with lib.Test(limit=180) as test:
        made = [kind(test, name) for name, kind in SERVERS.items()]
        servers = [server for server in made if server.program]
        for server in made:
            if not server.program:
                print(f"note: {server.name} is not installed, its part is left out")
        if not servers:
            raise lib.Skip("none of the servers is installed")
        daemon = test.collectd("".join(server.block() for server in servers), interval=INTERVAL)
        daemon.wait_rows("self", "duration-read_request", 1)
        for server in servers:
            server.start()
        counts = {server.name: server.load() for server in servers}
        moment = time.time()
        for server in servers:
            check(test, daemon, server.name, counts[server.name], moment)
        test.equal("complaints", daemon.complaints(), [])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Databases, and stores of keys and values."""

import glob
import os
import pwd
import shutil
import subprocess
import time

from need import Missing, require
from process import prepare
from workload import Workload


class Memcached(Workload):
    title = "memcached, 4 threads, 100 keys a request"
    like = "CloudSuite Data Caching"
    asks = ("memcached", 10, 100)

    def start(self):
        require("memcached")
        return self.serve("memcached", "-u", "root", "-l", "127.0.0.1", "-p", self.port, "-U", 0, "-t", 4)


class Redis(Workload):
    title = "redis, 100 keys a request"
    asks = ("redis", 10, 100)

    def start(self):
        require("redis-server")
        return self.serve("redis-server", "--bind", "127.0.0.1", "--port", self.port, "--save", "",
                          "--appendonly", "no")


class Postgres(Workload):
    title = "PostgreSQL, pgbench's selects"
    like = "TailBench silo"
    asks = ("postgres", 0)

    @staticmethod
    def _programs():
        """The directory of the newest server's programs."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
        if not found or not shutil.which("pgbench"):
            raise Missing("postgresql is not installed")
        return os.path.dirname(found[-1])

    def start(self):
        programs, home = self._programs(), self.make_home()
        user = pwd.getpwnam("postgres")
        os.chown(home, user.pw_uid, user.pw_gid)
        as_user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        data = os.path.join(home, "data")
        subprocess.run(as_user + [f"{programs}/initdb", "-D", data, "-A", "trust", "-N", "--no-instructions"],
                       check=True, cwd=home, stdout=subprocess.DEVNULL)
        return self.serve(*as_user, f"{programs}/postgres", "-D", data, "-h", "127.0.0.1", "-p", self.port, "-k", home,
                          "-c", "fsync=off", "-c", f"max_connections={self.connections + 10}")

    def connect(self):
        self._fill()
        return super().connect()

    def _fill(self):
        give_up = time.monotonic() + 60
        fill = ["pgbench", "-h", self.home, "-p", str(self.port), "-U", "postgres", "-i", "-q", "postgres"]
        while subprocess.run(fill, check=False, cwd=self.home, preexec_fn=prepare(self.site.client_cpus),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            # It starts up.
            if time.monotonic() > give_up:
                raise RuntimeError("pgbench makes no tables")
            time.sleep(0.5)


class MariaDb(Workload):
    title = "MariaDB, a thread for each connection, a row by its key"
    asks = ("mysql", 0)

    TABLE = """\
CREATE DATABASE evidence;
CREATE TABLE evidence.items (id INT PRIMARY KEY, pad CHAR(100) DEFAULT (REPEAT('x', 100))) ENGINE=InnoDB;
"""
    ROWS, AT_ONCE = 10000, 1000  # a statement is limited

    def _table(self):
        statements = [self.TABLE]
        for first in range(1, self.ROWS, self.AT_ONCE):
            ids = ",".join(f"({i})" for i in range(first, first + self.AT_ONCE))
            statements.append(f"INSERT INTO evidence.items (id) VALUES {ids};\n")
        return "".join(statements)

    def start(self):
        require("mariadbd", "mariadb-install-db")
        home = self.make_home()
        where = ["--no-defaults", "--user=root", f"--datadir={home}/data"]
        subprocess.run(["mariadb-install-db", *where, "--skip-test-db"], check=True, cwd=home,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["mariadbd", *where, "--bootstrap"], check=True, cwd=home, input=self._table(), text=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.serve("mariadbd", *where, "--bind-address=127.0.0.1", f"--port={self.port}",
                          f"--socket={home}/socket", "--skip-grant-tables",
                          f"--max-connections={self.connections + 10}")

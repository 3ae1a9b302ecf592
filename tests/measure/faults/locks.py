# SPDX-License-Identifier: MIT
"""Locks: rows of databases, and that of an interpreter."""

import contextlib
import glob
import os
import re
import signal
import subprocess

import databases
from app import App
from case import Case, read
from need import require
from process import Process

LOCKED_S, UNLOCKED_S = 0.4, 0.05


def locking(statement, client):
    """A shell's command: a transaction that takes a lock by this statement and then takes its time, again and again.
    client: of the database, with the words DIRECTORY and PORT."""
    return (f'while :; do echo "BEGIN; {statement};"; sleep {LOCKED_S}; echo "COMMIT;"; sleep {UNLOCKED_S}; done |\n'
            f"  {client}")


class RowLock(Case):
    rate = 1000
    connections = 64
    healthy = f"{connections} clients change one row, {rate:,} times per second in total."
    broken = (f"Another client changes the same row and commits {LOCKED_S * 1000:.0f} ms later, again and again, with "
              f"{UNLOCKED_S * 1000:.0f} ms between two transactions.")
    holder = None

    def own(self, command):
        return command.replace("DIRECTORY", self.home).replace("PORT", str(self.port))

    def break_it(self):
        self.holder = Process(["sh", "-c", self.own(self.command)], self.site.client_cpus, self.site.nice)

    def mend(self):
        if self.holder:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.holder.pid, signal.SIGTERM)
            self.holder.end()
            self.holder = None

    def __exit__(self, *error):
        self.mend()
        super().__exit__(*error)


class MariaDb(RowLock, databases.MariaDb):
    name = "mariadb-row-lock"
    title = "MariaDB: a row lock"
    asks = ("mysql-update", 0)
    causes = {"mariadb": "timed_wait"}   # it may wait for so long, not longer
    shell = "mariadb --no-defaults -u root -S DIRECTORY/socket"
    command = locking("UPDATE evidence.items SET pad = 'held' WHERE id = 1", shell)
    truth_name = "InnoDB's `Innodb_row_lock_time`"
    truths = {truth_name: ("mariadb", ("timed_wait",))}

    def counters(self):
        ask = self.own(self.shell).split() + ["-BNe", "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_time'"]
        reported = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
        return {self.truth_name: int(reported.split()[1]) / 1e3}


class Postgres(RowLock, databases.Postgres):
    name = "postgresql-row-lock"
    title = "PostgreSQL: a row lock"
    asks = ("postgres-update", 0)
    rate = 1500
    healthy = f"{RowLock.connections} clients change one row, {rate:,} times per second in total."
    causes = {"postgresql": "lock"}
    command = locking("UPDATE pgbench_branches SET filler = 'held' WHERE bid = 1",
                   "psql -q -h DIRECTORY -p PORT -U postgres")
    truth_name = "PostgreSQL's `log_lock_waits`"
    truths = {truth_name: ("postgresql", ("lock",))}
    logs = ("-c", "log_lock_waits=on", "-c", "deadlock_timeout=1ms", "-c", "logging_collector=on",
            "-c", "log_directory=log")

    def serve(self, *argv, talks=False):
        require("psql")
        return super().serve(*argv, *self.logs, talks=talks)

    def counters(self):
        logs = "".join(map(read, glob.glob(os.path.join(self.home, "data", "log", "*"))))
        waits = re.findall(r"acquired \w+ on .* after ([\d.]+) ms", logs)
        return {self.truth_name: sum(map(float, waits)) / 1e3}


class Gil(App):
    name = "python-gil"
    title = "A Python service: the interpreter's lock"
    causes = {"app": "timed_wait"}   # of 5 ms: then the thread that computes is asked for the lock
    users = 16
    think = 0.1
    work = 0.001
    healthy = (f"{users} clients ask a service on Python's `ThreadingHTTPServer`. A response takes {1000 * work:g} ms of CPU "
               f"time. A client asks again {think:g} s after its response, on average.")
    note = ("A thread that has sent a response needs the interpreter's lock before it can receive again. Meanwhile the next "
            "request waits in its `socket`; the sooner clients ask again, the longer it waits.")
    broken = "Another thread of the same process computes, for example a report that is part of the service."
    command = "kill -USR1 PID_OF_THE_SERVICE"
    arguments = ("work", work)
    truth_name = "the service's clock, from the client's send to its own, less CPU time"
    truths = {truth_name: ("app", ("timed_wait", "lock", "socket", "runqueue"))}
    truth_note = "The time by the service's clock is the sum of `timed_wait`, `lock`, `socket` and `runqueue`."

    def serve(self, *argv, talks=False):
        """On all CPUs: a thread that could run does not have to wait for a CPU as well."""
        return Process(argv, self.site.server_cpus | self.site.client_cpus, self.site.nice, self.site.dir, talks)

    def break_it(self):
        os.kill(self.pid, signal.SIGUSR1)

    def mend(self):
        os.kill(self.pid, signal.SIGUSR2)

    def counters(self):
        reported = self.stats(self.server)
        return {self.truth_name: reported["wall"] - reported["cpu"]}


CASES = (MariaDb, Postgres, Gil)

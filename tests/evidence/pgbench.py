# SPDX-License-Identifier: MIT
"""PostgreSQL with its own client, which is started anew for each load: its log of transactions as load.c tells it."""

import collections
import glob
import math
import os
import pwd
import shutil
import statistics
import subprocess
import tempfile
import time

from need import Missing
from process import Process, prepare

# One connection and two questions (how many branches there are, and how the tables are divided) come first.
CONNECTING = 3
QUIET = {"PGSSLMODE": "disable", "PGGSSENCMODE": "disable", "PGCONNECT_TIMEOUT": "60"}


def programs():
    """The directory of the newest server's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    if not found or not shutil.which("pgbench"):
        raise Missing("postgresql is not installed")
    return os.path.dirname(found[-1])


def record(durations):
    """[(time of its end, seconds)] as record.c prints it."""
    def figures(values):
        return [values[int(q * (len(values) - 1))] for q in (0.5, 0.9, 0.99, 0.999)]

    by_second, tenths = {}, collections.Counter()
    for end, duration in durations:
        by_second.setdefault(int(end), []).append(duration)
        tenths[int(10 * end) / 10] += 1
    values = sorted(duration for _, duration in durations)
    names = ("p50", "p90", "p99", "p99.9")
    return {"count": len(values), "average": statistics.fmean(values), "max": values[-1],
            **dict(zip(names, figures(values))),
            "seconds": [[second, len(some), *figures(sorted(some))] for second, some in sorted(by_second.items())],
            "tenths": sorted(tenths.items())}


class Pgbench:
    def __init__(self, site, port, connections):
        self.site, self.port, self.connections = site, port, connections
        self.programs = programs()
        self.user = pwd.getpwnam("postgres")
        self.dir = tempfile.mkdtemp(prefix="evidence-pg.", dir="/var/tmp")
        os.chown(self.dir, self.user.pw_uid, self.user.pw_gid)
        self.as_user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"]
        data = os.path.join(self.dir, "data")
        subprocess.run(self.as_user + [f"{self.programs}/initdb", "-D", data, "-A", "trust", "-N", "--no-instructions"],
                       check=True, cwd=self.dir, stdout=subprocess.DEVNULL)
        self.server = Process(self.as_user + [f"{self.programs}/postgres", "-D", data, "-h", "127.0.0.1", "-p", port,
                                              "-k", self.dir, "-c", "fsync=off", "-c",
                                              f"max_connections={connections + 10}"],
                              site.server_cpus, site.nice, self.dir)

    def _pgbench(self, *argv):
        return subprocess.run(["pgbench", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", *map(str, argv),
                               "postgres"], check=True, cwd=self.dir, env={**os.environ, **QUIET},
                              start_new_session=True, preexec_fn=prepare(self.site.client_cpus, self.site.nice),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def connect(self):
        """Waits for the server, fills its tables, and sees how long it takes to connect."""
        self._fill()
        begin = time.monotonic()
        self._pgbench("-n", "-S", "-c", self.connections, "-t", 1)
        self.connecting_s = time.monotonic() - begin

    def _fill(self):
        give_up = time.monotonic() + 60
        while True:
            try:
                return self._pgbench("-i", "-q")
            except subprocess.CalledProcessError:
                # It starts up.
                if time.monotonic() > give_up:
                    raise
                time.sleep(0.5)

    def load(self, rate, seconds):
        log = os.path.join(self.dir, "transactions")
        self._pgbench("-n", "-S", "-M", "simple", "-c", self.connections,
                      "-T", seconds + math.ceil(2 * self.connecting_s), "-l", "--log-prefix", log,
                      *(["-R", rate] if rate else []))
        end = time.time()
        sent, due = [], []
        for path in glob.glob(log + ".*"):
            with open(path, encoding="ascii") as lines:
                for line in lines:
                    _, _, total, _, second, rest, *lag = line.split()
                    finish = int(second) + int(rest) / 1e6
                    due.append((finish, int(total) / 1e6))
                    sent.append((finish, (int(total) - int(lag[0] if lag else 0)) / 1e6))
            os.unlink(path)
        # The time in which it connected is none of the load.
        begin = min(finish - duration for finish, duration in due)
        return {"begin": begin, "end": end, "sent": len(sent), "dropped": 0, "extra": CONNECTING + self.connections,
                "latency": record(sent), "open": record(due)}

    def end(self):
        self.server.end()
        shutil.rmtree(self.dir, ignore_errors=True)

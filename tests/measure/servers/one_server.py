# SPDX-License-Identifier: MIT
"""One server under three loads, as its client and the probe have it."""

import dataclasses
import math
import os
import statistics
import time

import collectd
from client_programs import Load
from entry import Running
from process import prepare

INTERVAL = 1
PLUGIN = """\
  Percentile 50 99
  <Service "{name}">
    PidFile "{home}/service.pid"
{commands}  </Service>
  <Probe "request">
    Collect "*"
    Rows 8
  </Probe>
"""
FIRST = 2   # connections
# At most so many requests a second at a third of the load: clients keep a log of each.
MOST = 3000


@dataclasses.dataclass(frozen=True)
class Pace:
    """Seconds of each load, and of how many requests and connections the first consists."""
    few: float = 2
    third: float = 4
    full: float = 2.5
    requests: int = 40
    connections: int = 4


@dataclasses.dataclass
class Result:
    """Of one server. Times in seconds, shares in percent; nan: not known."""

    connection: float = math.nan    # exchanges of each connection beyond its requests
    run: float = math.nan           # those of a run of the client, as on a connection of its own
    sent: int = 0
    connections: int = 0
    counted: int = 0
    client: tuple = (math.nan, math.nan)
    ours: tuple = (math.nan, math.nan)
    slack_idle: float = math.nan
    idle_parts: tuple = (math.nan, math.nan)    # of threads and of CPUs
    slack_full: float = math.nan
    full_rate: float = 0
    full_sent: int = 0
    full_counted: int = 0
    full_connections: int = 0
    complaints: list = dataclasses.field(default_factory=list)

    @property
    def expected(self):
        """What the probe has to count under a third of the load."""
        return round(self.sent + self.run + self.connection * self.connections)


class Observer:
    """with Observer(server): ... -- a collectd with the server as its service."""

    def __init__(self, server, directory):
        self.name, self.counters = server.entry.name, server.entry.counters
        with open(os.path.join(directory, "service.pid"), "w", encoding="ascii") as file:
            file.write(f"{server.pid}\n")
        commands = "".join(f'    Process "{name}"\n' for name in server.entry.commands)
        self.daemon = collectd.Daemon(server.site.collectd, directory, server.site.build, 0,
                                      PLUGIN.format(name=self.name, home=directory, commands=commands), INTERVAL,
                                      preexec=prepare(server.site.client_cpus, -10))

    def __enter__(self):
        self.daemon.start()
        try:
            self.daemon.wait_rows("self", "duration-read_request", seconds=20)
        except BaseException:
            self.daemon.stop()
            raise
        return self

    def __exit__(self, *_error):
        self.daemon.stop()

    def counted(self):
        """All that has been counted up to now."""
        time.sleep(0.1)     # a server may still have to notice that connections are closed
        now = time.time()
        return sum(self.daemon.row_after(self.name, counter, now, 10)[1] for counter in self.counters)

    def figure(self, metric, begin, end):
        """Median of the readings that are of this time alone, or that overlap it where there are none."""
        rows = self.daemon.rows(self.name, metric)
        within = [value for moment, value in rows if begin + INTERVAL <= moment <= end]
        within = within or [value for moment, value in rows if begin <= moment <= end + INTERVAL]
        known = [value for value in within if value == value]
        return statistics.median(known) if known else math.nan


@dataclasses.dataclass
class Phase:
    """One load."""

    said: object
    counted: int
    begin: float
    end: float


def put(server, observer, load):
    before, begin = observer.counted(), time.time()
    said = server.entry.client.run(server, load)
    end = time.time()
    return Phase(said, observer.counted() - before, begin, end)


def measure(entry, site, directory, pace):
    result = Result()
    with Running(entry, site) as server, Observer(server, directory) as observer:
        # The service has no series before its first request.
        fewest = entry.client.run(server, Load(FIRST, FIRST * 5))
        first = observer.counted() - fewest.sent
        few = put(server, observer, Load(pace.connections, pace.requests, pace.requests / pace.few))
        result.connection = (few.counted - few.said.sent - first) / (pace.connections - FIRST)
        result.run = first - FIRST * result.connection
        result.slack_idle = observer.figure("percent-slack", few.begin, few.end)
        result.idle_parts = tuple(observer.figure(f"percent-slack_{of}", few.begin, few.end) for of in ("threads", "cpus"))
        full = put(server, observer, Load(2 * entry.connections, seconds=pace.full))
        result.full_rate = full.said.sent / (full.end - full.begin)
        result.full_sent, result.full_counted, result.full_connections = full.said.sent, full.counted, full.said.connections
        result.slack_full = observer.figure("percent-slack", full.begin, full.end)
        rate = min(MOST, result.full_rate / 3)
        requests = max(entry.connections, int(rate * pace.third / entry.connections) * entry.connections)
        third = put(server, observer, Load(entry.connections, requests, rate))
        result.sent, result.connections, result.counted = third.said.sent, third.said.connections, third.counted
        result.client = third.said.p50, third.said.p99
        result.ours = tuple(observer.figure(f"latency-response-percentile-{p}", third.begin, third.end) for p in (50, 99))
        result.complaints = observer.daemon.complaints()
    return result

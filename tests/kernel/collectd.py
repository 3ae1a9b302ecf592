# SPDX-License-Identifier: MIT
"""A private collectd of a test, and the values that it dispatched.

Nothing is shared with the machine's own collectd: base directory, pid file, log and data are in the test's directory.
The data is what the csv plugin wrote with StoreRates off: raw counters, a row per dispatch, with times in
milliseconds.
"""

import glob
import json
import math
import os
import re
import signal
import subprocess
import time

HOST = "testhost"
PLUGINS = "/usr/lib/collectd"
TYPES = "/usr/share/collectd/types.db"
# Messages that are no complaints: of collectd about a late reading, and of the plugin about a disk that another test
# removes, containers that another test makes up, and services whose processes a test has not started yet.
OTHERS = re.compile(r"above its read interval|Not sleeping because the next interval is|block/loop\d+/stat|"
                    r"containers are named by their ids|some of its events are not counted|no process has fitted")
BUCKET = re.compile(r"([\d.e+-]+)_([\d.e+-]+|inf)")


def read_types():
    """{type: [(data source, kind), ...]}"""
    types = {}
    with open(TYPES, encoding="ascii") as lines:
        for line in lines:
            name, *sources = line.replace(",", " ").split() or ["#"]
            if not name.startswith("#"):
                types[name] = [tuple(source.split(":")[:2]) for source in sources]
    return types


def plugin_path(build):
    return os.path.join(build, "ebpf.so")


def number(text):
    try:
        return int(text)
    except ValueError:
        return float(text)


class Daemon:
    FORGET_INTERVALS = 10      # intervals after which a service without processes is no longer dispatched
    FORGOTTEN = 2  # intervals after which collectd (Timeout) and RRD files (heartbeat) forget a series

    def __init__(self, program, base, build, serial, plugin, interval=10, extra="", objects=None, wrap=(),
                 preexec=None, patience=1, host=HOST, collect=(), types=TYPES):
        """plugin: text of the <Plugin ebpf> block; None: a block that only sets the directory of the objects. extra: further
        configuration. wrap: the command to run collectd with. patience: factor of all time limits. collect: probes whose
        metrics are all collected, including those that are off by default. types: the file of TypesDB."""
        self.program = program
        self.host = host
        self.types = types
        self.interval = interval
        self.number = serial
        self.dir = os.path.join(base, f"collectd.{serial}")
        self.csv = os.path.join(self.dir, "csv")
        self.profiles = os.path.join(self.dir, "profiles")
        self.events_path = os.path.join(self.dir, "ebpf", "events.jsonl")
        self.log_path = os.path.join(self.dir, "log")
        self.words_path = os.path.join(self.dir, "words")  # output before the log is open
        self.wrap = list(wrap)
        self.preexec = preexec
        self.patience = patience
        self.process = None
        self.starts = []
        os.makedirs(self.dir)
        self.objects = objects or self._link_objects(build)
        self.symbols = os.path.join(build, "ebpf-symbols")
        self.conf = os.path.join(self.dir, "conf")
        with open(self.conf, "w", encoding="utf-8") as conf:
            own_plugins = os.path.abspath(os.path.dirname(plugin_path(build)))
            conf.write(self._configuration(own_plugins, self._collecting(plugin, collect), interval, extra))

    def _link_objects(self, build):
        """Makes a directory of links to the objects of this build."""
        where = os.path.join(self.dir, "objects")
        os.makedirs(where)
        for path in glob.glob(os.path.join(build, "*.bpf.o")) + glob.glob(os.path.join(build, "bpf", "*.bpf.o")):
            os.symlink(os.path.abspath(path), os.path.join(where, os.path.basename(path)))
        return where

    @staticmethod
    def _services_from(plugin):
        """The default of ServicesFrom in tests: only Service blocks or, without blocks, command names. By unit or container,
        all processes of a test would be in that of the test itself."""
        if plugin is None:
            return ""
        if "ServicesFrom" in plugin:
            return ""
        return f'  ServicesFrom "{"none" if "<Service" in plugin else "commands"}"\n'

    @staticmethod
    def _max_overhead(plugin):
        """The default of MaxOverhead in tests: unlimited, because the loads would exceed it and switch probes off."""
        return "" if plugin is None or "MaxOverhead" in plugin else "  MaxOverhead 100\n"

    @staticmethod
    def _room(plugin):
        """The default of MaxServices in tests leaves room for the command names of other tests, which are services, too."""
        words = ("<Service", "ServicesFrom", "MaxServices")
        return "" if plugin is None or any(word in plugin for word in words) else "  MaxServices 1024\n  MaxNewServices 10000\n"

    @staticmethod
    def _collecting(plugin, probes):
        for probe in probes:
            head, line = f'<Probe "{probe}">\n', '    Collect "*"\n'
            plugin = plugin.replace(head, head + line) if head in plugin else f"{plugin}\n  {head}{line}  </Probe>\n"
        return plugin

    def _configuration(self, own_plugins, plugin, interval, extra):
        return f"""\
Hostname "{self.host}"
FQDNLookup false
BaseDir "{self.dir}"
PIDFile "{self.dir}/pid"
PluginDir "{PLUGINS}"
TypesDB "{self.types}"
Interval {interval}
# Several would overtake each other.
WriteThreads 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "{self.log_path}"
  Timestamp true
  PrintSeverity true
</Plugin>
LoadPlugin csv
<Plugin csv>
  DataDir "{self.csv}"
  StoreRates false
</Plugin>
{extra}
# Holds for what is loaded from here on.
PluginDir "{own_plugins}"
LoadPlugin ebpf
<Plugin ebpf>
  ObjectDirectory "{self.objects}"
  SymbolHelper "{self.symbols}"
{self._services_from(plugin)}{self._room(plugin)}{self._max_overhead(plugin)}{plugin or ""}
</Plugin>
"""

    def start(self):
        self.starts.append(time.time())
        with open(self.words_path, "ab") as words:
            self.process = subprocess.Popen(self.wrap + [self.program, "-f", "-C", self.conf],
                                            stdin=subprocess.DEVNULL, stdout=words, stderr=words,
                                            start_new_session=True, preexec_fn=self.preexec)

    def running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self, signum=signal.SIGTERM, seconds=20):
        """True if it ended in time without being killed."""
        self.process.send_signal(signum)
        try:
            self.process.wait(seconds * self.patience)
            return True
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False

    def log(self):
        lines = []
        for path in (self.words_path, self.log_path):
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as log:
                    lines += log.read().splitlines()
        return lines

    def events(self):
        """The objects of the file of events, oldest first."""
        events = []
        for path in (self.events_path + ".1", self.events_path):
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    events += [json.loads(line) for line in file]
        return events

    def folded(self, service, view):
        """{line: value}, the sum of all hours; empty if there is no file."""
        lines = {}
        for path in glob.glob(os.path.join(self.profiles, f"{glob.escape(service)}-{view}-[0-9]*-[0-9]*.folded")):
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file.read().splitlines():
                    stack, _, value = line.rpartition(" ")
                    lines[stack] = lines.get(stack, 0) + int(value)
        return lines

    def complaints(self):
        """Warnings and errors without their time stamps, except those that other tests cause."""
        return [line.split("] ", 1)[1] for line in self.log()
                if re.search(r"\] \[(warning|error)\]", line) and not OTHERS.search(line)]

    # What was dispatched

    def subjects(self, plugin="ebpf"):
        prefix = plugin + "-"
        try:
            names = os.listdir(os.path.join(self.csv, self.host))
        except FileNotFoundError:
            return set()
        return {name[len(prefix):] for name in names if name.startswith(prefix)}

    def services(self):
        """The subjects except the machine's disks, which the probe disk dispatches by default."""
        return self.subjects() - set(os.listdir("/sys/block"))

    def metrics(self, subject, plugin="ebpf"):
        """The TYPE[-INSTANCE]s of a subject that have at least a row. A file may have only its heading."""
        names = glob.glob(os.path.join(glob.escape(self._directory(subject, plugin)), "*"))
        return {re.sub(r"-\d{4}-\d\d-\d\d$", "", os.path.basename(name)) for name in names if self._has_row(name)}

    @staticmethod
    def _has_row(path):
        with open(path, encoding="ascii") as lines:
            lines.readline()
            return lines.readline().endswith("\n")

    def _directory(self, subject, plugin):
        return os.path.join(self.csv, self.host, f"{plugin}-{subject}" if subject else plugin)

    def rows(self, subject, metric, plugin="ebpf"):
        """[(time, value, ...), ...], oldest first, from the files of all days."""
        found = []
        stem = os.path.join(glob.escape(self._directory(subject, plugin)), glob.escape(metric))
        for path in sorted(glob.glob(stem + "-[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]")):
            with open(path, encoding="ascii") as lines:
                for line in lines.read().split("\n")[1:-1]:
                    stamp, *values = line.split(",")
                    found.append((float(stamp), *map(number, values)))
        return found

    def _earliest(self, stamp):
        """The earliest time of a reading with this stamp. The csv plugin rounds, and a reading just before a full second may
        get the time of that second (dispatch.c)."""
        return stamp - (self.interval / 8 if self.at_cycle(stamp) else 0.0006)

    def at_cycle(self, stamp):
        return self.interval >= 1 and round(stamp * 1000) % 1000 == 500

    def wait_rows(self, subject, metric, count=1, after=0.0, seconds=60, plugin="ebpf"):
        """Waits for `count` rows that were read later than `after` and returns them."""
        give_up = time.monotonic() + seconds * self.patience
        while True:
            found = [row for row in self.rows(subject, metric, plugin) if self._earliest(row[0]) > after]
            if len(found) >= count:
                return found
            if not self.running():
                raise RuntimeError(f"collectd {self.number} ended (status {self.process.returncode})")
            if time.monotonic() > give_up:
                raise TimeoutError(f"{len(found)} of {count} rows of {plugin}-{subject}/{metric} after {seconds} s")
            time.sleep(0.05)

    def row_after(self, subject, metric, moment, seconds=60):
        """Waits for the first row that was read later than `moment` (of time.time()) and returns it."""
        return self.wait_rows(subject, metric, 1, moment, seconds)[0]

    def samples(self, subject, metric, begin=0.0, end=math.inf):
        """{lower bound of a bucket: samples} of a histogram in the readings after that of time `begin`, to that of `end`;
        not in its first. It needs Buckets. The times of readings are whole milliseconds, so that some tens of samples a
        reading are exact, if the interval is below a second: from there on a reading may have the time of the next one."""
        stem, found = f"bucket-{metric}-", {}
        for name in self.metrics(subject):
            bounds = BUCKET.fullmatch(name.removeprefix(stem))
            if not bounds or not name.startswith(stem):
                continue
            rows = self.rows(subject, name)
            count = sum(round(row[1] * (row[0] - before[0])) for before, row in zip(rows, rows[1:]) if begin < row[0] <= end)
            if count:
                found[float(bounds[1])] = count
        return found

    def exchanges(self, subject, moment, instance=""):
        """(exchanges, bytes received, bytes sent) at the first reading after `moment`; instance "-client": as a client."""
        total = self.row_after(subject, "total_requests" + instance, moment)
        byte_count = self.row_after(subject, "if_octets" + instance, moment)
        return total[1], byte_count[1], byte_count[2]

    def growth(self, metric, begin, end):
        """The growth of a counter between two readings, summed over all subjects, by data source.

        Counted as a receiver does: neither the first value of a series nor a reset is growth.
        """
        total = {}
        # The rows of a reading are written one by one. All of them are written when the next reading starts.
        self.wait_rows("other", metric, 1, end + 0.001)
        for subject in self.subjects() - {"self"}:
            rows = [row for row in self.rows(subject, metric) if begin <= row[0] <= end]
            for before, row in zip(rows, rows[1:]):
                for source, (a, b) in enumerate(zip(before[1:], row[1:])):
                    total[source] = total.get(source, 0) + max(0, b - a)
        return list(total.values())

    def fallen(self):
        """Counters that fell within one run of the daemon, and series whose times do not increase.

        A name that returns after its series was forgotten starts again from 0, which is no fall.
        """
        found, types = [], read_types()
        for subject in self.subjects():
            for metric in self.metrics(subject):
                counter = all(kind == "DERIVE" for _, kind in types[metric.partition("-")[0]])
                rows = self.rows(subject, metric)
                for before, row in zip(rows, rows[1:]):
                    again = (row[0] - before[0] > (self.FORGOTTEN + 0.5) * self.interval or
                             any(before[0] < start < row[0] for start in self.starts))
                    fell = counter and any(b < a for a, b in zip(before[1:], row[1:]))
                    if row[0] <= before[0] or fell and not again:
                        found.append(f"{subject}/{metric}: {before} then {row}")
        return found

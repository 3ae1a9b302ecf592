# SPDX-License-Identifier: MIT
"""A collectd of the bench's own with this plugin, which stores in RRD files, and what is read back from them."""

import ctypes
import glob
import math
import os
import re
import shutil
import signal
import subprocess
import time

LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1
HOST = "evidence"
PLUGINS = ("csv", "logfile", "rrdtool")
# The durations of polls may need it; mounted for this process alone.
TRACEFS = "/sys/kernel/tracing"
WITH_TRACEFS = ["unshare", "-m", "sh", "-c",
                f'mountpoint -q {TRACEFS} || mount -t tracefs tracefs {TRACEFS}; exec "$@"', "sh"]
STARTED = "Initialization complete"

CONFIGURATION = """\
Hostname "{host}"
FQDNLookup false
BaseDir "{dir}"
PIDFile "{dir}/collectd.pid"
PluginDir "{dir}/plugins"
Interval {interval}
WriteThreads 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "{dir}/log"
  Timestamp true
  PrintSeverity true
</Plugin>
LoadPlugin rrdtool
<Plugin rrdtool>
  DataDir "{dir}/rrd"
  StepSize {interval}
  HeartBeat {heartbeat}
  RRARows 3600
  RRATimespan {timespan}
  CacheTimeout 0
</Plugin>
# RRD files have no fractions of a second: when each reading was.
LoadPlugin csv
<Plugin csv>
  DataDir "{dir}/csv"
</Plugin>
LoadPlugin ebpf
<Plugin ebpf>
  ObjectDirectory "{objects}"
  Percentile 50 90 99
  <Service "{service}">
    PidFile "{dir}/service.pid"
  </Service>
  <Probe "process">
    Enable false
  </Probe>
  <Probe "poll">
    Option "syscalls"
  </Probe>
  <Probe "request">
    Rows 8
  </Probe>
</Plugin>
"""


def start_first(nice):
    """What a new process does so that other work on the machine disturbs it little, and to end with the bench."""
    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, nice)
        try:
            # The kernel may share the CPU between sessions first.
            with open("/proc/self/autogroup", "w", encoding="ascii") as file:
                file.write(str(nice))
        except FileNotFoundError:
            pass

    return prepare


def fetch(path, interval, begin, end, seconds=10):
    """The lines of rrdtool. A collectd that runs holds the lock of a file for as long as it writes one value."""
    give_up = time.monotonic() + seconds
    while True:
        done = subprocess.run(["rrdtool", "fetch", path, "AVERAGE", "-r", str(interval), "-s", str(math.floor(begin)),
                               "-e", str(math.ceil(end))], capture_output=True, text=True, check=False)
        if not done.returncode:
            return done.stdout.splitlines()
        if time.monotonic() > give_up:
            raise RuntimeError(f"rrdtool fetch {path}: {done.stderr}")
        time.sleep(0.05)


class Store:
    """The RRD files of one service, below a directory; they stay when the daemon is gone."""

    def __init__(self, directory, service, interval):
        self.dir = directory
        self.service = service
        self.interval = interval
        self.files = os.path.join(directory, "rrd", HOST, f"ebpf-{service}")

    def path(self, metric):
        return os.path.join(self.files, metric + ".rrd")

    def has(self, metric):
        return os.path.exists(self.path(metric))

    def rows(self, metric, source, begin, end):
        """{end of step: value} of the known steps within begin .. end."""
        if not self.has(metric):
            return {}
        out = fetch(self.path(metric), self.interval, begin, end)
        column = out[0].split().index(source)
        found = {}
        for line in out[2:]:
            stamp, values = line.split(":")
            value = float(values.split()[column])
            if not math.isnan(value) and begin <= int(stamp) <= end:
                found[int(stamp)] = value
        return found

    def moments(self):
        """{end of step: time of its reading}; collectd rounds it to a full second."""
        found = {}
        for path in glob.glob(os.path.join(self.dir, "csv", HOST, f"ebpf-{self.service}", "total_requests-*")):
            with open(path, encoding="ascii") as lines:
                for line in lines.read().split("\n")[1:-1]:
                    moment = float(line.split(",")[0])
                    found[math.floor(moment + 0.5)] = moment
        return found

    def counted(self, metric, source, begin, end):
        """What a counter grew by between two moments at which nothing went on."""
        return sum(self.rows(metric, source, begin, end).values()) * self.interval


class Daemon:
    """with Daemon(store, pid): ... -- collectd, with the process as its service."""

    def __init__(self, store, pid, collectd, build, cpus):
        self.store = store
        self.pid = pid
        self.collectd = collectd
        self.build = build
        self.cpus = cpus
        self.process = None

    def _configure(self):
        store = self.store
        plugins = os.path.join(store.dir, "plugins")
        os.makedirs(plugins, exist_ok=True)
        text = subprocess.run([self.collectd, "-h"], capture_output=True, text=True, check=True).stdout
        theirs = re.search(r"Plugin directory +(\S+)", text).group(1)
        # Copies: collectd takes plugins from one directory, and takes no links.
        for path in [os.path.join(theirs, f"{name}.so") for name in PLUGINS] + [f"{self.build}/.libs/ebpf.so"]:
            shutil.copy(path, plugins)
        with open(os.path.join(store.dir, "service.pid"), "w", encoding="ascii") as file:
            file.write(f"{self.pid}\n")
        with open(os.path.join(store.dir, "collectd.conf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(host=HOST, dir=store.dir, interval=store.interval,
                                            heartbeat=10 * store.interval, timespan=3600 * store.interval,
                                            objects=os.path.join(self.build, "bpf"), service=store.service))

    def log(self):
        with open(os.path.join(self.store.dir, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def __enter__(self):
        self._configure()
        with open(os.path.join(self.store.dir, "log"), "w", encoding="ascii") as log:
            self.process = subprocess.Popen([*WITH_TRACEFS, "taskset", "-c", self.cpus, self.collectd, "-f", "-C",
                                             os.path.join(self.store.dir, "collectd.conf")],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            preexec_fn=start_first(-10))
        try:
            self._wait_for(lambda: STARTED in self.log(), "collectd does not start")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait_for(self, ready, complaint, seconds=60):
        give_up = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"{complaint}; its log:\n{self.log()[-2000:]}")
            time.sleep(0.1)

    def wait_series(self, metric):
        """Until the service has a series of this name with values."""
        def is_there():
            now = time.time()
            return self.store.rows(metric, "value", now - 5 * self.store.interval, now)

        self._wait_for(is_there, f"there is no {metric} of {self.store.service}")

    def __exit__(self, *_error):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(os.path.join(self.store.dir, "plugins"), ignore_errors=True)


def tidy(directory):
    """Leaves of a store what is worth keeping: the service's own series, log and configuration."""
    for path in glob.glob(os.path.join(directory, "*", HOST, "ebpf-*")):
        if os.path.basename(path) in ("ebpf-other", "ebpf-kernel"):
            shutil.rmtree(path)

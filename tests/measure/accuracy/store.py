# SPDX-License-Identifier: MIT
"""RRD files of one service, below a directory: the collectd that fills them, and what is read back."""

import glob
import math
import os
import shutil
import time
from functools import cached_property

import collectd
import rrd
from process import WITH_TRACEFS, prepare

HOST = "evidence"
NICE = -10

RRDTOOL = """\
LoadPlugin rrdtool
<Plugin rrdtool>
  DataDir "{dir}/rrd"
  StepSize {interval}
  HeartBeat {heartbeat}
  RRARows 3600
  RRATimespan {timespan}
  CacheTimeout 0
</Plugin>
"""
PLUGIN = """\
  Percentile 50 90 99
  <Service "{service}">
    PidFile "{dir}/service.pid"
  </Service>
  <Probe "poll">
    Enable true
    Collect "*"
    Option "syscalls"
  </Probe>
  <Probe "request">
    Collect "*"
    Rows 8
  </Probe>
"""


def step_of(moment):
    """The end of the step of a reading; collectd rounds its time to a full second."""
    return math.floor(moment + 0.5)


class Store:
    """The files stay when the daemon is gone."""

    def __init__(self, directory, service, interval, span=(0, 0)):
        """span: of what can be read back."""
        self.dir = directory
        self.service = service
        self.interval = interval
        self.span = span
        self.files = os.path.join(directory, "rrd", HOST, f"ebpf-{service}")

    def path(self, metric):
        return os.path.join(self.files, metric + ".rrd")

    def has(self, metric):
        return os.path.exists(self.path(metric))

    @cached_property
    def _series(self):
        return rrd.fetch(glob.glob(os.path.join(self.files, "*.rrd")), *self.span)

    def rows(self, metric, source, begin, end):
        """{end of step: value} of the known steps that end within begin .. end."""
        known = self._series.get(self.path(metric), {}).get(source, {})
        return {step: value for step, value in known.items() if begin <= step <= end}

    def counted(self, metric, source, before, after):
        """What a counter grew by between two readings."""
        first, last = map(step_of, (before, after))
        return sum(self.rows(metric, source, first + 1, last).values()) * self.interval


class Collector(collectd.Daemon):
    """with Collector(store, pid, site): ... -- fills the store, with the process as its service."""

    def __init__(self, store, pid, site):
        self.store = store
        with open(os.path.join(store.dir, "service.pid"), "w", encoding="ascii") as file:
            file.write(f"{pid}\n")
        files = RRDTOOL.format(dir=store.dir, interval=store.interval, heartbeat=10 * store.interval,
                               timespan=3600 * store.interval)
        # The durations of polls may need tracefs.
        super().__init__(site.collectd, store.dir, site.build, 0, PLUGIN.format(dir=store.dir, service=store.service),
                         store.interval, files, wrap=WITH_TRACEFS, preexec=prepare(site.client_cpus, NICE), host=HOST)

    def __enter__(self):
        self.start()
        try:
            self.wait_rows("self", "duration-read_request")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_error):
        self.stop()
        # Of what was stored, the service's own series are worth keeping.
        for path in glob.glob(os.path.join(self.store.dir, "rrd", HOST, "ebpf-*")):
            if path != self.store.files:
                shutil.rmtree(path)

    def settled(self):
        """Waits until all that has been counted is stored; returns when that was. What follows is of later steps."""
        return self.wait_rows(self.store.service, "total_requests", 1, time.time())[0][0]

    def readings(self):
        """When each was: RRD files have no fractions of a second."""
        return [row[0] for row in self.rows(self.store.service, "total_requests")]

# SPDX-License-Identifier: MIT
"""What a probe and a tool say of the same events, both at once."""

import os
import re
import sys
import tempfile
import time

from powers import Powers, differences, dispatched, printed
from process import WITH_TRACEFS, prepare
from tool import Tool
from toolbox import SERVICE
from toolbox_rounds import Events, configuration

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernel"))
import collectd

INTERVAL_S = 1
PATIENCE = float(os.environ.get("TEST_SLOWNESS") or 1)


class Results:
    """counts: (what, how many there were, of the probe, of the tool); shares: (what, as powers.differences())."""

    def __init__(self, site, pair, size=1):
        self.pair = pair
        session = Session(site, pair, pair.event, max(2, int(pair.count * size)))
        self.counts = session.counts
        self.shares = (Session(site, pair, *pair.spread) if pair.spread else session).shares


class Session:
    """Both watch so many events of a kind."""

    def __init__(self, site, pair, event, count):
        self.pair, self.event, self.events = pair, event, count
        with tempfile.TemporaryDirectory(dir=site.dir) as directory:
            text = "Buckets true\n" + configuration(site, pair)
            self.daemon = collectd.Daemon(site.collectd, directory, site.build, 0, text, interval=INTERVAL_S,
                                          wrap=WITH_TRACEFS, preexec=prepare(), patience=PATIENCE, collect=[pair.probe])
            self.daemon.start()
            try:
                output = self._ask(site)
                self.counts = [self._count(count, output) for count in pair.counts]
                self.shares = [self._shares(shares, output) for shares in pair.shares]
            finally:
                self.daemon.stop()

    def _wait_reading(self, count=2):
        self.daemon.wait_rows("self", f"duration-read_{self.pair.probe}", count, time.time())

    def _ask(self, site):
        self._wait_reading()
        # So that all series are there.
        Events(site, self.event, max(8, self.events // 10))
        tool = Tool(site, list(self.pair.command))
        with tool:
            self._wait_reading()
            self.begin = time.time()
            pid = Events(site, self.event, self.events).pid
            self._wait_reading()
        # Beside it they write a name, which may be the one from before its exec.
        return re.sub(rf"\bpid = {pid}\b.*", f"pid = {SERVICE}", tool.output())

    def _subjects(self, pattern):
        return [subject for subject in self.daemon.subjects() if re.fullmatch(pattern, subject)]

    def _series(self, subject, pattern):
        return [series for series in self.daemon.metrics(subject) if re.fullmatch(pattern, series)]

    def _growth(self, subject, series, source):
        rows = self.daemon.rows(subject, series)
        before = [row for row in rows if row[0] <= self.begin]
        return rows[-1][1 + source] - (before[-1][1 + source] if before else 0) if rows else 0

    def _count(self, count, output):
        if count.series.startswith("bucket-"):
            ours = self._histogram(count.subject, count.series.removeprefix("bucket-")).total()
        else:
            ours = sum(self._growth(subject, series, count.source) for subject in self._subjects(count.subject)
                       for series in self._series(subject, count.series))
        return count.what, count.each * self.events + count.once, ours, count.theirs(output)

    def _values(self, subject, series):
        """How many there were in each bucket, of series that are rates."""
        rows = self.daemon.rows(subject, series)
        return [row[1] * (row[0] - before[0]) for before, row in zip(rows, rows[1:]) if row[0] > self.begin]

    def _histogram(self, pattern, instance):
        """Of all subjects that fit, since the begin."""
        powers = Powers()
        for subject in self._subjects(pattern):
            buckets = self._series(subject, f"bucket-{instance}-.*")
            dispatched(powers, {series: self._values(subject, series) for series in buckets}, instance)
        return powers

    def _shares(self, shares, output):
        return shares.what, differences(self._histogram(shares.subject, shares.instance), printed(output, shares.title))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All receivers together hang for ten readings, and later are gone for ten: what collectd can keep arrives, counters
lose nothing, and readings go on as if nobody were away. TEST_LONG in the environment: for a minute, and one more."""

import math
import os
import signal
import time

import archive
import receiver
import test_graphite
import test_influxdb
import test_rrdcached
from receiver import lib

READINGS = 10   # the packets of so many have room in a socket
INTERVAL = 6 if os.environ.get("TEST_LONG") else 2  # s
AWAY = READINGS * INTERVAL
# collectd's own figures: how many values wait to be written.
STATISTICS = "CollectInternalStats true\n"


class Together:
    """Several receivers as one."""

    def __init__(self, *receivers):
        self.receivers = receivers

    def hang(self, seconds):
        for one in self.receivers:
            one.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        for one in self.receivers:
            one.process.send_signal(signal.SIGCONT)

    def kill(self):
        for one in self.receivers:
            one.kill()

    def start(self):
        for one in self.receivers:
            one.start()


def check_queue(test, daemon, absence):
    """The values of all readings have waited."""
    begin, end = absence.hung
    waiting = [row[1] for row in daemon.rows("write_queue", "queue_length", "collectd") if begin <= row[0] <= end]
    values = len(receiver.dispatched(daemon)) * READINGS
    test.within("values that waited at most", max(waiting), 0.5 * values, math.inf)


def check_archive(test, daemon, tree, socket, absence):
    span, flushed = (absence.begin, absence.end), {"RRDCACHED_ADDRESS": f"unix:{socket}"}
    archive.compare(test, "rrdcached", daemon, tree, archive.FINE, span, absence.unheard, flushed)
    archive.check_growth(test, "rrdcached", daemon, tree, archive.FINE, span, flushed)


def main():
    with lib.Test(limit=300) as test:
        receiver.need("rrdcached", "rrdtool", "carbon-cache", "influxd")
        directory = os.path.dirname(test.mkdir("rrdcached/db"))
        tree, socket = f"{directory}/db", f"{directory}/socket"
        rrdcached = test_rrdcached.start_rrdcached(test, directory, socket)
        carbon, port, whisper = test_graphite.start_carbon(test)
        database = test_influxdb.InfluxDB(test)
        receiver.Traffic(test)
        samples = (
            receiver.sample("receiver-rrdcached.conf", {"/var/run/rrdcached.sock": socket, "/var/lib/rrdcached/db": tree}),
            receiver.sample("receiver-graphite.conf", {'"2003"': f'"{port}"'}),
            receiver.sample("receiver-influxdb.conf", {'"25826"': f'"{database.udp}"'}))
        daemon = test.collectd(receiver.SERVICE, STATISTICS + "\n".join(samples), interval=INTERVAL)
        graphite = receiver.Store(daemon, lambda: test_graphite.stored(whisper, daemon), test_graphite.RESOLUTION)
        influxdb = receiver.Store(daemon, lambda: test_influxdb.stored(database))
        archived = receiver.Store(daemon, lambda: test_rrdcached.stored(daemon, tree, socket),
                                  test_rrdcached.RESOLUTION)
        absence = receiver.Absence(daemon, Together(rrdcached, carbon, database), graphite, influxdb, archived,
                                   seconds=AWAY)
        absence.check_steady(test, daemon)
        test.stop(daemon)
        check_queue(test, daemon, absence)
        check_archive(test, daemon, tree, socket, absence)
        for what, store in (("Graphite", graphite), ("InfluxDB", influxdb)):
            print(f"--- {what}")
            receiver.compare(test, daemon, store, absence)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""InfluxDB: what its collectd input stores, by the stock types.db, is what was dispatched; it may hang, and be gone."""

import json
import socket
import urllib.parse
import urllib.request

import receiver
from receiver import lib

# What the sample does not say, so that two can run side by side.
SERVER = """\
reporting-disabled = true
bind-address = "127.0.0.1:{backup}"
[meta]
  dir = "{directory}/meta"
[data]
  dir = "{directory}/data"
  wal-dir = "{directory}/wal"
[http]
  bind-address = "127.0.0.1:{http}"
"""
INTERVAL = 0.2 if lib.SLOWNESS < 2 else 1


def configure(directory):
    """(path of a configuration with the sample, port of HTTP, port of collectd's protocol)"""
    (backup, http), (udp,) = receiver.free_ports(2), receiver.free_ports(1, socket.SOCK_DGRAM)
    text = SERVER.format(directory=directory, backup=backup, http=http)
    text += receiver.sample("receiver-influxdb-server.conf", {":25826": f":{udp}"})
    return receiver.write(f"{directory}/influxdb.conf", text), http, udp


class InfluxDB(receiver.Receiver):
    def __init__(self, test):
        directory = test.mkdir("influxdb")
        configuration, self.http, self.udp = configure(directory)
        super().__init__(directory, ["influxd", "-config", configuration], lambda: receiver.listens(self.http))

    def query(self, text):
        words = urllib.parse.urlencode({"db": "collectd", "epoch": "ns", "q": text})
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/query?{words}", timeout=30) as response:
            result, = json.load(response)["results"]
        return result.get("series", [])


def stored(database):
    """A measurement is ebpf_SOURCE, with a tag for each further part of the name."""
    found = {}
    tags = ("instance", "type", "type_instance")
    for series in database.query(f"SELECT value FROM /^ebpf_/ WHERE host = 'testhost' GROUP BY {', '.join(tags)}"):
        subject, kind, instance = (series["tags"][tag] for tag in tags)
        name = subject, f"{kind}-{instance}" if instance else kind, series["name"].removeprefix("ebpf_")
        found[name] = [(stamp / 1e9, value) for stamp, value in series["values"]]
    return found


def main():
    with lib.Test(limit=120) as test:
        receiver.need("influxd")
        database = InfluxDB(test)
        receiver.Traffic(test)
        network = receiver.sample("receiver-influxdb.conf", {'"25826"': f'"{database.udp}"'})
        daemon = test.collectd(receiver.SERVICE, network, interval=INTERVAL)
        store = receiver.Store(daemon, lambda: stored(database))
        absence = receiver.Absence(daemon, database, store)
        absence.check_steady(test, daemon)
        test.stop(daemon)
        receiver.compare(test, daemon, store, absence)


if __name__ == "__main__":
    main()

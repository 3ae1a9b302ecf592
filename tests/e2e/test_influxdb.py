#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""InfluxDB: what its collectd input stores, by the stock types.db, is what was dispatched; it may hang, and be gone."""

import json
import socket
import urllib.parse
import urllib.request

import receiver
from receiver import lib

INTERVAL = 0.2 if lib.SLOWNESS < 2 else 1


class InfluxDB(receiver.Receiver):
    def __init__(self, test):
        directory = test.mkdir("influxdb")
        backup, self.http = receiver.free_ports(2)
        self.udp, = receiver.free_ports(1, socket.SOCK_DGRAM)
        configuration = receiver.write(f"{directory}/influxdb.conf", receiver.sample("receiver-influxdb-server.conf", {
            "/var/lib/influxdb": directory, ":8088": f":{backup}", ":8086": f":{self.http}", ":25826": f":{self.udp}"}))
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

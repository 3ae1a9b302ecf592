#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The alerts at InfluxDB and Graphite: each query returns the services of its fault and no sound ones. Each fault and each
sound load of alert_series.py is a host with a past that ends now."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request

import receiver
import stores
import test_influxdb
from alert_series import COLLECTD, FAULTS, SOUND, numbers
from e2e import TOP
from receiver import lib

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import alert_graphite  # noqa: E402
from alerts import ALERTS  # noqa: E402

SPAN = 180      # s that a target is asked for
DAY = 86400
# Of Debian's Python, which has the modules. Input: {path: [[time, value], ...]}, [[target, begin, end], ...]; output: for each
# target the series whose last value is above 0.
RENDER = """
import datetime, json, os, sys
import django, pytz, whisper
django.setup()
from django.conf import settings
from graphite.render.datalib import TimeSeries
from graphite.render.evaluator import evaluateTarget
points, targets = json.load(sys.stdin)
for path, many in points.items():
    file = os.path.join(settings.WHISPER_DIR, path + ".wsp")
    os.makedirs(os.path.dirname(file), exist_ok=True)
    whisper.create(file, [(10, 2160), (60, 2880)], xFilesFactor=0)
    whisper.update_many(file, many)
def moment(seconds):
    return datetime.datetime.fromtimestamp(seconds, pytz.utc)
found = []
for target, begin, end in targets:
    context = {"startTime": moment(begin), "endTime": moment(end), "now": moment(end), "localOnly": True, "data": [],
               "template": None, "tzinfo": pytz.utc, "prefetched": {}, "prefetch": {}, "requestKey": "", "forwardHeaders": {},
               "xFilesFactor": 0}
    series = evaluateTarget(context, [target])
    found.append([one.name for one in series if ([value for value in one if value is not None] or [0])[-1] > 0])
json.dump(found, sys.stdout)
"""


def hosts():
    """{host: (series, seconds between readings, readings)} of each fault, when it must be told of, and of each sound load"""
    found = {name: (fault.series, fault.interval, fault.fires // fault.interval + 1) for name, fault in FAULTS.items()}
    for name, (series, interval, _, times) in SOUND.items():
        found[name.replace(" ", "_")] = series, interval, times[-1] // interval + 1
    return found


def points(now):
    """(host, subject, file, [(time, value), ...]) of each series. Each host has another service, too, that has just begun."""
    for host, (series, interval, count) in hosts().items():
        for name, values in series.items():
            if name in COLLECTD:
                subject, file = COLLECTD[name]
                many = list(numbers(values))[:count]
                begin = now - (count - 1) * interval
                yield host, subject, file, [(begin + index * interval, value) for index, value in enumerate(many)]
                if subject != "self":
                    yield host, "a_new", file, [(now, many[0])]


def check(test, system, alert, found):
    """found: the hosts with a service in alarm"""
    test.equal(f"{system}, {alert.name}: hosts in alarm", sorted(found), [alert.name])


def escape(text):
    return re.sub(r"([ ,=])", r"\\\1", text)


def lines(now):
    """InfluxDB's line protocol, with times in seconds."""
    for host, subject, file, many in points(now):
        kind, _, instance = file.partition("-")
        tags = {"host": host, "instance": subject, "type": kind, "type_instance": instance}
        text = ",".join(["ebpf_value"] + [f"{tag}={escape(value)}" for tag, value in tags.items() if value])
        yield from (f"{text} value={value} {stamp}" for stamp, value in many)


def posted(database, path, **words):
    body = words.pop("body", None)
    url = f"http://127.0.0.1:{database.http}/{path}?{urllib.parse.urlencode(words)}"
    with urllib.request.urlopen(urllib.request.Request(url, data=body, method="POST"), timeout=60) as response:
        return response.read()


def check_influxdb(test):
    receiver.need("influxd")
    database = test_influxdb.InfluxDB(test)
    posted(database, "query", q="CREATE DATABASE collectd")
    posted(database, "write", db="collectd", precision="s", body="\n".join(lines(int(time.time()))).encode())
    for alert in ALERTS:
        results = json.loads(posted(database, "query", db="collectd", q=alert.influxdb))["results"]
        test.equal(f"InfluxDB, {alert.name}: errors", [one["error"] for one in results if "error" in one], [])
        check(test, "InfluxDB", alert, {series["tags"]["host"] for one in results for series in one.get("series", [])})


def check_graphite(test):
    directory = test.mkdir("graphite-web")
    receiver.write(os.path.join(directory, "settings_of_alerts.py"),
                   stores.SETTINGS.format(directory=directory, tree=os.path.join(directory, "whisper")))
    now = int(time.time()) // 10 * 10
    stored = {"/".join(["collectd", host, "ebpf", subject, *(part.replace(".", "_") for part in file.split("-", 1))]): many
              for host, subject, file, many in points(now)}
    targets = [(alert.graphite, now - (DAY if alert.name in alert_graphite.FROM else SPAN), now + 1) for alert in ALERTS]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": directory, "GRAPHITE_SETTINGS_MODULE": "settings_of_alerts",
                   "DJANGO_SETTINGS_MODULE": "graphite.settings"}
    found = subprocess.run(["/usr/bin/python3", "-c", RENDER], input=json.dumps([stored, targets]), env=environment,
                           capture_output=True, text=True, check=False)
    test.equal("Graphite: exit status", found.returncode, 0)
    if found.returncode:
        print(found.stderr[-2000:])
        return
    for alert, names in zip(ALERTS, json.loads(found.stdout)):
        check(test, "Graphite", alert, {re.search(r"collectd\.([^.]+)\.", name)[1] for name in names})


def main():
    with lib.Test(limit=240) as test:
        check_influxdb(test)
        check_graphite(test)


if __name__ == "__main__":
    main()

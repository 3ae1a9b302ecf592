# SPDX-License-Identifier: MIT
"""Everything that can raise an alert, started with what operators install: the plugin threshold, Prometheus with Alertmanager,
and the queries of InfluxDB and Graphite.

A receiver's firing() is {(alert, service): text} of now; its service is "" where the alert is of no service. less: {alert: what
its query leaves out}.
"""

import dataclasses
import json
import os
import re
import sys
import threading
import time
import urllib.parse
import urllib.request
from typing import NamedTuple

import receiver
import stores
import test_graphite
import test_influxdb
from e2e import TOP
from receiver import lib

sys.path.append(os.path.join(TOP, "tests", "alerts"))
sys.path.append(os.path.join(TOP, "contrib", "lib"))
import alert_graphite  # noqa: E402
import alert_limits  # noqa: E402
import past  # noqa: E402
import prometheus_rules  # noqa: E402
import storage  # noqa: E402
from alert import is_query  # noqa: E402
from alerts import ALERTS  # noqa: E402

EVERY_S = 2     # between two looks at the receivers
RETENTIONS = "10s:6h,60s:2d"    # of the sample
INTERVAL = 10   # s, of collectd and of Prometheus, as installed
HOST = "testhost"
UPSTREAM = "10.0.0.5:5432"    # of the sample
BY_NAME = {alert.name: alert for alert in ALERTS}
NOTIFICATION = re.compile(r"severity = (\w+), .*plugin = ebpf, plugin_instance = (.*?), "
                          r"type = (.*?)(?:, type_instance = (.*?))?, message = (.*)")


def get_json(url):
    with urllib.request.urlopen(url, timeout=30) as response:
        return json.load(response)


class Threshold:
    """collectd's own notifications, from its log."""
    name = "threshold"

    def __init__(self):
        self.daemon, self.said = None, 0
        self.state = {}     # {(alert, subject, type, type instance): text of an alarm, or None}
        # The plugin notifies by itself of a probe that is off: of its count-tier_NAME.
        self.alerts = {("count", ""): "EbpfBlind"} | {
            (limit.kind, limit.instance): alert.name for alert in ALERTS if not isinstance(alert.threshold, str)
            for limit in alert.threshold}

    def reason(self, alert):
        """Why it cannot raise this alert, or None."""
        return alert.threshold if isinstance(alert.threshold, str) else None

    @staticmethod
    def configuration(edits):
        """With the blocks that are in comment signs, too. edits: {text of a block: what an administrator makes of it}"""
        text = "LoadPlugin threshold\n<Plugin threshold>\n"
        for limit in (limit for alert in ALERTS if not isinstance(alert.threshold, str) for limit in alert.threshold):
            subject = f'    Instance "{limit.subject}"\n' if limit.subject else ""
            text += f'  <Plugin "ebpf">\n{subject}{alert_limits.block(dataclasses.replace(limit, enabled=True))}  </Plugin>\n'
        for there, here in edits.items():
            text = text.replace(there, here)
        return text + "</Plugin>\n"

    def _alert_of(self, kind, instance):
        """Of a type instance; a block may have had none."""
        instance = re.sub(r"^upstream-.*-percentile", f"upstream-{UPSTREAM}-percentile", instance or "")
        return self.alerts.get((kind, instance)) or self.alerts.get((kind, ""))

    def firing(self):
        lines = self.daemon.log()
        for line in lines[self.said:]:
            found = NOTIFICATION.search(line)
            if found and (alert := self._alert_of(found[3], found[4])):
                severity, *series, text = found.groups()
                self.state[alert, *series] = None if severity == "OKAY" else text
        self.said = len(lines)
        return {(alert, "" if subject == "self" else subject): text
                for (alert, subject, *_), text in self.state.items() if text}


class Alertmanager:
    """Prometheus with the generated rules, and the Alertmanager that it tells."""
    name = "Prometheus and Alertmanager"

    def __init__(self, test, target, series):
        """target: port of write_prometheus; series: of the past"""
        self.directory = test.mkdir("prometheus")
        self.port, self.manager = receiver.free_ports(2)
        past.to_prometheus(series, f"{self.directory}/data")
        self._start_manager()
        rules = receiver.write(f"{self.directory}/rules.yml", prometheus_rules.yaml())
        sample = receiver.sample("receiver-prometheus-server.yml", {'"127.0.0.1:9103"': f'"127.0.0.1:{target}"'})
        configuration = receiver.write(f"{self.directory}/prometheus.yml", f"""\
global:
  evaluation_interval: {INTERVAL}s
rule_files: ["{rules}"]
alerting:
  alertmanagers:
    - static_configs:
        - targets: ["127.0.0.1:{self.manager}"]
{sample}""")
        receiver.Receiver(self.directory, [
            "prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={self.directory}/data",
            f"--web.listen-address=127.0.0.1:{self.port}"], lambda: receiver.listens(self.port))

    def _start_manager(self):
        configuration = receiver.write(f"{self.directory}/alertmanager.yml",
                                       "route: {receiver: none}\nreceivers: [{name: none}]\n")
        receiver.Receiver(self.directory, [
            "prometheus-alertmanager", f"--config.file={configuration}", f"--storage.path={self.directory}/manager",
            f"--web.listen-address=127.0.0.1:{self.manager}", "--cluster.listen-address="],
            lambda: receiver.listens(self.manager))

    @staticmethod
    def reason(_alert):
        return None

    def firing(self):
        found = get_json(f"http://127.0.0.1:{self.manager}/api/v2/alerts?active=true")
        return {(one["labels"]["alertname"], one["labels"].get("service", "")): "\n".join(one["annotations"].values())
                for one in found}


class InfluxQueries:
    name = "InfluxDB"

    def __init__(self, test, series):
        self.database = test_influxdb.InfluxDB(test)
        past.to_influxdb(series, self.database.http)

    @staticmethod
    def reason(alert):
        return None if is_query(alert.influxdb) else alert.influxdb

    def firing(self):
        found = {}
        for alert in ALERTS:
            for series in self._series(alert.influxdb) if is_query(alert.influxdb) else ():
                subject = series.get("tags", {}).get("instance", "")
                found[alert.name, "" if subject == "self" else subject] = json.dumps(series["values"][-1])
        return found

    def _series(self, text):
        """Of all statements."""
        words = urllib.parse.urlencode({"db": "collectd", "q": text})
        results = get_json(f"http://127.0.0.1:{self.database.http}/query?{words}")["results"]
        errors = [result["error"] for result in results if "error" in result]
        if errors:
            raise ValueError(f"{errors[0]}: {text}")
        return [series for result in results for series in result.get("series", [])]


class GraphiteQueries:
    """carbon with the intervals of the sample, and graphite-web. A series is in alarm if its last value is above 0."""
    name = "Graphite"
    def __init__(self, test, series):
        _, self.line, tree = test_graphite.start_carbon(test, RETENTIONS)
        with open(os.path.join(os.path.dirname(tree), "storage-schemas.conf"), encoding="utf-8") as file:
            past.to_graphite(series, tree, storage.retentions(file.read()))
        self._start_web(test.mkdir("graphite-web"), tree)

    def _start_web(self, directory, tree):
        receiver.write(f"{directory}/settings_of_test.py", stores.SETTINGS.format(directory=directory, tree=tree))
        self.port, = receiver.free_ports(1)
        receiver.Receiver(directory, [
            "/usr/bin/env", "GRAPHITE_SETTINGS_MODULE=settings_of_test", "DJANGO_SETTINGS_MODULE=graphite.settings",
            f"PYTHONPATH={directory}", "/usr/bin/python3", "-c", stores.SERVE, self.port], lambda: receiver.listens(self.port))

    @staticmethod
    def reason(alert):
        return None if is_query(alert.graphite) else alert.graphite

    def firing(self):
        found = {}
        for alert in ALERTS:
            for series in self._render(alert) if is_query(alert.graphite) else ():
                values = [value for value, _ in series["datapoints"] if value is not None]
                if values and values[-1] > 0:
                    found[alert.name, self._service(series["target"])] = f"{series['target']} {values[-1]}"
        return found

    def _render(self, alert):
        return stores.fetch(f"http://127.0.0.1:{self.port}/render", [
            ("target", alert.graphite), ("from", alert_graphite.FROM.get(alert.name, "-3min")), ("until", "now"),
            ("format", "json"), ("noCache", "true")])

    @staticmethod
    def _service(target):
        """From the name of a curve, which is a path, or has one in it."""
        subject = re.search(r"\.ebpf\.([^.,()]+)", target)[1]
        return "" if subject == "self" else subject


class Alarm(NamedTuple):
    receiver: str
    alert: str
    service: str
    begin: float    # by the clock of the test
    text: str


class AlarmWatch:
    """Asks each receiver, by a thread of its own, again after `every` seconds. begin: when collectd was started; alarms: those
    that have begun so far."""

    def __init__(self, receivers, begin):
        self.receivers, self.every, self.begin = receivers, EVERY_S, begin
        self.alarms, self.errors = [], []
        self.current = {one.name: set() for one in receivers}   # {(alert, service)} of each
        for one in receivers:
            threading.Thread(target=self._ask_always, args=(one,), daemon=True).start()

    @property
    def now(self):
        """{(receiver, alert, service)} of the alarms that go on."""
        return {(name, *one) for name, some in self.current.items() for one in some}

    def _ask_always(self, one):
        try:
            while True:
                self._ask(one)
                time.sleep(self.every)
        except (OSError, ValueError, stores.Refused) as error:
            self.errors.append(f"{one.name}: {error}")

    def _ask(self, one):
        found, moment = one.firing(), time.time()
        clock = time.strftime("%H:%M:%S", time.localtime(moment))
        for (alert, service), text in found.items():
            if (alert, service) not in self.current[one.name]:
                self.alarms.append(Alarm(one.name, alert, service, moment, text))
                print(f"{clock} {one.name}: {alert} of {service or 'the machine'}: {text}", flush=True)
        for alert, service in self.current[one.name] - set(found):
            print(f"{clock} {one.name}: {alert} of {service or 'the machine'} has ended", flush=True)
        self.current[one.name] = set(found)

    def until(self, condition, seconds):
        """Whether that became true in time. condition: function of nothing"""
        give_up = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > give_up:
                return False
            if self.errors:
                raise RuntimeError(self.errors[0])
            time.sleep(1)
        return True


def start(test, plugin, series=(), edits=()):
    """(daemon, AlarmWatch). plugin: text of the plugin's block; series: of the past; edits: see Threshold.configuration"""
    scraped, = receiver.free_ports(1)
    series = list(series)
    threshold, manager = Threshold(), Alertmanager(test, scraped, series)
    influxdb, graphite = InfluxQueries(test, series), GraphiteQueries(test, series)
    extra = (threshold.configuration(dict(edits)) + receiver.sample("receiver-prometheus.conf", {'"9103"': f'"{scraped}"'}) +
             receiver.sample("receiver-influxdb.conf", {'"25826"': f'"{influxdb.database.udp}"'}) +
             receiver.sample("receiver-graphite.conf", {'"2003"': f'"{graphite.line}"'}))
    daemon = threshold.daemon = test.collectd(plugin, extra, interval=INTERVAL)
    # A host that has had no value yet is for Graphite's query of EbpfBlind one whose values stay away.
    daemon.wait_rows("self", "objects-services", 3)
    return daemon, AlarmWatch([threshold, manager, influxdb, graphite], daemon.starts[0])


def need_all():
    receiver.need("prometheus", "promtool", "prometheus-alertmanager", "influxd", "carbon-cache")
    if not os.path.exists("/usr/lib/python3/dist-packages/graphite/render"):
        raise lib.Skip("not installed: graphite-web")

# SPDX-License-Identifier: MIT
"""The stores of the dashboards, each started with the samples of conf/, and asked as Grafana asks it.

A store's values(query, moments, service) are {moment: [(label of a curve, value), ...]}. Moments are STEP apart.
"""

import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request

import evaluate
import receiver
import test_graphite
import test_influxdb
import test_prometheus

HOST = "testhost"
STEP = 5            # s, collectd's interval
WINDOW = 2 * STEP   # of Prometheus' rates: with two readings, they are those of the two neighbours
# VictoriaMetrics guesses from the intervals how long a value counts, and makes shorter windows as long. It also ends what is no
# longer on a page, some time after that. Here it is told how long each value counts.
LOOKBACK, LONG_WINDOW = 5 * STEP, 6 * STEP
SCRAPES = "1900ms"  # so that no reading is missed, even if a scrape is late
SPAN = 10 * STEP    # s before the moment that are asked for


class Refused(Exception):
    """The store says that the query is wrong."""


def fetch(url, query):
    """What the store says, from JSON. query: [(name, value), ...]"""
    try:
        with urllib.request.urlopen(url + "?" + urllib.parse.urlencode(query), timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise Refused(f"status {error.code}: {error.read().decode(errors='replace')[-300:]}") from error


def substituted(text, variables):
    """With these in place of $NAME, ${NAME} and ${NAME:FORMAT}."""
    def value(found):
        name = found[1] or found[2]
        return str(variables.get(name, found[0]))
    return re.sub(r"\$(?:\{(\w+)(?::\w+)?\}|(\w+))", value, text)


class FilledStore:
    """variables: what Grafana knows beside the service"""
    variables = {"host": HOST, "__interval": f"{STEP}s"}

    def filled(self, text, service, moments):
        end = (moments[-1] // STEP + 1) * STEP      # of the step that the last moment is in
        times = f"time >= {round(1000 * (moments[0] - SPAN))}ms and time < {round(1000 * end)}ms"
        return substituted(text, {**self.variables, "service": service, "timeFilter": times})


class Scraping(FilledStore):
    """One that answers as Prometheus does."""
    language = "PROMETHEUS"

    def __init__(self, name, url, view):
        self.name, self.url, self.view = name, url, view
        self.variables = {**self.variables, "__rate_interval": f"{view.window}s"}

    def values(self, query, moments, service):
        text = self.filled(query["expr"], service, moments)
        found = fetch(self.url + "/api/v1/query_range", [
            ("query", text), ("start", moments[0]), ("end", moments[-1] + STEP / 2), ("step", STEP)])["data"]["result"]
        return by_moment(moments, [(legend(query["legendFormat"], series["metric"]), stamp, float(value))
                                   for series in found for stamp, value in series["values"] if value != "NaN"])


def by_moment(moments, points):
    """points: [(label, time, value), ...] of the steps in which the moments are"""
    found = {moment // STEP: [] for moment in moments}
    for label, stamp, value in points:
        if value is not None and stamp // STEP in found:
            found[stamp // STEP].append((label, value))
    return {moment: found[moment // STEP] for moment in moments}


def legend(text, labels):
    return re.sub(r"\{\{ *(\w+) *\}\}", lambda found: labels.get(found[1], ""), text)


class PrometheusServer(Scraping):
    def __init__(self, test, port, every=SCRAPES):
        self.server = test_prometheus.Prometheus(test, port, every=every)
        super().__init__("Prometheus", f"http://127.0.0.1:{self.server.port}", evaluate.Scraped(WINDOW))


class VictoriaMetricsServer(Scraping):
    """With the configuration of Prometheus."""

    def __init__(self, test, port):
        directory = test.mkdir("victoria-metrics")
        self.port, = receiver.free_ports(1)
        configuration = receiver.write(f"{directory}/prometheus.yml", receiver.sample(
            "receiver-prometheus-server.yml", {'"127.0.0.1:9103"': f'"127.0.0.1:{port}"', "10s": SCRAPES}))
        self.server = receiver.Receiver(directory, [
            "victoria-metrics", f"-promscrape.config={configuration}", f"-storageDataPath={directory}/data",
            f"-httpListenAddr=127.0.0.1:{self.port}", "-search.latencyOffset=0s",
            "-search.disableCache", "-promscrape.noStaleMarkers", f"-search.minStalenessInterval={LOOKBACK}s",
            f"-search.maxLookback={LOOKBACK}s"],
            lambda: receiver.listens(self.port))
        super().__init__("VictoriaMetrics", f"http://127.0.0.1:{self.port}", evaluate.ScrapedFurther(LONG_WINDOW, LOOKBACK))


# Graphite's web application with its own settings and files, by Debian's Python.
SERVE = """
import sys
from wsgiref import simple_server
from django.core.wsgi import get_wsgi_application

class Handler(simple_server.WSGIRequestHandler):
    def log_message(self, *_words):
        pass

simple_server.make_server("127.0.0.1", int(sys.argv[1]), get_wsgi_application(), handler_class=Handler).serve_forever()
"""
SETTINGS = """
SECRET_KEY = "of a test"
TIME_ZONE = "UTC"
CONF_DIR = STORAGE_DIR = LOG_DIR = {directory!r}
WHISPER_DIR = {tree!r}
STANDARD_DIRS = [WHISPER_DIR]
INDEX_FILE = {directory!r} + "/index"
DATABASES = {{"default": {{"NAME": {directory!r} + "/database", "ENGINE": "django.db.backends.sqlite3"}}}}
CARBONLINK_HOSTS = []
FIND_CACHE_DURATION = DEFAULT_CACHE_DURATION = 0
"""


class GraphiteServer(FilledStore):
    name, language = "Graphite", "GRAPHITE"

    def __init__(self, test):
        self.carbon, self.line, self.tree = test_graphite.start_carbon(test, f"{STEP}s:1h,60s:2d")
        directory = test.mkdir("graphite-web")
        receiver.write(os.path.join(directory, "settings_of_test.py"), SETTINGS.format(directory=directory, tree=self.tree))
        self.port, = receiver.free_ports(1)
        # env(1) keeps this process, so that it is ended with the test.
        self.server = receiver.Receiver(directory, [
            "/usr/bin/env", "GRAPHITE_SETTINGS_MODULE=settings_of_test", "DJANGO_SETTINGS_MODULE=graphite.settings",
            f"PYTHONPATH={directory}", "/usr/bin/python3", "-c", SERVE, self.port], lambda: receiver.listens(self.port))
        self.view = evaluate.Rounded(STEP)

    def flush(self):
        """On SIGTERM carbon writes what it has."""
        self.carbon.process.terminate()
        self.carbon.process.wait()

    def values(self, query, moments, service):
        text = self.filled(query["target"], service.replace(".", "_"), moments)
        found = fetch(f"http://127.0.0.1:{self.port}/render", [
            ("target", text), ("from", int(moments[0]) - SPAN), ("until", int(moments[-1]) + STEP), ("format", "json"),
            ("noCache", "true")])
        return by_moment(moments, [(series["target"], stamp, value)
                                   for series in found for value, stamp in series["datapoints"]])


class InfluxDBServer(FilledStore):
    name, language = "InfluxDB", "INFLUXDB"

    def __init__(self, test):
        self.server = test_influxdb.InfluxDB(test)
        self.view = evaluate.Grouped(STEP)

    def values(self, query, moments, service):
        text = self.filled(query["query"], service, moments)
        found, = fetch(f"http://127.0.0.1:{self.server.http}/query",
                       [("db", "collectd"), ("epoch", "ms"), ("q", text)])["results"]
        if "error" in found:
            raise Refused(found["error"])
        return by_moment(moments, [(alias(query["alias"], series), row[0] / 1000, row[1])
                                   for series in found.get("series", []) for row in series["values"]])


def alias(text, series):
    return re.sub(r"\$tag_(\w+)", lambda found: series.get("tags", {}).get(found[1], ""), text)


def need_all():
    receiver.need("prometheus", "victoria-metrics", "carbon-cache", "influxd")
    if not os.path.exists("/usr/lib/python3/dist-packages/graphite/render"):
        raise receiver.lib.Skip("not installed: graphite-web")

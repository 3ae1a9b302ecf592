#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dashboards: each query of each panel returns series at each store, filled by a collectd with all probes under load, with
the values that its csv plugin has written."""

import time
import urllib.request

import everything
import evaluate
import panels
import reasons
import receiver
import recording
import stores
import test_prometheus
from receiver import lib

COUNT = 16          # readings, so that there are windows of rates before the moments
MOMENTS = 4         # that are compared
SERVICES = ("web", "batch", "db", "shop.clients", "tls")


def samples(port, graphite, influxdb):
    return "\n".join((
        test_prometheus.page(port),
        receiver.sample("receiver-graphite.conf", {'"2003"': f'"{graphite.line}"'}),
        receiver.sample("receiver-influxdb.conf", {'"25826"': f'"{influxdb.server.udp}"'})))


def fetch_page(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        return response.read().decode()


def check_page(test, page, series):
    """That of write_prometheus is what the recorded one would be, but for more digits of gauges and its last line."""
    lines = page.split("\n\n# collectd/")[0].splitlines()
    stamps = {line.partition("} ")[0]: line.rpartition(" ")[2] for line in lines if not line.startswith("#")}
    newest = recording.newest_at(stamps, series)
    made = recording.exposition(newest).splitlines()
    different = [(one, other) for one, other in zip(lines, made) if not recording.is_same_line(one, other)]
    test.equal("lines of the page of write_prometheus, and as it is recorded", len(lines), len(made))
    test.equal("lines that are different", different[:3], [])


def last_moments(series):
    """Between readings, when all stores have the values of the one before."""
    last = series["web", "total_requests"][-3][0] + 0.6 * stores.STEP
    return [last - number * stores.STEP for number in reversed(range(MOMENTS))]


def main():
    with lib.Test(limit=900) as test:
        stores.need_all()
        port, = receiver.free_ports(1)
        graphite, influxdb = stores.GraphiteServer(test), stores.InfluxDBServer(test)
        load = everything.Everything(test)
        load.start()
        daemon = load.collectd(samples(port, graphite, influxdb), stores.STEP)
        receiver.wait_readings(daemon, 2)
        scraping = stores.PrometheusServer(test, port), stores.VictoriaMetricsServer(test, port)
        time.sleep(COUNT * stores.STEP)
        page = fetch_page(port)
        receiver.wait_readings(daemon, 2)
        test.stop(daemon)
        load.end()
        graphite.flush()
        time.sleep(5)   # InfluxDB writes what waits
        series = everything.dispatched(daemon)
        check_page(test, page, series)
        truth, moments = evaluate.Truth(series, recording.HOST), last_moments(series)
        for store in scraping:
            store.view.slack = 2e-3 / store.view.window     # the page's times are cut to milliseconds, those of csv are rounded
        for store in (*scraping, graphite, influxdb):
            began = time.time()
            panels.report_panels(test, store.name, panels.PanelRun(store, truth, moments, SERVICES).all(), reasons.LIVE)
            print(f"{store.name}: {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()

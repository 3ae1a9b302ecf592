#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Dashboards: each query of each panel returns series at a real Prometheus, with the values of the recorded collectd that a
page as write_prometheus' serves. test_dashboards_live.py shows that the page is the same, and runs them at all stores."""

import os
import time

import evaluate
import panels
import receiver
import recording
import reasons
import stores
from e2e import TOP, Check
from receiver import lib

RECORDED = os.path.join(TOP, "tests", "e2e", "recorded", "everything.txt")
SERVICES = ("web", "batch", "db", "shop.clients", "tls")


def main():
    with Check() as check:
        receiver.need("prometheus")
        lib.end_after(120)
        end = int(time.time()) - stores.STEP
        series = recording.read(RECORDED, end)
        # At the first reading there is no rate.
        moments = [end + 0.6 * stores.STEP - number * stores.STEP for number in reversed(range(recording.READINGS - 1))]
        page = recording.RecordedPage(series)
        store = stores.PrometheusServer(check, page.port, "250ms")
        try:
            receiver.wait_until("all readings are scraped", page.is_read)
            truth = evaluate.Truth(series, recording.HOST)
            panels.report_panels(check, store.name, panels.PanelRun(store, truth, moments, SERVICES).all(), reasons.RECORDED)
        finally:
            store.server.kill()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""Queries of dashboards: what they ask for, and the stores."""

from store_graphite import Graphite
from store_influxdb import InfluxDB
from store_prometheus import Prometheus
from target import EACH, SERVICE, Target

__all__ = ["EACH", "GRAPHITE", "INFLUXDB", "PROMETHEUS", "SERVICE", "STORES", "Target"]

PROMETHEUS, GRAPHITE, INFLUXDB = STORES = Prometheus(), Graphite(), InfluxDB()

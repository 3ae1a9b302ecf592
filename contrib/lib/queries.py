# SPDX-License-Identifier: MIT
"""Queries of dashboards: what they ask for, and the stores."""

from store_graphite import GraphiteStore
from store_influxdb import InfluxDBStore
from store_prometheus import PrometheusStore
from query import EACH, SERVICE, Target

__all__ = ["EACH", "GRAPHITE", "INFLUXDB", "PROMETHEUS", "SERVICE", "STORES", "Target"]

PROMETHEUS, GRAPHITE, INFLUXDB = STORES = PrometheusStore(), GraphiteStore(), InfluxDBStore()

# SPDX-License-Identifier: MIT
"""What Prometheus' Alertmanager needs for one message of all alerts of a service: parts of its configuration."""

PARTS = """\
# Written by ebpf-dashboards, for Alertmanager: add the route to routes and the rule to inhibit_rules in alertmanager.yml.
# Edit: nothing, or add a receiver to the route. Without one, the receiver of your own route gets the alerts.
route:
  routes:
    - matchers: ['alertname=~"Ebpf.+"']
      group_by: [instance, service]
      # The rules themselves wait until an alert is sure.
      group_wait: 1s
      group_interval: 30s
      repeat_interval: 4h
      routes:
        # Warnings are repeated once a day.
        - matchers: ['severity="warning"']
          repeat_interval: 1d

inhibit_rules:
  # A service that is saturated or stuck is also slow.
  - source_matchers: ['alertname=~"EbpfSaturated|EbpfStuck"']
    target_matchers: ['alertname=~"EbpfSaturatedSoon|EbpfSlowerThanYesterday"']
    equal: [instance, service]
"""


def files():
    """{path below the directory of dashboards: text}"""
    return {"prometheus/ebpf-alertmanager.yml": PARTS}

# SPDX-License-Identifier: MIT
"""The configuration of Prometheus' Alertmanager: one message for all alerts of a service."""

CONFIGURATION = """\
# Written by ebpf-dashboards, for Alertmanager: /etc/prometheus/alertmanager.yml on Debian.
# Edit: the receiver. prometheus.yml needs:
#   rule_files: ["rules.yml"]
#   alerting: {alertmanagers: [{static_configs: [{targets: ["127.0.0.1:9093"]}]}]}
route:
  receiver: operator
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

receivers:
  - name: operator
    # For example:
    # email_configs:
    #   - {to: "operator@example.com", from: "alertmanager@example.com", smarthost: "mail.example.com:25"}
    webhook_configs:
      - url: http://127.0.0.1:9095/
"""


def yaml():
    """The file."""
    return CONFIGURATION

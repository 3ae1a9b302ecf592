# SPDX-License-Identifier: MIT
"""Rules of Prometheus: those that record, and the alerts. Relabelling converts no values, so counters of microseconds and
milliseconds have names without a unit, ..._time_total. For each of them a rule records ..._seconds_total."""

import json

import relabel
from alerts import ALERTS
from series import PROBES

DIVISORS = {"microseconds": "1e6", "milliseconds": "1e3"}
# An example of each kind of row.
SUBJECTS = {"service": "web", "process": "web-1-1000", "device": "sda", "cpu": "cpu1", "CPU": "cpu1"}
HEAD = """\
# Written by ebpf-dashboards, for rule_files in prometheus.yml.
groups:
  - name: ebpf-seconds
    interval: 10s
    rules:
"""
# Evaluated often, so that an alert fires within 60 s with a scrape_interval of 10 s. A rule that reads days takes longer.
GROUP = """
  - name: {}
    interval: {}s
    rules:
"""

# What an alert opens: the path of the Grafana dashboard, and that of the page of ebpf-graph.
HOST, SERVICE = "{{ $labels.instance }}", "{{ $labels.service }}"
OF_HOST, OF_SERVICE = "?var-host={{ $labels.instance | urlquery }}", "&var-service={{ $labels.service | urlquery }}"
PAGES = {
    "service": (f"/d/ebpf-service-prometheus{OF_HOST}{OF_SERVICE}", f"services/{HOST}/{SERVICE}.html"),
    "machine": (f"/d/ebpf-machine-prometheus{OF_HOST}", f"hosts/{HOST}.html"),
    "plugin": (f"/d/ebpf-plugin-prometheus{OF_HOST}", f"services/{HOST}/self.html"),
}


def recorded():
    """{name of a counter: (name of the recorded one, divisor)}"""
    found = {}
    for _, probe, many in PROBES:
        for file, _, counted, word, sources, rows in many:
            if counted and word in DIVISORS:
                for source, subject in ((source, SUBJECTS.get(row, probe)) for source, _ in sources for row in rows):
                    name = relabel.metric(file, source, subject).name
                    found[name] = (name.replace("_time_total", "_seconds_total"), DIVISORS[word])
    return found


def recording():
    """The group that records."""
    return HEAD + "".join(f"      - record: {name}\n        expr: {counter} / {divisor}\n"
                          for counter, (name, divisor) in recorded().items())


def annotations(rule):
    """{name: template}"""
    dashboard, page = PAGES[rule.page]
    return {"summary": rule.summary, "cause": rule.cause, "dashboard": dashboard, "page": page}


def alerting(alert):
    """The rule of an alert. JSON's strings are YAML's."""
    rule = alert.prometheus
    lasting = f"        for: {rule.for_}\n" if rule.for_ else ""
    lines = "".join(f"          {line}\n" for line in rule.expr.split("\n"))
    texts = "".join(f"          {name}: {json.dumps(text)}\n" for name, text in annotations(rule).items())
    return (f"      - alert: {alert.name}\n        # {alert.condition}\n        expr: |\n{lines}{lasting}"
            f"        labels: {{severity: {alert.severity}}}\n        annotations:\n{texts}")


def yaml():
    """The file of rules."""
    groups = {15: [], 5: []}
    for alert in ALERTS:
        groups[15 if "[1d" in alert.prometheus.expr else 5].append(alerting(alert))
    return recording() + "".join(GROUP.format(name, seconds) + "".join(many) for name, (seconds, many)
                                 in zip(("ebpf-growth", "ebpf-alerts"), groups.items()))


def files():
    """{path below the directory of dashboards: text}"""
    return {"prometheus/ebpf-rules.yml": yaml()}

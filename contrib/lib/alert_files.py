# SPDX-License-Identifier: MIT
"""What is written of the alerts beside the rules of Prometheus: queries with a command each, parts of Alertmanager's configuration,
and the table of the documents."""

import shlex

import alert_graphite
import alert_influxdb
import alertmanager
from alert import is_query
from alerts import ALERTS

INFLUXDB = """# Written by ebpf-dashboards: the alerts as queries of InfluxDB 1.x. Each row of a result is an alarm, of the host
# and the instance, which is the service. No row: no alarm. Ask each 10 s, for example by a timer that mails what it gets.
"""
GRAPHITE = """# Written by ebpf-dashboards: the alerts as targets of Graphite 1.1, which has no alerts itself. A service is in
# alarm if the last value of its series that is not null is above 0. Ask each 10 s; the last 10 s are left out, because a part
# of the values may be on its way. The commands print the paths of the services in alarm; they need jq.
"""
IN_ALARM = '.[] | select(([.datapoints[][0] | select(. != null)] | last // 0) > 0) | .target'


def entry(alert, less, query, command):
    """An alert, its query and a command, or a reason."""
    head = f"\n# {alert.name}, {alert.severity}: {alert.condition}\n"
    head += f"# Here {less[alert.name]}.\n" if alert.name in less else ""
    return head + (f"{query}\n\n{command}\n" if is_query(query) else f"# {query}\n")


def influxdb():
    """influxdb/alerts.txt"""
    def command(alert):
        return ("curl -sG http://127.0.0.1:8086/query -d db=collectd --data-urlencode "
                f"{shlex.quote(f'q={alert.influxdb}')}")
    return INFLUXDB + "".join(entry(alert, alert_influxdb.LESS, alert.influxdb, command(alert)) for alert in ALERTS)


def graphite():
    """graphite/alerts.txt"""
    def command(alert):
        since = alert_graphite.FROM.get(alert.name, "-3min")
        return (f"curl -s http://127.0.0.1/render -d format=json -d from={since} -d until=-10s --data-urlencode "
                f"{shlex.quote(f'target={alert.graphite}')} | jq -r {shlex.quote(IN_ALARM)}")
    return GRAPHITE + "".join(entry(alert, alert_graphite.LESS, alert.graphite, command(alert)) for alert in ALERTS)


def files():
    """{path below the directory of dashboards: text}"""
    return {**alertmanager.files(), "influxdb/alerts.txt": influxdb(), "graphite/alerts.txt": graphite()}


def table():
    """The alerts in Markdown."""
    rows = ("| alert | condition | why there |", "| --- | --- | --- |",
            *(f"| {alert.title} | {alert.condition} | {alert.why} |" for alert in ALERTS))
    return "".join(f"{row}\n" for row in rows)

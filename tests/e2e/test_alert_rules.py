#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The alerts: promtool evaluates the rules on series made for each, of a fault and of sound load. Every name in them is in the
catalogue, collectd accepts the limits of threshold, and every system has each alert or a reason why not."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import alert_limits  # noqa: E402
import alert_series  # noqa: E402
import alertmanager  # noqa: E402
import prometheus_rules  # noqa: E402
import relabel  # noqa: E402
from alert import is_query  # noqa: E402
from alerts import ALERTS  # noqa: E402
from metric_names import PLUGIN  # noqa: E402
from series import PROBES  # noqa: E402

NAMES = [alert.name for alert in ALERTS]
ENDS = {"integer": "", "histogram": "-percentile-99", "moments": "-average"}
# collectd reads all, and then fails: up to 5.12.0, collectd -t reads no configuration of plugins.
NOWHERE = "/nonexistent/collectd"
THRESHOLD = f"""BaseDir "{NOWHERE}"
LoadPlugin logfile
<Plugin logfile>
  File STDOUT
</Plugin>
Include "threshold.conf"
"""
# An operator's Alertmanager, to which the generated parts are added.
OPERATORS = "receivers: [{name: operator}, {name: own}]\n"
ROUTES = "route:\n  receiver: operator\n  routes:\n    - {match: {team: own}, receiver: own}\n"


def catalogued():
    """The names of all series at Prometheus."""
    found = {"up"} | {relabel.OURS + naming.name for naming in PLUGIN}
    for _, probe, many in PROBES:
        for file, kind, _, _, sources, rows in many:
            for row in rows:
                subject = prometheus_rules.SUBJECTS.get(row, probe)
                found |= {relabel.renamed(file.replace("*", "key") + ENDS[kind], source, subject)[0] for source, _ in sources}
    return found


def test_names(check):
    known = catalogued()
    for alert in ALERTS:
        texts = " ".join(vars(alert.prometheus).values())
        patterns = re.findall(r'__name__=~\\?"([^"\\]+)', texts)
        for pattern in patterns:
            check.true(f"{alert.name}: {pattern}", [name for name in known if re.fullmatch(pattern, name)])
            texts = texts.replace(pattern, "")
        check.equal(f"{alert.name}: names that no series has", set(re.findall(r"\bebpf_\w+", texts)) - known, set())


def test_matrix(check):
    check.equal("names", NAMES, list(alert_series.FAULTS))
    for alert in ALERTS:
        for system, cell in (("InfluxDB", alert.influxdb), ("Graphite", alert.graphite)):
            check.true(f"{alert.name}, {system}: a query or a reason", is_query(cell) or len(cell) > 20, cell)
        check.true(f"{alert.name}: limits or a reason", alert.threshold, alert.threshold)
        check.true(f"{alert.name}: severity", alert.severity in ("critical", "warning"), alert.severity)


def test_figures(check):
    """Each figure of a text is rounded, and has a prefix only with a unit."""
    for alert in ALERTS:
        texts = " ".join(vars(alert.prometheus).values())
        bare = [one for one in re.findall(r"\$value[^}]*|\.Value[^}]*", texts) if not re.search("printf|humanize1024", one)]
        check.equal(f"{alert.name}: figures that are not rounded", bare, [])


def run(directory, *command):
    """(exit status, what it prints)"""
    found = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def write(directory, name, text):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        file.write(text)


def test_threshold(check, directory):
    with open(os.path.join(TOP, "conf", "threshold.conf"), encoding="utf-8") as file:
        sample = file.read()
    check.equal("conf/threshold.conf is as make describe writes it", sample, alert_limits.threshold_conf())
    write(directory, "collectd.conf", THRESHOLD)
    for name, text in (("the sample", sample), ("all its limits", re.sub(r"^#(?=  )", "", sample, flags=re.M))):
        check.equal(f"collectd about {name}", said_of(directory, text), [])
    wrong = said_of(directory, sample.replace("WarningMax", "WarningMost"))
    check.true("collectd finds a wrong one", "WarningMost" in str(wrong), wrong)


def said_of(directory, text):
    """What collectd says of this threshold.conf."""
    write(directory, "threshold.conf", text)
    lines = run(directory, os.environ.get("COLLECTD") or shutil.which("collectd"), "-f", "-C", "collectd.conf")[1].splitlines()
    return [line for line in lines if NOWHERE not in line and "successfully loaded" not in line]


def tests_of(series, interval, times, expected):
    """A group of tests of promtool. times: in seconds; expected(name): {time: [(labels, annotations), ...]}"""
    return {"interval": f"{interval}s",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": [
                {"eval_time": f"{time}s", "alertname": name,
                 "exp_alerts": [{"exp_labels": labels, "exp_annotations": texts} for labels, texts in expected(name, time)]}
                for name in NAMES for time in times]}


def evaluated(directory, group, step):
    write(directory, "tests.json", json.dumps(
        {"rule_files": ["rules.yml"], "evaluation_interval": f"{step}s", "tests": [group]}))
    return run(directory, "promtool", "test", "rules", "tests.json")


def annotations(fault, alert):
    """All of an alert's; the figures are those of the table."""
    pages = dict(zip(("dashboard", "page"), alert_series.PAGES[alert.prometheus.page](fault.labels)))
    return {"summary": fault.summary, "cause": fault.cause, **pages}


def test_faults(check, directory):
    """Each is silent before its fault and fires within 30 s of the reading that shows it; so do those that follow from it."""
    for alert in ALERTS:
        fault = alert_series.FAULTS[alert.name]
        labels = {"severity": alert.severity, **fault.labels}

        def expected(name, time, alert=alert, fault=fault, labels=labels):
            return [(labels, annotations(fault, alert))] if name == alert.name and time >= fault.fires else []
        group = tests_of(fault.series, fault.interval, (fault.begins - fault.interval, fault.fires), expected)
        found = evaluated(directory, group, fault.step)
        check.true(alert.name, found[0] == 0, found[1])


def test_silence(check, directory):
    for name, (series, interval, step, times) in alert_series.SOUND.items():
        found = evaluated(directory, tests_of(series, interval, times, lambda _name, _time: []), step)
        check.true(f"no alert: {name}", found[0] == 0, found[1])


def test_files(check, directory):
    check.equal("promtool about the rules", run(directory, "promtool", "check", "rules", "rules.yml")[0], 0)
    if not shutil.which("amtool"):
        check.left_out("amtool", "not installed: apt-get install prometheus-alertmanager")
    else:
        write(directory, "alertmanager.yml", OPERATORS + alertmanager.PARTS.replace("route:\n  routes:\n", ROUTES))
        check.equal("amtool about the configuration", run(directory, "amtool", "check-config", "alertmanager.yml")[0], 0)
        for labels, receiver in (("alertname=EbpfStuck", "operator"), ("team=own", "own"), ("alertname=Other", "operator")):
            routed = run(directory, "amtool", "config", "routes", "test", "--config.file=alertmanager.yml", labels)
            check.equal(f"{labels} goes to", routed[1].partition("\n")[0], receiver)


with Check() as checks, tempfile.TemporaryDirectory() as room:
    test_names(checks)
    test_matrix(checks)
    test_figures(checks)
    test_threshold(checks, room)
    if shutil.which("promtool"):
        write(room, "rules.yml", prometheus_rules.yaml())
        for test in (test_files, test_faults, test_silence):
            test(checks, room)
    else:
        checks.left_out("promtool", "not installed: apt-get install prometheus")

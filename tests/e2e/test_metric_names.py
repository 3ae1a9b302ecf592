#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names at Prometheus: every series of the probes has one, with its unit, that no other has; promtool finds nothing to say."""

import collections
import os
import shutil
import subprocess
import sys
import tempfile

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import prometheus_rules  # noqa: E402
import relabel  # noqa: E402
from series import PROBES  # noqa: E402
from texts import TEXTS  # noqa: E402

# What a `*` stands for.
KEY = "read-ext4"
UNITS = {"seconds": "_seconds", "bytes": "_bytes", "percent": "_percent", "percent of one CPU": "_percent", "hertz": "_hertz",
         "microseconds": "_time", "milliseconds": "_time", "seconds per second": "", "requests per second": "_per_second"}
# Names of several series, which a label tells apart, and whose sum is of use.
FAMILIES = {"ebpf_waiting_threads": "part", "ebpf_process_waiting_threads": "part", "ebpf_request_time_seconds": "part",
            "ebpf_slow_request_time_percent": "part"}
SUBJECTS = {"service": "web", "process": "web-4711-123456", "device": "sda", "cpu": "cpu1"}
WANTED = (
    ("total_requests", "ebpf_requests_total", {"service": "web"}),
    ("total_requests-5xx", "ebpf_responses_total", {"service": "web", "class": "5xx"}),
    ("total_requests-client", "ebpf_client_requests_total", {"service": "web"}),
    ("total_requests-upstream-10.0.0.1:80", "ebpf_upstream_requests_total", {"service": "web", "upstream": "10.0.0.1:80"}),
    ("latency-response-percentile-50", "ebpf_response_seconds", {"service": "web", "quantile": "0.5"}),
    ("latency-response-percentile-90", "ebpf_response_seconds", {"service": "web", "quantile": "0.9"}),
    ("latency-response-percentile-95", "ebpf_response_seconds", {"service": "web", "quantile": "0.95"}),
    ("latency-response-percentile-99", "ebpf_response_seconds", {"service": "web", "quantile": "0.99"}),
    ("latency-response-percentile-99.9", "ebpf_response_seconds", {"service": "web", "quantile": "0.999"}),
    ("latency-response-percentile-5", "ebpf_response_seconds", {"service": "web", "quantile": "0.05"}),
    ("latency-response-percentile-100", "ebpf_response_seconds", {"service": "web", "quantile": "1"}),
    ("latency-in_disk", "ebpf_request_time_seconds", {"service": "web", "part": "disk"}),
    ("gauge-send_wait", "ebpf_request_time_seconds", {"service": "web", "part": "send"}),
    ("percent-slack", "ebpf_slack_percent", {"service": "web"}),
    ("delay_rate-delay-blkio", "ebpf_waiting_threads", {"service": "web", "part": "disk"}),
    ("bucket-latency-response-0.001_0.002", "ebpf_histogram_per_second",
     {"service": "web", "histogram": "latency-response", "lower": "0.001", "upper": "0.002"}),
    # Of the administrator's own objects.
    ("percent-mine", "ebpf_mine_percent", {"service": "web"}),
    ("uptime", "collectd_ebpf_uptime", {"ebpf": "web"}),
)


def examples():
    """(series, file, data source, unit, counted, subject) of series of the catalogue, with each kind of subject and of statistic."""
    for _, probe, many in PROBES:
        for file, kind, counted, word, sources, rows in many:
            found = {SUBJECTS[row] for row in rows if row in SUBJECTS} | ({probe} if "probe" in rows else set())
            for subject in sorted(found or {probe}):
                for end in relabel.ENDS[kind]:
                    for source, _ in sources:
                        yield file, file.replace("*", KEY) + end, source, word, counted, subject


def test_names(check):
    for file, name, labels in WANTED:
        check.equal(file, relabel.renamed(file), (name, labels))
    check.equal("of the machine", relabel.renamed("fork_rate", subject="lifecycle"), ("ebpf_machine_forks_total", {}))
    check.equal("of a service with the name of a probe", [relabel.renamed("ps_rss", subject=name) for name in ("sched", "memory")],
                [("ebpf_resident_bytes", {"service": name}) for name in ("sched", "memory")])
    check.equal("of a process", relabel.renamed("ps_rss", subject="web-12-3456"),
                ("ebpf_process_resident_bytes", {"service": "web", "process": "12-3456"}))
    check.equal("of a service whose name has numbers", relabel.renamed("ps_rss", subject="app-1-2"),
                ("ebpf_resident_bytes", {"service": "app-1-2"}))
    check.equal("with a key to be asked for", relabel.metric("percent-response-*"),
                ("ebpf_responses_percent", {"service": "web"}, ("class",)))


def test_catalogue(check):
    """Each series has a name, and none has that of another."""
    by_name, identities, raw, units, totals = collections.defaultdict(set), collections.Counter(), [], [], []
    for _, file, source, word, counted, subject in examples():
        name, labels = relabel.renamed(file, source, subject)
        by_name[name].add((file.partition("-percentile-")[0], source))
        identities[name, *sorted(labels.items())] += 1
        raw += [file] if not name.startswith("ebpf_") else []
        stem = name.removesuffix("_total")
        if not file.endswith(("-cv", "-frequency", "-samples", "-variance")):
            units += [name] if not stem.endswith(UNITS.get(word, "")) else []
        totals += [name] if (stem != name) != counted else []
    check.equal("series without a name of their own", raw, [])
    check.equal("names without their unit", sorted(set(units)), [])
    check.equal("counters that are not called _total, or what is none that is", sorted(set(totals)), [])
    check.equal("series with the name and labels of another", [one for one, count in identities.items() if count > 1], [])
    check.equal("names of several series", {name for name, many in by_name.items() if len(many) > 1} - set(FAMILIES), set())
    recorded = prometheus_rules.recorded()
    check.equal("counters that are recorded in seconds", sorted(recorded), sorted(name for name in by_name if "_time_total" in name))
    check.equal("recorded names that are others'", {name for name, _ in recorded.values()} & set(by_name), set())


def exposition():
    """The series of the catalogue as text, with the explanations of ebpf-graph."""
    families = collections.defaultdict(dict)
    for series, file, source, _, _, subject in examples():
        name, labels = relabel.renamed(file, source, subject)
        families[name][tuple(sorted(labels.items()))] = (series, source)
    text = ""
    for name, many in families.items():
        series, source = next(iter(many.values()))
        kind = "counter" if name.endswith("_total") else "summary" if any("quantile" in dict(one) for one in many) else "gauge"
        text += f"# HELP {name} {TEXTS[series][source]}\n# TYPE {name} {kind}\n"
        for one in many:
            labels = ",".join(f'{label}="{value}"' for label, value in one)
            text += f"{name}{{{labels}}} 1\n"
    return text


def test_promtool(check):
    if not shutil.which("promtool"):
        check.left_out("promtool", "not installed: apt-get install prometheus")
        return
    page = exposition()
    found = subprocess.run(["promtool", "check", "metrics"], input=page, capture_output=True, text=True, check=False)
    check.equal("promtool about the names", (found.returncode, found.stdout + found.stderr), (0, ""))
    broken = subprocess.run(["promtool", "check", "metrics"], input=page.replace("ebpf_requests_total", "ebpf_requests_ms"),
                            capture_output=True, text=True, check=False)
    check.true("promtool finds a wrong name", broken.returncode and "ebpf_requests_ms" in broken.stderr, broken.stderr)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rules.yml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(prometheus_rules.yaml())
        found = subprocess.run(["promtool", "check", "rules", path], capture_output=True, text=True, check=False)
        check.equal("promtool about the rules", (found.returncode, found.stderr), (0, ""))
    found = subprocess.run(["promtool", "check", "config", os.path.join(TOP, "conf", "receiver-prometheus-server.yml")],
                           capture_output=True, text=True, check=False)
    check.equal("promtool about the example", (found.returncode, found.stderr), (0, ""))


with Check() as checks:
    for test in (test_names, test_catalogue, test_promtool):
        test(checks)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Queries of dashboards, without a store: their texts, and which of a host's series each of them asks for."""

import collections
import itertools
import os
import re
import sys

from e2e import TOP, Check, read_types

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import relabel  # noqa: E402
from definitions import GRAPHS  # noqa: E402
from series import PROBES  # noqa: E402
from query import SOURCES  # noqa: E402
from queries import EACH, GRAPHITE, INFLUXDB, PROMETHEUS, STORES, Target  # noqa: E402

HOST, CHOSEN = "h1", "web.1"
SERVICES = CHOSEN, "app-2-1"
PROCESS = "web-12-34567"
TYPES = read_types()
STATISTICS = {"integer": ("",), "moments": ("-average", "-cv"), "histogram": ("-average", "-percentile-50", "-percentile-99.9")}
Made = collections.namedtuple("Made", "subject file source entry statistic")   # entry: of the catalogue


# --- the series of a host -----------------------------------------------------------------------

def subjects_of(probe, rows):
    """The subjects that have series of these rows."""
    found = (SERVICES if "service" in rows else ()) + ((PROCESS,) if "process" in rows else ())
    if "probe" in rows or rows in (("enum",), ("string",)):
        found += (probe,)
    if "device" in rows:
        found += ("vda",)
    return found + (("cpu0",) if {"cpu", "CPU"} & set(rows) else ())


def keys_of(file, rows):
    if "*" not in file:
        return ("",)
    return ("open-ext4", "read-xfs") if rows[-2:] == ("enum", "string") else ("2xx", "10.0.0.1:80")


def series_of_host():
    for _, probe, many in PROBES:
        for entry, kind, _, _, sources, rows in many:
            for subject, key, (source, _), statistic in itertools.product(
                    subjects_of(probe, rows), keys_of(entry, rows), sources, STATISTICS[kind]):
                yield Made(subject, entry.replace("*", key) + statistic, source, entry, statistic)
    for graph in GRAPHS["The plugin"]:
        for one in graph.series:
            yield Made("self", one.file.replace("*", "request"), one.source, one.file, "")


ALL = tuple(series_of_host())


def targets():
    """(target, the series that it asks for)"""
    for _, probe, many in PROBES:
        for entry, kind, _, _, sources, rows in many:
            for (source, _), statistic in itertools.product(sources, STATISTICS[kind]):
                same = OF_ENTRY[entry, source, statistic]
                file = entry + statistic
                if "service" in rows:
                    yield Target(file, source), [one for one in same if one.subject == CHOSEN]
                if {"service", "device", "cpu", "CPU"} & set(rows):
                    each = [one for one in same if one.subject not in (probe, PROCESS)]
                    yield Target(file, source, EACH), each
                if probe in subjects_of(probe, rows):
                    yield Target(file, source, probe), [one for one in same if one.subject == probe]
    for graph in GRAPHS["The plugin"]:
        for one in graph.series:
            yield Target(one.file, one.source, "self"), OF_ENTRY[one.file, one.source, ""]


# --- what a query selects -----------------------------------------------------------------------

def chosen(text):
    return text.replace("$host", HOST).replace("$service", CHOSEN)


def is_true(value, operator, text):
    if operator in ("=", "!="):
        return (value == text) == (operator == "=")
    return bool(re.search(text, value)) == (operator == "=~")


def grouped(many, key):
    found = collections.defaultdict(list)
    for one in many:
        found[key(one)].append(one)
    return found


def meets(labels, conditions):
    """conditions: (label, operator, text)"""
    return all(is_true(labels.get(label, ""), operator, text) for label, operator, text in conditions)


AT_PROMETHEUS = {one: relabel.renamed(one.file, one.source, one.subject) for one in ALL}
OF_NAME = grouped(ALL, lambda one: AT_PROMETHEUS[one][0])
OF_TYPE = grouped(ALL, lambda one: one.file.partition("-")[0])
OF_ENTRY = grouped(ALL, lambda one: (one.entry, one.source, one.statistic))


def by_prometheus(target):
    name, matchers = re.search(r"(\w+)\{(.*?)\}", chosen(PROMETHEUS.query(target)["expr"])).groups()
    matchers = [(label, operator, f"^({text})$" if "~" in operator else text) for label, operator, text in
                re.findall(r'(\w+)(=~|!~|=)"(.*?)"', matchers.replace("\\\\", "\\"))]
    return [one for one in OF_NAME[name] if meets({"instance": HOST, **AT_PROMETHEUS[one][1]}, matchers)]


def graphite_path(one):
    kind, _, instance = one.file.partition("-")
    parts = ["collectd", HOST, "ebpf", one.subject, kind, instance, one.source if len(TYPES[kind]) > 1 else ""]
    return ".".join(part.replace(".", "_") for part in parts if part)


AT_GRAPHITE = {one: graphite_path(one) for one in ALL}


def by_graphite(target):
    text = GRAPHITE.query(target)["target"].replace("$host", HOST).replace("$service", CHOSEN.replace(".", "_"))
    path = re.search(r"collectd\.[^,)]*", text)[0]
    filters = zip(reversed(re.findall(r"(exclude|grep)\(", text)), re.findall(r'"(.*?)"', text))
    pattern = re.compile(re.escape(path).replace(r"\*", "[^.]*"))
    found = [one for one in OF_TYPE[target.kind] if pattern.fullmatch(AT_GRAPHITE[one])]
    for function, expression in filters:
        found = [one for one in found if bool(re.search(expression, AT_GRAPHITE[one])) == (function == "grep")]
    return found


def by_influxdb(target):
    query = chosen(INFLUXDB.query(target)["query"])
    source, conditions = re.search(r'FROM "ebpf_(\w+)" WHERE \$timeFilter AND (.*?) GROUP BY', query).groups()
    conditions = [re.fullmatch(r"(\w+) (\S+) [/'](.*)[/']", one).groups() for one in conditions.split(" AND ")]
    found = []
    for one in OF_TYPE[target.kind]:
        kind, _, instance = one.file.partition("-")
        tags = {"host": HOST, "instance": one.subject, "type": kind, "type_instance": instance}
        if one.source == source and meets(tags, conditions):
            found.append(one)
    return found


def test_selected(check):
    """Each series of the catalogue, by the query for it and by no other."""
    count = 0
    for target, wanted in targets():
        for store, select in zip(STORES, (by_prometheus, by_graphite, by_influxdb)):
            found = select(target)
            if sorted(found) != sorted(wanted):
                check.equal(f"{store.name}: {target}", sorted(found)[:8], sorted(wanted)[:8])
        count += len(wanted)
    check.true("series were asked for", count > 1000, count)


def test_types(check):
    """What queries take for granted of types is so in collectd's types.db."""
    wrong = [one.file for one in ALL for kind in [one.file.partition("-")[0]]
             if Target(one.file).counted != (TYPES[kind][0][1] == "DERIVE")
             or len(SOURCES.get(kind, ("value",))) != len(TYPES[kind])]
    check.equal("types that are otherwise", sorted(set(wrong)), [])


CPU_TIME = Target("ps_cputime", "user", label="user", scale=1e-4)
OF_HOSTS = Target("total_requests", subject=EACH, by=("host",), label="all of *")
CLASSES = Target("total_requests-*", without=frozenset({"2xx"}), label="class *")
PERCENTILES = Target("latency-response-percentile-*", label="p*")
UPSTREAMS = Target("latency-upstream-*-average", subject=EACH, only=frozenset({"10.0.0.1:80"}))
BOTH = Target("latency-runqueue-average", subject=EACH, by=("host", "service"), how="max")
POINTS = "GROUP BY host, instance, type, type_instance"
STEPS = "GROUP BY time($__interval), host, instance, type, type_instance fill(none)"


def test_prometheus(check):
    hosts, service = 'instance=~"$host"', 'instance=~"$host", service="$service"'
    for target, expression, legend in (
            (CPU_TIME, f"rate(ebpf_cpu_user_time_total{{{service}}}[$__rate_interval]) * 0.0001", "user"),
            (OF_HOSTS, f"sum by (instance) (rate(ebpf_requests_total{{{hosts}}}[$__rate_interval]))", "all of {{instance}}"),
            (CLASSES, f'rate(ebpf_responses_total{{{service}, class!~"2xx"}}[$__rate_interval])', "class {{class}}"),
            (UPSTREAMS, rf'ebpf_upstream_response_average_seconds{{{hosts}, upstream=~"10\\.0\\.0\\.1:80"}}',
             "{{service}} {{upstream}}"),
            (BOTH, f"max by (instance, service) (ebpf_runqueue_average_seconds{{{hosts}}})", "{{instance}} {{service}}"),
            (Target("latency-in_*"), f'ebpf_request_time_seconds{{{service}, part!~"send"}}', "{{part}}"),
            (Target("pending_operations", subject=EACH), f"ebpf_disk_requests_in_flight{{{hosts}}}", "{{device}}")):
        check.equal(f"Prometheus: {target.file}", PROMETHEUS.query(target),
                    {"expr": expression, "legendFormat": legend, "range": True, "editorMode": "code"})
    found = PROMETHEUS.query(PERCENTILES)
    check.true("percentiles from quantiles", found["expr"].startswith("label_replace("), found["expr"])
    check.equal("their legend", found["legendFormat"], "p{{percent}}")


def test_graphite(check):
    base = "collectd.$host.ebpf"
    for target, text in (
            (CPU_TIME, f'alias(scale(perSecond(interpolate({base}.$service.ps_cputime.user,30)),0.0001),"user")'),
            (OF_HOSTS, rf'aliasSub(groupByNodes(perSecond(interpolate(exclude({base}.*.total_requests,'
                       r'"\.ebpf\.([^.]*-[0-9]+-[0-9]{3,})\."),30)),"sum",1),"^([^.]*)$","all of \1")'),
            (CLASSES, rf'aliasSub(aliasByNode(perSecond(interpolate(exclude({base}.$service.total_requests.*,'
                      r'"\.(2xx|acknowledgements|client|full_duplex|streams|upstream-.*)$"),30)),5),"^(.*)$","class \1")'),
            (PERCENTILES, rf'aliasSub(aliasSub(aliasByNode(grep({base}.$service.latency.response-percentile-*,'
                          r'"\.response-percentile-([0-9][0-9_]*)$"),5),"^response-percentile-(.*)$","p\1"),'
                          r'"([0-9])_([0-9])","\1.\2")'),
            (BOTH, rf'aliasSub(groupByNodes(interpolate(exclude({base}.*.latency.runqueue-average,'
                   r'"\.ebpf\.(sched|[^.]*-[0-9]+-[0-9]{3,})\."),30),"max",1,3),"^([^.]*)\.([^.]*)$","\1 \2")')):
        check.equal(f"Graphite: {target.file}", GRAPHITE.query(target), {"target": text, "textEditor": True})


def test_influxdb(check):
    where = "$timeFilter AND host =~ /^$host$/ AND"
    rates = "SELECT non_negative_derivative(value, 1s) AS rate FROM"
    for target, text, alias in (
            (CPU_TIME, f"""SELECT mean(rate) * 0.0001 FROM ({rates} "ebpf_user" WHERE {where} instance = '$service' AND \
type = 'ps_cputime' AND type_instance = '' {POINTS}) WHERE $timeFilter {STEPS}""", "user"),
            (OF_HOSTS, f"""SELECT sum(v) FROM (SELECT mean(rate) AS v FROM ({rates} "ebpf_value" WHERE {where} \
instance !~ /^(.*-[0-9]+-[0-9]{{3,}})$/ AND type = 'total_requests' AND type_instance = '' {POINTS}) WHERE $timeFilter \
{STEPS}) WHERE $timeFilter GROUP BY time($__interval), host fill(none)""", "all of $tag_host"),
            (PERCENTILES, f"""SELECT mean(value) FROM "ebpf_value" WHERE {where} instance = '$service' AND \
type = 'latency' AND type_instance =~ /^response-percentile-([0-9][0-9.]*)$/ {STEPS}""", "p$tag_type_instance")):
        check.equal(f"InfluxDB: {target.file}", INFLUXDB.query(target),
                    {"query": text, "rawQuery": True, "resultFormat": "time_series", "alias": alias})
    changes = [change["options"] for change in INFLUXDB.transformations((PERCENTILES, UPSTREAMS, CLASSES, CPU_TIME))]
    check.equal("InfluxDB: labels", [(one["regex"], one["renamePattern"]) for one in changes],
                [("/^presponse-percentile-(.*)$/", "p$1"), ("/^(.*) upstream-(.*)-average$/", "$1 $2")])


def test_variables(check):
    """All stores have those that queries use."""
    for store in STORES:
        found = {one["name"]: one for one in store.variables()}
        check.equal(f"{store.name}: variables", list(found), ["host", "service"])
        query = found["service"]["query"]
        check.true(f"{store.name}: services depend on the host", "$host" in query, query)
    service = re.compile(GRAPHITE.variables()[1]["regex"].strip("/"))
    paths = [f"collectd.h1.ebpf.{subject}.ps_rss" for subject in ("web", "web-12-34567", "app-2-1")]
    check.equal("Graphite: services", [found[1] for path in paths if (found := service.search(path))], ["web", "app-2-1"])


with Check() as checks:
    for test in (test_selected, test_types, test_prometheus, test_graphite, test_influxdb, test_variables):
        test(checks)

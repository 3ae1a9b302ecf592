# SPDX-License-Identifier: MIT
"""Queries of dashboards for InfluxDB 1.x, in InfluxQL. The measurement of a series is ebpf_SOURCE, its tags are host, instance
(the subject), type and type_instance. Counters are stored as they are."""

from dashboard_store import DashboardStore, variable
from query import EACH, HOSTS, NUMBER, PRESENT, PROCESS, alternatives, escaped, excluded_subjects

TAGS = {"host": "host", "service": "instance", "key": "type_instance"}
SERIES = "host, instance, type, type_instance"      # what the points of a series have in common

# The least step of panels. A sum loses a series without a point in a step, so a step has two of collectd's intervals of 10 s.
STEP = "20s"


class InfluxDBStore(DashboardStore):
    name = "InfluxDB"
    datasource = "influxdb"
    step = STEP

    def query(self, target):
        text = self._each(target)
        if target.by:
            tags = ", ".join(TAGS[one] for one in target.by)
            text = f"SELECT {target.how}(v) FROM ({text}) WHERE $timeFilter GROUP BY time($__interval), {tags} fill(none)"
        return {"query": text, "rawQuery": True, "resultFormat": "time_series", "alias": self._alias(target)}

    def _each(self, target):
        """A curve for each series."""
        points, value = f'FROM "ebpf_{target.source}" WHERE {self._where(target)}', "value"
        if target.counted:
            # A rate of neighbours is right whatever the step is; one of the values of two steps is not.
            points = f"FROM (SELECT non_negative_derivative(value, 1s) AS rate {points} GROUP BY {SERIES}) WHERE $timeFilter"
            value = "rate"
        scale = "" if target.scale == 1 else f" * {_decimal(target.scale)}"
        name = " AS v" if target.by else ""
        return f"SELECT mean({value}){scale}{name} {points} GROUP BY time($__interval), {SERIES} fill(none)"

    def _where(self, target):
        return " AND ".join(["$timeFilter", f"host =~ /^{HOSTS}$/", *self._of_subject(target), f"type = '{target.kind}'",
                             *self._of_instance(target)])

    @staticmethod
    def _of_subject(target):
        is_each = target.subject == EACH
        return [f"instance !~ /^({excluded_subjects(target)})$/" if is_each else f"instance = '{target.subject}'"]

    @staticmethod
    def _of_instance(target):
        if not target.is_keyed:
            return [f"type_instance = '{target.instance}'"]
        before, _, after = map(escaped, target.instance.partition("*"))
        admitted = alternatives(target.only) or (NUMBER if target.is_percentile else ".+")
        found = [f"type_instance =~ /^{before}({admitted}){after}$/"]
        if target.without_keys:
            found.append(f"type_instance !~ /^{before}({alternatives(target.without_keys)}){after}$/")
        return found

    @staticmethod
    def _alias(target):
        """The label, with the whole type instance in place of a key: InfluxQL cannot take a part of it."""
        return target.label.replace("*", " ".join(f"$tag_{TAGS[one]}" for one in target.varies))

    @staticmethod
    def transformations(targets):
        """Those of a panel that leave the keys in the labels of these targets."""
        found = []
        for target in targets:
            before, _, after = map(escaped, target.instance.partition("*"))
            if "*" in target.label and "key" in target.varies and (before or after):
                first, _, last = target.label.partition("*")
                service, number = ("(.*) ", 2) if len(target.varies) > 1 else ("", 1)
                names = " ".join(f"${one}" for one in range(1, number + 1))
                found.append({"id": "renameByRegex", "options": {
                    "regex": f"/^{escaped(first)}{service}{before}(.*){after}{escaped(last)}$/",
                    "renamePattern": first + names + last}})
        return found

    @staticmethod
    def variables():
        """The services' names without processes."""
        tags = 'SHOW TAG VALUES FROM "ebpf_value" WITH KEY ='
        return [variable("host", f"{tags} host", several=".*"),
                variable("service", f"{tags} instance WHERE host =~ /^{HOSTS}$/ AND type = '{PRESENT}'"
                                    f" AND instance !~ /{PROCESS}$/")]


def _decimal(number):
    """InfluxQL knows no exponents."""
    return f"{number:.12f}".rstrip("0").rstrip(".")

# SPDX-License-Identifier: MIT
"""Queries of dashboards for Prometheus, with the names that relabel.py gives. The label instance is collectd's host."""

import functools

import relabel
from dashboard_store import DashboardStore, variable
from name import varying
from query import EACH, ENTRIES, HOSTS, PRESENT, SERVICE, alternatives

SUBJECTS = "service", "device", "cpu"   # labels

# What makes "50", "99" and "99.9" of the quantiles 0.5, 0.99 and 0.999: (expression, replacement).
PERCENTS = ((r"(0)\\.(\\d)", "$2$1"), (r"0\\.(\\d\\d)", "$1"), (r"0\\.(\\d\\d)(\\d+)", "$1.$2"))


def _matcher(label, operator, expression):
    return label + operator + '"' + expression.replace("\\", r"\\").replace('"', r"\"") + '"'


@functools.cache
def _named():
    """Name at Prometheus -> [(file, labels)] of the catalogue's series without a `*`."""
    found = {}
    for file in ENTRIES:
        if "*" not in file:
            name, labels = relabel.renamed(file)
            found.setdefault(name, []).append((file, labels))
    return found


def _metric(target):
    """The relabel.Metric of a target, whose subject has any name that such a subject may have."""
    subject = target.subject
    if subject in (EACH, SERVICE):
        subject = "cpu0" if "cpu" in target.rows or "CPU" in target.rows else "web"
    found = relabel.metric(target.file, target.source, subject)
    if not found.name:
        raise ValueError(f"{target.file}: Prometheus has no one name for these series")
    return found


def _subject_label(metric):
    """The label that is the subject; "" if there is none, as for the machine and the plugin."""
    return next((label for label in SUBJECTS if label in metric.labels), "")


def _key_matchers(target, metric):
    """What the `*` of the file stands for."""
    if not target.is_keyed:
        return
    label, *further = metric.keys
    if (target.only or target.without) and further:
        raise ValueError(f"{target.file}: a key of several labels cannot be chosen")
    only, without = _values(target, label, target.only), _values(target, label, target.without)
    without |= {labels[label] for file, labels in _named().get(metric.name, ())
                if label in labels and varying(target.file, file) is None}
    if only:
        yield _matcher(label, "=~", alternatives(only))
    if without:
        yield _matcher(label, "!~", alternatives(without))


def _values(target, label, keys):
    """What these keys are at Prometheus."""
    return {relabel.renamed(target.file.replace("*", key), target.source)[1][label] for key in keys}


class PrometheusStore(DashboardStore):
    name = "Prometheus"
    datasource = "prometheus"

    def query(self, target):
        metric = _metric(target)
        labels = self._labels(metric)
        found = self._selected(target, metric)
        if target.counted:
            found = f"rate({found}[$__rate_interval])"
        if target.by:
            found = f"{target.how} by ({', '.join(label for one in target.by for label in labels[one])}) ({found})"
        if target.scale != 1:
            found = f"{found} * {target.scale:g}"
        if "quantile" in labels["key"] and "key" in target.varies:
            labels["key"] = ("percent",)
            for expression, replacement in PERCENTS:
                found = f'label_replace({found}, "percent", "{replacement}", "quantile", "{expression}")'
        texts = " ".join("-".join("{{" + label + "}}" for label in labels[one]) for one in target.varies)
        return {"expr": found, "legendFormat": target.label.replace("*", texts), "range": True, "editorMode": "code"}

    @staticmethod
    def _labels(metric):
        """The labels that each of Target.by and Target.varies is."""
        return {"host": ("instance",), "service": tuple(filter(None, (_subject_label(metric),))), "key": metric.keys}

    @staticmethod
    def _selected(target, metric):
        """The series of a target as they are stored."""
        labels, label = dict(metric.labels), _subject_label(metric)
        matchers = [_matcher("instance", "=~", HOSTS)]
        if label and target.subject in (EACH, SERVICE):
            del labels[label]
        if label and target.subject == SERVICE:
            matchers.append(_matcher(label, "=", SERVICE))
        matchers += [_matcher(name, "=", value) for name, value in labels.items()]
        return f"{metric.name}{{{', '.join([*matchers, *_key_matchers(target, metric)])}}}"

    @staticmethod
    def variables():
        """Processes have names of their own."""
        name = relabel.metric(PRESENT).name
        return [variable("host", f"label_values({name}, instance)", several=".*"),
                variable("service", f"label_values({name}{{{_matcher('instance', '=~', HOSTS)}}}, service)")]

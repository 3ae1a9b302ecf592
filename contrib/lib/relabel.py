# SPDX-License-Identifier: MIT
"""Prometheus' relabelling rules for what collectd's write_prometheus calls collectd_ebpf_TYPE[_SOURCE][_total], with the labels
ebpf (the service), type (the type instance) and instance (the host): rules as text, and what they make of a name."""

import collections
import functools
import re

from metric_names import AFTER, BEFORE, COUNTED, NAMES, Rule
from series import PROBES

PERCENTILE = "-percentile-*"
OURS = "ebpf_"
ENDS = {"integer": ("",), "histogram": ("-average", "-percentile-50"),     # of the files of a series
        "moments": ("-average", "-variance", "-cv", "-frequency", "-samples")}
STARS = "STAR", "STAR-STAR"     # what stands in place of a `*`
Metric = collections.namedtuple("Metric", "name labels keys")
# keys: the labels that are what the `*` stands for, which has a "-" between them


def family(kind, source):
    """The name of a data source of a type at write_prometheus."""
    return "_".join(["collectd_ebpf", kind] + [source] * (source != "value") + ["total"] * (kind in COUNTED))


def naming_rules(entry):
    """Those of one entry of NAMES: each label, and then the name."""
    sources = ("__name__", "type") + (("ebpf",) if entry.subject else ())
    regex = ";".join([family(entry.kind, entry.source), entry.instance] + ([entry.subject] if entry.subject else []))
    for label, value in entry.labels.items():
        yield Rule(sources, regex, label, value)
    yield Rule(sources, regex, "__name__", OURS + entry.name)


def machine_rules():
    """Figures of the machine have their probe's name in place of a service, which another service may have, too."""
    for _, probe, many in PROBES:
        names = {renamed(file + end, source, probe, naming())[0].removeprefix(OURS)
                 for file, kind, _, _, sources, rows in many if "probe" in rows for end in ENDS[kind] for source, _ in sources}
        if names:
            yield Rule(("__name__", "service"), f"{OURS}({'|'.join(sorted(names))});{probe}", "__name__", OURS + "machine_${1}")


@functools.cache
def naming():
    return (*BEFORE, *(rule for entry in NAMES for rule in naming_rules(entry)))


@functools.cache
def rules():
    return (*naming(), *machine_rules(), *AFTER)


@functools.cache
def expression(rule):
    """The rule's compiled expression, which matches the whole text, as Prometheus' do."""
    return re.compile(rule.regex, re.S)


def apply(rule, labels):
    """Changes these labels as Prometheus does."""
    found = expression(rule).fullmatch(";".join(labels.get(source, "") for source in rule.sources))
    if found:
        value = re.sub(r"\$\{(\d)\}", lambda group: found[int(group[1])] or "", rule.replacement)
        labels.pop(rule.target, None)
        if value:
            labels[rule.target] = value


def renamed(file, source="value", subject="web", by=()):
    """(name, {label: value}) at Prometheus, without the host. file: TYPE[-INSTANCE]; by: rules in place of all"""
    kind, _, instance = file.partition("-")
    labels = {"__name__": family(kind, source), "type": instance, "ebpf": subject}
    labels = {label: value for label, value in labels.items() if value}
    for rule in by or rules():
        apply(rule, labels)
    return labels.pop("__name__"), labels


@functools.cache
def metric(file, source="value", subject="web"):
    """The Metric of a file that may have one `*`. Its labels are those that do not vary, with the subject's."""
    stars = ("50",) if file.endswith(PERCENTILE) else STARS
    name, labels = next((found for star in stars if (found := renamed(file.replace("*", star), source, subject))[0].startswith(OURS)),
                        ("", {}))
    keys = ("quantile",) if file.endswith(PERCENTILE) else tuple(label for label, value in labels.items() if value in STARS)
    return Metric(name, {label: value for label, value in labels.items() if label not in keys}, keys)


def yaml():
    """The rules as the elements of metric_relabel_configs."""
    text = ""
    for rule in rules():
        replacement = "" if rule.replacement == "${1}" else f", replacement: '{rule.replacement}'"
        text += (f"- {{source_labels: [{', '.join(rule.sources)}], regex: '{rule.regex}', "
                 f"target_label: {rule.target}{replacement}}}\n")
    return text

# SPDX-License-Identifier: MIT
"""What an alert is, in the words of each system that can raise it."""

import dataclasses

from definitions import SUCCESSES

# Classes of responses that say nothing is wrong, or not whether it is.
NO_ERRORS = SUCCESSES | {"moved", "unknown"}


def template(query, words, otherwise=""):
    """Words about the first result of a query, in which %q stands for the labels instance and service."""
    missing = f"{{{{ else }}}}{otherwise}" if otherwise else ""
    return (f"{{{{ with printf `{query}` $labels.instance $labels.service | query }}}}{{{{ with first . }}}}{words}"
            f"{{{{ end }}}}{missing}{{{{ end }}}}")


# Pipelines that write a figure. A prefix, as humanize adds it, is only for one that has a unit.
SECONDS = "printf `%.3g` | humanizeDuration"
PERCENT = "printf `%.1f`"
COUNT = "printf `%.0f`"
LARGEST_PART = template(
    "topk(1, ebpf_request_time_seconds{instance=%q, service=%q} > 0)",
    f"Largest part of a request's time: {{{{ .Labels.part }}}}, {{{{ .Value | {SECONDS} }}}}.",
    "Where a request's time goes is not known.")


@dataclasses.dataclass(frozen=True)
class Rule:
    """Of Prometheus."""
    expr: str
    summary: str            # a template: service, host and figure
    cause: str = LARGEST_PART   # a template
    for_: str = ""          # how long the expression must be true
    page: str = "service"   # the dashboard to open: service, machine or plugin


@dataclasses.dataclass(frozen=True)
class Limit:
    """A Type block of collectd's threshold plugin."""
    kind: str               # the type
    instance: str           # its instance
    options: tuple          # ((name, value), ...); empty: an alarm if its values stay away
    comment: str            # what it says, with the unit of its limits
    enabled: bool = True    # False: in comment signs, for the administrator to remove
    hits: int = 2           # only after more such readings in a row
    subject: str = ""       # the plugin instance; empty: every service


@dataclasses.dataclass(frozen=True)
class Alert:
    name: str
    title: str              # a few words, for tables
    severity: str           # critical: users are affected now; warning: they will be, or may be
    condition: str          # the rule of Prometheus in words
    why: str                # the reason of its limits
    prometheus: Rule
    threshold: tuple | str  # of Limit; or why the plugin threshold cannot raise it
    influxdb: str           # a query in InfluxQL whose rows are in alarm; or, beginning with NONE, why there is none
    graphite: str           # a render target whose series are in alarm if their last value is above 0; or the same


NONE = "none: "


def is_query(text):
    """Whether a cell of InfluxDB or Graphite is a query, and not a reason."""
    return not text.startswith(NONE)

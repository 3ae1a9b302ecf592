# SPDX-License-Identifier: MIT
"""The alerts as limits of collectd's threshold plugin, and the example with them."""

import textwrap

from alert import Limit

ONE_SERIES = "it compares one series with a fixed limit"
NO_YESTERDAY = f"{ONE_SERIES} and knows no yesterday"
LIMITS = {
    "EbpfSaturated": (
        Limit("percent", "slack_threads", (("WarningMin", 15), ("FailureMin", 5)),
              "Free threads of the service, in percent. The slack of its CPUs is 0 whenever a batch takes them."),),
    "EbpfSaturatedSoon": NO_YESTERDAY,
    "EbpfSlowerThanYesterday": NO_YESTERDAY,
    "EbpfErrors": (
        Limit("percent", "response-5xx", (("WarningMax", 1), ("FailureMax", 5)),
              "Share of error responses, in percent; for services with Response \"5xx\" in their block."),),
    "EbpfStuck": f"{ONE_SERIES}, and a long query that delays no other is as old",
    "EbpfConnectionLeak": (
        Limit("current_connections", "close_wait", (("WarningMax", 100),),
              "Connections that the other side has closed, and the service has not. Needs the probe tcp, which is off "
              "by default."),),
    "EbpfCpuThrottled": (
        Limit("percent", "cpu_periods_throttled", (("WarningMax", 25),),
              "Periods in which the CPU limit of its cgroup held up the service, in percent."),),
    "EbpfMemoryLimitNear": f"{ONE_SERIES}, and this is a quotient of two",
    "EbpfOomKill": "the probe oom notifies of each kill by itself",
    "EbpfDiskSlow": (
        Limit("latency", "in_disk", (("WarningMax", 0.05),),
              "The part of the mean response time that requests wait for a disk, in seconds. Other parts: in_lock, "
              "in_upstream, in_runqueue.", enabled=False, hits=1),),
    "EbpfUpstreamSlow": (
        Limit("latency", "upstream-10.0.0.5:5432-percentile-90", (("WarningMax", 0.25),),
              "Response time of an upstream, in seconds. Edit: its address. Needs Option clients.", enabled=False),),
    "EbpfBlind": (
        Limit("objects", "services", (),
              "Notifies if the plugin's values stay away, and when they are back. The plugin notifies by itself of each probe "
              "that is off, costs more than MaxOverhead, or cannot be read.", hits=0, subject="self"),),
}
# What is no alert by itself, but depends on what the administrator has promised.
RESPONSE_TIME = Limit("latency", "response-percentile-99", (("WarningMax", 0.1), ("FailureMax", 1)),
                      "Response time that users see: one of a hundred requests takes longer than this, in seconds.")
OVERHEAD = Limit("percent", "overhead_request", (("WarningMax", 5),),
                 "The cost of a probe that has no limit, in percent of all CPUs.", enabled=False, subject="self")

HEAD = """# SPDX-License-Identifier: MIT
# Notifies when a service is saturated, fails or waits, and when the plugin is blind. For /etc/collectd/collectd.conf.d/; see
# /usr/share/doc/collectd-ebpf/howto/alert.md. Notifications go to the log (logfile, syslog). notify_email and NotificationExec
# of the exec plugin can send them elsewhere. Written by `make describe`.

LoadPlugin threshold
<Plugin threshold>
  # For every service. A block <Plugin "ebpf"> with Instance "NAME", like the last one here, is only for that service. Hits 2: a
  # notification comes only after more than 2 such readings in a row. Interesting false: none comes when a series ends.
  <Plugin "ebpf">
"""


def comment(text):
    return textwrap.fill(text, 128, initial_indent="    # ", subsequent_indent="    # ") + "\n"


def block(limit):
    """The Type block with its comment."""
    options = [f'Instance "{limit.instance}"'] if limit.instance else []
    options += [f"{name} {value:g}" for name, value in limit.options]
    options += [f"Hits {limit.hits}"] if limit.hits else []
    options += ["Interesting false"] if limit.options else []
    sign = "" if limit.enabled else "#"
    lines = [f'    <Type "{limit.kind}">', *(f"      {option}" for option in options), "    </Type>"]
    return comment(limit.comment) + "".join(f"{sign}{line}\n" for line in lines)


def threshold_conf():
    """The text of the example."""
    limits = [RESPONSE_TIME, *(limit for many in LIMITS.values() if not isinstance(many, str) for limit in many), OVERHEAD]
    of_services = "\n".join(block(limit) for limit in limits if not limit.subject)
    of_plugin = "\n".join(block(limit) for limit in limits if limit.subject)
    return (f'{HEAD}{of_services}  </Plugin>\n\n  <Plugin "ebpf">\n    Instance "self"\n{of_plugin}  </Plugin>\n</Plugin>\n')

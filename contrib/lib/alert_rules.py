# SPDX-License-Identifier: MIT
"""The alerts as rules of Prometheus, for an Interval of 10 s in collectd and the same scrape_interval. Names are those that
relabel.py gives."""

from alert import COUNT, LARGEST_PART, NO_ERRORS, PERCENT, SECONDS, Rule, template

OF_SERVICE = "on (instance, service)"
WHERE = "{{ $labels.service }} on {{ $labels.instance }}"
SHARE = "printf `%.3g` | humanizePercentage"
ERRORS = f'class!~"{"|".join(sorted(NO_ERRORS))}"'
SATURATED_PERCENT, SOON_DAYS = 5, 3
WAITS = 'part=~"socket|queue|runqueue"'
P99 = 'ebpf_response_seconds{quantile="0.99"}'
UPSTREAM = 'ebpf_upstream_response_seconds{quantile="0.9"}'
DISK = '{__name__=~"ebpf_disk_(?:service|queued)_seconds", quantile="0.99"}'


def value(pipeline):
    """The alert's own figure."""
    return f"{{{{ $value | {pipeline} }}}}"


def newest(series):
    """The last reading. A service that has ended has none. Prometheus would keep it for five minutes, because write_prometheus
    gives values their times."""
    return f"last_over_time({series}[30s])"


def requests(per_second):
    """The services with so many requests."""
    return f"and {OF_SERVICE} rate(ebpf_requests_total[40s]) >= {per_second}"


def day(function, series, offset=""):
    """A figure of one day, of a reading each five minutes."""
    argument = "0.05, " if function == "quantile_over_time" else ""
    return f"{function}({argument}{series}[1d:5m]{offset and ' offset ' + offset})"


DISK_TO_BLAME = (
    "{{ with printf `topk(1, sum by (service) (rate(ebpf_disk_read_bytes_total{instance=%q}[1m])"
    " + rate(ebpf_disk_written_bytes_total[1m])))` $labels.instance | query }}{{ with first . }}Most disk traffic: "
    "{{ .Labels.service }}, {{ .Value | humanize1024 }}B/s.{{ end }}{{ end }}"
    "{{ with printf `topk(1, {__name__=~\"ebpf_disk_(?:service|queued)_seconds\", quantile=\"0.99\", instance=%q})` "
    "$labels.instance | query }}{{ with first . }} Slowest disk: {{ .Labels.device }}, "
    f"{{{{ .Value | {SECONDS} }}}} for one of 100 requests.{{{{ end }}}}{{{{ end }}}}")

SATURATED = Rule(
    f"{newest('ebpf_slack_percent')} < {SATURATED_PERCENT}\n{requests(1)}\n"
    f"and {OF_SERVICE} sum by (instance, service) (ebpf_request_time_seconds{{{WAITS}}}) > 0.05\n"
    f"and {OF_SERVICE} sum by (instance, service) (ebpf_request_time_seconds{{{WAITS}}})"
    f" > {OF_SERVICE} sum by (instance, service) (ebpf_request_time_seconds) / 3",
    f"{WHERE} is saturated: slack {value(PERCENT)} %", for_="20s")

TODAY, YESTERDAY, LAST_WEEK = (day("quantile_over_time", "ebpf_slack_percent", offset) for offset in ("", "1d", "7d"))
GROWN, GROWN_BEFORE = (day("increase", "ebpf_requests_total", offset) for offset in ("", "1d"))
SATURATED_SOON = Rule(
    f"clamp_min(({TODAY} - {SATURATED_PERCENT})\n"
    f"  / {OF_SERVICE} ({YESTERDAY} - {OF_SERVICE} {TODAY} > 2), 0) < {SOON_DAYS}\n"
    f"and {OF_SERVICE} {TODAY} < 50\n"
    f"and {OF_SERVICE} ({GROWN} > {OF_SERVICE} 1.02 * {GROWN_BEFORE})\n"
    f"and {OF_SERVICE} {day('count_over_time', 'ebpf_slack_percent', '1d')} > 200\n"
    f"unless {OF_SERVICE} ({LAST_WEEK} <= {OF_SERVICE} {TODAY})",
    f"{WHERE} will be saturated in {value(PERCENT)} days if it grows as today")

SLOW = f"min_over_time({P99}[30s])"
SLOWER_THAN_YESTERDAY = Rule(
    f"({SLOW} > 0.1)\n"
    f"> {OF_SERVICE} 3 * quantile_over_time(0.9, {P99}[1h] offset 23h30m)\n{requests(1)}",
    f"{WHERE} is slow: one of 100 requests takes over {value(SECONDS)}, more than three times of this hour yesterday", for_="10s")

FAILED = Rule(
    f"sum by (instance, service) ({newest(f'ebpf_responses_percent{{{ERRORS}}}')}) > 5\n{requests(1)}",
    f"{WHERE} fails: {value(PERCENT)} % of its responses are errors",
    template("topk(1, ebpf_responses_percent{instance=%q, service=%q, " + ERRORS + "})",
             f"Most frequent: {{{{ .Labels.class }}}}, {{{{ .Value | {PERCENT} }}}} %. ") + LARGEST_PART, "20s")

STUCK = Rule(
    f"{newest('ebpf_oldest_request_seconds')} > 20\n"
    f"and {OF_SERVICE} ({newest('ebpf_requests_in_progress')} + {OF_SERVICE} {newest('ebpf_requests_waiting')} >= 2)\n"
    f"and {OF_SERVICE} (rate(ebpf_requests_total[40s]) < 0.25 * rate(ebpf_requests_total[1h]))\n"
    f"and {OF_SERVICE} increase(ebpf_requests_total[1h]) >= 20",
    f"{WHERE} is stuck: its oldest request has waited for {value(SECONDS)}",
    template("topk(1, sum by (part) (ebpf_waiting_threads{instance=%q, service=%q, part!=\"event\"}) > 0.1)",
             f"Its threads mostly wait for: {{{{ .Labels.part }}}} ({{{{ .Value | {PERCENT} }}}} threads).",
             "None of its threads waits for anything but events: the request may be forgotten."))

CLOSE_WAIT, OPEN = "ebpf_connections_close_wait", "ebpf_connections"
CONNECTION_LEAK = Rule(
    f"({newest(CLOSE_WAIT)} - min_over_time({CLOSE_WAIT}[1h]) > 20 and changes({CLOSE_WAIT}[40s]) >= 2)\n"
    f"or ((delta({OPEN}[40s]) > 20 and changes({OPEN}[40s]) >= 2)\n"
    f"  unless {OF_SERVICE} (increase(ebpf_requests_total[40s]) >= {OF_SERVICE} delta({OPEN}[40s])))",
    f"{WHERE} leaks connections: {value(COUNT)} more than before",
    template(f"{CLOSE_WAIT}{{instance=%q, service=%q}}",
             f"In CLOSE_WAIT, closed by the other side only: {{{{ .Value | {COUNT} }}}}. ") + LARGEST_PART, "10s")

CPU_THROTTLED = Rule(
    f"{newest('ebpf_cpu_periods_throttled_percent')} > 25\n{requests(0.1)}",
    f"{WHERE} is throttled in {value(PERCENT)} % of the periods of its CPU limit",
    template("ebpf_cpu_limit_percent{instance=%q, service=%q}", f"Limit: {{{{ .Value | {COUNT} }}}} % of one CPU. ")
    + LARGEST_PART, "20s")

MEMORY_LIMIT_NEAR = Rule(
    f"0.9 < {newest('ebpf_resident_bytes')} / {OF_SERVICE} {newest('ebpf_memory_limit_bytes')} <= 1",
    f"{WHERE} has used {value(SHARE)} of its memory limit",
    template("ebpf_memory_limit_bytes{instance=%q, service=%q}", "Limit: {{ .Value | humanize1024 }}B. ") + LARGEST_PART, "20s")

OOM_KILL = Rule(
    "increase(ebpf_oom_kills_total[2m]) > 0",
    f"{WHERE}: the kernel has killed a process for lack of memory",
    template("ebpf_memory_limit_bytes{instance=%q, service=%q}", "Memory limit of the service: {{ .Value | humanize1024 }}B. ",
             "The service has no limit of its own. ")
    + template("ebpf_resident_bytes{instance=%q, service=%q}", "Resident now: {{ .Value | humanize1024 }}B."))

DISK_SLOW = Rule(
    f'{newest("ebpf_request_time_seconds{part=%sdisk%s}" % (chr(34), chr(34)))} > 0.05\n'
    f"and on (instance) max by (instance) ({DISK}) > 0.05\n{requests(0.5)}",
    f"{WHERE} waits {value(SECONDS)} of a request for a slow disk", DISK_TO_BLAME, "20s", "machine")

UPSTREAM_SLOW = Rule(
    f"{newest(UPSTREAM)} > 0.25\n"
    f"and {newest(UPSTREAM)} > 3 * quantile_over_time(0.1, {UPSTREAM}[6h])\n"
    "and on (instance, service, upstream) rate(ebpf_upstream_requests_total[40s]) >= 0.2\n"
    f"and {OF_SERVICE} {newest(P99)} > 0.25",
    f"{{{{ $labels.upstream }}}}, an upstream of {WHERE}, takes {value(SECONDS)} for one of ten requests", for_="20s")


def because(expr, reason):
    return f'label_replace({expr}, "reason", "{reason}", "", "")'


MISSING = "seconds or more without values"
BLIND = Rule("\nor ".join((
    because(f"{newest('ebpf_plugin_hook_set')} == 0", "a probe is off"),
    because("rate(ebpf_plugin_insertions_refused_total[40s]) > 1", "rows refused per second"),
    because("rate(ebpf_plugin_events_missed_total[40s]) > 100", "events missed per second"),
    because(f"{newest('ebpf_plugin_other_percent')} > 20", "percent of counts under other"),
    because("time() - max by (instance) (timestamp(ebpf_plugin_services)) > 30", MISSING),
    # When Prometheus has forgotten the values.
    because("300 * (group by (instance) (last_over_time(ebpf_plugin_services[1h])) unless on (instance) ebpf_plugin_services)",
            MISSING),
    because('up{job="collectd"} == 0', "Prometheus cannot scrape"))),
    "ebpf plugin on {{ $labels.instance }}{{ with $labels.probe }}, probe {{ . }}{{ end }}: {{ $labels.reason }} ("
    f"{value(COUNT)})",
    "See collectd's log, which has the reason and the remedy, and /usr/share/doc/collectd-ebpf/troubleshooting.md.", "20s", "plugin")

RULES = {
    "EbpfSaturated": SATURATED,
    "EbpfSaturatedSoon": SATURATED_SOON,
    "EbpfSlowerThanYesterday": SLOWER_THAN_YESTERDAY,
    "EbpfErrors": FAILED,
    "EbpfStuck": STUCK,
    "EbpfConnectionLeak": CONNECTION_LEAK,
    "EbpfCpuThrottled": CPU_THROTTLED,
    "EbpfMemoryLimitNear": MEMORY_LIMIT_NEAR,
    "EbpfOomKill": OOM_KILL,
    "EbpfDiskSlow": DISK_SLOW,
    "EbpfUpstreamSlow": UPSTREAM_SLOW,
    "EbpfBlind": BLIND,
}

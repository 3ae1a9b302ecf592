# SPDX-License-Identifier: MIT
"""The alerts as queries of InfluxDB 1.x. Each row is an alarm: of the host and the instance, which is the service. InfluxQL has
no joins: what is asked of several series is united, and then brought together by an aggregate for each host and service."""

from alert import NO_ERRORS

BY_SERVICE = "host, instance"
BY_CLASS = "host, instance, type_instance"


def taken(value, name, kind, instance="", since="30s", until="", by=BY_SERVICE):
    """A subquery. instance: the type instance, or a condition of it"""
    condition = instance if " " in instance else f"type_instance = '{instance}'"
    to = f" AND time <= now() - {until}" if until else ""
    return (f"(SELECT {value} AS {name} FROM ebpf_value WHERE time > now() - {since}{to} AND type = '{kind}' AND {condition}"
            f" GROUP BY {by})")


def day_of_slack(name, missing, since="1d", until=""):
    """What slack falls below in 72 minutes of a day: a subquery. missing: slack of five minutes without a value. Without it, a
    series of fewer than ten values would have no percentile, and InfluxDB would then have none of the other series."""
    to = f" AND time <= now() - {until}" if until else ""
    minutes = (f"(SELECT mean(value) AS slack FROM ebpf_value WHERE time > now() - {since}{to} AND type = 'percent' AND"
               f" type_instance = 'slack' GROUP BY time(5m), {BY_SERVICE} fill({missing}))")
    return f"(SELECT percentile(slack, 5) AS {name} FROM {minutes} GROUP BY {BY_SERVICE})"


def summed(name, kind, pattern, but="", function="mean"):
    """The sum of a figure of each of several series."""
    condition = f"type_instance =~ /{pattern}/" + (f" AND type_instance !~ /{but}/" if but else "")
    each = taken(f"{function}(value)", "one", kind, condition, by=BY_CLASS)
    return f"(SELECT sum(one) AS {name} FROM {each} GROUP BY {BY_SERVICE})"


def alarms(condition, by=BY_SERVICE, **subqueries):
    """The query. subqueries: {name of what each returns: text}"""
    names = ", ".join(f"max({name}) AS {name}" for name in subqueries)
    united = f"SELECT {names} FROM {', '.join(subqueries.values())} GROUP BY {by}"
    return f"SELECT * FROM ({united}) WHERE {condition} GROUP BY {by}"


RATE = taken("spread(value) / 40", "rate", "total_requests", since="45s")
OLDER = {"since": "2d", "until": "1d"}
UPSTREAMS = ("latency", "type_instance =~ /^upstream-.*-percentile-90$/")
P99 = ("latency", "response-percentile-99")
LATELY, HOUR = (taken(f"{sign}count(value)", "readings", "objects", "services", since, by="host")
                for sign, since in (("-1000000 * ", "45s"), ("", "1h")))

INFLUXDB = {
    "EbpfSaturated": alarms(
        "slack < 5 AND rate >= 1 AND waits > 0.05", slack=taken("max(value)", "slack", "percent", "slack"), rate=RATE,
        waits=summed("waits", "latency", "^in_(socket|queue|runqueue)$")),
    "EbpfSaturatedSoon": alarms(
        "4 * today - 3 * yesterday < 5 AND yesterday - today > 2 AND today < 50 AND requests > 1.02 * requests_yesterday",
        today=day_of_slack("today", 100),
        yesterday=day_of_slack("yesterday", 0, **OLDER),
        requests=taken("spread(value)", "requests", "total_requests", since="1d"),
        requests_yesterday=taken("spread(value)", "requests_yesterday", "total_requests", **OLDER)),
    "EbpfSlowerThanYesterday": alarms(
        "p99 > 0.1 AND p99 > 3 * yesterday AND rate >= 1", p99=taken("min(value)", "p99", *P99), rate=RATE,
        yesterday=taken("percentile(value, 90)", "yesterday", *P99, "1470m", "1410m")),
    "EbpfErrors": alarms(
        "errors > 5 AND rate >= 1", rate=RATE,
        errors=summed("errors", "percent", "^response-", f"^response-({'|'.join(sorted(NO_ERRORS))})$", "min")),
    "EbpfStuck": alarms(
        "age > 20 AND inside >= 2 AND rate < 0.25 * hour AND hour >= 0.006", rate=RATE,
        age=taken("last(value)", "age", "gauge", "requests_oldest"),
        inside=summed("inside", "gauge", "^requests_(in_progress|waiting)$"),
        hour=taken("spread(value) / 3600", "hour", "total_requests", since="1h")),
    "EbpfConnectionLeak": alarms(
        "open - least > 20 AND steps >= 3",
        open=taken("last(value)", "open", "current_connections", "close_wait"),
        least=taken("min(value)", "least", "current_connections", "close_wait", "1h"),
        steps=taken("1.0 * count(distinct(value))", "steps", "current_connections", "close_wait", "45s")),
    "EbpfCpuThrottled": alarms(
        "throttled > 25 AND rate >= 0.1", rate=RATE,
        throttled=taken("min(value)", "throttled", "percent", "cpu_periods_throttled")),
    "EbpfMemoryLimitNear": alarms(
        "resident > 0.9 * limited AND resident <= limited", resident=taken("min(value)", "resident", "ps_rss"),
        limited=taken("last(value)", "limited", "memory", "limit")),
    "EbpfOomKill": alarms("kills > 0", kills=taken("spread(value)", "kills", "total_events", "oom_kills", "2m")),
    "EbpfDiskSlow": alarms("disk > 0.05 AND rate >= 0.5", disk=taken("min(value)", "disk", "latency", "in_disk"), rate=RATE),
    "EbpfUpstreamSlow": alarms(
        "p90 > 0.25 AND p90 > 3 * fast", BY_CLASS,
        p90=taken("min(value)", "p90", *UPSTREAMS, by=BY_CLASS),
        fast=taken("median(value)", "fast", *UPSTREAMS, "6h", by=BY_CLASS)),
    "EbpfBlind": ";\n".join((
        alarms("hook_set < 1", BY_CLASS,
               hook_set=taken("max(value)", "hook_set", "count", "type_instance =~ /^tier_/", by=BY_CLASS)),
        # Of a host with readings within the hour and none lately.
        f"SELECT readings FROM (SELECT sum(readings) AS readings FROM {HOUR}, {LATELY} GROUP BY host)"
        " WHERE readings > 0 GROUP BY host")),
}
# What a query leaves out of its alert, and why.
LESS = {
    "EbpfDiskSlow": "without the disk's own figures, which have the disk in place of the service",
    "EbpfUpstreamSlow": "compared with the median of 6 hours, and without the service's own figures, which have no upstream",
    "EbpfSaturatedSoon": "without the week before: of a service that is new there is none",
    "EbpfBlind": "only of probes that are off, and of hosts without values for 45 s, since the latest may be on their way",
}

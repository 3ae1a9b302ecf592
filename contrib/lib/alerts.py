# SPDX-License-Identifier: MIT
"""The alerts: what each says, when, and why at that limit. They are of services that answer requests: a batch that takes all
CPUs and disks for minutes raises none unless requests suffer."""

from alert import Alert
from alert_graphite import GRAPHITE
from alert_influxdb import INFLUXDB
from alert_limits import LIMITS
from alert_rules import RULES

# name: title, severity, condition, why
TABLE = {
    "EbpfSaturated": (
        "saturated", "critical",
        "slack < 5 %, and a third of a request's time, at least 50 ms, is a wait for a thread or CPU",
        "half of what people notice; where others take the CPUs, no service has slack, but most answer soon"),
    "EbpfSaturatedSoon": (
        "saturated soon", "warning",
        "slack in the busiest 72 minutes of 24 hours, falling as since the day before, is < 5 % within 3 days; requests grew",
        "short batches are not in it; three days cover a weekend; if a week ago it was as low, it is the weekday"),
    "EbpfSlowerThanYesterday": (
        "slower than yesterday", "warning",
        "p99 > 0.1 s, and > 3 times of this hour yesterday",
        "people notice a tenth of a second; the same hour has the same batches"),
    "EbpfErrors": (
        "errors", "critical",
        "> 5 % of at least 1 response/s are of a class of errors",
        "clients repeat single failures; one of twenty is noticed"),
    "EbpfStuck": (
        "stuck", "critical",
        "≥ 2 requests in the service, the oldest > 20 s; responses < a quarter of the hour's rate",
        "clients give up after 30 s; a single long query delays no other"),
    "EbpfConnectionLeak": (
        "connection leak", "warning",
        "> 20 more in CLOSE_WAIT than within the hour, and rising; or > 20 more connections in 40 s, and fewer requests",
        "a sound service closes at once; clients' pools keep a constant number"),
    "EbpfCpuThrottled": (
        "CPU throttled", "warning",
        "a CPU limit held up > 25 % of the periods of a service that answers requests",
        "a request in such a period waits for up to 0.1 s; bursts end before"),
    "EbpfMemoryLimitNear": (
        "memory limit near", "warning",
        "resident > 90 % of the cgroup's limit",
        "the next growth is a kill; > 100 % counts shared pages twice, and is left out"),
    "EbpfOomKill": (
        "OOM kill", "critical",
        "a process was killed in the last 2 minutes",
        "no kill is normal"),
    "EbpfDiskSlow": (
        "disk slow", "warning",
        "requests wait > 50 ms for disks on average; one of 100 requests of a disk takes > 50 ms",
        "half of what people notice, and five seeks; a batch on a fast disk does not count"),
    "EbpfUpstreamSlow": (
        "upstream slow", "warning",
        "one of 10 requests to it takes > 0.25 s and > 3 times of its fast readings in 6 hours; the service's p99 > 0.25 s",
        "long polls are always slow; what its clients do not see does not count"),
    "EbpfBlind": (
        "plugin blind", "warning",
        "a probe is off, refuses > 1 row/s, misses > 100 events/s or has > 20 % under other; no values for 30 s",
        "then figures are wrong; a sound machine does not lose three readings"),
}
ALERTS = tuple(Alert(name, *words, RULES[name], LIMITS[name], INFLUXDB[name], GRAPHITE[name]) for name, words in TABLE.items())

# SPDX-License-Identifier: MIT
"""The alerts as render targets of Graphite 1.1. A service is in alarm if the last value of its series that is not null is above
0. It is the smallest excess over the limits of the rule, each in its unit. A moving window is of the steps before its own."""

from alert import NO_ERRORS

OF_SERVICES = "collectd.*.ebpf.*"
SERVICE_NODE = 3
RATE = "movingAverage(perSecond(%.total_requests),3)"
P99 = "%.latency.response-percentile-99"
SLACK = "%.percent.slack"
CLOSE_WAIT = "%.current_connections.close_wait"
LEAST = f"movingMin({CLOSE_WAIT},'1h')"
KILLED = "nonNegativeDerivative(%.total_events.oom_kills)"
THROTTLED = "%.percent.cpu_periods_throttled"
SUCCEEDED = f"response-({'|'.join(sorted(NO_ERRORS))})$"
UPSTREAMS = f"{OF_SERVICES}.latency.upstream-*-percentile-90"


def above(series, limit):
    """Above 0 where all of a reading and the two before it are over the limit."""
    return f"offset(minSeries({series},movingMin({series},2)),{-limit:g})"


def below(series, limit):
    return f"offset(scale(maxSeries({series},movingMax({series},2)),-1),{limit:g})"


def exceeds(series, times, other):
    """Above 0 where a series is more than so many times of another one."""
    return f"sumSeries({series},scale({other},{-times:g}))"


def requests(per_second, instead=""):
    """Where there are more requests per second. instead: a series of services that may have no requests"""
    rate = f"fallbackSeries({RATE},scale({instead},0))" if instead else RATE
    return f"offset({rate},{-per_second:g})"


def of_each(series, *conditions, node=SERVICE_NODE):
    """The query. series: that a service needs; conditions: each above 0 where it is true, with % for the service's path"""
    return f'applyByNode({series},{node},"minSeries({",".join(map(without_nulls, conditions))})","%")'


def without_nulls(condition):
    """False where there is no value for more than two steps: a minimum leaves nulls out. A newer value may be on its way."""
    return f"transformNull(keepLastValue({condition},2),-1)"


def day(series, before=False):
    """What slack falls below in 72 minutes of a day. The request must be of 24 hours."""
    return f"nPercentile(timeShift({series},'1d'),5)" if before else f"nPercentile({series},5)"


GRAPHITE = {
    "EbpfSaturated": of_each(
        f"{OF_SERVICES}.percent.slack", below(SLACK, 5), requests(1),
        "offset(sumSeries(%.latency.in_socket,%.latency.in_queue,%.latency.in_runqueue),-0.05)"),
    "EbpfSaturatedSoon": of_each(
        f"{OF_SERVICES}.percent.slack",
        f"offset(sumSeries(scale({day(SLACK)},-4),scale({day(SLACK, True)},3)),5)",
        f"offset(sumSeries({day(SLACK, True)},scale({day(SLACK)},-1)),-2)",
        f"offset(scale({day(SLACK)},-1),50)"),
    "EbpfSlowerThanYesterday": of_each(
        f"{OF_SERVICES}.latency.response-percentile-99", above(P99, 0.1), requests(1),
        f"offset(divideSeries({P99},movingAverage(timeShift({P99},'1d'),'1h')),-3)"),
    "EbpfErrors": of_each(
        f"exclude({OF_SERVICES}.percent.response-*,'{SUCCEEDED}')",
        above(f"sumSeries(exclude(%.percent.response-*,'{SUCCEEDED}'))", 5), requests(1)),
    "EbpfStuck": of_each(
        f"{OF_SERVICES}.gauge.requests_oldest", "offset(%.gauge.requests_oldest,-20)",
        "offset(sumSeries(%.gauge.requests_in_progress,%.gauge.requests_waiting),-1.9)",
        exceeds("movingAverage(perSecond(%.total_requests),'1h')", 4, RATE)),
    "EbpfConnectionLeak": of_each(
        f"{OF_SERVICES}.current_connections.close_wait", f"offset({exceeds(CLOSE_WAIT, 1, LEAST)},-20)",
        f"minSeries(derivative({CLOSE_WAIT}),movingMin(derivative({CLOSE_WAIT}),1))"),
    "EbpfCpuThrottled": of_each(
        f"{OF_SERVICES}.percent.cpu_periods_throttled", above(THROTTLED, 25), requests(0.1, THROTTLED)),
    "EbpfMemoryLimitNear": of_each(
        f"{OF_SERVICES}.memory.limit", above("divideSeries(%.ps_rss,%.memory.limit)", 0.9),
        below("divideSeries(%.ps_rss,%.memory.limit)", 1.0001)),
    "EbpfOomKill": of_each(
        f"{OF_SERVICES}.total_events.oom_kills", f"maxSeries({KILLED},movingSum({KILLED},11))"),
    "EbpfDiskSlow": of_each(f"{OF_SERVICES}.latency.in_disk", above("%.latency.in_disk", 0.05), requests(0.5)),
    "EbpfUpstreamSlow": of_each(
        UPSTREAMS, above("%", 0.25), exceeds("%", 3, "movingMedian(%,'5h')"), node=5),
    "EbpfBlind": "group(" + ",".join((
        of_each("collectd.*.ebpf.self.count.tier_*", below("%", 1), node=5),
        "offset(scale(movingSum(isNonNull(collectd.*.ebpf.self.objects.services),3),-1),0.5)")) + ")",
}
# What a query leaves out of its alert, and why.
LESS = {
    "EbpfDiskSlow": "without the disk's own figures, which have the disk in place of the service in their paths",
    "EbpfUpstreamSlow": "without the service's own figures, which have another path",
    "EbpfSaturatedSoon": "without the week before and the requests; the request must be of 24 hours",
    "EbpfBlind": "only of probes that are off, and of hosts without values",
    "EbpfSlowerThanYesterday": "yesterday's values are those of minutes, so the alarm may come after more than 60 s",
}
FROM = {"EbpfSaturatedSoon": "-24h"}

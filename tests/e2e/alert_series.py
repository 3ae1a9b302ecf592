# SPDX-License-Identifier: MIT
"""Series in promtool's notation on which alerts fire, and others on which none may. A fault begins after 400 s of sound load,
with readings each 10 s."""

import dataclasses
import re

BEFORE, AFTER = 40, 20      # readings
BEGINS = 10 * BEFORE        # s
OF_WEB = {"instance": "h", "service": "web"}
PAGES = {
    "service": lambda labels: (f"/d/ebpf-service-prometheus?var-host=h&var-service={labels['service']}",
                               f"services/h/{labels['service']}.html"),
    "machine": lambda labels: ("/d/ebpf-machine-prometheus?var-host=h", "hosts/h.html"),
    "plugin": lambda labels: ("/d/ebpf-plugin-prometheus?var-host=h", "services/h/self.html")}
IN_CPU = "Largest part of a request's time: cpu, 10ms."


@dataclasses.dataclass(frozen=True)
class AlertFault:
    """series: {name: values} in addition to those of a sound service; the alert's labels and texts."""
    changed: dict
    summary: str
    cause: str = IN_CPU
    labels: dict = dataclasses.field(default_factory=lambda: OF_WEB)
    interval: int = 10      # s between readings
    step: int = 5           # s between evaluations
    begins: int = BEGINS    # s
    fires: int = BEGINS + 30

    @property
    def series(self):
        return {**(sound() if self.interval == 10 and self.begins == BEGINS else {}), **self.changed}


def web(name, **labels):
    """A series of the service."""
    text = ", ".join(f'{key}="{value}"' for key, value in {**OF_WEB, **labels}.items())
    return f"ebpf_{name}{{{text}}}"


def constant(value, count=BEFORE + AFTER):
    return f"{value}x{count - 1}"


def counter(per_second, seconds=10, count=BEFORE + AFTER):
    return f"0+{per_second * seconds:g}x{count - 1}"


def then(before, fault):
    """A gauge before the fault, and with it."""
    return f"{constant(before, BEFORE)} {constant(fault, AFTER)}"


def growing(per_reading, before=0):
    """A gauge or counter that grows from the fault on."""
    return f"{constant(before, BEFORE)} {before + per_reading}+{per_reading}x{AFTER - 1}"


def halting(per_second):
    """A counter that stands still from the fault on."""
    return f"{counter(per_second, count=BEFORE)} {constant(10 * per_second * (BEFORE - 1), AFTER)}"


RATE, SLACK, P99, OLDEST = web("requests_total"), web("slack_percent"), web("response_seconds", quantile="0.99"), \
    web("oldest_request_seconds")
IN_PROGRESS, WAITING, CLOSE_WAIT, OPEN = (
    web(name) for name in ("requests_in_progress", "requests_waiting", "connections_close_wait", "connections"))
FAILED, THROTTLED = web("responses_percent", **{"class": "5xx"}), web("cpu_periods_throttled_percent")
RESIDENT, LIMIT, KILLS = web("resident_bytes"), web("memory_limit_bytes"), web("oom_kills_total")
UPSTREAM, TO_UPSTREAM = (web("upstream_response_seconds", quantile="0.9", upstream="10.0.0.5:80"),
                         web("upstream_requests_total", upstream="10.0.0.5:80"))
DISK = 'ebpf_disk_service_seconds{instance="h", device="sda", operation="read", quantile="0.99"}'
HOOKS = 'ebpf_plugin_hook_set{instance="h", probe="request"}'
SERVICES = 'ebpf_plugin_services{instance="h"}'


def in_part(name):
    return web("request_time_seconds", part=name)


def sound():
    """A service with 20 requests per second, on a machine without a fault."""
    return {RATE: counter(20), SLACK: constant(70), P99: constant(0.03), in_part("cpu"): constant(0.01),
            in_part("socket"): constant(0.0001), in_part("disk"): constant(0.001), OLDEST: constant(0.1),
            IN_PROGRESS: constant(0.3), WAITING: constant(0.1), CLOSE_WAIT: constant(15), OPEN: constant(200),
            FAILED: constant(0.2), THROTTLED: constant(0), RESIDENT: constant(50e6), LIMIT: constant(100e6), KILLS: constant(0),
            UPSTREAM: constant(0.02), TO_UPSTREAM: counter(20), DISK: constant(0.004), HOOKS: constant(1),
            SERVICES: constant(7), 'up{instance="127.0.0.1:9103", job="collectd"}': constant(1)}


# {series: (subject, type and instance) at collectd}
COLLECTD = {
    RATE: ("web", "total_requests"), SLACK: ("web", "percent-slack"), P99: ("web", "latency-response-percentile-99"),
    OLDEST: ("web", "gauge-requests_oldest"), IN_PROGRESS: ("web", "gauge-requests_in_progress"),
    WAITING: ("web", "gauge-requests_waiting"), CLOSE_WAIT: ("web", "current_connections-close_wait"),
    FAILED: ("web", "percent-response-5xx"), THROTTLED: ("web", "percent-cpu_periods_throttled"), RESIDENT: ("web", "ps_rss"),
    LIMIT: ("web", "memory-limit"), KILLS: ("web", "total_events-oom_kills"),
    UPSTREAM: ("web", "latency-upstream-10.0.0.5:80-percentile-90"), HOOKS: ("self", "count-tier_request"),
    SERVICES: ("self", "objects-services"),
    'ebpf_cpu_periods_throttled_percent{instance="h", service="backup"}': ("backup", "percent-cpu_periods_throttled"),
    'ebpf_resident_bytes{instance="h", service="backup"}': ("backup", "ps_rss"),
    'ebpf_memory_limit_bytes{instance="h", service="backup"}': ("backup", "memory-limit"),
    **{in_part(name): ("web", f"latency-in_{name}") for name in ("socket", "runqueue", "disk")}}


def numbers(values):
    """Those of promtool's notation."""
    for word in values.split():
        value, step, times = re.fullmatch(r"([-0-9.e]+?(?:e\+\d+)?)(?:\+([-0-9.e+]+))?(?:x(\d+))?", word).groups()
        yield from (float(value) + float(step or 0) * count for count in range(int(times or 0) + 1))


DAY = 288                   # readings, one each five minutes
DAYS = {SLACK: f"{constant(60, DAY)} {constant(40, DAY + 1)}",
        RATE: f"{counter(20, 300, DAY)} {20 * 300 * DAY}+{30 * 300}x{DAY}", in_part("cpu"): constant(0.01, 2 * DAY + 1)}
HOURS_24 = 24 * 360         # readings
YESTERDAY = {P99: f"{constant(0.1, HOURS_24)} {constant(0.5, 64)}", RATE: counter(20, count=HOURS_24 + 64),
             in_part("lock"): constant(0.4, HOURS_24 + 64)}

FAULTS = {
    "EbpfSaturated": AlertFault(
        {SLACK: then(70, 0.002489), in_part("socket"): then(0.0001, 0.213575)}, "web on h is saturated: slack 0.0 %",
        "Largest part of a request's time: socket, 214ms."),
    "EbpfSaturatedSoon": AlertFault(
        DAYS, "web on h will be saturated in 1.8 days if it grows as today", interval=300, step=600, begins=DAY * 300,
        fires=2 * DAY * 300),
    "EbpfSlowerThanYesterday": AlertFault(
        YESTERDAY, "web on h is slow: one of 100 requests takes over 500ms, more than three times of this hour yesterday",
        "Largest part of a request's time: lock, 400ms.", step=300, begins=HOURS_24 * 10, fires=HOURS_24 * 10 + 610),
    "EbpfErrors": AlertFault(
        {FAILED: then(0.2, 32.489)}, "web on h fails: 32.5 % of its responses are errors", "Most frequent: 5xx, 32.5 %. " + IN_CPU),
    "EbpfStuck": AlertFault(
        {RATE: halting(20), OLDEST: f"{constant(0.1, BEFORE)} 5+10x{AFTER - 1}", IN_PROGRESS: then(0.3, 4),
         web("waiting_threads", part="lock"): then(0, 4)},
        "web on h is stuck: its oldest request has waited for 45s", "Its threads mostly wait for: lock (4.0 threads).",
        fires=BEGINS + 40),
    "EbpfConnectionLeak": AlertFault(
        {CLOSE_WAIT: growing(30, 15)}, "web on h leaks connections: 120 more than before",
        "In CLOSE_WAIT, closed by the other side only: 135. " + IN_CPU),
    "EbpfCpuThrottled": AlertFault(
        {THROTTLED: then(0, 80.2489), web("cpu_limit_percent"): constant(1600)},
        "web on h is throttled in 80.2 % of the periods of its CPU limit", "Limit: 1600 % of one CPU. " + IN_CPU),
    "EbpfMemoryLimitNear": AlertFault(
        {RESIDENT: then(50e6, 95123456)}, "web on h has used 95.1% of its memory limit", "Limit: 95.37MiB. " + IN_CPU),
    "EbpfOomKill": AlertFault(
        {KILLS: then(0, 1), RESIDENT: then(50e6, 1048576)}, "web on h: the kernel has killed a process for lack of memory",
        "Memory limit of the service: 95.37MiB. Resident now: 1MiB."),
    "EbpfDiskSlow": AlertFault(
        {in_part("disk"): then(0.001, 0.3), DISK: then(0.004, 0.4),
         'ebpf_disk_read_bytes_total{instance="h", service="backup"}': counter(1048576),
         'ebpf_disk_written_bytes_total{instance="h", service="backup"}': counter(0)},
        "web on h waits 300ms of a request for a slow disk",
        "Most disk traffic: backup, 1MiB/s. Slowest disk: sda, 400ms for one of 100 requests.",
        {**OF_WEB, "part": "disk"}),
    "EbpfUpstreamSlow": AlertFault(
        {UPSTREAM: then(0.02, 0.8), P99: then(0.03, 0.9), in_part("upstream"): then(0.015, 0.7)},
        "10.0.0.5:80, an upstream of web on h, takes 800ms for one of ten requests",
        "Largest part of a request's time: upstream, 700ms.",
        {**OF_WEB, "upstream": "10.0.0.5:80", "quantile": "0.9"}),
    "EbpfBlind": AlertFault(
        {HOOKS: then(1, 0)}, "ebpf plugin on h, probe request: a probe is off (0)",
        "See collectd's log, which has the reason and the remedy, and /usr/share/doc/collectd-ebpf/troubleshooting.md.",
        {"instance": "h", "probe": "request", "reason": "a probe is off"}),
}


def batch():
    """A batch that reads much and uses all CPUs, and answers no requests. The service is slower, and hurts nobody."""
    others = {f'ebpf_{name}{{instance="h", service="backup"}}': values for name, values in (
        ("cpu_periods_throttled_percent", constant(95)), ("resident_bytes", constant(300e6)),
        ("memory_limit_bytes", constant(200e6)), ("disk_read_bytes_total", counter(2e8)),
        ("disk_written_bytes_total", counter(1e8)))}
    return {**sound(), **others, SLACK: then(70, 15), in_part("runqueue"): then(0.0001, 0.02), P99: then(0.03, 0.09),
            DISK: then(0.004, 0.9), in_part("disk"): then(0.001, 0.02)}


def bursts(quiet, burst):
    """One reading of six is of a burst."""
    return " ".join([f"{constant(quiet, 5)} {burst}"] * 10)


def bursty():
    return {**sound(), SLACK: bursts(70, 0), in_part("socket"): bursts(0.0001, 0.1), P99: bursts(0.03, 2),
            FAILED: bursts(0, 50), THROTTLED: bursts(0, 90), CLOSE_WAIT: bursts(0, 60), OPEN: bursts(100, 500),
            in_part("disk"): bursts(0.001, 0.3), DISK: bursts(0.004, 0.5), UPSTREAM: bursts(0.02, 1), OLDEST: bursts(0.1, 2)}


def report():
    """A long query alone, of a client that has the database for itself: its thread has no slack, and nobody waits."""
    return {**sound(), RATE: counter(2), SLACK: constant(1), P99: constant(0.09), OLDEST: f"0+10x{BEFORE + AFTER - 1}",
            IN_PROGRESS: constant(1), WAITING: constant(0), in_part("disk"): constant(0.03)}


def idle():
    """A service without requests, and with what was left over."""
    return {**sound(), RATE: constant(0), FAILED: constant(100), SLACK: constant(0)}


def without_waits():
    """Requests that no longer wait for disks have no such part."""
    return {**sound(), in_part("disk"): constant(0.3, 20)}


MINUTES = tuple(range(60, 10 * (BEFORE + AFTER), 60))
SOUND = {
    "sound load": (sound(), 10, 5, MINUTES),
    "bursts": (bursty(), 10, 5, MINUTES),
    "a batch": (batch(), 10, 5, MINUTES),
    "a report": (report(), 10, 5, MINUTES),
    "no requests": (idle(), 10, 5, MINUTES),
    "waits that ended": (without_waits(), 10, 5, MINUTES[5:]),
    "two equal days": ({SLACK: constant(20, 2 * DAY + 1), RATE: counter(20, 300, 2 * DAY + 1)}, 300, 600, (2 * DAY * 300,)),
    "a backup in the night": ({SLACK: f"{constant(60, 2 * DAY - 20)} {constant(5, 10)} {constant(60, 11)}",
                               RATE: counter(20, 300, 2 * DAY + 1)}, 300, 600, (2 * DAY * 300,)),
    "yesterday was as slow": ({P99: constant(0.5, HOURS_24 + 64), RATE: counter(20, count=HOURS_24 + 64)}, 10, 300,
                              (10 * HOURS_24 + 610,)),
}

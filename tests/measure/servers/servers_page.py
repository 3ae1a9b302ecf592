# SPDX-License-Identifier: MIT
"""docs/measured/servers.md, and the rows of docs/measured.md."""

import math

import rows

P50, WAY_S, IDLE, FULL = 0.10, 50e-6, 90, 15
NEAR = f"{100 * P50:.0f} % plus {1e6 * WAY_S:.0f} us"

HEAD = f"""\
<!-- SPDX-License-Identifier: MIT -->

# Real servers and their clients

`make measure PARTS=servers` writes this page. It runs servers of Debian with their own clients, or with a small client of this
project, and compares what the probe `request` dispatches with what the client says. [measured.md](../measured.md) has what is
wanted. Some protocols need exchanges in addition to their requests, for example for a login: `collectd-ebpf(5)` explains them.

The server has one CPU; its client and collectd have the others. Each run has three steps:

1. 4 connections send 40 requests in two seconds. What is counted beyond these is "per connection", or "per run" if the client
   does it once, such as pgbench's check of its tables. Another run with 2 connections distinguishes the two. `percent-slack`
   of this step is "slack, idle", with its two parts. Other programs on the server's CPU lower the slack of CPUs.
2. As many requests are sent as are answered: "slack, full". One CPU for the client does not saturate the fastest servers.
3. About a third of that rate is sent, at most 3,000 requests per second. "Sent" is what the client says, "counted" the growth
   of `total_requests`, "expected" what was sent and what connections and run add.

The client's times are from its request to its response. The plugin's are `latency-response-percentile-50` and `-99`, the
median of readings each second. The client's contain its own time and the way there and back, which is most of it if a server
needs about ten microseconds. So the plugin's median is wanted within {NEAR} of the client's. A WebSocket is full
duplex after its Upgrade: counted is the sum of `total_requests` and `total_requests-full_duplex`, and there is no latency.
"""
HEADS = ("server", "protocol", "package", "client", "per connection", "per run", "connections", "sent", "expected", "counted",
         "p50, client", "p50, plugin",
         "p99, client", "p99, plugin", "requests/s, full", "slack, idle", "idle, of threads", "idle, of CPUs", "slack, full")


def time_text(seconds):
    return "-" if seconds != seconds else f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} us"


def share_text(percent):
    return "-" if percent != percent else f"{percent:.0f} %"


def line(entry, result):
    start = [entry.name, entry.protocol, entry.package, entry.client.name]
    if isinstance(result, str):
        return [*start, result, *("-" for _ in HEADS[5:])]
    return [*start, f"{result.connection:+g}", f"{result.run:+g}", f"{result.connections}", f"{result.sent:,}",
            f"{result.expected:,}", f"{result.counted:,}",
            *(time_text(value) for pair in zip(result.client, result.ours) for value in pair), f"{result.full_rate:,.0f}",
            share_text(result.slack_idle), *map(share_text, result.idle_parts), share_text(result.slack_full)]


def beside(ours, client):
    return f"{time_text(ours)}, {100 * (ours / client - 1 if client else math.nan):+.0f} %"


def judged(what, got, wanted, good):
    rows.add(what, got, wanted, rows.judge(good))


def add_rows(name, result):
    if isinstance(result, str):
        rows.add(f"{name}: counted", result)
        return
    added = f"{result.connection:+g} for each of {result.connections} connections, {result.run:+g} for all"
    judged(f"{name}: counted", f"{result.counted:,} of {result.sent:,} sent, {added}", f"{result.expected:,}",
           result.counted == result.expected)
    (p50, p99), (client_p50, client_p99) = result.ours, result.client
    if p50 == p50:
        judged(f"{name}: p50 of responses", beside(p50, client_p50), f"{time_text(client_p50)} within {NEAR}",
               abs(p50 - client_p50) <= P50 * client_p50 + WAY_S)
        rows.add(f"{name}: p99 of responses", beside(p99, client_p99), f"{time_text(client_p99)}, at the client")
    judged(f"{name}: slack, idle", share_text(result.slack_idle), f"at least {IDLE} %", result.slack_idle >= IDLE)
    judged(f"{name}: slack, full load", share_text(result.slack_full), f"at most {FULL} %", result.slack_full <= FULL)
    for complaint in result.complaints:
        rows.add(f"{name}: message of collectd", complaint)


def report(results):
    """results: {name: (entry, Result or a text why there is none)}"""
    for name, (_, result) in results.items():
        add_rows(name, result)
    with rows.page("servers.md"):
        print(HEAD)
        for cells in (HEADS, ["---" for _ in HEADS], *(line(entry, result) for entry, result in results.values())):
            print("| " + " | ".join(cells) + " |")

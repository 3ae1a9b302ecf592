# SPDX-License-Identifier: MIT
"""docs/servers.md, and the rows of docs/measured.md."""

import rows

P50, IDLE, FULL = 0.10, 90, 15

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# Real servers and their clients

Written by `make measure PARTS=servers`, which runs servers of Debian with their own clients, or with a small one of ours, and
compares what the probe request dispatches with what the client says. [measured.md](measured.md) has what is wanted.

A server has one CPU, its client and collectd have the others. First 4 connections send 40 requests in two seconds: what is
counted beyond these, by connection, is what the protocol adds ("per connection"), and `percent-slack` then is "idle". Then as
many requests as are answered: slack "full". A client on one CPU does not saturate the fastest servers. Then about a third of
that rate, at most 3,000 requests a second: "sent" is what the client says, "counted" the growth of `total_requests`, "expected"
sent with what the connections add. Client's times are from its request to the response; ours are `latency-response-percentile-50` and
`-99`, the median of readings each second, so that they are without the client's own time and the way to it.
"""
HEADS = ("server", "protocol", "package", "client", "per connection", "per run", "connections", "sent", "expected", "counted", "p50, client", "p50, ours",
         "p99, client", "p99, ours", "requests/s, full", "slack, idle", "slack, full")


def time_text(seconds):
    return "-" if seconds != seconds else f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} us"


def share_text(percent):
    return "-" if percent != percent else f"{percent:.0f} %"


def line(entry, result):
    start = [entry.name, entry.protocol, entry.package, entry.client.name]
    if isinstance(result, str):
        return [*start, result, *("-" for _ in HEADS[5:])]
    return [*start, f"{result.connection:+g}", f"{result.run:+g}", f"{result.connections}", f"{result.sent:,}", f"{result.expected:,}", f"{result.counted:,}",
            *(time_text(value) for pair in zip(result.client, result.ours) for value in pair), f"{result.full_rate:,.0f}",
            share_text(result.slack_idle), share_text(result.slack_full)]


def judged(what, got, wanted, good):
    rows.add(what, got, wanted, rows.judge(good))


def add_rows(name, result):
    if isinstance(result, str):
        rows.add(f"{name}: counted", result)
        return
    judged(f"{name}: counted", f"{result.counted:,} of {result.sent:,} sent, {result.connection:+g} for each of {result.connections} connections, {result.run:+g} for all",
           f"{result.expected:,}", result.counted == result.expected)
    client, ours = result.client[0], result.ours[0]
    judged(f"{name}: p50 of responses", f"{time_text(ours)}, {ours / client - 1:+.0%}", f"{time_text(client)} within {P50:.0%}",
           abs(ours / client - 1) <= P50)
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

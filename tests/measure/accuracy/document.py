# SPDX-License-Identifier: MIT
"""Results as a document in Markdown."""

import math

import graph
from analysis import ABOVE, CAPABLE, MIDDLE, PERCENTILES, PREDICTS, RISEN, SCARCE, UNSENT
from rows import page, page_path

# Table II of the paper: R^2 of RPS_obsv without and with 10 ms of delay and 1 % of loss.
PAPER = {
    "TailBench xapian": ("0.9976", "0.9964"),
    "TailBench silo": ("0.9998", "0.9986"),
    "CloudSuite Data Caching": ("0.9995", "0.9989"),
    "CloudSuite Web Search": ("0.8642", "0.8573"),
    "Triton w/ HTTP": ("0.9976", "0.9981"),
    "Triton w/ gRPC": ("0.9711", "0.9703"),
}

FIGURES = {
    "percent-slack": "slack, %",
    "percent-slack_threads": "of threads",
    "percent-slack_cpus": "of CPUs",
    "percent-poll_idle": "poll idle, %",
    "gauge-requests_waiting": "waiting",
    "gauge-requests_in_progress": "in progress",
}

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# What the probe request sees

Written by `make measure PARTS=evidence`, which runs real services under rising load, lets collectd with this plugin store what
the kernel counted in RRD files, and compares what is read back with what the client counted. The server has one CPU, its
client and collectd have the others. 100 % is what this CPU has time for; the load is open loop (requests are sent when
they are due, whether or not others are answered). Arrivals are at random moments, one request at a time (poisson) or
16 at once (bursty). What is wanted of all this, and what was got, is in [measured.md](../measured.md).

In a build directory, `tests/measure/accuracy/run redis nginx` measures these two again, with `--network 'delay 10ms loss 1%'`
in such a network where the kernel has netem, with `--vm 6.12` under that kernel, in an emulated machine, with `--all-levels`
it shows the levels of all services. The emulated machine's clock goes by what its one CPU does, which server, client and
collectd share: there 100 % is what is answered on loopback when there are always requests.
"""
REQUESTS = """\
## Requests

R² is that of the straight line through all levels, against the rate of responses that the client has counted: of
RPS_obsv (equation 1 of the paper, `gauge-send_gap-frequency`) over the same windows, and of exchanges
(`total_requests`) over the whole level. The paper's figures are of its machines, for the service that is nearest. The
error of exchanges is the largest of all levels.
"""
SATURATION = f"""\
## Saturation

The level from which on each signal shows it, to the last; -: not at all. The client's knee: its median or its
p99, from the moment when a request was due, is more than {RISEN} times what is usual, or more than {UNSENT:.0%} of the
requests due found no free connection. Usual is the median of the levels up to {MIDDLE:.0%}. Slack is `percent-slack`,
waiting `gauge-requests_waiting`, which is compared with the number of requests that arrive at once. Poll idle
(`percent-poll_idle`) is the share of time in which the threads that poll wait for events; -, too, where none polls. Wait and
response rise to more than {RISEN} times what is usual.

Saturation is shown where slack falls below {SCARCE} %, or waiting rises above that number, within one level of the knee.
"""
CAPACITY = f"""\
## Capacity

`gauge-request_capacity` at {PREDICTS:.0%} of the load, against the maximum: requests per second of the service's
CPU time when there are always requests. The service has one CPU, which is what limits it. Beside it stands what was
answered at most, by the clock, at any level. The CPU time per request is `gauge-request_cpu`. It depends on the load: a
thread that finds the next request waiting needs no wake-up for it, nor do its caches grow cold meanwhile. Below stands where
the error is more than {CAPABLE:.0%}, and the cost where most is answered foretells the maximum.
"""
TRUTH = f"""\
## Percentiles

Error against the service's own log of each request, over the same readings; a histogram's bucket is up to 6 % wide.
-: there are fewer than {ABOVE} requests above it in a second.
"""
CLIENTS = """\
The response time that the probe sees (from data that arrived to the last send) divided by that of the client, median
of the levels up to the middle. The rest is the client's own time and the network.
"""
LEVELS = """\
## Levels

The figures at each level. Waiting and in progress are averages over the time of the level; beside them
stands how many requests were on their way on average as the client has it, from sending to the response's last byte.
"""
DISTURBANCE = """\
## Delay and loss

Without → with them, under the same kernel: medians of the levels up to the middle. The delay is that of each packet,
on both ways, and what is lost is sent again: the client's latencies are then the network's. Clients have four times as many
connections with them as without, but those of services that have a process for each.
"""
# An event loop, a thread pool, a process for each connection.
SHOWN = "redis", "java", "apache-prefork"


def number(value, digits=4):
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def percent(value):
    return "-" if value is None or math.isnan(value) else f"{value:.1%}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def paper(run):
    figures = PAPER.get(run.like)
    return f"{figures[run.network != 'loopback']} ({run.like})" if figures else "-"


def requests(runs):
    rows = [[run.name, run.title, run.where, f"{run.most:,.0f}/s", f"{run.r2_observed:.5f}", paper(run),
             f"{run.r2_exchanges:.6f}", f"{run.missed:.4%}"]
            for run in runs]
    return table(["service", "what it is", "where", "maximum", "R² of RPS_obsv", "in the paper", "R² of exchanges",
                  "largest error of exchanges"], rows)


def saturation(runs):
    def where(level):
        return "-" if level is None else f"{level.share:.0%}"

    def recognized(run):
        return "-" if not run.telling else "yes" if run.recognized else "no"

    rows = [[run.name, run.where, where(run.knee), *(where(level) for level in run.signals.values()), recognized(run)]
            for run in runs]
    return table(["service", "where", "client's knee", *runs[0].signals, "shown"], rows)


def why(runs):
    """The reasons of those that have one."""
    reasons = [f"- {run.name}, {run.arrivals}: {run.capacity_reason}\n" for run in runs if run.capacity_reason]
    return "\n" + "".join(reasons) if reasons else ""


def capacity(runs):
    runs = [run for run in runs if run.telling]
    rows = [[run.name, run.where, number(1e6 * run.cost), number(1e6 * run.busiest.figure("gauge-request_cpu")),
             number(run.predicted), f"{run.most:,.0f}", f"{max(level.whole_rate for level in run.levels):,.0f}",
             percent(run.capacity_error)] for run in runs]
    return table(["service", "where", f"CPU time per request at {PREDICTS:.0%}, us", "where most is answered, us",
                  "predicted, requests/s", "maximum", "answered at most", "error"], rows) + why(runs) if rows else ""


def truth(runs):
    """In-service percentiles, where the service keeps a log."""
    rows = []
    for run in runs:
        for level in run.levels:
            if level.server:
                rows.append([run.name, run.where, f"{level.share:.0%}",
                             *(percent(level.error(metric, column, p)) for metric, column in
                               (("service_first", 1), ("service", 2)) for p in PERCENTILES)])
    return table(["service", "where", "load", *(f"{what} {p}" for what in ("first send", "last send")
                                                for p in PERCENTILES)], rows) if rows else ""


def clients(runs):
    """The response time as the probe sees it, by that of the client."""
    rows = [[run.name, run.where, *(f"{run.beside_client(p):.2f}" for p in PERCENTILES)] for run in runs]
    return table(["service", "where", *PERCENTILES], rows)


def disturbance(runs):
    """Of the same service and kernel, without delay and loss and with them."""
    rows = []
    plain = {(run.name, run.kernel, run.arrivals): run for run in runs if run.network == "loopback"}
    for run in runs:
        other = plain.get((run.name, run.kernel, run.arrivals))
        if run.network == "loopback" or not other:
            continue

        def both(figure, before=other, after=run):
            return f"{number(before.usual(figure), 3)} → {number(after.usual(figure), 3)}"

        rows.append([run.name, run.where, both(lambda level: 1e3 * level.said("latency", "p99")),
                     both(lambda level: 1e3 * level.percentile("service", "p99")),
                     both(lambda level: level.figure("percent-slack")), both(lambda level: level.gap("cv")),
                     f"{other.r2_observed:.5f} → {run.r2_observed:.5f}"])
    return table(["service", "where", "client's p99, ms", "service time's p99, ms", "slack, %", "cv of gaps",
                  "R² of RPS_obsv"], rows) if rows else ""


def levels(run):
    rows = []
    for level in run.levels:
        rows.append([f"{level.share:.0%}", f"{level.offered:,.0f}", f"{level.expected:,}", f"{level.exchanges:,.0f}",
                     number(level.rate), number(level.gap("frequency")), f"{level.gap('variance'):.3g}",
                     number(level.gap("cv"), 3),
                     *(number(level.figure(metric), 3) for metric in FIGURES), number(level.concurrency, 3),
                     *(number(1e6 * level.percentile(metric, p)) for metric in ("wait", "response")
                       for p in ("p50", "p99")),
                     *(number(1e6 * level.said("latency", p)) for p in ("p50", "p99"))])
    return table(["load", "offered/s", "answered", "exchanges", "answered/s", "RPS_obsv", "variance of gaps, s²", "cv",
                  *FIGURES.values(), "at the client", "wait p50, us", "p99", "response p50, us", "p99",
                  "client p50, us", "p99"], rows)


def pictures(run):
    """As text that shows them."""
    where = "" if run.network == "loopback" else "-netem"
    where += "" if run.arrivals == "poisson" else f"-{run.arrivals}"
    names = []
    for draw in (graph.saturation, graph.variance):
        names.append(f"pictures/evidence/{run.name}-{run.kernel_series}{where}-{draw.__name__}.png")
        draw(run, page_path(names[-1]))
    return "".join(f"![{run.title}](../{name})\n" for name in names)


def write(runs, all_levels):
    """docs/measured/evidence.md and its pictures."""
    parts = [HEAD, REQUESTS, requests(runs), SATURATION, saturation(runs), CAPACITY, capacity(runs), TRUTH, truth(runs),
             CLIENTS, clients(runs)]
    if any(run.network != "loopback" for run in runs):
        parts += [DISTURBANCE, disturbance(runs)]
    parts.append(LEVELS)
    for run in runs:
        if all_levels or run.name in SHOWN:
            parts += [f"### {run.title}, {run.where}\n", pictures(run), levels(run)]
    with page("evidence.md"):
        print("\n".join(parts), end="")

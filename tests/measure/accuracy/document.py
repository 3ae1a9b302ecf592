# SPDX-License-Identifier: MIT
"""Results as a document in Markdown."""

import csv
import math
import os

import graph
from analysis import ABOVE, CAPABLE, MIDDLE, PERCENTILES, PREDICTS, RISEN, UNSENT
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
    "percent-slack_threads": "slack of threads, %",
    "percent-slack_cpus": "slack of CPUs, %",
    "percent-poll_idle": "poll idle, %",
    "gauge-requests_waiting": "waiting",
    "gauge-requests_in_progress": "in progress",
}
LEVELS_CSV = "evidence-levels.csv"


def share(value, digits=0):
    return f"{100 * value:.{digits}f} %"


HEAD = f"""\
<!-- SPDX-License-Identifier: MIT -->

# How accurate the request metrics are

`make measure PARTS=evidence` writes this page. It runs real services under rising load. collectd stores in RRD files what the
probe `request` counts, and this is compared with what the client counts. [measured.md](../measured.md) has what is wanted of the
figures.

The server has one CPU; its client and collectd have the others. 100 % of the load is what this CPU can answer. The load is open
loop: requests are sent when they are due, even if others are not answered yet. They arrive at random moments, one at a time
(poisson) or 16 at once (bursty).

In a build directory, `tests/measure/accuracy/run redis nginx` measures only these two services. With

- `--network 'delay 10ms loss 1%'`, packets are delayed and lost, if the kernel has netem;
- `--vm 6.12`, all runs under this kernel, in an emulated machine. Its clock advances with the work of its one CPU, which server,
  client and collectd share. There 100 % is what is answered on loopback when there are always requests;
- `--all-pictures`, all services have pictures.

[{LEVELS_CSV}]({LEVELS_CSV}) has the figures of each level of the load, of {{services}}.
"""
REQUESTS = """\
## Requests

R² is that of the straight line through all levels, against the rate of responses that the client counts. That of RPS_obsv
(equation 1 of the paper, `gauge-send_gap-frequency`) is over the same windows, that of exchanges (`total_requests`) over the
whole level. The paper measured other machines; its figure is that of the most similar service. The last column has the largest
error of all levels.
"""
SATURATION = f"""\
## Saturation

For each signal the table has the level from which it shows saturation, at this and all higher levels. "-" means that it does not.

- The client's knee: the client's median or p99, from the moment when a request was due, is more than {RISEN} times the usual
  value, or more than {share(UNSENT)} of the requests due find no free connection. The usual value is the median of the levels
  up to {share(MIDDLE)}.
- Slack is `percent-slack`.
- Waiting is `gauge-requests_waiting`, against the number of requests that arrive at once.
- Poll idle is `percent-poll_idle`, the share of time in which polling threads wait for events. "-" also means that no thread
  polls.
- Wait and response: the median is more than {RISEN} times the usual value.
"""
CAPACITY = f"""\
## Capacity

`gauge-request_capacity` at {share(PREDICTS)} of the load predicts the maximum: the requests per second of the service's CPU time
when there are always requests. The service has one CPU, which limits it. "Answered at most" is the highest rate of any level.

The CPU time per request, `gauge-request_cpu`, depends on the load: under high load a thread finds the next request waiting, needs
no wake-up for it, and its caches stay warm. If the error is more than {share(CAPABLE)} and the CPU time at the highest rate would
predict the maximum, the list below the table says so.
"""
TRUTH = f"""\
## Percentiles

The table has the error against the service's own log of each request, over the same readings. A bucket of a histogram is up to
6 % wide. "-" means that fewer than {ABOVE} requests per second exceed the percentile.
"""
CLIENTS = f"""\
## Response times

The table has the response time that the probe sees, from the arrival of a request's data to the last send, divided by the
client's. It is the median of the levels up to {share(MIDDLE)}. The rest is the client's own time and the network.
"""
PICTURES = """\
## Pictures

Two pictures of a service, over the time in which the load rises. The first has the load, the slack and the coefficient of
variation of the gaps between sends. The second has the variance of the gaps, which the paper plots, and the p99 of the wait in
the socket.
"""
DISTURBANCE = f"""\
## Delay and loss

The figures without → with delay and loss, under the same kernel: medians of the levels up to {share(MIDDLE)}. Packets are
delayed in both directions, and lost packets are sent again, so that most of the client's latency is the network's. Clients have
four times as many connections as without, except those of services with a process for each connection.
"""
# An event loop, a thread pool, a process for each connection.
SHOWN = "redis", "java", "apache-prefork"


def number(value, digits=4):
    if value is None or math.isnan(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"


def percent(value):
    return "-" if value is None or math.isnan(value) else share(value, 1)


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "| " + " | ".join("---" for _ in heads) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def paper(run):
    figures = PAPER.get(run.like)
    return f"{figures[run.network != 'loopback']} ({run.like})" if figures else "-"


def requests(runs):
    rows = [[run.name, run.title, run.where, f"{run.most:,.0f}/s", f"{run.r2_observed:.5f}", paper(run),
             f"{run.r2_exchanges:.6f}", share(run.missed, 4)]
            for run in runs]
    return table(["service", "what it is", "where", "maximum", "R² of RPS_obsv", "in the paper", "R² of exchanges",
                  "largest error of exchanges"], rows)


def saturation(runs):
    def where(level):
        return "-" if level is None else share(level.share)

    rows = [[run.name, run.where, where(run.knee), *(where(level) for level in run.signals.values())] for run in runs]
    return table(["service", "where", "client's knee", *runs[0].signals], rows)


def why(runs):
    """The reasons of those that have one."""
    reasons = [f"- {run.name}, {run.arrivals}: {run.capacity_reason}\n" for run in runs if run.capacity_reason]
    return "\n" + "".join(reasons) if reasons else ""


def capacity(runs):
    runs = [run for run in runs if run.telling]
    rows = [[run.name, run.where, number(1e6 * run.cost), number(1e6 * run.busiest.figure("gauge-request_cpu")),
             number(run.predicted), f"{run.most:,.0f}", f"{max(level.whole_rate for level in run.levels):,.0f}",
             percent(run.capacity_error)] for run in runs]
    return table(["service", "where", f"CPU time per request at {share(PREDICTS)}, us", "where most is answered, us",
                  "predicted, requests/s", "maximum", "answered at most", "error"], rows) + why(runs) if rows else ""


def truth(runs):
    """In-service percentiles, where the service keeps a log."""
    rows = []
    for run in runs:
        for level in run.levels:
            if level.server:
                rows.append([run.name, run.where, share(level.share),
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


def levels(runs):
    """The file with the figures of each level of all services."""
    times = "wait p50, us", "wait p99, us", "response p50, us", "response p99, us", "client p50, us", "client p99, us"
    with open(page_path(os.path.join("measured", LEVELS_CSV)), "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["service", "kernel", "network", "arrivals", "load, %", "offered/s", "answered", "exchanges",
                        "answered/s", "RPS_obsv", "variance of gaps, s²", "cv of gaps", *FIGURES.values(),
                        "in progress at the client", *times])
        for run in runs:
            lines.writerows([run.name, run.kernel_series, run.network, run.arrivals, *map(plain, of_level(level))]
                            for level in run.levels)


def of_level(level):
    """In progress at the client: from the sending to the last byte of the response, averaged over time."""
    yield from (100 * level.share, level.offered, level.expected, level.exchanges, level.rate, level.gap("frequency"),
                level.gap("variance"), level.gap("cv"))
    yield from (level.figure(metric) for metric in FIGURES)
    yield level.concurrency
    yield from (1e6 * level.percentile(metric, p) for metric in ("wait", "response") for p in ("p50", "p99"))
    yield from (1e6 * level.said("latency", p) for p in ("p50", "p99"))


def plain(value):
    """For a file; empty: unknown."""
    return "" if value is None or math.isnan(value) else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def pictures(run):
    """As text that shows them."""
    where = "" if run.network == "loopback" else "-netem"
    where += "" if run.arrivals == "poisson" else f"-{run.arrivals}"
    names = []
    for draw in (graph.saturation, graph.variance):
        names.append(f"pictures/evidence/{run.name}-{run.kernel_series}{where}-{draw.__name__}.png")
        draw(run, page_path(names[-1]))
    return "".join(f"![{run.title}](../{name})\n" for name in names)


def write(runs, all_pictures):
    """docs/measured/evidence.md, its pictures, and the file of the levels."""
    levels(runs)
    parts = [HEAD.format(services=", ".join(dict.fromkeys(run.name for run in runs))), REQUESTS, requests(runs), SATURATION,
             saturation(runs), CAPACITY, capacity(runs), TRUTH, truth(runs), CLIENTS, clients(runs)]
    if any(run.network != "loopback" for run in runs):
        parts += [DISTURBANCE, disturbance(runs)]
    parts.append(PICTURES)
    for run in runs:
        if all_pictures or run.name in SHOWN and (run.network, run.arrivals) == ("loopback", "poisson"):
            parts += [f"### {run.title}, {run.where}\n", pictures(run)]
    with page("evidence.md"):
        print("\n".join(parts), end="")

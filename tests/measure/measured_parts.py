# SPDX-License-Identifier: MIT
"""The parts of `make measure`."""

from typing import NamedTuple


class Part(NamedTuple):
    """One table of docs/measured.md, and the program that measures it: it adds its rows by rows.py. Given --short, it takes
    less than a minute. Its exit status: 0 measured, 77 cannot run here (the reason is printed behind "skip: "), else failed."""

    title: str
    text: str           # what the reader needs for the table
    command: tuple      # program below tests/measure, and its arguments
    long: tuple = ()    # arguments without --short
    pages: tuple = ()   # with the details, in docs/measured/
    adds: bool = False  # each run adds to what was measured before


PARTS = {
    "daemon": Part("Costs of collectd and the machine",
                   "Readings, the start, memory, and the events that probes hook by default.",
                   ("cost/run",), pages=("cost-daemon.md",)),
    "hooks": Part("Costs of a hook, by its kind",
                  "An empty program on each hook, and what the plugin assumes to estimate the cost of a probe.",
                  ("cost/run-kinds",), pages=("cost-hooks.md",)),
    "requests": Part("Costs of the probe request for an exchange",
                     "Server and client over loopback, in turns with and without the probe.",
                     ("cost/run-requests",), pages=("cost-requests.md",)),
    "kernels": Part("Costs of the probe request under other kernels",
                    "In an emulator whose clock advances with the instructions that it executes: instructions, not time.",
                    ("cost/run-kernels",), pages=("cost-kernels.md",)),
    "toolbox": Part("Costs of an event for a probe, and for the program of libbpf-tools",
                    "One thread repeats the same event, in turns with the probe and with the program.",
                    ("cost/run-toolbox",), pages=("cost-toolbox.md",)),
    "evidence": Part("How accurate the request metrics are, and when they show saturation",
                     "Real services under rising load, compared with what their clients count and time.",
                     ("accuracy/run",), pages=("evidence.md",)),
    "servers": Part("Requests of real servers, and what their clients have sent",
                    "At about a third of the rate that each can do; slack with almost nothing to do, and at full load.",
                    ("servers/run",), pages=("servers.md",)),
    "why": Part("Whether the largest part of a request's time is the fault",
                "Real services that are broken in a known way.",
                ("faults/run",), pages=("why-slow.md",)),
    "alerts": Part("How soon alerts fire",
                   "Each alert's fault at a service of its own, and all that can raise the alert.",
                   ("alerts/faults",), pages=("alerts.md",)),
    "quiet": Part("Loads in which no alert may fire",
                  "Three kinds of load at once, each on six real services with a collectd and receivers of their own: normal, bursty "
                  "(seconds of as many requests as can be had) and batch (a process for each CPU reads, compresses and writes for "
                  "minutes). It takes 40 minutes, and adds to what was measured before. An alert without input cannot fire: for it, no "
                  "alert means nothing.", ("alerts/quiet",), adds=True),
    "pages": Part("Cost of the pages of ebpf-graph",
                  "Services with a year of values each, drawn twice.", ("pages/run",)),
    "dashboards": Part("Queries of the dashboards, at each store",
                       "Stores that one collectd with all probes has filled under load: the curves of each query of each panel, compared "
                       "with what its csv plugin has written.",
                       ("dashboards/run",)),
    "exporter": Part("Examples of ebpf_exporter as probes",
                     "Needs a checkout of that project: `make measure PARTS=exporter EXPORTER=DIRECTORY`.",
                     ("foreign/run",), pages=("ebpf-exporter.md",)),
    "tests": Part("Figures of the tests",
                  "Shares of time, percentiles and latencies that tests compare with the truth, and that depend on the machine.",
                  ("figures/run",), pages=("test-figures.md",)),
}

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The threshold plugin tells when a service is saturated, says nothing before, and tells when it is over. It also
tells of a probe that is off, and so does the ebpf plugin itself, with the reason.

Truth: the values dispatched, judged by the limits of the sample, as threshold's manual says.
"""

import math
import os
import re
import sys

import receiver
from receiver import lib

INTERVAL = 1
LIGHT = (1, 1, 0.05)      # connections, time of a request in ms, s between two
SATURATING = (10, 25, 0)
HITS = 2
# Percent of the slack of threads, of the sample. Where others take the CPUs, a thread that gets none between two requests has
# some: without figures the limit is another.
SLACK, ANY_SLACK = 15, 60
# Series: bounds of warning and failure.
LIMITS = {
    "latency-response-percentile-99": ((-math.inf, 0.1), (-math.inf, 1)),
    "percent-slack_threads": ((SLACK, math.inf), (5, math.inf)),
}
SERVICE = receiver.SERVICE + """
  <Probe "gone">
    Object "/none/gone.bpf.o"
  </Probe>"""


def start(test, name, *words):
    """load_queue.py under a command name of its own: the kernel takes it from the script."""
    with open(os.path.join(os.path.dirname(__file__), "load_queue.py"), encoding="utf-8") as file:
        text = file.read().partition("\n")[2]
    path = receiver.write(os.path.join(test.disk, test.own(name)), f"#!{sys.executable}\n{text}")
    os.chmod(path, 0o755)
    return lib.Load([path, *map(str, words)])


def notifications(daemon, metric):
    """[(severity, value), ...] of the service, as the log has them."""
    kind, _, instance = metric.partition("-")
    pattern = (rf"severity = (\w+),.* plugin_instance = web, type = {kind}, type_instance = {re.escape(instance)},"
               r".*(?:is currently|\" is) (-?\w[\w.+-]*\w)")
    return [found.groups() for found in (re.search(pattern, line) for line in daemon.log()) if found]


def judge(value, limits):
    """Without requests there is no percentile, and nothing to tell."""
    for severity, (low, high) in zip(("FAILURE", "WARNING"), reversed(limits)):
        if value < low or value > high:
            return severity
    return "OKAY"


def expected(values, limits):
    """What is to be told of these values, one after the other."""
    notified, state, hits = [], None, 0
    for value in values:
        new = judge(value, limits)
        if new != "OKAY" and hits <= HITS:
            hits += 1
            continue
        hits = 0
        if new != state:
            notified.append((new, f"{value:f}"))
        state = new
    return notified


def check_removed(test, daemon):
    """Two notifications of the probe that is off: the plugin's own, with the reason, and threshold's."""
    def notified():
        return [line for line in daemon.log() if "plugin_instance = self, type = count, type_instance = tier_" in line]
    for text in ("message = probe gone is off: cannot read /none/gone.bpf.o", "is currently 0"):
        receiver.wait_until(f"gone: {text!r}", lambda text=text: any(text in line for line in notified()))
    for line in notified():
        test.true(f"severity: {line}", ("severity = FAILURE" in line) == ("tier_gone" in line))


def severities(daemon, metric):
    return [severity for severity, _ in notifications(daemon, metric)]


def check_light(test, daemon):
    """Nothing is told where there is CPU time for it."""
    daemon.wait_rows("web", "gauge-requests_waiting", 6)
    for metric in LIMITS:
        test.figures.equal(f"{metric} under light load", set(severities(daemon, metric)) - {"OKAY"}, set())


def main():
    with lib.Test(limit=240) as test:
        server = start(test, "kt_web", "server")
        port = server.hear()
        slack = SLACK if test.measures else ANY_SLACK
        limits_of = LIMITS | {"percent-slack_threads": ((slack, math.inf), (5, math.inf))}
        sample = receiver.sample("threshold.conf", {f"WarningMin {SLACK}": f"WarningMin {slack}"})
        daemon = test.collectd(SERVICE, sample, interval=INTERVAL)
        check_removed(test, daemon)
        light = start(test, "kt_light", "client", port, *LIGHT)
        if test.measures:
            check_light(test, daemon)
        heavy = start(test, "kt_heavy", "client", port, *SATURATING)
        for metric in LIMITS:
            receiver.wait_until(f"{metric}: a notification", lambda metric=metric:
                                {"WARNING", "FAILURE"} & set(severities(daemon, metric)))
        heavy.kill()
        if not test.measures:
            # Where others take the CPUs, there may be no end as long as there is any load.
            light.kill()
        for metric in LIMITS:
            receiver.wait_until(f"{metric}: its end", lambda metric=metric: severities(daemon, metric)[-1] == "OKAY")
        light.kill()
        test.stop(daemon)
        for metric, limits in limits_of.items():
            values = [row[1] for row in daemon.rows("web", metric)]
            test.equal(f"{metric}, notifications", notifications(daemon, metric), expected(values, limits))


if __name__ == "__main__":
    main()

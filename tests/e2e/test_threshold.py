#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The threshold plugin tells when a service is saturated, says nothing before, and tells when it is over. Nothing is notified
where nothing is wrong, and once if the plugin's readings stay away. The ebpf plugin itself tells of a probe that is off.

Truth: the values dispatched, judged by the limits of the sample, as threshold's manual says.
"""

import math
import os
import re
import shutil
import subprocess
import sys
import time

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
SHORT = 20      # commands
QUICK, TIMEOUT = 0.5, 6     # s; intervals after which collectd misses a series
# A plugin that may be made to wait, and the only thread, which then reads nothing else.
LATE = """
Timeout {timeout}
ReadThreads 1
LoadPlugin table
<Plugin table>
  <Table "{{table}}">
    Separator " "
    <Result>
      Type gauge
      ValuesFrom 0
    </Result>
  </Table>
</Plugin>
""".format(timeout=TIMEOUT)
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
    notified, state, hits = [], "OKAY", 0
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


def all_notifications(daemon):
    return [line.partition("Notification: ")[2] for line in daemon.log() if "Notification: " in line]


def check_removed(test, daemon):
    """One notification of the probe that is off: the plugin's own, with the reason."""
    text = "message = probe gone is off: cannot read /none/gone.bpf.o"
    receiver.wait_until(text, lambda: any(text in line for line in daemon.log()))
    found = [line for line in all_notifications(daemon) if "plugin_instance = self, type = count" in line]
    test.equal("of the plugin", [line.partition(", host")[0] for line in found], ["severity = FAILURE"])


def quiet_limits(sample):
    """No figure is beyond these, so that the state of this machine raises nothing."""
    return re.sub(r"(Min|Max) [\d.]+", lambda found: f"{found[1]} {-1 if found[1] == 'Min' else 1e9}", sample)


def run_short_commands(test):
    for i in range(SHORT):
        path = shutil.copy("/bin/true", os.path.join(test.disk, f"kt_short{i}"))
        for _ in range(3):
            subprocess.run([path], check=True)


def come_and_go(test, daemon):
    """A service that has requests, ends, is forgotten by the plugin and by collectd, and is there again."""
    name = test.own("kt_guest")
    for _ in range(2):
        receiver.wait_until(f"{name} is forgotten", lambda: is_forgotten(daemon, name))
        server = start(test, "kt_guest", "server")
        client = start(test, "kt_ask", "client", server.hear(), *LIGHT)
        daemon.wait_rows(name, "percent-slack_threads", 2, time.time())
        client.kill()
        server.kill()


def is_forgotten(daemon, name):
    rows = daemon.rows(name, "ps_rss")
    return not rows or rows[-1][0] < time.time() - (TIMEOUT + 2) * QUICK


def check_quiet(test):
    """Nothing is notified while all is well: not of series that begin, nor of those that end."""
    table = receiver.write(os.path.join(test.disk, "table"), "1\n")
    limits = quiet_limits(receiver.sample("threshold.conf", {}))
    daemon = test.collectd(lib.without("oom"), LATE.format(table=table) + limits, interval=QUICK)
    daemon.wait_rows("self", "count-tier_services", 3)
    run_short_commands(test)
    come_and_go(test, daemon)
    test.equal("notifications while all is well", all_notifications(daemon), [])
    check_late(test, daemon, table)
    test.stop(daemon)


def check_late(test, daemon, table):
    """One notification that readings stay away, and one that they are back."""
    fifo = table + ".fifo"
    os.mkfifo(fifo)
    os.rename(table, table + ".file")
    os.rename(fifo, table)      # whoever opens it waits for somebody who writes
    receiver.wait_until("a notification", lambda: any("not been updated" in line for line in daemon.log()))
    os.rename(table, fifo)
    os.rename(table + ".file", table)
    os.close(os.open(fifo, os.O_RDWR))
    daemon.wait_rows("self", "count-tier_services", 3, time.time())
    found = all_notifications(daemon)
    test.equal("notifications of late readings", [line.partition(", host")[0] for line in found],
               ["severity = FAILURE", "severity = OKAY"])
    test.contains("what is late", found[0], "ebpf-self/objects-services has not been updated for ")


def severities(daemon, metric):
    return [severity for severity, _ in notifications(daemon, metric)]


def check_light(test, daemon):
    """Nothing is told where there is CPU time for it."""
    daemon.wait_rows("web", "gauge-requests_waiting", 6)
    for metric in LIMITS:
        test.figures.equal(f"{metric} under light load", set(severities(daemon, metric)) - {"OKAY"}, set())


def main():
    with lib.Test(limit=240) as test:
        check_quiet(test)
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

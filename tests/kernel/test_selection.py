#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Collect and Ignore leave has series, and nothing else; what it needs goes on, and so does TopN. Without them a
service has what is on by default.

Truth: the lines themselves, the tags of the objects, and tests/bpf/selection.bpf.c, whose figures are constant.
"""

import os
import subprocess
import time

import lib
import tables
import truth
from lib import Test, without

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 1
ORDER = 40
OBJECT = os.path.join(lib.BUILD, "tests", "bpf", "selection.bpf.o")
SERVICES = without("disk") + """
  <Service "web">
    Process "kt_web"
    PerProcess true
    TopN 1
  </Service>
"""
CONF = f"""{SERVICES}
  Percentile 50 99
  <Probe "process">
    Collect "ps_rss" "contextswitch-*"
    Ignore "*-involuntary"
  </Probe>
  <Probe "request">
    Collect "total_requests" "latency-response-percentile-99"
    Collect "percent-slack_threads"
  </Probe>
  <Probe "poll">
    Enable true
    Ignore "*"
  </Probe>
""" + without("delay", "oom") + f"""
  <Probe "chosen">
    Object "{OBJECT}"
    Collect "percent-share" "gauge-gap-average" "derive-nmaed-*"
  </Probe>
  <Probe "default">
    Object "{OBJECT}"
    Ignore "gauge-load" "derive-extra"
  </Probe>
"""
DEFAULT = SERVICES.replace("PerProcess true", "").replace("TopN 1", "")
PROCESS = {"ps_rss", "contextswitch-voluntary"}
REQUEST = {"total_requests", "latency-response-percentile-99", "percent-slack_threads"}
COMPLAINTS = (
    'probe chosen: ignoring Collect "derive-nmaed-*": unknown metric; is "derive-named-*" meant? it has "derive-renames", ',
    'probe default: ignoring Ignore "derive-extra": these metrics need Option "extra" in its Probe block',
    "probe poll is off: ",
)


def rename():
    """Processes whose names change: the object counts them. An average of a single one is not dispatched."""
    for _ in range(2):
        subprocess.run(["true"], check=True)


def own_series(daemon):
    return {subject for subject in daemon.subjects() if subject.startswith("web-")}


def check_processes(test, daemon):
    """Of the service's processes the one that works: by the CPU time, which has no series here."""
    busy = test.load("spin", test.mkdir("log"), 1, 8 * lib.SLOWNESS, 0, name="kt_web")
    name = f"web-{busy.pid}-{truth.start_ticks(busy.pid)}"
    daemon.wait_rows(name, "ps_rss", 3)
    # The interval in which it began may be another's.
    since = daemon.rows(name, "ps_rss")[1][0] - INTERVAL / 10
    stamps = {one: {row[0] for row in daemon.rows(one, "ps_rss") if row[0] > since} for one in own_series(daemon)}
    test.true("TopN: readings with more than one", len(set().union(*stamps.values())) == sum(map(len, stamps.values())))
    test.figures.equal("TopN: others that have rows beside it", [one for one in stamps if stamps[one] and one != name], [])
    test.equal("TopN: its metrics", daemon.metrics(name), PROCESS)
    busy.kill()


def check_object(test, daemon):
    for _ in range(2):
        rename()
        moment = time.time()
        share = daemon.row_after("chosen", "percent-share", moment)[1]
    test.close("percent-share, of which neither part has a series", share, 25, rel=1e-6)
    test.close("gauge-gap-average", daemon.row_after("chosen", "gauge-gap-average", moment)[1], 7, rel=1e-6)
    test.equal("chosen: metrics", daemon.metrics("chosen"), {"percent-share", "gauge-gap-average"})
    counted = {metric for metric in daemon.metrics("default") if not metric.startswith("derive-named-")}
    test.equal("default: metrics", counted,
               {"derive-renames", "latency-length-average", "latency-length-percentile-50", "latency-length-percentile-99"})


def check_complaints(test, daemon):
    said = daemon.complaints()
    for want in COMPLAINTS:
        test.equal(f"complaints with {want!r}", len([line for line in said if want in line]), 1)
    test.contains("the one of poll", "".join(line for line in said if "poll is off" in line),
                  "Collect and Ignore in its Probe block leave no metric")
    test.equal("complaints", len(said), len(COMPLAINTS))


def main():
    with Test(limit=90) as test:
        web = test.load("case", "threads", name="kt_web")
        web.ask("1")
        daemon = test.collectd(CONF, interval=INTERVAL)
        default = test.collectd(DEFAULT, interval=INTERVAL)
        for one in daemon, default:
            one.wait_rows("self", "duration-read_request", 2)
        web.say(str(ORDER))
        requests = web.result()["requests"]
        moment = time.time()
        for one in daemon, default:
            one.wait_rows("web", "latency-response-percentile-99", 2, moment)
        test.equal("requests", daemon.rows("web", "total_requests")[-1][1], requests)
        test.equal("metrics of the service", daemon.metrics("web"), PROCESS | REQUEST)
        files = tables.files()
        # It is called by its command: no cgroup of its own says a limit. All requests come before a service's second
        # walk, from which on their CPU time counts, and they are too few for parts of their time.
        late = {"gauge-request_cpu", "gauge-request_capacity", "gauge-request_samples"}
        late |= {metric for metric in files["delay"] if metric.startswith("latency-in_")}
        test.equal("metrics by default", default.metrics("web") | late, set().union(*files.values()) - files["limits"])
        test.equal("complaints by default", default.complaints(), [])
        test.stop(default)
        check_processes(test, daemon)
        check_object(test, daemon)
        check_complaints(test, daemon)
        web.end()


if __name__ == "__main__":
    main()

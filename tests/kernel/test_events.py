#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The file of events: an OOM kill, a probe that is off, a threshold, and services whose processes are all new, each with its
time and its service.

Truth: the times when the test has caused each.
"""

import os
import stat
import time

from lib import SLOWNESS, Test, without
from test_oom import Cgroup, kill_one

INTERVAL = 0.2 if SLOWNESS < 2 else 2
LIVED = 6  # intervals that processes must have lived for a restart to count
LATE = 0.5 * SLOWNESS  # s, from an event to its time in the file
MARKUP = 'kt_<b>"\\'

CONF = f"""
  Interval {INTERVAL}
  <Service "victim">
    Process "kt_victim"
  </Service>
  <Service "fast">
    Process "kt_fast"
  </Service>
  <Service "slow">
    Process "kt_slow"
  </Service>
  <Service "steady">
    Process "kt_steady"
  </Service>
  <Probe "gone">
    Object "/none/gone.bpf.o"
  </Probe>
""" + without("poll", "delay", "disk", "request")
THRESHOLD = """
LoadPlugin threshold
<Plugin threshold>
  <Plugin "ebpf">
    Instance "steady"
    <Type "ps_count">
      DataSource "processes"
      WarningMax 1
    </Type>
  </Plugin>
</Plugin>
"""


def wait_event(daemon, kind, service, severity, seconds=30):
    give_up = time.monotonic() + seconds * daemon.patience
    while time.monotonic() < give_up:
        for event in daemon.events():
            if (event["kind"], event["service"], event["severity"]) == (kind, service, severity):
                return event
        time.sleep(0.05)
    raise TimeoutError(f"no event {kind} of {service} ({severity}): {daemon.events()}")


def check_time(test, event, begin, end):
    test.within(f"{event['text']}: time", event["time"], begin - 0.001, end + LATE)


def start(test, daemon, name):
    load = test.load("task", "idle", name=name)
    daemon.wait_rows(name.replace("kt_", ""), "ps_count", 2, time.time())
    return load


def restart(test, daemon, load, name, pause):
    """The times between which its new process has started."""
    load.end()
    time.sleep(pause)
    begin = time.time()
    again = test.load("task", "idle", name=name)
    return begin, time.time(), again


def check_restarts(test, daemon):
    """Of one with a pause, and of one that no reading has seen without a process; of none that only gets a process more."""
    loads = {name: start(test, daemon, name) for name in ("kt_fast", "kt_slow", "kt_steady")}
    time.sleep(LIVED * INTERVAL)
    more = test.load("task", "idle", name="kt_steady")
    begun = time.time()
    for name, pause in ("kt_fast", 0), ("kt_slow", 4 * INTERVAL):
        begin, end, loads[name] = restart(test, daemon, loads[name], name, pause)
        service = name.replace("kt_", "")
        event = wait_event(daemon, "restart", service, "okay")
        check_time(test, event, begin, end)
        test.equal(f"{service}: text", event["text"], f"all processes of {service} are new")
    check_time(test, wait_event(daemon, "threshold", "steady", "warning"), begun - INTERVAL, time.time())
    more.end()
    wait_event(daemon, "threshold", "steady", "okay")
    test.equal("restarts", sorted(event["service"] for event in daemon.events() if event["kind"] == "restart"), ["fast", "slow"])
    for load in loads.values():
        load.end()


def check_file(test, daemon):
    file, directory = os.stat(daemon.events_path), os.stat(os.path.dirname(daemon.events_path))
    test.equal("mode of the file", oct(stat.S_IMODE(file.st_mode)), oct(0o640))
    test.equal("mode of its directory", oct(stat.S_IMODE(directory.st_mode)), oct(0o750))
    for event in daemon.events():
        test.equal("host", event["host"], daemon.host)


def main():
    with Test(limit=90) as test:
        cgroup = Cgroup(test)
        started = time.time()
        daemon = test.collectd(CONF, THRESHOLD, interval=INTERVAL)
        daemon.wait_rows("self", "count-tier_oom", 2)
        event = wait_event(daemon, "probe", "self", "failure")
        check_time(test, event, started, time.time())
        test.contains("why the probe is off", event["text"], "probe gone is off: cannot read /none/gone.bpf.o")
        test.equal("its series", event["series"], "count-tier_gone")
        begin = time.time()
        pid = kill_one(test, cgroup, "kt_victim")
        event = wait_event(daemon, "oom_kills", "victim", "failure")
        check_time(test, event, begin, time.time())
        test.contains("who was killed", event["text"], test.own(f"kt_victim (pid {pid}) of victim, "))
        check_restarts(test, daemon)
        kill_one(test, cgroup, MARKUP)
        test.stop(daemon)
        check_file(test, daemon)
        test.equal("complaints", [line for line in daemon.complaints() if "ebpf" in line and "otification" not in line
                                  and "gone" not in line], [])


if __name__ == "__main__":
    main()

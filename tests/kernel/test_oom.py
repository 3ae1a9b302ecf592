#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""OOM kills: each counts for the service whose process was killed, and a notification says whose it was, within seconds.

Truth: how the processes ended, the memory cgroup's own count of kills, and the kernel's log.
"""

import os
import re
import signal
import subprocess
import time

from lib import Skip, Test

BESIDE = True
MIB = 1 << 20
LIMIT = 32   # MiB, of the cgroup
WANTED = 64  # MiB, of the process
BURST = 10   # notifications; then one a minute
KILLS = BURST + 3
SERIES = "total_events-oom_kills"
SOON = 3     # s
MARKUP = "kt_<b>$`;&"

CONF = """
  Interval 2
  <Service "victim">
    Process "kt_victim"
  </Service>
  <Service "peer">
    Process "kt_peer"
  </Service>
  <Probe "poll">
    Enable false
  </Probe>
"""
# Of this daemon notifications alone are wanted, and no other probe has series.
QUIET = CONF + "".join(f'<Probe "{name}">\n Enable false\n</Probe>\n' for name in ("process", "request", "delay", "disk")) + """
  <Probe "oom">
    Ignore "*"
  </Probe>
"""


class Cgroup:
    """A memory cgroup of the test's own, of either version."""

    def __init__(self, test):
        self.old = os.path.exists("/sys/fs/cgroup/memory/memory.oom_control") or \
            os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
        root = "/sys/fs/cgroup/memory" if self.old else "/sys/fs/cgroup"
        if not self.old:
            self._enable(root)
        self.path = os.path.join(root, test.own("kt_oom"))
        os.mkdir(self.path)
        test.at_end(lambda: os.rmdir(self.path))
        self.write("memory.limit_in_bytes" if self.old else "memory.max", LIMIT * MIB)
        for name in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
            if os.path.exists(os.path.join(self.path, name)):
                self.write(name, LIMIT * MIB if self.old else 0)

    @staticmethod
    def _enable(root):
        try:
            with open(os.path.join(root, "cgroup.subtree_control"), "w", encoding="ascii") as control:
                control.write("+memory")
        except OSError as error:
            raise Skip(f"no memory cgroups here: {error}") from error

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as file:
            file.write(str(value))

    def kills(self):
        with open(os.path.join(self.path, "memory.oom_control" if self.old else "memory.events"), encoding="ascii") as file:
            return dict(line.split() for line in file).get("oom_kill")


def kill_one(test, cgroup, name):
    """The pid of a process that wants more memory than it may have; it has ended by SIGKILL."""
    load = test.load("memory", name=name)
    cgroup.write("cgroup.procs", load.pid)
    load.say(f"grow {WANTED}")
    test.equal(f"{name} (pid {load.pid}) was ended by signal", -load.process.wait(), int(signal.SIGKILL))
    return load.pid


def told(daemon):
    """[(seconds, severity, plugin instance, type, text), ...] of notifications about OOM kills, from the log."""
    found = []
    for line in daemon.log():
        match = re.match(r"\[(.*?)\] .*Notification: severity = (\w+), .*plugin = ebpf, plugin_instance = (.*?), "
                         r"type = (.*?), type_instance = (.*?), message = (OOM kill: .*)", line)
        if match:
            moment = time.mktime(time.strptime(match[1], "%Y-%m-%d %H:%M:%S"))
            found.append((moment, match[2], match[3], f"{match[4]}-{match[5]}", match[6]))
    return found


def wait_told(daemon, count, seconds=SOON):
    give_up = time.monotonic() + seconds * daemon.patience
    while len(told(daemon)) < count and time.monotonic() < give_up:
        time.sleep(0.05)
    return told(daemon)


def kernel_says(pid):
    """Octets of the victim's memory, by the kernel's log; None: it has been overwritten."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False, errors="replace").stdout
    parts = re.findall(rf"Killed process {pid} .*anon-rss:(\d+)kB, file-rss:(\d+)kB, shmem-rss:(\d+)kB", log)
    return sum(map(int, parts[-1])) * 1024 if parts else None


def octets(text):
    number, unit = re.search(r"([\d.]+) ([KMG]iB) resident", text).groups()
    return float(number) * 1024 ** ("KMG".index(unit[0]) + 1)


def first_kill(test, daemon, cgroup):
    begin = time.time()
    pid = kill_one(test, cgroup, "kt_victim")
    end = time.time()
    notes = wait_told(daemon, 1)
    test.equal("notifications of one kill", len(notes), 1)
    moment, severity, subject, series, text = notes[0]
    # The log has whole seconds.
    test.within("seconds from its end until it was told", moment - end, begin - end - 1, SOON)
    test.equal("severity, service and series", (severity, subject, series), ("FAILURE", "victim", SERIES))
    test.contains("who it was", text, test.own(f"kt_victim (pid {pid}) of victim, "))
    test.contains("which limit it was", text, "limit of its cgroup")
    truth = kernel_says(pid)
    if truth is None:
        print("note: the kernel's log does not have the kill, memory is compared with the cgroup's limit alone")
    test.close("its memory, octets", octets(text), truth or LIMIT * MIB, rel=0.02 if truth else 0.2)


def main():
    with Test(limit=60) as test:
        cgroup = Cgroup(test)
        peer = test.load("memory", name="kt_peer")
        daemon = test.collectd(CONF, interval=2)
        # The notifications go out from the first reading on.
        daemon.wait_rows("self", "count-tier_oom", 2)
        daemon.wait_rows("victim", SERIES)
        quiet = test.collectd(QUIET, interval=2)
        quiet.wait_rows("self", "count-tier_oom", 2)
        first_kill(test, daemon, cgroup)
        test.equal("without series: notifications", [note[1:] for note in wait_told(quiet, 1)],
                   [note[1:] for note in told(daemon)])
        test.equal("without series: services", quiet.subjects(), {"self"})
        test.equal("without series: complaints", [line for line in quiet.complaints() if "otification" not in line], [])
        test.stop(quiet)
        kill_one(test, cgroup, MARKUP)
        notes = wait_told(daemon, 2)
        test.equal("a process of no service: notifications", len(notes), 2)
        test.equal("its subject", notes[-1][2], "other")
        test.contains("markup in its name", notes[-1][4], test.own("kt__b_____ (pid "))
        for _ in range(KILLS - 2):
            kill_one(test, cgroup, "kt_victim")
        test.equal("the cgroup's own count of kills", int(cgroup.kills() or KILLS), KILLS)
        moment = time.time()
        rows = {service: daemon.row_after(service, SERIES, moment)[1] for service in ("victim", "other", "peer")}
        test.equal("kills by service", rows, {"victim": KILLS - 1, "other": 1, "peer": 0})
        test.equal("notifications, of which a minute has a burst", len(wait_told(daemon, BURST)), BURST)
        test.equal("held back", daemon.row_after("self", "total_events-events_suppressed_oom", moment)[1], KILLS - BURST)
        # More of the victim's comes in between, and is kept back.
        kill_one(test, cgroup, "kt_victim")
        kill_one(test, cgroup, "kt_peer")
        notes = wait_told(daemon, BURST + 1)
        test.equal("another service's is told all the same", [(len(notes), notes[-1][2])], [(BURST + 1, "peer")])
        test.equal("dropped", daemon.row_after("self", "total_events-events_dropped_oom", moment)[1], 0)
        test.equal("complaints", [line for line in daemon.complaints() if "ebpf" in line and "otification" not in line], [])
        peer.end()


if __name__ == "__main__":
    main()

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

from lib import SLOWNESS, Skip, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 2
MIB = 1 << 20
LIMIT = 32   # MiB, of the cgroup
WANTED = 64  # MiB, of the process
BURST = 10   # notifications; then one a minute
KILLS = BURST + 3
SERIES = "total_events-oom_kills"
SOON = 3     # s
MARKUP = "kt_<b>$`;&"

CONF = f"""
  Interval {INTERVAL}
  <Service "victim">
    Process "kt_victim"
  </Service>
  <Service "peer">
    Process "kt_peer"
  </Service>
""" + without("poll")
# Of this daemon notifications alone are wanted, and no other probe has series.
QUIET = CONF + without("process", "request", "delay", "disk") + """
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
        self.limit(LIMIT)
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

    def limit(self, mib):
        self.write("memory.limit_in_bytes" if self.old else "memory.max", mib * MIB)

    def spare(self, pid):
        """Without memory, it is not killed."""
        if self.old:
            self.write("memory.oom_control", 1)
            return
        with open(f"/proc/{pid}/oom_score_adj", "w", encoding="ascii") as score:
            score.write("-1000")

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


def notified(test, daemon, of_all=False):
    """[(seconds, severity, plugin instance, type, text), ...] of notifications about OOM kills, from the log: of the test's own
    processes, or of all."""
    found = []
    for line in daemon.log():
        match = re.match(r"\[(.*?)\] .*Notification: severity = (\w+), .*plugin = ebpf, plugin_instance = (.*?), "
                         r"type = (.*?), type_instance = (.*?), message = (OOM kill: .*)", line)
        if match and (of_all or test.prefix in match[6]):
            moment = time.mktime(time.strptime(match[1], "%Y-%m-%d %H:%M:%S"))
            found.append((moment, match[2], match[3], f"{match[4]}-{match[5]}", match[6]))
    return found


def wait_notified(test, daemon, count, subject=None, seconds=60):
    """Until there are so many: of this subject, if one is given."""
    give_up = time.monotonic() + seconds * daemon.patience
    while sum(subject in (None, note[2]) for note in notified(test, daemon)) < count and time.monotonic() < give_up:
        time.sleep(0.05)
    return notified(test, daemon)


def wait_all(test, daemon, before, seconds=60):
    """How many of all kills were told, and held back, when it is one or the other of each."""
    give_up = time.monotonic() + seconds * daemon.patience
    while True:
        kills = kills_of_all() - before
        suppressed = daemon.row_after("self", "total_events-events_suppressed_oom", time.time())[1]
        notes = len(notified(test, daemon, True))
        if notes + suppressed >= kills or time.monotonic() > give_up:
            test.within("notifications, and what was held back", notes + suppressed, kills, kills_of_all() - before)
            return notes


def kills_of_all():
    """Those of the machine since it was started."""
    with open("/proc/vmstat", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("oom_kill "))


def kernel_says(pid):
    """Bytes of the victim's memory, by the kernel's log; None: it has been overwritten."""
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=False, errors="replace").stdout
    parts = re.findall(rf"Killed process {pid} .*anon-rss:(\d+)kB, file-rss:(\d+)kB, shmem-rss:(\d+)kB", log)
    return sum(map(int, parts[-1])) * 1024 if parts else None


def byte_count(text):
    number, unit = re.search(r"([\d.]+) ([KMG]iB) resident", text).groups()
    return float(number) * 1024 ** ("KMG".index(unit[0]) + 1)


def first_kill(test, daemon, cgroup):
    begin = time.time()
    pid = kill_one(test, cgroup, "kt_victim")
    end = time.time()
    notes = wait_notified(test, daemon, 1)
    test.equal("notifications of one kill", len(notes), 1)
    moment, severity, subject, series, text = notes[0]
    # The log has whole seconds.
    test.within("seconds from its end until it was told", moment - end, begin - end - 1, float("inf"))
    test.figures.within("seconds from its end until it was told, at most", moment - end, begin - end - 1, SOON)
    test.equal("severity, service and series", (severity, subject, series), ("FAILURE", "victim", SERIES))
    test.contains("who it was", text, test.own(f"kt_victim (pid {pid}) of victim, "))
    test.contains("which limit it was", text, "limit of its cgroup")
    truth = kernel_says(pid)
    if truth is None:
        test.left_out("memory of the process by the kernel's log", "it has been overwritten, the cgroup's limit stands in")
    test.close("its memory, bytes", byte_count(text), truth or LIMIT * MIB, rel=0.02 if truth else 0.2)


def burst(test, daemon, cgroup, begin, before):
    """Each service has its own: the victim's is used up, and that of its peer is not."""
    for _ in range(KILLS - 2):
        kill_one(test, cgroup, "kt_victim")
    test.equal("the cgroup's own count of kills", int(cgroup.kills() or KILLS), KILLS)
    moment = time.time()
    rows = {service: daemon.row_after(service, SERIES, moment)[1] for service in ("victim", "peer")}
    test.equal("kills by service", rows, {"victim": KILLS - 1, "peer": 0})
    # Others are killed meanwhile, too.
    test.within("kills of no service", daemon.row_after("other", SERIES, moment)[1], 1, kills_of_all() - before - (KILLS - 1))
    test.within("notifications, of which a minute has a burst, and each further one one more",
                wait_all(test, daemon, before), BURST, BURST + (time.time() - begin) // 60)
    # More of the victim's comes in between, and is kept back.
    kill_one(test, cgroup, "kt_victim")
    kill_one(test, cgroup, "kt_peer")
    notes = wait_notified(test, daemon, 1, "peer")
    test.equal("another service's is told all the same", sum(note[2] == "peer" for note in notes), 1)
    test.equal("dropped", daemon.row_after("self", "total_events-events_dropped_oom", moment)[1], 0)


def main():
    with Test(limit=90) as test:
        cgroup = Cgroup(test)
        peer = test.load("memory", name="kt_peer")
        begin, before = time.time(), kills_of_all()
        daemon = test.collectd(CONF, interval=INTERVAL)
        # The notifications go out from the first reading on.
        daemon.wait_rows("self", "count-tier_oom", 2)
        daemon.wait_rows("victim", SERIES)
        quiet = test.collectd(QUIET, interval=INTERVAL)
        quiet.wait_rows("self", "count-tier_oom", 2)
        first_kill(test, daemon, cgroup)
        test.equal("without series: notifications", [note[1:] for note in wait_notified(test, quiet, 1)],
                   [note[1:] for note in notified(test, daemon)])
        test.equal("without series: services", quiet.subjects(), {"self"})
        test.equal("without series: complaints", [line for line in quiet.complaints() if "otification" not in line], [])
        test.stop(quiet)
        kill_one(test, cgroup, MARKUP)
        notes = wait_notified(test, daemon, 2)
        test.equal("a process of no service: notifications", len(notes), 2)
        test.equal("its subject", notes[-1][2], "other")
        test.contains("markup in its name", notes[-1][4], test.own("kt__b_____ (pid "))
        burst(test, daemon, cgroup, begin, before)
        test.equal("complaints", [line for line in daemon.complaints() if "ebpf" in line and "otification" not in line], [])
        peer.end()


if __name__ == "__main__":
    main()

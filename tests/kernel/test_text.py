#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of text files: what cgroups of services, /proc and /sys say, also where a cgroup goes and comes back; and
objects that name files which are none, or should not be read: one message each.

Truth: CPU time by the scheduler's own count of each thread, the time that two threads had one CPU to share, and the
files of /proc and /sys as they were around each reading.
"""

import os
import socket
import time

import lib
import truth
from lib import SLOWNESS, Skip, Test

BESIDE = True
CONF = """
  <Service "web">
    Cgroup "%(a)s/below"
    Cgroup "%(a)s"
    Cgroup "%(b)s"
  </Service>
  <Service "gone">
    Cgroup "%(b)s_none"
  </Service>
  <Service "named">
    Process "kt_named"
  </Service>
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Enable false
  </Probe>
  <Probe "text">
    Object "%(objects)s/text.bpf.o"
  </Probe>
"""
# File, and what of its message must be there; None: it is a probe without a word.
HOSTILE = {
    "etc": ("/proc/../etc/passwd lines", "has a part that is no name"),
    "memory": ("/proc/self/mem lines", "is a process's"),
    "command": ("/proc/1/cmdline lines", "is a process's"),
    "all": ("/proc/*/stat lines", "has an asterisk where processes are"),
    "wakeup": ("/sys/power/wakeup_count lines", "may wait"),
    "word": ("/proc/stat column", "unknown word \"column\""),
    "log": ("/proc/kmsg lines", "not everybody on this machine may read it"),
    "none": ("/proc/no/such/file lines", "cannot read /proc/no/such/file: this kernel has no such file"),
    "directory": ("/sys/class lines", "it is no regular file"),
    "huge": ("/proc/kallsyms lines", "it is too large"),
    "tracing": ("/sys/kernel/tracing/trace_pipe lines", "cannot read /sys/kernel/tracing/trace_pipe: "),
    "many": ("/proc/stat lines", "has more than 4 rows"),
    "prose": ("/proc/version lines", None),
    "matches": ("/sys/class/tty/*/dev lines", None),
}
HOSTILE_CONF = """
  <Service "good">
    Process "kt_good"
  </Service>
  <Probe "poll">
    Enable false
  </Probe>
  <Probe "request">
    Enable false
  </Probe>
"""
PLACE = b"/proc/........................................ lines"
SERIES = b"hostile\0"
AROUND = 20000 * SLOWNESS  # us: of a process, before and after what it is asked to use
SECONDS = 5


class Cgroups:
    """cgroup2 directories of the test's own."""

    def __init__(self, test):
        mounts = (line.split() for line in truth.proc("self", "mounts").splitlines())
        self.root = next((mount[1] for mount in mounts if mount[2] == "cgroup2"), None)
        if self.root is None:
            raise Skip("no cgroup2 is mounted")
        test.at_end(self.remove)
        self.made = []

    def make(self, name):
        os.mkdir(os.path.join(self.root, name))
        self.made.append(name)

    def enter(self, name, pid):
        with open(os.path.join(self.root, name, "cgroup.procs"), "w", encoding="ascii") as procs:
            procs.write(str(pid))

    def remove(self):
        while self.made:
            path = os.path.join(self.root, self.made[-1])
            for _ in range(100):
                try:
                    os.rmdir(path)
                    break
                except OSError:
                    time.sleep(0.05)
            self.made.pop()


def row(daemon, subject, metric):
    return daemon.row_after(subject, metric, time.time())


def divided(daemon):
    return row(daemon, "web", "derive-user")[1] + row(daemon, "web", "derive-system")[1]


def use(test, what, daemon, load, ms):
    """A process of the service uses this much: what the service's cgroups say, and what its scheduler does."""
    before = row(daemon, "web", "derive-usage")[1], divided(daemon)
    begin = truth.schedstat(load.pid)[0]
    load.ask(f"use {ms}")
    used = (truth.schedstat(load.pid)[0] - begin) / 1000
    test.true(f"{what}: it has used what it was told", used >= 1000 * ms, used)
    test.close(f"{what}: usage_usec", row(daemon, "web", "derive-usage")[1] - before[0], used, rel=0.01, slack=AROUND)
    test.close(f"{what}: user_usec and system_usec", divided(daemon) - before[1], used, rel=0.01, slack=AROUND)


def services(test, daemon, cgroups, a, b):
    load = test.load("task", name="kt_named")
    cgroups.enter(f"{a}/below", load.pid)
    use(test, "in a cgroup below the service's", daemon, load, 300)
    cgroups.enter(b, load.pid)
    use(test, "in another of its cgroups", daemon, load, 200)
    load.kill()
    before = row(daemon, "web", "derive-usage")[1]
    cgroups.remove()
    time.sleep(2.5 * SLOWNESS)
    last = daemon.rows("web", "derive-usage")[-1]
    test.true("no rows without a cgroup", last[0] < time.time() - 1)
    load = test.load("task", name="kt_named")
    begin = truth.schedstat(load.pid)[0]
    cgroups.make(a)
    cgroups.enter(a, load.pid)
    load.ask("use 250")
    used = (truth.schedstat(load.pid)[0] - begin) / 1000
    now = row(daemon, "web", "derive-usage")[1]
    test.close("in a new cgroup of the same name", now - before, used, rel=0.01, slack=AROUND)
    load.end()
    for name in ("gone", "named", "other"):
        test.equal(f"series of {name}", {metric for metric in daemon.metrics(name) if metric.startswith("derive")}, set())


def pressure(test, daemon, cgroups, a):
    """Two threads on one CPU: one of them waits, whoever else is there."""
    if not os.path.exists(os.path.join(cgroups.root, a, "cpu.pressure")):
        print("note: this kernel counts no pressure, its part is left out")
        return
    load = test.load("spin", test.mkdir("log"), 2, math_ceil(SECONDS * SLOWNESS), 0, max(os.sched_getaffinity(0)),
                     name="kt_named")
    cgroups.enter(a, load.pid)
    first = row(daemon, "web", "derive-some")
    time.sleep((SECONDS - 3) * SLOWNESS)
    last = row(daemon, "web", "derive-some")
    test.true("load ran all the time", load.process.poll() is None)
    test.close("us with a thread that waits for the CPU", last[1] - first[1], (last[0] - first[0]) * 1e6, rel=0.05,
               slack=50000 * SLOWNESS)
    rates = [value for stamp, value in daemon.rows("web", "percent-full") if first[0] < stamp <= last[0]]
    test.within("percent of the time that all wait", max(rates), 0, 100.1)
    test.within("avg10", row(daemon, "web", "gauge-some_10")[1], 1, 100)
    load.result()


def math_ceil(number):
    return int(-(-number // 1))


def whole(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def read_softirqs():
    cpus, *lines = whole("/proc/softirqs").splitlines()
    return {(cpu.lower(), line.split()[0][:-1]): int(count) for line in lines
            for cpu, count in zip(cpus.split(), line.split()[1:])}


def read_loopback():
    words = next(line.split() for line in whole("/proc/net/dev").splitlines() if line.lstrip().startswith("lo:"))
    return int(words[1]), int(words[9])


def read_datagrams():
    names, values = (line.split() for line in whole("/proc/net/snmp").splitlines() if line.startswith("Udp:"))
    return int(values[names.index("InDatagrams")])


def send(seconds):
    end = time.time() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        while time.time() < end:
            sender.sendto(b"x" * 500, receiver.getsockname())
            receiver.recv(1000)
            time.sleep(0.0005)


def machine(test, daemon):
    samplers = {
        "NET_RX": truth.Sampler(lambda: {cpu: count for (cpu, kind), count in read_softirqs().items() if kind == "NET_RX"}),
        "lo": truth.Sampler(read_loopback),
        "datagrams": truth.Sampler(read_datagrams),
    }
    send(4 * SLOWNESS)
    time.sleep(0.2)
    for sampler in samplers.values():
        sampler.stop()

    def compare(what, subject, metric, curve, column=1):
        rows = [row for row in daemon.rows(subject, metric) if curve.covers(row[0]) and not daemon.at_turn(row[0])]
        test.true(f"{what}: rows", len(rows) >= 2, len(rows))
        first, last = rows[0], rows[-1]
        late = 0.25 * SLOWNESS
        test.between(what, last[column] - first[column],
                     (curve.growth(first[0] + late, last[0])[0], curve.growth(first[0], last[0] + late)[1]), rel=0.002, slack=2)

    compare("octets received by the loopback", "lo", "if_octets", samplers["lo"].curve(lambda value: value[0]), 1)
    compare("octets sent", "lo", "if_octets", samplers["lo"].curve(lambda value: value[1]), 2)
    compare("datagrams", "text", "derive-datagrams", samplers["datagrams"].curve())
    for cpu in samplers["NET_RX"].values[0]:
        if "irq-NET_RX" in daemon.metrics(cpu):
            compare(f"NET_RX of {cpu}", cpu, "irq-NET_RX", samplers["NET_RX"].curve(lambda value, cpu=cpu: value[cpu]))
    test.close("load", row(daemon, "text", "gauge-load")[1], os.getloadavg()[0], slack=0.3)
    test.true("usage of the root", row(daemon, "text", "derive-root")[1] > 0)
    disks = {name for name in os.listdir("/sys/block") if any(map(int, whole(f"/sys/block/{name}/stat").split()[:8]))}
    test.equal("disks that did something, and are no subject",
               {name for name in disks if "disk_ops" not in daemon.metrics(name)} - {
                   name for name in disks if not daemon.rows(name, "disk_ops")}, set())


def hostile(test):
    daemon_conf = HOSTILE_CONF
    directory = test.mkdir("objects")
    with open(os.path.join(lib.BUILD, "tests", "bpf", "hostile_text.bpf.o"), "rb") as file:
        content = file.read()
    assert PLACE in content
    for number, (name, (file_tag, _)) in enumerate(HOSTILE.items()):
        path = os.path.join(directory, name + ".o")
        with open(path, "wb") as file:
            file.write(content.replace(PLACE, file_tag.encode().ljust(len(PLACE))).replace(SERIES, b"hosti%02d\0" % number))
        daemon_conf += f'<Probe "{name}">\n  Object "{path}"\n</Probe>\n'
    load = test.load("task", name="kt_good")
    daemon = test.collectd(daemon_conf, interval=1)
    daemon.wait_rows("good", "ps_count", 5)
    complaints = daemon.complaints()
    for name, (_, part) in HOSTILE.items():
        found = [line for line in complaints if f"probe {name}" in line]
        test.equal(f"{name}: messages", len(found), part is not None)
        if part:
            test.contains(name, "".join(found), part)
    test.equal("other complaints", [line for line in complaints
                                    if not any(f"probe {name}" in line for name in HOSTILE)], [])
    test.equal("processes and threads of a service", row(daemon, "good", "ps_count")[1:], (1, 1))
    test.within("s of a reading", max(row[1] for row in daemon.rows("self", "duration-read_huge")), 0, 0.5 * SLOWNESS)
    load.end()


def main():
    with Test(limit=90) as test:
        cgroups = Cgroups(test)
        a, b = test.own("kt_a"), test.own("kt_b")
        for name in (a, f"{a}/below", b):
            cgroups.make(name)
        daemon = test.collectd(CONF % {"a": a, "b": b, "objects": os.path.join(lib.BUILD, "tests", "bpf")}, interval=1)
        services(test, daemon, cgroups, a, b)
        pressure(test, daemon, cgroups, a)
        machine(test, daemon)
        test.equal("series of what no file has", "derive-absent" in daemon.metrics("web"), False)
        complaints = daemon.complaints()
        test.equal("complaints", len(complaints), 1)
        test.contains("complaint", complaints[0], "cgroup:cpu.stat has nothing for absent on this kernel")
        test.equal("counters that fell", daemon.fallen(), [])
        hostile(test)


if __name__ == "__main__":
    main()

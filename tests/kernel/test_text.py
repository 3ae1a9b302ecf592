#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows of text files: what cgroups of services, /proc and /sys say, also where a cgroup goes and comes back; and
objects that name files which are none, or should not be read: one message each.

Truth: CPU time by the scheduler's own count of each thread, the time that two threads had one CPU to share, and the
files of /proc and /sys as they were around each reading.
"""

import math
import os
import socket
import time

import lib
import truth
from lib import SLOWNESS, Skip, Test, without

FIGURES = bool(os.environ.get("TEST_FIGURES"))
INTERVAL = 0.2 if SLOWNESS < 2 else 1
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
""" + without("poll", "request") + """
  <Probe "text">
    Object "%(objects)s/text.bpf.o"
  </Probe>
"""
# File, and what of its message must be there; None: it is a probe without a word.
HOSTILE = {
    "etc": ("/proc/../etc/passwd lines", "has a part that is not a name"),
    "memory": ("/proc/self/mem lines", "is a process's"),
    "command": ("/proc/1/cmdline lines", "is a process's"),
    "all": ("/proc/*/stat lines", "has an asterisk where processes are"),
    "wakeup": ("/sys/power/wakeup_count lines", "may wait"),
    "word": ("/proc/stat column", "unknown word \"column\""),
    "log": ("/proc/kmsg lines", "not everybody on this machine may read it"),
    "none": ("/proc/no/such/file lines", "cannot read /proc/no/such/file: this kernel has no such file"),
    "directory": ("/sys/class lines", "it is not a regular file"),
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
""" + without("poll", "request")
PATH = b"/proc/........................................ lines"
SERIES = b"hostile\0"
AROUND = 20000 * SLOWNESS  # us: of a process, before and after what it is asked to use
SECONDS = math.ceil((6 if FIGURES else 3) * SLOWNESS)  # of load; the kernel brings its pressure up to date every 2 s


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
    truth.wait_state(load.pid, "S")
    before = row(daemon, "web", "derive-usage")[1], divided(daemon)
    begin = truth.schedstat(load.pid)[0]
    load.ask(f"use {ms}")
    truth.wait_state(load.pid, "S")
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
    since = daemon.wait_rows("text", "gauge-load", 2, time.time())[-1][0]
    daemon.wait_rows("text", "gauge-load", 2, since + 0.001)
    test.true("no rows without a cgroup", daemon.rows("web", "derive-usage")[-1][0] < since + INTERVAL / 2)
    load = test.load("task", name="kt_named")
    truth.wait_state(load.pid, "S")
    begin = truth.schedstat(load.pid)[0]
    cgroups.make(a)
    cgroups.enter(a, load.pid)
    load.ask("use 250")
    truth.wait_state(load.pid, "S")
    used = (truth.schedstat(load.pid)[0] - begin) / 1000
    now = row(daemon, "web", "derive-usage")[1]
    test.close("in a new cgroup of the same name", now - before, used, rel=0.01, slack=AROUND)
    load.end()
    for name in ("gone", "named", "other"):
        test.equal(f"series of {name}", {metric for metric in daemon.metrics(name) if metric.startswith("derive")}, set())


def pressure(test, daemon, cgroups, a):
    """Two threads on one CPU: one of them waits, whoever else is there."""
    path = os.path.join(cgroups.root, a, "cpu.pressure")
    if not os.path.exists(path):
        test.left_out("pressure", "this kernel counts none")
        return
    sources = {"us with a thread that waits": (
        "web", "derive-some", 1, lambda: int(whole(path).split("total=")[1].split()[0]))}
    load = test.load("spin", test.mkdir("log"), 2, SECONDS, 0, max(os.sched_getaffinity(0)), name="kt_named")
    cgroups.enter(a, load.pid)
    begin = around(daemon, sources)
    time.sleep(SECONDS - 3)
    first, last = daemon.rows("web", "derive-some")[0], row(daemon, "web", "derive-some")
    test.figures.true("load ran all the time", load.process.poll() is None)
    load.result()
    grown = compare(test, begin, around(daemon, sources))
    test.true("a thread has waited", min(grown) > 0, grown)
    rows = [row for row in daemon.rows("web", "derive-some") if begin["us with a thread that waits"].stamp <= row[0] <= last[0]]
    first = rows[0]
    test.figures.close("us with a thread that waits for the CPU", last[1] - first[1], (last[0] - first[0]) * 1e6, rel=0.05,
                       slack=50000 * SLOWNESS)
    rates = [value for stamp, value in daemon.rows("web", "percent-full") if first[0] < stamp <= last[0]]
    test.figures.within("percent of the time that all wait", max(rates, default=0), 0, 100.1)
    average = row(daemon, "web", "gauge-some_10")[1]
    test.within("avg10", average, 0, 100)
    test.figures.within("avg10, at least", average, 1, 100)


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


def send(count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        for _ in range(count):
            sender.sendto(b"x" * 500, receiver.getsockname())
            receiver.recv(1000)


class Around:
    """What a reading says, and what the file said before it and after it."""

    def __init__(self, low):
        self.low = low
        self.stamp = self.got = self.high = None

    def add(self, row, column):
        self.stamp, self.got = row[0], row[column]


def around(daemon, sources):
    """sources: {what: (subject, metric, column, function that reads the file)}"""
    found = {what: Around(read()) for what, (_, _, _, read) in sources.items()}
    moment = time.time()
    for what, (subject, metric, column, _) in sources.items():
        found[what].add(daemon.row_after(subject, metric, moment), column)
    for what, (_, _, _, read) in sources.items():
        found[what].high = read()
    return found


def compare(test, begin, end):
    """What each has grown by."""
    for what, first in begin.items():
        last = end[what]
        test.between(what, last.got - first.got, (last.low - first.high, last.high - first.low))
    return [end[what].got - first.got for what, first in begin.items()]


def machine(test, daemon, before):
    sources = {"bytes received by the loopback": ("lo", "if_octets", 1, lambda: read_loopback()[0]),
               "bytes sent": ("lo", "if_octets", 2, lambda: read_loopback()[1]),
               "datagrams": ("text", "derive-datagrams", 1, read_datagrams)}
    for cpu, kind in read_softirqs():
        if kind == "NET_RX" and "irq-NET_RX" in daemon.metrics(cpu):
            sources[f"NET_RX of {cpu}"] = (cpu, "irq-NET_RX", 1, lambda cpu=cpu: read_softirqs()[cpu, "NET_RX"])
    load = truth.Sampler(lambda: os.getloadavg()[0], every=0.05)
    begin = around(daemon, sources)
    send(1000)
    grown = compare(test, begin, around(daemon, sources))
    test.within("bytes and datagrams, least", min(grown[:3]), 1000, float("inf"))
    got = row(daemon, "text", "gauge-load")[1]
    load.stop()
    test.within("load", got, min(load.values) - 0.01, max(load.values) + 0.01)
    test.true("usage of the root", row(daemon, "text", "derive-root")[1] > 0)
    now = disk_ops()
    row(daemon, "text", "gauge-load")
    test.equal("disks that do something, and are no subject",
               {name for name, count in now.items() if count != before.get(name, count) and
                "disk_ops" not in daemon.metrics(name)}, set())


def disk_ops():
    """{disk: what it has read and written}"""
    fields = {name: whole(f"/sys/block/{name}/stat").split() for name in os.listdir("/sys/block")}
    return {name: (int(words[0]), int(words[4])) for name, words in fields.items()}


def hostile(test):
    daemon_conf = HOSTILE_CONF
    directory = test.mkdir("objects")
    with open(os.path.join(lib.BUILD, "tests", "bpf", "hostile_text.bpf.o"), "rb") as file:
        content = file.read()
    assert PATH in content
    for number, (name, (file_tag, _)) in enumerate(HOSTILE.items()):
        path = os.path.join(directory, name + ".o")
        with open(path, "wb") as file:
            file.write(content.replace(PATH, file_tag.encode().ljust(len(PATH))).replace(SERIES, b"hosti%02d\0" % number))
        daemon_conf += f'<Probe "{name}">\n  Object "{path}"\n</Probe>\n'
    load = test.load("task", name="kt_good")
    daemon = test.collectd(daemon_conf, interval=INTERVAL)
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
    test.figures.within("s of a reading", max(row[1] for row in daemon.rows("self", "duration-read_huge")), 0, 0.5 * SLOWNESS)
    load.end()


def main():
    with Test(limit=90) as test:
        cgroups = Cgroups(test)
        a, b = test.own("kt_a"), test.own("kt_b")
        for name in (a, f"{a}/below", b):
            cgroups.make(name)
        daemon = test.collectd(CONF % {"a": a, "b": b, "objects": os.path.join(lib.BUILD, "tests", "bpf")}, interval=INTERVAL)
        daemon.wait_rows("text", "gauge-load", 2)
        disks = disk_ops()
        services(test, daemon, cgroups, a, b)
        pressure(test, daemon, cgroups, a)
        machine(test, daemon, disks)
        test.equal("series of what no file has", "derive-absent" in daemon.metrics("web"), False)
        complaints = daemon.complaints()
        test.equal("complaints", len(complaints), 1)
        test.contains("complaint", complaints[0], "cgroup:cpu.stat has nothing for absent on this kernel")
        test.equal("counters that fell", daemon.fallen(), [])
        hostile(test)


if __name__ == "__main__":
    main()

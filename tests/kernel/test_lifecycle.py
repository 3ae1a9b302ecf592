#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Start, stop, kill, mistakes in the configuration, broken objects: the daemon keeps running, each mistake causes one
message and affects nothing else, and nothing is left in the kernel.

Truth: bpftool, and the configuration.
"""

import os
import shutil
import signal
import time

from lib import SLOWNESS, Test, without

CYCLES = 2
INTERVAL = 0.2 if SLOWNESS < 2 else 1

# A mistake, and a part of its message.
MISTAKES = [
    ('NoSuchOption "kt-unknown"', "kt-unknown"),
    ('MaxServices "kt-many"', "kt-many"),
    ("MaxServices 0.25", "0.25"),
    ('Interval "kt-soon"', "kt-soon"),
    ("ServicesFrom 77", "77"),
    ("Percentile 151", "151"),
    ('Buckets "kt-maybe"', "kt-maybe"),
    ('<Service "regex">\n Process "kt_regex"\n ProcessMatch "kt-(open"\n </Service>', "kt-(open"),
    ('<Service "option">\n Process "kt_option"\n Colour "kt-blue"\n </Service>', "kt-blue"),
    ('<Service "kt-nothing">\n </Service>', "kt-nothing"),
    ('<Service "wild">\n Process "kt_wild"\n Unit "wild[.service"\n </Service>', "wild[.service"),
    ('<Service "kt/slash">\n Process "kt_slash"\n </Service>', "kt/slash"),
    ('<Service "self">\n Process "kt_self"\n </Service>', '"self"'),
    ('<Service "top">\n Process "kt_top"\n TopN -3\n </Service>', "-3"),
    ('<Service "per">\n Process "kt_per"\n PerProcess "kt-often"\n </Service>', "kt-often"),
    ('<Service "cgroup">\n Process "kt_cgroup"\n Cgroup 4711\n </Service>', "4711"),
    ('<Service "pid">\n Process "kt_pid"\n PidFile "kt-relative.pid"\n </Service>', "kt-relative.pid"),
    ('<Probe "process">\n Interval -17\n </Probe>', "-17"),
]

# Without the probe poll, which logs a message where only expensive hooks are available.
GOOD = """
  <Service "good">
    Process "kt_good"
  </Service>
""" + without("disk", "poll")
# Without the probes that take longest to load.
QUICK = GOOD + without("request", "delay")


def about(daemon):
    return [line for line in daemon.complaints() if "ebpf" in line]


def works(test, daemon, what):
    test.true(f"{what}: the service that is right is dispatched", daemon.wait_rows("good", "ps_count", 2))


def cycles(test):
    daemon = test.collectd(GOOD, interval=INTERVAL)
    for cycle in range(CYCLES):
        if cycle:
            daemon.start()
        moment = time.time()
        daemon.wait_rows("good", "ps_cputime", 2, moment)
        test.stop(daemon)
        test.equal(f"start and stop {cycle + 1}: BPF objects left", test.ledger.wait_empty(), [])
    daemon.start()
    daemon.wait_rows("good", "ps_cputime", 2, time.time())
    test.ledger.note(daemon.process.pid)
    test.equal("it had BPF objects", {kind for kind, _ in test.ledger.owned}, {"prog", "map", "link"})
    daemon.stop(signal.SIGKILL)
    test.equal("SIGKILL: BPF objects left", test.ledger.wait_empty(), [])
    test.equal("complaints of all of these", about(daemon), [])


def stalls(test):
    """After a stop of some intervals collectd makes two readings at once, of which only one dispatches values."""
    interval = 0.2 if SLOWNESS < 2 else 0.5
    daemon = test.collectd(QUICK, interval=interval)
    for _ in range(3):
        daemon.row_after("good", "ps_count", time.time())
        daemon.process.send_signal(signal.SIGSTOP)
        time.sleep(3 * interval)
        daemon.process.send_signal(signal.SIGCONT)
    for subject, metric in (("good", "ps_count"), ("self", "count-tier_process")):
        # The first row may be of the reading that was late.
        daemon.wait_rows(subject, metric, 3, after=time.time())
        stamps = [row[0] for row in daemon.rows(subject, metric)]
        gaps = [(after - before) / interval for before, after in zip(stamps, stamps[1:])]
        test.within(f"stops: most time between readings of {subject}, intervals", max(gaps), 2, float("inf"))
        test.within(f"stops: least time between readings of {subject}, intervals", min(gaps), 1 / 10, float("inf"))
        test.figures.within(f"stops: least time between readings of {subject}, intervals, at most", min(gaps), 0, 1.5)
    test.stop(daemon)


def mistakes(test):
    daemon = test.collectd(QUICK + "\n".join(text for text, _ in MISTAKES), interval=INTERVAL)
    load = test.load("task", name="kt_good")
    works(test, daemon, "mistakes")
    now = daemon.row_after("good", "ps_count", time.time())
    test.equal("mistakes: ps_count of the service that is right", now[1:], (1, 1))
    found = about(daemon)
    for text, shown in MISTAKES:
        lines = [line for line in found if shown in line]
        test.equal(f"messages about {text.splitlines()[0]!r} ({shown}): {lines}", len(lines), 1)
    test.equal("messages in all", len(found), len(MISTAKES))
    for name in ("regex", "option", "wild", "top", "per", "cgroup", "pid"):
        test.true(f"service {name}, without its mistake, is dispatched", daemon.wait_rows(name, "ps_count", 1))
    load.end()
    test.stop(daemon)


def broken_objects(test, build):
    """Probes with broken objects are off; the others work."""
    directory = test.mkdir("broken")
    with open(os.path.join(build, "process.bpf.o"), "rb") as file:
        whole = file.read()
    contents = {"text": b"This is no object.\n" * 100, "empty": b"", "short": whole[:len(whole) // 2],
                "head": whole[:100]}
    paths = {name: os.path.join(directory, name + ".o") for name in (*contents, "missing")}
    for name, content in contents.items():
        with open(paths[name], "wb") as file:
            file.write(content)
    paths["program"] = shutil.which("true")
    blocks = "".join(f'<Probe "{name}">\n Object "{path}"\n</Probe>\n' for name, path in paths.items())
    daemon = test.collectd(QUICK + blocks, interval=INTERVAL)
    works(test, daemon, "broken objects")
    found = about(daemon)
    for name, path in paths.items():
        lines = [line for line in found if path in line]
        test.equal(f"broken object {name}: messages {lines}", len(lines), 1)
    test.equal("broken objects: messages in all", len(found), len(paths))
    for name in paths:
        test.equal(f"broken object {name}: count-tier", daemon.wait_rows("self", f"count-tier_{name}")[0][1], 0)
    test.stop(daemon)


def no_directory(test):
    """Without probes there are only the plugin's own figures."""
    missing = os.path.join(test.dir, "kt-not-there")
    daemon = test.collectd(interval=1, objects=missing, extra="LoadPlugin load")
    daemon.wait_rows("", "load", 2, plugin="load")
    daemon.wait_rows("self", "objects-services", 1)
    found = about(daemon)
    test.equal(f"ObjectDirectory that is missing: messages {found}", len(found), 1)
    test.true("ObjectDirectory that is missing: it is named", missing in found[0])
    test.stop(daemon)


def main():
    with Test(limit=120) as test:
        cycles(test)
        stalls(test)
        mistakes(test)
        broken_objects(test, test.daemons[0].objects)
        no_directory(test)


if __name__ == "__main__":
    main()

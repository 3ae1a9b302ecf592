#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects that try to corrupt the engine's maps or to use up the machine's memory: each one that cannot be a probe
causes one message, and no series of a service changes.

Truth: the objects, and one process that runs all the time.
"""

import math
import os
import time

import lib
from lib import Test, without

INTERVAL = 0.5 if lib.SLOWNESS < 2 else 1
BURST, PERIOD, TEXTS = 10, 60, 16  # notifications at once; then one for each of TEXTS texts in PERIOD seconds
GOOD = """
  <Service "good">
    Process "kt_good"
  </Service>
  <Service "busy">
    Process "kt_busy"
  </Service>
""" + without("poll", "request")
BLOCKED_OTHERS = "it kept others from the walk over tasks, and is no longer called"
# Object, what is replaced in it, and a part of its message; None: it is a probe.
OBJECTS = {
    "event": ("hostile_event", None, None),
    "names": ("hostile_names", None, None),
    "value": ("hostile_value", None, "map service_tasks: its value size is 48"),
    "layout": ("sample", (b"\0shared:2\0", b"\0shared:9\0"), "map service_tasks: its layout is number 9, the plugin's 2"),
    "rows": ("hostile_rows", None, "map rows: it has 1000000 rows, and a table has 16384 at most"),
    "sharded": ("hostile_sharded", None, "map sharded: it has 2147483649 rows"),
    "hash": ("hostile_hash", None, "most of it for the map hashed, but of MaxMemory "),
    "full": ("hostile_full", None, None),
    "walk": ("hostile_walk", None, "cannot run its iterator: it does not finish"),
    "silent": ("hostile_silent", None, f"program hostile_silent: {BLOCKED_OTHERS}"),
    "visitor": ("hostile_visitor", None, None),
}


# Option of the object, and a part of its message.
TABLES = {
    "entries": "map entries: it has 4294967295 rows, and a table has 16384 at most",
    "values": "most of it for the map values, but of MaxMemory ",
    "one_value": "map one_value: a row of more than 1 MiB",
    "keys": "map keys: its key has no type, or more than 512 bytes",
}


def write_object(directory, name, source, change):
    with open(os.path.join(lib.BUILD, "tests", "bpf", source + ".bpf.o"), "rb") as file:
        content = file.read()
    if change:
        assert change[0] in content
        content = content.replace(*change)
    path = os.path.join(directory, name + ".o")
    with open(path, "wb") as file:
        file.write(content)
    return path


def notifications(daemon, instance):
    return [line.split("message = ", 1)[1] for line in daemon.log()
            if "Notification: " in line and f"type_instance = {instance}," in line]


def events(test, daemon):
    """Events that do not fit their tags, and a flood of events."""
    odd = notifications(daemon, "odd")
    test.within("event: notifications of odd ones", len(odd), 2, BURST + minutes(daemon))
    test.equal("event: their texts", set(odd), {"odd: _b___[31m%s%xxxx in other"})
    while daemon.row_after("event", "derive-sent", time.time())[1] < 1000:
        pass
    walks = daemon.rows("event", "derive-walks")[-1][1]
    suppressed = daemon.row_after("self", "total_events-events_suppressed_event", time.time())[1]
    test.within("event: suppressed, all but 10 of the flood and the short ones", suppressed, walks, math.inf)
    check_burst(test, daemon, "flood")
    if test.measures:
        test.figures.within("event: CPU of the daemon while the flood goes on", cpu_share(daemon), 0, 0.5)


def minutes(daemon):
    return int((time.time() - daemon.starts[-1]) / PERIOD)


def check_burst(test, daemon, instance):
    """A flood of events becomes a bounded number of notifications."""
    while len(notifications(daemon, instance)) < BURST:
        time.sleep(0.05)
    daemon.wait_rows("self", "duration-read_process", 2, time.time())
    found = notifications(daemon, instance)
    test.within(f"{instance}: notifications", len(found), BURST, BURST + TEXTS * minutes(daemon))


def echo(test, object_path):
    """Each wait of a thread makes an event, including those of the thread that reads the events."""
    daemon = test.collectd(f'<Probe "echo">\n Object "{object_path}"\n</Probe>\n', interval=INTERVAL)
    while daemon.row_after("self", "total_events-events_suppressed_echo", time.time())[1] == 0:
        pass
    if test.measures:
        pid = daemon.process.pid
        begin, before = time.monotonic(), waits(pid)
        time.sleep(3)
        most = max(count - before.get(tid, 0) for tid, count in waits(pid).items()) / (time.monotonic() - begin)
        # The notifier reads ten times a second; collectd's threads wait for each file that they write.
        test.figures.within("echo: times a second that a thread of the daemon waits", most, 5, 300)
        test.figures.within("echo: CPU of the daemon", cpu_share(daemon), 0, 0.2)
    check_burst(test, daemon, "echo")
    test.stop(daemon)


def cpu_share(daemon, seconds=2):
    begin, cpu = time.monotonic(), threads_cpu(daemon.process.pid)
    time.sleep(seconds)
    return (threads_cpu(daemon.process.pid) - cpu) / (time.monotonic() - begin)


def visitor(test, daemon):
    """An iterator that kept the others from their tasks is no longer called."""
    daemon.wait_rows("self", "count-tier_visitor", 5)
    lines = [line for line in daemon.complaints() if "probe visitor: " in line]
    test.equal(f"visitor: messages {lines}", len(lines), 1)
    test.true("visitor: it is named", f"program hostile_visitor: {BLOCKED_OTHERS}" in "".join(lines))
    test.equal("visitor: hook set", daemon.rows("self", "count-tier_visitor")[-1][1], 0)
    shares = [row[1] for row in daemon.rows("busy", "gauge-cpu_percent")]
    test.true("visitor: a busy process has used CPU", max(shares) > 0, shares)
    # Some values are of the reading whose first walk was cut off.
    test.figures.within("visitor: lowest CPU of a busy process, percent", min(shares), 5, math.inf)


def full_table(test, daemon):
    """The largest hash that a table may have: all rows count, and few have series."""
    daemon.wait_rows("full", "derive-walks", 6)
    test.within("full: names with series", daemon.rows("self", "objects-keys_full")[-1][1], 1, 256)
    test.within("full: names without", daemon.rows("self", "objects-other_full")[-1][1], 16384 - 256, 16384)
    longest = max(row[1] for row in daemon.rows("self", "duration-read_full"))
    test.figures.within("full: s of a reading", longest, 0, lib.SLOWNESS)
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as status:
        kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    test.within("MiB of memory of the daemon with all of these", kib / 1024, 0, 128)


def threads_cpu(pid):
    """CPU time of a process, s."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def waits(pid):
    """{thread: number of its waits}"""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/status", encoding="utf-8") as status:
            found[tid] = int(dict(line.split(":\t", 1) for line in status.read().splitlines())["voluntary_ctxt_switches"])
    return found


def main():
    with Test(limit=90) as test:
        directory = test.mkdir("hostile")
        load = test.load("task", name="kt_good")
        busy = test.load("spin", test.mkdir("busy"), 1, 60, 0, name="kt_busy")
        blocks = ""
        for name, (source, change, _) in OBJECTS.items():
            path = write_object(directory, name, source, change)
            more = ' Option "flood"\n' if name == "event" else ""
            blocks += f'<Probe "{name}">\n Object "{path}"\n{more}</Probe>\n'
        path = write_object(directory, "tables", "hostile_tables", None)
        blocks += "".join(f'<Probe "{name}">\n Object "{path}"\n Option "{name}"\n</Probe>\n' for name in TABLES)
        daemon = test.collectd(GOOD + blocks, interval=INTERVAL, collect=("process",))
        rows = daemon.wait_rows("good", "ps_count", 3)
        test.equal("processes and threads of the service, after the first reading", set(rows[1:]),
                   {(row[0], 1, 1) for row in rows[1:]})
        for name, text in {**{name: text for name, (_, _, text) in OBJECTS.items()}, **TABLES}.items():
            lines = [line for line in daemon.complaints() if f"probe {name} " in line]
            if text:
                test.equal(f"{name}: messages {lines}", len(lines), 1)
                test.true(f"{name}: {text!r} is in it", text in "".join(lines))
            else:
                test.equal(f"{name}: messages", lines, [])
        test.within("names: walks", daemon.wait_rows("names", "derive-walks", 2)[-1][1], 2, 100)
        test.within("names: assignments, of which the engine knows nothing", daemon.rows("names", "gauge-assignments")[-1][1], 2,
                    1e6)
        events(test, daemon)
        full_table(test, daemon)
        visitor(test, daemon)
        busy.kill()
        now = daemon.row_after("good", "ps_count", time.time())
        test.equal("processes and threads of the service", now[1:], (1, 1))
        test.stop(daemon)
        echo(test, os.path.join(directory, "event.o"))
        load.end()


if __name__ == "__main__":
    main()

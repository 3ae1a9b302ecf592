#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of how many samples the parts of requests' time are, and how old: in figures, in ebpf-top and on the pages of ebpf-graph. What
is older than two intervals is not shown."""

import contextlib
import math
import os
import shutil
import socket
import sys
import threading
import time

from e2e import TOP, Check, check_output, draw, known
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import detail  # noqa: E402
import live  # noqa: E402
import network  # noqa: E402
import parts  # noqa: E402
import unit  # noqa: E402
from columns import COLUMNS  # noqa: E402
from curve import Curve  # noqa: E402
from definitions import SAMPLES  # noqa: E402
from rrd import Grid  # noqa: E402
from unit import NBSP  # noqa: E402
from unixsock import Unixsock  # noqa: E402

WHY = next(column for column in COLUMNS if column.name == "why")
TITLE = "Where a request's time goes"
INTERVAL = 10
END, SPAN = int(time.time()) // INTERVAL * INTERVAL, 600
NAN = math.nan


def values(samples):
    """Of a service; samples: of the window, perhaps Dated"""
    return {("gauge-requests_in_progress", "value"): 4.0, ("latency-in_lock", "value"): 0.03, ("latency-in_cpu", "value"): 0.01,
            (SAMPLES.file, "value"): samples}


def plain(text):
    return text.replace(NBSP, " ")


def dated(age, interval=INTERVAL):
    # A test may be stopped for a while: seconds do not decide.
    return parts.Dated(212, time.time() - age - 0.2, interval)


def test_figures(check):
    for seconds, want in ((0, "0 s"), (8.4, "8 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"), (3 * 86400, "3 d")):
        check.equal(f"{seconds} s in words", plain(unit.age(seconds)), want)
    for samples, want in ((NAN, "lock 75 %"), (212.0, "lock 75 % (of 212 samples)"), (math.inf, "lock 75 %"),
                          (dated(3600, NAN), "lock 75 % (of 212 samples, 60 min ago)"), (dated(2.1 * INTERVAL), "–"),
                          (dated(-5, 3600), "lock 75 % (of 212 samples, 0 s ago)")):
        check.equal(f"{samples} samples", plain(WHY.unit.write(WHY.of(values(samples)))), want)
    check.equal("in a narrow column", plain(WHY.unit.short(WHY.of(values(dated(3600, NAN))))), "lock 75 % of 212, 60 min")
    said = WHY.json(WHY.of(values(dated(3600, NAN))))
    check.equal("as JSON", (said["why"], said["why_percent"], said["why_samples"]), ("lock", 75, 212))
    check.within("its age", said["why_age"], 3600, 3660)
    check.equal("as JSON without a time", WHY.json(WHY.of(values(212.0)))["why_age"], None)
    check.equal("as JSON if it is not current", set(WHY.json(WHY.of(values(dated(2.1 * INTERVAL)))).values()), {None})


def test_curves(check):
    """Of a span: at its end, by the last value."""
    def curve(label, many, draw="stack", lag=0):
        return Curve(label, draw, "#000", Grid(0, INTERVAL, len(many)), many, 0, lag=lag)

    disk = curve("disk", [3, 5, 4, 4])
    for many, lag, want in (([100, 100, 100, 212], 0, "disk 100 % (of 212 samples, 0 s ago)"),
                            ([100, 212, NAN, NAN], 0, "disk 100 % (of 212 samples, 20 s ago)"),
                            ([212, NAN, NAN, NAN], 0, "–"), ([212, NAN, NAN, NAN], 25, "disk 100 % (of 212 samples, 30 s ago)")):
        samples = curve("samples", many, "samples", lag)
        check.equal(f"of a span: {many}, {lag} s after the last value of any service",
                    plain(WHY.unit.write(WHY.evaluate([disk, samples]))), want)


def test_triage_and_detail(check):
    for age, clause, title in ((3, "; largest part of their time: lock 75 % (of 212 samples, ", TITLE),
                               (2.1 * INTERVAL, "100 % of all", "Latency")):
        rows = live.rows({("h", "web"): values(dated(age))})
        said = plain(next(found for found in live.findings(rows)["h"] if found.layer.name == "requests").sentence())
        check.true(f"triage of an age of {age} s", clause in said and ("lock" in said) == (age == 3), said)
        text = plain("\n".join(line for _, line in detail.lines(rows[0], rows, 100)))
        check.equal(f"one service, at an age of {age} s", (TITLE in text, "(of 212 samples, " in text), (age == 3, age == 3))
        check.contains("and its other parts", text, title)


def test_network(check):
    """What a packet brings has the age of its arrival."""
    cache = network.Cache()
    gauge = (network.GAUGE, 212.0),
    cache.store(network.Reading("h", "ebpf", "web", "gauge", "request_samples", time.time(), INTERVAL, gauge), 100.0)
    found = cache.services(101.0)["h", "web"][SAMPLES.file, "value"]
    check.equal("its interval", (found, found.interval), (212.0, INTERVAL))
    check.within("its age", time.time() - found.moment, 0, 60)


def reply(server, lines):
    """As collectd's unixsock plugin: LISTVAL, and 1 for each value."""
    with contextlib.suppress(OSError):
        connection, _ = server.accept()
        for command in connection.makefile("r"):
            said = lines if command.startswith("LISTVAL") else ["value=1"]
            connection.sendall((f"{len(said)} Values found\n" + "".join(line + "\n" for line in said)).encode())


def test_unixsock(check):
    """The time is that of collectd's cache, whatever else the other end says."""
    for moment, want in (("1700000000.125", 1700000000.125), ("soon", NAN)):
        path = os.path.join(check.dir, "s" + moment)
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        lines = [f"{moment} h/ebpf-web/{SAMPLES.file}", f"{moment} h/ebpf-web/ps_rss", "nonsense"]
        threading.Thread(target=reply, args=(server, lines), daemon=True).start()
        source = Unixsock(path)
        found = source.services()["h", "web"]
        source.close()
        server.close()
        got = found[SAMPLES.file, "value"]
        check.equal(f"read at {moment}", (got, str(got.moment)), (1.0, str(want)))
        check.equal("another value", type(found["ps_rss", "value"]), float)


def test_pages(check):
    """One with requests until the end, and one until a while ago."""
    directory, output = os.path.join(check.dir, "rrd"), os.path.join(check.dir, "pages")
    tree = Tree(directory, END, SPAN)
    for name, until in (("now", 0), ("past", 200)):
        tree.file("db1", name, "ps_rss", 1e6)
        for (file, _), value in values(212).items():
            tree.file("db1", name, file, value, until=until)
    done = draw(directory, output, "--start", str(END - SPAN), "--end", str(END))
    check.equal("exit status and complaints", (done.returncode, done.stderr), (0, ""))
    pages = check_output(check, output)
    table, finding = pages.texts("db1")
    check.true("current: the largest part", table["now"]["why"].startswith("lock 75 % (of 212 samples, "), table["now"])
    check.equal("not current: the largest part", table["past"]["why"], "–")
    for name, until in (("now", 0), ("past", 200)):
        page = pages.service("db1", name)
        samples = {"values": page.charts[TITLE]["samples"]}
        check.equal(f"{name}: the parts", page.steady(TITLE), {"lock": 0.03, "CPU": 0.01})
        check.equal(f"{name}: of how many samples", set(known(samples)), {212})
        first, step = page.members["grid"]["first"], page.members["grid"]["step"]
        check.equal(f"{name}: the last of them", first + step * (len(samples["values"]) - 1), END - until)
    check.contains("triage", finding["requests"].text, "now has 4 requests in progress")
    check.contains("triage", finding["requests"].text, "largest part of their time: lock 75 % (of 212 samples, ")


with Check() as checks:
    for test in (test_figures, test_curves, test_triage_and_detail, test_network, test_unixsock):
        test(checks)
    if shutil.which("rrdtool"):
        test_pages(checks)

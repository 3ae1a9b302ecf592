#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The triage of machines: what it says of made values, by ebpf-top from somebody who answers as collectd does, and on the
pages that ebpf-graph makes of RRD files."""

import json
import math
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

from e2e import TOP, Check, Markup, check_output, draw
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import layers  # noqa: E402
import live  # noqa: E402
import name  # noqa: E402
import series  # noqa: E402
import triage  # noqa: E402
from columns import LargestPart  # noqa: E402
from definitions import unit_of  # noqa: E402
from unit import NBSP  # noqa: E402

END = int(time.time())
SPAN = 600
LONG = "x" * 196 + ".end"
MARKUP = "<b>&\"'{name}[x]%s"
HOSTILE = (LONG, MARKUP, "a\x1b[2Jb", os.fsdecode(b"caf\xe9"), "[{share}]", "{")
UPSTREAM = "<i>10.0.0.1:80"


def values(**listing):
    """Of a service; a word has _ for - and two for the type's end."""
    return {key if isinstance(key, tuple) else (key, "value"): value for key, value in listing.items()}


def service(more, cpu=0.0, wait=0.0):
    return {("ps_cputime", "user"): cpu * 1e6, ("ps_cputime", "syst"): 0.0, ("delay_rate-delay-cpu", "value"): wait,
            ("ps_count", "processes"): 1, **more}


def plain(series):
    return {(file, "value"): value for file, value in series.items()}


def machine():
    """Every layer has another service to blame."""
    storm = plain({"fork_rate": 340.0, "total_events-exits_failed": 2.0, "total_events-execs": 300.0})
    quiet = plain({"fork_rate": 30.0, "total_events-exits_failed": 0.0})
    net = plain({"total_events-retransmits": 9.0, "total_events-listen_drops": 0.5})
    few = plain({"total_events-retransmits": 1.0})
    calls = plain({"delay_rate-syscall-futex": 70.0, "delay_rate-syscall-fsync": 0.75, "delay_rate-syscall-openat": 0.25, "delay_rate-syscall-read": 30.0})
    wrote = {("disk_octets-submitted", "read"): 0.0, ("disk_octets-submitted", "write"): 6.0 * 2 ** 20}
    device = {("disk_io_time", "io_time"): 970.0, ("disk_ops-completed", "read"): 10.0, ("disk_octets-completed", "write"): 9e9,
              **plain({"pending_operations": 3, "latency-disk_service-read-percentile-99": 0.25})}
    return {"cron": service(storm), "idle": service(quiet), "php": service({}, 1.5, 0.5), "batch": service({}, 0.5, 0.5),
            "web": service(net), "db": service(few), "store": service(calls), "backup": service(wrote),
            "web-77-1234": service(net, 9, 9), "vda": device,
            "vdb": {("disk_io_time", "io_time"): 1.0},
            "disk": {("disk_octets-submitted-writeback", "write"): 2.0 * 2 ** 20},
            "sched": plain({"latency-runqueue-percentile-99": 0.005}),
            "tcp": plain({"protocol_counter-RetransSegs": 12.0}), "self": plain({"fork_rate": 999.0})}


def inspect(services):
    rows = live.rows({("h", name): listing for name, listing in services.items()})
    return {finding.layer.name: finding for finding in live.findings(rows).get("h", ())}


def said(found):
    return {name: finding.sentence().replace(NBSP, " ") for name, finding in found.items()}


def test_blame(check):
    found = inspect(machine())
    check.equal("layers in order", list(found), ["requests", "processes", "run_queue", "disk", "network", "system_calls"])
    check.equal("who is to blame", said(found), {
        "requests": "unknown",
        "processes": "cron forks 340 processes a second, 92 % of all; cron has most failures, 2 a second",
        "run_queue": "php has 2 runnable threads, 67 % of all; 1 of all wait for a CPU; the 99th percentile of a wait is 5 ms",
        "disk": "backup submits 6 MiB/s, 75 % of all I/O; vda is busy for 97 % of the time, reads take 250 ms at the 99th "
                "percentile",
        "network": "web retransmits 9 segments a second, 90 % of all; web drops 0.50 new connections a second; "
                   "the machine retransmits 12 segments a second",
        "system_calls": "store has 1 threads in system calls, 100 % of all, most in fsync 75 %"})
    disk = found["disk"].tables
    check.equal("who submits", [(subject.name, round(figures[1])) for subject, figures in disk[0].rows],
                [("backup", 75), ("writeback", 25)])
    check.equal("devices", [(subject.name, figures[0]) for subject, figures in disk[1].rows], [("vda", 97), ("vdb", 0.1)])
    check.equal("the machine", found["run_queue"].json()["machines"][0]["machine"], "h")
    alone = inspect({"web": {("ps_rss", "value"): 1.0}, "tcp": machine()["tcp"]})["network"].json()
    check.equal("of the machine alone", (alone["sentence"], alone["blame"]), ("the machine retransmits 12 segments a second", None))
    alone = inspect({"tcp": plain({"protocol_counter-RetransSegs": 0.0})})["network"].json()
    check.equal("which has none", (alone["sentence"], alone["blame"]), ("no segment is retransmitted", None))
    check.equal("what is on", {probe.name for finding in found.values() for probe in finding.off}, {"request"})


def test_stuck(check):
    """A thread is idle in a call that waits for a lock or for something to do, unless it has a request in hand."""
    stuck = plain({"delay_rate-syscall-flock": 15.0, "delay_rate-request_syscall-flock": 14.0, "delay_rate-syscall-futex": 30.0,
                   "delay_rate-syscall-fsync": 1.0, "delay_rate-request_syscall-fsync": 1.0})
    other = plain({"delay_rate-syscall-flock": 40.0, "delay_rate-syscall-fsync": 2.0})
    found = inspect({"web": service(stuck), "batch": service(other)})["system_calls"]
    check.equal("who is stuck", found.sentence().replace(NBSP, " "),
                "web has 15 threads in system calls, 88 % of all, most in flock 93 %")
    check.equal("and who is not", [(subject.name, figures[0]) for subject, figures in found.tables[0].rows],
                [("web", 15), ("batch", 2)])


def test_by_default(check):
    """With the probes alone that are on by default there is something of each layer but one, and it says what is missing."""
    listing = {("io_octets", "rx"): 1.0, ("if_octets", "rx"): 3.0 * 2 ** 20, ("if_octets", "tx"): 2.0 ** 20,
            ("disk_octets", "read"): 2.0 ** 20, ("disk_octets", "write"): 0.0,
            **plain({"total_events-processes_started": 3.0, "total_requests": 100, "gauge-requests_in_progress": 4.0,
                     "latency-in_disk": 0.03, "latency-in_cpu": 0.01})}
    found = inspect({"web": service(listing, 0.1, 0.1), "rest": service(plain({"total_events-processes_started": 1.0}))})
    check.equal("what it says", said(found), {
        "requests": "web has 4 requests in progress, 100 % of all; largest part of their time: disk 75 %",
        "processes": "3 processes a second start as web, 75 % of all",
        "run_queue": "web has 0.20 runnable threads, 100 % of all; 0.10 of all wait for a CPU",
        "disk": "web reads and writes 1 MiB/s, 100 % of all to and from disks",
        "network": "web receives and sends 4 MiB/s, 100 % of all",
        "system_calls": "unknown"})
    check.equal("what is off", {name: [probe.name for probe in finding.off] for name, finding in found.items()}, {
        "requests": [], "processes": ["lifecycle"], "run_queue": ["sched"], "disk": ["disk", "disk"], "network": ["tcp"],
        "system_calls": ["delay"]})
    hint = found["run_queue"].off[0].hint()
    listing = plain({"count-tier_sched": 2.0, "count-tier_tcp": 0.0, "count-tier_disk": 1.0})
    found = inspect({"web": service({}), "self": listing})
    check.equal("by what the plugin says of itself", [probe.option or probe.name for name in ("run_queue", "network", "disk")
                                                      for probe in found[name].off], ["tcp", "services"])
    check.contains("how to switch it on", hint, '<Probe "sched"> with Enable true adds ')


def test_nothing(check):
    check.equal("no service", inspect({}), {})
    check.equal("one of which nothing is known", set(said(inspect({"x": {("ps_rss", "value"): math.nan}})).values()), {"unknown"})
    idle = inspect({"x": service(plain({"fork_rate": 0.0, "total_events-retransmits": 0.0, "delay_rate-syscall-futex": 3.0}))})
    check.equal("one that does nothing", [said(idle)[name] for name in ("processes", "run_queue", "network")],
                ["no process is forked", "no thread is runnable", "no segment is retransmitted"])
    check.equal("nobody is to blame", idle["processes"].json()["blame"], None)
    check.equal("and no table", [line for kind, line in idle["processes"].lines(5, 80) if kind == "row"], [])
    for odd in (math.inf, -1.0, math.nan, 1e308):
        strange = inspect({"x": service(plain({"fork_rate": odd})), "y": service(plain({"fork_rate": 1e308}))})
        check.true(f"a value of {odd} is survived", said(strange)["processes"])
    text = json.dumps(live.triage_document(live.rows({("h", "x"): service(plain({"fork_rate": math.inf}))}), "s"))
    check.true("and is no JSON", "Infinity" not in text and "NaN" not in text)


def test_many(check):
    """Hundreds of services, with names that somebody has chosen."""
    many = {f"s{position}": service(plain({"fork_rate": float(position)})) for position in range(400)}
    many |= {name: service(plain({"fork_rate": 1000.0 - position})) for position, name in enumerate(HOSTILE)}
    began = time.monotonic()
    found = inspect(many)
    lines = [line for finding in found.values() for _, line in finding.lines(5, 79)]
    check.figures.within("seconds for 400 services", time.monotonic() - began, 0, 2)
    check.true("no line is too long", max(map(len, lines)) <= 79, max(lines, key=len))
    check.true("nothing that a terminal obeys", all(line.isprintable() or NBSP in line for line in lines))
    call = inspect({"x": service(plain({"delay_rate-syscall-a\x1b[2J": 1.0}))})["system_calls"]
    check.true("nor in the name of a call", not any("\x1b" in line for _, line in call.lines(5, 79)))
    check.contains("a long name has its begin and its end", "\n".join(lines), "xxx…xxx")
    check.equal("all are in JSON", len(found["processes"].json()["services"]), len(many))
    for text in HOSTILE:
        one = inspect({text: service(plain({"fork_rate": 5.0}))})["processes"]
        check.true(f"{text[:20]!r} is named as it is", one.sentence().startswith(triage.plain(text, one) + " forks 5 "))


def test_table(check):
    """Names of columns are told apart, and what is said of them is there."""
    for layer in layers.LAYERS:
        for rank in layer.ranks:
            columns = [column.name for column in (rank.column, *rank.columns, *layer.columns)]
            check.equal(f"{layer.name}: columns", len(columns), len(set(columns)))
        found = triage.Finding(layer, [])
        check.equal(f"{layer.name}: unknown", found.sentence(), "unknown")
    column = layers.labelled(layers.SUBMITTED, "x")
    check.equal("labelled", [one.file for one in column.series], ["disk_octets-submitted-x"] * 2)
    column = layers.labelled(layers.RUN_QUEUE_TAIL, "x")
    check.equal("labelled", [one.file for one in column.series], ["latency-runqueue-x-percentile-99"])


def test_described(check):
    """There are no other series than those of the probes."""
    counted = {re.sub(r"-(average|percentile-.*)$", "", one.file) for one in layers.SERIES
               if not one.file.startswith("count-tier_")}
    files = [file for _, _, many in series.PROBES for file, *_ in many]
    check.equal("series that no probe has", [one for one in sorted(counted) if one not in files
                                             and all(name.varying(file, one) is None for file in files)], [])
    units = {file: unit_of(word, counts) for _, _, many in series.PROBES for file, _, counts, word, *_ in many}
    for column in layers.all_columns():
        if isinstance(column, LargestPart):
            continue
        said_units = {units[one.file][0].symbol for one in column.series if one.file in units and one.scale == units[one.file][1]}
        check.true(f"{column.name}: the unit of its series", said_units <= {column.unit.symbol.replace("%", "")}, said_units)


# --- ebpf-top -----------------------------------------------------------------------------------

def respond(connection, services):
    """As collectd's unixsock plugin."""
    listed = {f"h/ebpf-{owner}/{file}": {} for owner, listing in services.items() for file, _ in listing}
    for owner, listing in services.items():
        for (file, source), value in listing.items():
            listed[f"h/ebpf-{owner}/{file}"][source] = value
    for line in connection.makefile("r", encoding="utf-8"):
        if line.startswith("LISTVAL"):
            lines = [f"1.0 {one}" for one in listed]
        else:
            requested = line.partition('"')[2].rpartition('"')[0].replace('\\"', '"').replace("\\\\", "\\")
            lines = [f"{source}={value}" for source, value in listed[requested].items()]
        connection.sendall((f"{len(lines)} Values found\n" + "".join(one + "\n" for one in lines)).encode())


def serve(path, services):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()

    def run():
        while True:
            connection, _ = server.accept()
            threading.Thread(target=respond, args=(connection, services), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()


def top(*arguments):
    return subprocess.run([os.path.join(TOP, "contrib", "ebpf-top"), *arguments], stdin=subprocess.DEVNULL, timeout=60,
                          capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"})


def test_top(check):
    services = machine()
    services["web"] |= plain({"total_requests": 10.0, f"total_requests-upstream-{UPSTREAM}": 12.0,
                              f"gauge-requests_in_progress-upstream-{UPSTREAM}": 1.5,
                              f"latency-upstream-{UPSTREAM}-average": 0.125,
                              "gauge-requests_in_progress-upstream-other": 2.5})
    services[MARKUP] = service(plain({"fork_rate": 1.0}))
    path = os.path.join(check.dir, "s")
    serve(path, services)
    done = top("--socket", path, "--json", "--triage")
    check.equal("exit status and complaints", (done.returncode, done.stderr), (0, ""))
    host, = json.loads(done.stdout)["hosts"]
    check.equal("who is to blame", {layer["layer"]: layer["blame"] for layer in host["layers"]},
                {"requests": None, "processes": "cron", "run_queue": "php", "disk": "backup", "network": "web", "system_calls": "store"})
    device = host["layers"][3]["devices"][0]
    check.equal("a device", (device["device"], device["busy"], device["read_p99"], device["write_p99"]),
                ("vda", 97, 0.25, None))
    lines = top("--socket", path, "--once", "--triage").stdout.splitlines()
    check.true("the first known line", lines[1].startswith("Processes: cron forks 340"), lines[1])
    check.equal("the table below", [line.split()[0] for line in lines[2:6]], ["service", "cron", "idle", MARKUP])
    upstreams = {one["service"]: one["upstreams"] for one in json.loads(top("--socket", path, "--json").stdout)["services"]
                 if "upstreams" in one}
    check.equal("upstreams, who waits longest first", upstreams, {"web": [
        {"upstream": "other", "in_progress": 2.5, "requests": None, "average": None, "p99": None, "errors": None},
        {"upstream": UPSTREAM, "in_progress": 1.5, "requests": 12, "average": 0.125, "p99": None, "errors": None}]})
    table = [line.split() for line in top("--socket", path, "--once", "--upstreams").stdout.splitlines()]
    check.equal("as a table", table, [["upstream", "at", "it", "req/s", "mean"], ["web", "→", "other", "2.50", "–", "–"],
                                      ["web", "→", UPSTREAM, "1.50", "12", "125ms"]])
    alone = os.path.join(check.dir, "alone")
    serve(alone, {"self": plain({"count-tier_disk": 1.0})})
    check.contains("before the first services", top("--socket", alone, "--once", "--wait", "0.1").stderr, "no values of services yet")
    shown = top("--socket", path, "--once").stdout
    check.equal("devices and probes are no services", [name for name in ("vda", "sched", "tcp", "disk ")
                                                      if f"\n{name}" in shown], [])


# --- ebpf-graph ---------------------------------------------------------------------------------

def store(tree, host, services):
    for owner, listing in services.items():
        files = {}
        for (file, source), value in listing.items():
            files.setdefault(file, {})[source] = value
        for file, given in files.items():
            sources = [source for source, _ in tree.types[file.partition("-")[0]]]
            tree.file(host, owner, file, *(given.get(source, 0) for source in sources))


def test_sheet(check):
    directory, output = os.path.join(check.dir, "rrd"), os.path.join(check.dir, "pages")
    tree = Tree(directory, END, SPAN)
    services = machine()
    # Counters have whole numbers a step.
    services["web"][("total_events-listen_drops", "value")] = 3.0
    services[MARKUP.replace("/", "")] = service(plain({f"delay_rate-syscall-{UPSTREAM}": 9.0}))
    store(tree, "db1", services)
    # Of a service that was there for half of the time, half counts.
    tree.file("db1", "gone", "fork_rate", 100, until=SPAN // 2)
    tree.file("db2", "alone", "ps_rss", 1e6)
    done = draw(directory, output, "--start", str(END - SPAN), "--end", str(END))
    check.equal("exit status and complaints", (done.returncode, done.stderr), (0, ""))
    pages = check_output(check, output)
    page = pages.host("db1")
    table, finding = pages.texts("db1")
    check.equal("layers", list(finding), ["requests", "processes", "run_queue", "disk", "network", "system_calls"])
    check.contains("processes", finding["processes"].text, "cron forks 340 processes a second, 81 % of all")
    check.contains("disk", finding["disk"].text, "backup submits 6 MiB/s, 75 % of all I/O; vda is busy for 97 % of the time")
    check.contains("system calls", finding["system_calls"].text,
                   f"{MARKUP} has 9 threads in system calls, 90 % of all, most in {UPSTREAM} 100 %")
    check.equal("shares", {name: row["share"] for name, row in finding["processes"].table.items()},
                {"cron": "81 %", "gone": "12 %", "idle": "7 %"})
    check.equal("who submits, and devices", list(finding["disk"].table), ["backup", "writeback", "vda", "vdb"])
    check.equal("processes by service", list(page.curves["Processes forked by service"]), ["cron", "gone", "all others"])
    check.equal("devices", list(page.curves["Reads of devices, 99th percentile"]), ["vda"])
    check.equal("the machine", list(page.curves["TCP of the machine"]), ["retransmits"])
    check.equal("no element by somebody's name", [tag for tag in ("<b>", "<i>") if tag in page.markup().source], [])
    summary = {layer: Markup(text).text for layer, text in page.members["spans"]["span"]["summary"].items()}
    check.equal("the same sentences for the page of all", [layer for layer, said in summary.items()
                                                          if not finding[layer].text.startswith(said + "\n")], [])
    check.equal("devices are in no table of services", [name for name in ("vda", "sched", "disk") if name in table], [])
    _, empty = pages.texts("db2")
    check.equal("a machine of which little is known", {one.text.splitlines()[0] for one in empty.values()}, {"unknown"})
    check.contains("says what would tell", empty["network"].text, '<Probe "tcp"> with Enable true adds retransmits')
    check.equal("pages of machines", pages.files("hosts"), {"hosts/db1.html", "hosts/db2.html"})
    draw(directory, output, "--start", str(END - SPAN), "--end", str(END), "--host", "db2", "--service", "alone")
    check.equal("of some services alone there is none", check_output(check, output).files("hosts"), set())


with Check() as checks:
    test_blame(checks)
    test_stuck(checks)
    test_by_default(checks)
    test_nothing(checks)
    test_many(checks)
    test_table(checks)
    test_described(checks)
    test_top(checks)
    if shutil.which("rrdtool"):
        test_sheet(checks)

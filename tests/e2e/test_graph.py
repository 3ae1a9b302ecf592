#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-graph on files with known content: what it finds, what it leaves out, and what the data of its pages have."""

import fcntl
import itertools
import json
import math
import os
import re
import shutil
import threading
import time

from e2e import Check, Markup, Skip, check_output, draw, known
from tree import Tree

END = int(time.time())
SPAN = 600
# The last half hour is always as long past: whether a service has ended in steps of an hour may not depend on the minute.
WEEK_END = (END - 900) // 1800 * 1800 + 900
ODD = ("(sd-pam)", "app-1-2", "Web Content", "a:b'c\"d#e%f&<g>", "50%\\n", os.fsdecode(b"caf\xe9"))
HOUR, DAY = 3600, 86400


def make_recent(directory):
    tree = Tree(directory, END, SPAN)
    for subject, user in (("web", 250000), ("web-77-1234", 100000), *((name, 10000) for name in ODD)):
        tree.file("db1", subject, "ps_cputime", user, 5000)
    tree.file("db1", "web", "ps_rss", 3 * 2 ** 20)
    tree.file("db1", "web", "ps_rss-peak", 5 * 2 ** 30)
    tree.file("db1", "web", "io_octets", 0, 0)
    tree.file("db1", "web", "ps_count", 4, 9)
    tree.file("db1", "web", "total_events-processes_started", 7)
    tree.file("db1", "silent", "ps_cputime")
    tree.file("db1", "undrawn", "gauge-send_gap-samples", 5000)
    tree.file("db1", "self", "duration-read_process", 0.001)
    tree.file("db2", "mail", "ps_cputime", 10000, 0)
    with open(tree.file("db2", "broken", "ps_cputime"), "wb") as file:
        file.write(b"no RRD")
    os.makedirs(os.path.join(directory, "db1", "cpu-0"))
    os.makedirs(os.path.join(directory, "db1", "ebpf-empty"))
    make_requests(tree)
    make_parts(tree)
    make_upstreams(tree)


def make_requests(tree):
    """A service that answers; another that has two values and a gap; and a probe that no definition knows."""
    tree.file("db1", "api", "total_requests", 1250)
    for percent, seconds in ((50, 250e-6), (99, 4e-3), ("99.9", 0.02), (95, 1e-3)):
        tree.file("db1", "api", f"latency-response-percentile-{percent}", seconds)
    tree.file("db1", "api", "percent-slack", 62.5)
    tree.file("db1", "api", "gauge-send_gap-variance", 4e-9)
    tree.file("db1", "api", "gauge-send_gap-samples", 5000)
    middle = tree.end - SPAN // 2
    tree.file("db1", "steps", "ps_rss",
              lambda now: math.nan if abs(now - middle) < 60 else 1000 if now < middle else 3000)
    tree.file("db1", "vda", "total_operations-mine", 12)
    tree.file("db1", "sdz", "disk_io_time", 0, 0)
    moment = tree.end - 100
    tree.file("db1", "api", "gauge-requests_oldest", lambda now: 3 if now == moment else math.nan)
    for position in range(5):
        tree.file("db1", f"tail{position}", "latency-response-percentile-99", 1 + position)


def make_parts(tree):
    """Two services whose requests have parts; three without requests, of which one is known to wait for a disk."""
    middle = tree.end - SPAN // 2
    for service, rate, tails in (("db", 300, {95: 0.03, 99: 0.9}), ("cache", 90, {99: 0.002})):
        tree.file("db1", service, "total_requests", rate)
        tree.file("db1", service, "latency-in_socket", 0.001)
        # Known in the second half alone; what is sent, all the time.
        tree.file("db1", service, "latency-in_disk", lambda now: math.nan if now < middle else 0.006)
        tree.file("db1", service, "latency-in_lock", 0)
        tree.file("db1", service, "latency-in_cpu", lambda now: math.nan if now < middle else 0.001)
        tree.file("db1", service, "gauge-send_wait", 0.002)
        for percent, seconds in tails.items():
            tree.file("db1", service, f"latency-response-percentile-{percent}", seconds)
    tree.file("db1", "db", "percent-slack", 70)
    tree.file("db1", "db", "percent-slow_lock", 90)
    tree.file("db1", "db", "percent-slow_cpu", 10)
    for service, delays in (("copy", {"cpu": 0.5, "blkio": 1.5, "sleep": 0, "pipe": 0.5}), ("spin", {"cpu": 0.9}),
                            ("rest", {"cpu": 0.9, "blkio": 0})):
        for name, seconds in delays.items():
            tree.file("db1", service, f"delay_rate-delay-{name}", seconds)


def make_upstreams(tree):
    """A service with three, one with many, one of which the name is markup."""
    for position in range(12):
        name = f"10.0.0.{position}:80" if position else "<b>sock"
        tree.file("db1", "fan", f"gauge-requests_in_progress-upstream-{name}", 12 - position)
        tree.file("db1", "fan", f"latency-upstream-{name}-average", (1 + position) / 1000)
    tree.file("db1", "fan", "latency-in_upstream", 0.008)
    for upstream, requests in (("127.0.0.1:3306", 3), ("_2001:db8::1_:80", 0.75), ("other", 0.25)):
        tree.file("db1", "front", f"gauge-requests_in_progress-upstream-{upstream}", requests)
        tree.file("db1", "front", f"latency-upstream-{upstream}-average", requests / 1000)
        tree.file("db1", "front", f"errors-upstream-{upstream}", 0)
    tree.file("db1", "front", "latency-in_cpu", 0.001)
    tree.file("db1", "front", "latency-in_upstream", 0.004)


def make_week(directory):
    tree = Tree(directory, WEEK_END, 9 * DAY, 1800)
    for subject, until in (("lives", 0), ("ended", 5 * HOUR), ("past", 3 * DAY), ("gone", 8 * DAY)):
        tree.file("db1", subject, "ps_cputime", 500000, 0, until=until)
    fine = Tree(directory, WEEK_END, DAY, 60)
    spike = fine.end - 10 * HOUR
    fine.file("db1", "lives", "ps_rss", lambda now: 9000 if now == spike else 1000)


def test_all(check, tree, output):
    done = draw(tree, output, "--start", str(END - SPAN), "--end", str(END), "--table", "20")
    check.equal("exit status", done.returncode, 0)
    check.equal("complaints", len(done.stderr.splitlines()), 1)
    check.contains("a broken file is named", done.stderr, "ebpf-broken")
    check.contains("last line", done.stdout.splitlines()[-1], f"file://{output}/index.html")
    pages = check_output(check, output)
    table, _ = pages.texts("db1")
    check.equal("the row of web", table["web"], {
        "requests": "–", "p50": "–", "p99": "–", "why": "–", "slack": "–", "CPU": "25.5", "memory": "3 MiB", "read": "0 B/s",
        "written": "0 B/s", "CPU wait": "–", "procs": "4", "started": "7"})
    check.equal("the row of api", [table["api"][heading] for heading in ("requests", "p50", "p99", "slack", "CPU")],
                ["1.25 k", "250 µs", "4 ms", "62.5", "–"])
    check.equal("the row of a process", table["web · process 77"]["CPU"], "10.5")
    for name in (*ODD[:-1], "mail", "api"):
        check.true(f"{name} is on the page", name in table or name == "mail")
        check.contains("and in the terminal", done.stdout, name)
    check.true("a name that is no text is on the page", "caf\N{REPLACEMENT CHARACTER}" in table)
    check.contains("and in the terminal", done.stdout, "caf\N{REPLACEMENT CHARACTER}")
    check.contains("its host", done.stdout, "\ndb2\n")
    for name in ("silent", "undrawn"):
        check.true(f"{name}, without values to draw, has no sheet", ("db1", name) not in pages.services)
    check.equal("what page.js sorts by", pages.services["db1", "web-77-1234"]["process_of"], "web")
    return pages


def test_sheets(check, pages):
    web = pages.service("db1", "web")
    check.equal("graphs of a service without requests", list(web.curves),
                ["CPU", "Memory", "Read and written", "Processes and threads", "Processes started and ended"])
    check.equal("its memory", web.steady("Memory"), {"resident now": 3.146e6, "highest": 5.369e9})
    check.equal("zeros are there, for the sentence about them", web.steady("Read and written"), {"read": 0, "written": 0})
    api = pages.service("db1", "api")
    check.equal("graphs of one with requests", list(api.curves),
                ["Requests", "Oldest request", "Response time", "Slack", "Variance of the gaps"])
    check.equal("its percentiles in order", list(api.steady("Response time").items()),
                [("p50", 250e-6), ("p95", 1e-3), ("p99", 4e-3), ("p99.9", 0.02)])
    curves = [(curve["percentile"], curve["color"]) for curve in api.curves["Response time"].values()]
    check.equal("which are percentiles, in one colour from light to dark", curves,
                [(True, f"ramp:{tint}") for tint in ("0.00", "0.33", "0.67", "1.00")])
    check.equal("its rate", api.steady("Requests"), {"answered": 1250})
    check.equal("its variance", api.steady("Variance of the gaps"), {"sends": 4e-9})
    more = [title for title, chart in api.charts.items() if chart["more"]]
    check.equal("what few want to know", more, ["Variance of the gaps"])
    said = api.charts["Requests"]["help"]
    check.contains("what a graph shows", said, "Requests: each is what a client sends, and the response to it.")
    check.true("and nothing of what it does not show", "Streams: " not in said)
    check.equal("a probe of somebody's own", pages.service("db1", "vda").steady("total_operations"), {"mine": 12})
    own = pages.service("db1", "self")
    check.equal("the plugin itself", (list(own.curves), own.steady("Time of a reading")), (["Time of a reading"], {"process": 0.001}))


def test_parts(check, pages):
    """Where a request's time goes leads the page, and is on the page of all, of the service with most requests first."""
    title, slow, threads = "Where a request's time goes", "Where the time of slow requests goes", "What threads wait for"
    page = pages.service("db1", "db")
    check.equal("first graph", list(page.curves)[0], title)
    check.equal("its parts from below, and the tail", page.steady(title),
                {"socket": 0.001, "CPU": 0.001, "disk": 0.006, "send buffer": 0.002, "response p95": 0.03})
    check.equal("slow requests", page.steady(slow), {"CPU": 10, "lock": 90})
    check.equal("without a 95th percentile", list(pages.service("db1", "cache").curves[title])[-1], "response p99")
    copy = pages.service("db1", "copy")
    check.equal("what threads wait for", copy.steady(threads), {"run queue": 0.5, "disk": 1.5, "pipe": 0.5})
    check.equal("what has the wait for CPUs alone", list(pages.service("db1", "spin").curves), ["Run-queue wait"])
    leads = {name: [one for one, chart in pages.service("db1", name).charts.items() if chart["leads"]]
             for name in ("db", "copy", "web")}
    check.equal("what leads", leads, {"db": [title], "copy": [threads], "web": []})
    times = pages.host("db1").members["request_times"]
    check.equal("on the page of all", [(chart["title"], chart["link"]) for chart in times],
                [(name, f"services/db1/{name}.html") for name in ("db", "cache", "fan")])
    table, _ = pages.texts("db1")
    check.equal("in its table", [table[service]["why"] for service in ("db", "cache", "api")], ["disk 60 %", "disk 60 %", "–"])


def test_upstreams(check, pages):
    title, times = "Requests at upstreams", "Mean response time of upstreams"
    page = pages.service("db1", "front")
    check.equal("where a request's time goes", page.steady("Where a request's time goes"), {
        "CPU": 0.001, "upstream 127.0.0.1:3306": 0.003, "upstream _2001:db8::1_:80": 0.00075, "upstream other": 0.00025})
    check.equal("upstreams", page.steady(title), {"127.0.0.1:3306": 3, "_2001:db8::1_:80": 0.75, "other": 0.25})
    check.equal("their response times", page.steady(times)["_2001:db8::1_:80"], 750e-6)
    page = pages.service("db1", "fan")
    check.equal("of many those with most requests", page.steady(title),
                {"<b>sock": 12, **{f"10.0.0.{position}:80": 12 - position for position in range(1, 7)}, "5 others": 15})
    check.equal("the slowest", set(page.curves[times]), {f"10.0.0.{position}:80" for position in range(5, 12)})
    others = [other["label"].replace("\N{NO-BREAK SPACE}", " ") for other in page.charts[times]["others"]]
    check.equal("and the others, whose sum is no time", others,
                ["10.0.0.4:80 5 ms", "10.0.0.3:80 4 ms", "10.0.0.2:80 3 ms", "10.0.0.1:80 2 ms", "<b>sock 1 ms"])


def test_values(check, pages):
    """1000 bytes for half of the time, a gap, 3000 bytes; and a reading alone."""
    page = pages.service("db1", "steps")
    grid, curve = page.members["grid"], page.curves["Memory"]["resident now"]
    times = [moment for moment, value in zip(itertools.count(grid["first"], grid["step"]), curve["values"]) if value == 3000]
    middle = END // 10 * 10 - SPAN // 2
    check.equal("values", [value for value, _ in itertools.groupby(curve["values"])][-3:], [1000, None, 3000])
    check.equal("the first after the gap, and the last", (times[0], times[-1]), (middle + 60, END // 10 * 10))
    check.equal("steps of the gap", curve["values"].index(3000) - curve["values"][1:].index(None) - 1, 11)
    check.equal("the newest of the host", page.members["newest"], END // 10 * 10)
    page = pages.service("db1", "api")
    curve = page.curves["Oldest request"]["age"]
    check.equal("a reading alone", known(curve), [3])
    check.equal("its time", page.members["grid"]["first"] + 10 * curve["values"].index(3), END // 10 * 10 - 100)


def test_overview(check, pages):
    page, (table, _) = pages.host("db1"), pages.texts("db1")
    tails = "99th percentile of response time"
    check.equal("who has the highest percentile", list(page.curves[tails]),
                [*(f"tail{position}" for position in (4, 3, 2, 1, 0)), "db", "api"])
    others = [(other["label"], other["link"]) for other in page.charts[tails]["others"]]
    check.equal("and who comes after these", others, [("cache", "services/db1/cache.html")])
    check.equal("whose slack is lowest", list(page.curves["Slack by service"]), ["api", "db"])
    check.equal("rows", page.members["spans"]["span"]["count"], len(table))
    check.contains("the heading tells the order", page.markup().source, 'aria-sort="descending"><button>CPU')
    check.equal("devices that have done nothing", [link for link in page.links() if "sdz" in link], [])
    colors = {}
    for curves in page.curves.values():
        for label, curve in curves.items():
            colors.setdefault(label, set()).add(curve["color"])
    check.equal("who has more than one colour", {label for label, some in colors.items() if len(some) > 1}, set())


def test_first_minutes(check, tree):
    """Of a fresh installation: 10 minutes, and the hour that has them."""
    output, options = os.path.join(check.dir, "first"), ("--host", "db1", "--service", "steps", "--end", str(END))
    check.equal("first minutes: exit status", draw(tree, output, *options, TZ="Asia/Kathmandu").returncode, 0)
    about = check_output(check, output).about
    check.equal("first minutes: spans", [(span["name"], span["level"]) for span in about["spans"]],
                [("10min", "hour"), ("hour", "hour")])
    check.equal("first minutes: seconds of the zone", about["offset"], 20700)
    level, = about["levels"]
    check.within("first minutes: the first reading", level["first"], END - SPAN - 20, END - SPAN)
    draw(tree, output, *options, "--span", "10min")
    spans = check_output(check, output).about["spans"]
    check.equal("spans that are asked for", [span["name"] for span in spans], ["10min"])


def test_gap(check):
    """Readings before a gap count."""
    directory, output = os.path.join(check.dir, "gap"), os.path.join(check.dir, "gap-pages")
    Tree(directory, END, 3 * DAY, 300).file(
        "db1", "back", "ps_rss", lambda now: math.nan if END - 2 * DAY < now < END - 1500 else 1000)
    draw(directory, output, "--end", str(END))
    about = check_output(check, output).about
    check.equal("spans after a gap", [span["name"] for span in about["spans"]], ["10min", "hour", "6hours", "day", "week"])
    check.within("the first reading", about["levels"][-1]["first"], END - 3 * DAY - 7200, END - 3 * DAY + 300)


def test_images(check, tree):
    output = os.path.join(check.dir, "images")
    done = draw(tree, output, "--start", str(END - SPAN), "--host", "db1", "--service", ODD[3],
                "--service", "api", "--png")
    check.equal("images: complaints", done.stderr, "")
    drawn = sorted(os.listdir(os.path.join(output, "png", "db1", "api")))
    check.equal("images of api", drawn, [f"span-{name}.png" for name in (
        "oldest-request", "requests", "response-time", "slack", "variance-of-the-gaps")])
    with open(os.path.join(output, "png", "db1", ODD[3], "span-cpu.png"), "rb") as file:
        head = file.read(24)
    check.equal("a PNG of a service with an odd name", head[:8], b"\x89PNG\r\n\x1a\n")
    check.within("its width", int.from_bytes(head[16:20], "big"), 720, 900)


def test_events(check, tree):
    """Those of the time that is drawn are beside the data of their host."""
    path, output = os.path.join(check.dir, "events.jsonl"), os.path.join(check.dir, "events")
    with open(path, "w", encoding="utf-8") as file:
        for host, ago, text in (("db1", 60, ODD[3]), ("db1", 2 * HOUR, "before"), ("db2", 30, "of db2"), ("gone", 60, "of none")):
            members = {"time": END - ago, "host": host, "service": "web", "kind": "oom_kill", "severity": "failure", "text": text}
            file.write(json.dumps(members) + "\n")
    done = draw(tree, output, "--start", str(END - SPAN), "--end", str(END), "--host", "db1", "--events", path)
    check.equal("events: complaints", done.stderr, "")
    check.equal("events", [(one["time"], one["service"], one["text"]) for one in check_output(check, output).events("db1")],
                [(END - 60, "web", ODD[3])])
    check.equal("hosts with events", sorted(os.listdir(os.path.join(output, "data"))), ["db1"])


def test_choice(check, tree, output):
    """A second page in the place of the first."""
    done = draw(tree, output, "--start", str(END - SPAN), "--host", "db1", "--service", "web",
                "--table", "9", COLUMNS="30")
    check.equal("exit status", done.returncode, 0)
    check.equal("a table of 30 columns", [line.split() for line in done.stdout.splitlines()[:2]],
                [["service", "CPU%", "memory"], ["web", "25.5", "3Mi"]])
    pages = check_output(check, output)
    check.equal("services", list(pages.texts("db1")[0]), ["web", "web · process 77"])
    check.equal("pages that are left", sorted(pages.services), [("db1", "web"), ("db1", "web-77-1234")])


def test_spans(check, tree):
    """What is gone is shown for the time in which it was there, and not at all after that."""
    output = os.path.join(check.dir, "spans")
    done = draw(tree, output, "--end", str(WEEK_END))
    check.equal("exit status", done.returncode, 0)
    check.equal("complaints", done.stderr, "")
    pages = check_output(check, output)
    markups = {span["name"]: Markup(pages.host("db1", span["level"]).members["spans"][span["name"]]["table"])
               for span in pages.about["spans"][1:]}
    tables = {span: markup.table for span, markup in markups.items()}
    shown = {span: sorted(table) for span, table in tables.items()}
    check.equal("services", shown, {"hour": ["lives"], "6hours": ["ended", "lives"], "day": ["ended", "lives"],
                                    "week": ["ended", "lives", "past"], "month": ["ended", "gone", "lives", "past"]})
    ended = {span: sorted(name for name in tables[span] if markup.notes.get(name, "").startswith("ended 20"))
             for span, markup in markups.items()}
    check.equal("who has ended", ended, {"hour": [], "6hours": ["ended"], "day": ["ended"], "week": ["ended", "past"],
                                         "month": ["ended", "gone", "past"]})
    used = {(name, span): float(cells["CPU"]) for span, table in tables.items() for name, cells in table.items()}
    check.equal("the CPU of who was there all the time", {cpu for (name, _), cpu in used.items() if name == "lives"}, {50})
    check.true("of who was not, the time without it counts as 0",
               all(cpu < 50 for (name, _), cpu in used.items() if name != "lives"), used)
    memory = {level: pages.service("db1", "lives", level).curves["Memory"]["resident now"] for level in ("hour", "day", "week")}
    highest = [curve["highest"] for curve in memory.values()]
    check.equal("a spike is the maximum of all levels that have it", highest, [1000, 9000, 9000])
    check.equal("and not the last value", {known(curve)[-1] for curve in memory.values()}, {1000})
    check.equal("levels of one that is gone", pages.services["db1", "past"]["levels"], ["week", "month"])


def test_damaged(check):
    """What rrdtool refuses of a service costs none of the rest. Steps need not be of one length."""
    directory = os.path.join(check.dir, "damaged")
    tree = Tree(directory, END, SPAN)
    tree.file("db1", "web", "ps_cputime", 500000, 0)
    Tree(directory, END, SPAN, 60).file("db1", "web", "ps_rss", 2.0 ** 20)
    os.truncate(tree.file("db1", "web", "ps_vm", 1), 2000)
    os.truncate(tree.file("db1", "web", "swap", 1), 0)
    other = tree.file("db1", "web", "total_requests", 1)
    os.replace(other, other.replace("total_requests", "ps_count"))
    done = draw(directory, os.path.join(check.dir, "repaired"), "--start", str(END - SPAN))
    check.equal("damaged files: exit status", done.returncode, 0)
    said = [re.search(r"/ebpf-web/(\w+)\.rrd: ", line).group(1) for line in done.stderr.splitlines()]
    check.equal("damaged files: one complaint of each", sorted(said), ["ps_count", "ps_vm", "swap"])
    page = check_output(check, os.path.join(check.dir, "repaired")).service("db1", "web")
    left = {title: page.steady(title) for title in page.curves}
    check.equal("what is left", left, {"CPU": {"user": 50, "system": 0}, "Memory": {"resident now": 1.049e6}})


def test_locked(check, tree):
    """A collectd that is about to write holds a lock."""
    with open(os.path.join(tree, "db1", "ebpf-web", "ps_cputime.rrd"), "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        release = threading.Timer(1, fcntl.lockf, (file, fcntl.LOCK_UN))
        started = time.monotonic()
        release.start()
        output = os.path.join(check.dir, "locked")
        done = draw(tree, output, "--host", "db1", "--start", f"-{SPAN}s")
        release.join()
    check.equal("a locked file: exit status", done.returncode, 0)
    check.equal("a locked file: complaints", done.stderr, "")
    check.true("a locked file was waited for", time.monotonic() - started >= 1)


with Check() as checks:
    if not shutil.which("rrdtool"):
        raise Skip("rrdtool is not installed")
    recent, week_old = os.path.join(checks.dir, "recent"), os.path.join(checks.dir, "week")
    make_recent(recent)
    make_week(week_old)
    output = os.path.join(checks.dir, "pages")
    pages = test_all(checks, recent, output)
    test_sheets(checks, pages)
    test_parts(checks, pages)
    test_upstreams(checks, pages)
    test_values(checks, pages)
    test_overview(checks, pages)
    test_first_minutes(checks, recent)
    test_gap(checks)
    test_images(checks, recent)
    test_events(checks, recent)
    test_choice(checks, recent, output)
    test_spans(checks, week_old)
    test_damaged(checks)
    test_locked(checks, recent)

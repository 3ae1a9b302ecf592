#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-graph on files with known content: what it finds, what it leaves out, its figures and its drawings."""

import fcntl
import math
import os
import re
import shutil
import subprocess
import threading
import time

from e2e import TOP, Check, Page, Skip, check_page
from tree import Tree

TOOL = os.path.join(TOP, "contrib", "ebpf-graph")
END = int(time.time())
SPAN = 600
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
    tree = Tree(directory, END, 9 * DAY, 1800)
    for subject, until in (("lives", 0), ("ended", 5 * HOUR), ("past", 3 * DAY), ("gone", 8 * DAY)):
        tree.file("db1", subject, "ps_cputime", 500000, 0, until=until)
    fine = Tree(directory, END, DAY, 60)
    spike = fine.end - 10 * HOUR
    fine.file("db1", "lives", "ps_rss", lambda now: 9000 if now == spike else 1000)


def draw(*arguments, **environment):
    environment |= {key: value for key, value in os.environ.items() if key not in ("HOME", "DISPLAY", "COLUMNS")}
    return subprocess.run([TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=environment, timeout=300)


def sheet(output, host, service):
    return os.path.join(output, "services", host, service + ".html")


def test_all(check, tree, output):
    done = draw("--rrd", tree, "--output", output, "--start", str(END - SPAN), "--end", str(END), "--table", "20")
    check.equal("exit status", done.returncode, 0)
    check.equal("complaints", len(done.stderr.splitlines()), 1)
    check.contains("a broken file is named", done.stderr, "ebpf-broken")
    check.contains("last line", done.stdout.splitlines()[-1], f"file://{output}/index.html")
    page = check_page(check, os.path.join(output, "index.html"))
    table = page.tables["span"]
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
        check.true(f"{name}, without values to draw, has no sheet", not os.path.exists(sheet(output, "db1", name)))


def test_sheets(check, output):
    page = check_page(check, sheet(output, "db1", "web"))
    check.contains("zeros are told", page.text, "All zero: Read and written.")
    web = page.charts["span"]
    check.equal("charts of a service without requests", list(web),
                ["CPU", "Memory", "Processes and threads", "Processes started and ended"])
    check.equal("its memory", web["Memory"], {"resident now": ["3 MiB"] * 3, "highest": ["5 GiB"] * 3})
    api = check_page(check, sheet(output, "db1", "api")).charts["span"]
    check.equal("charts of one with requests", list(api),
                ["Requests", "Oldest request", "Response time", "Slack", "Variance of the gaps"])
    check.equal("its percentiles in order", list(api["Response time"]), ["p50", "p95", "p99", "p99.9"])
    check.equal("a percentile: last, no average, maximum", api["Response time"]["p99"], ["4 ms", "–", "4 ms"])
    check.equal("its rate", api["Requests"], {"answered": ["1.25 k"] * 3})
    check.equal("its variance", api["Variance of the gaps"]["sends"][1], "4×10⁻⁹ s²")
    other = check_page(check, sheet(output, "db1", "vda")).charts["span"]
    check.equal("a probe of somebody's own", other, {"total_operations": {"mine": ["12"] * 3}})
    own = check_page(check, sheet(output, "db1", "self")).charts["span"]
    check.equal("the plugin itself", own, {"Time of a reading": {"process": ["1 ms"] * 3}})


def test_parts(check, output):
    """Where a request's time goes leads the page, and is on the page of all, of the service with most requests first."""
    title, slow = "Where a request's time goes", "Where the time of slow requests goes"
    page = check_page(check, sheet(output, "db1", "db"))
    charts = page.charts["span"]
    check.equal("first picture", list(charts)[0], title)
    check.equal("its legend, from above", list(charts[title]), ["response p95", "send buffer", "disk", "CPU", "socket"])
    check.equal("the largest part", page.mostly["span", title], "mostly disk, 60 %")
    check.equal("a part: last, average, share", charts[title]["disk"], ["6 ms", "6 ms", "60 %"])
    check.equal("the tail", charts[title]["response p95"][:2], ["30 ms", "–"])
    check.equal("slow requests", (page.mostly["span", slow], list(charts[slow])), ("mostly lock, 90 %", ["lock", "CPU"]))
    cache = check_page(check, sheet(output, "db1", "cache")).charts["span"]
    check.equal("without a 95th percentile", list(cache[title])[0], "response p99")
    threads = check_page(check, sheet(output, "db1", "copy"))
    check.equal("first picture without requests", list(threads.charts["span"])[0], "What threads wait for")
    check.equal("what threads wait for", (threads.mostly["span", "What threads wait for"],
                                          threads.charts["span"]["What threads wait for"]),
                ("mostly disk, 60 %", {"pipe": ["0.50", "0.50", "20 %"], "disk": ["1.50", "1.50", "60 %"],
                                       "run queue": ["0.50", "0.50", "20 %"]}))
    check.equal("what has the wait for CPUs alone", list(check_page(check, sheet(output, "db1", "spin")).charts["span"]),
                ["Run-queue wait"])
    index = check_page(check, os.path.join(output, "index.html"))
    check.equal("on the page of all", [of for of in index.charts["span"] if of in ("db", "cache")], ["db", "cache"])
    check.equal("in its table", [index.tables["span"][service]["why"] for service in ("db", "cache", "api")],
                ["disk 60 %", "disk 60 %", "–"])


def test_upstreams(check, output):
    page = check_page(check, sheet(output, "db1", "front"))
    title = "Requests at upstreams"
    check.equal("where a request's time goes", page.mostly["span", "Where a request's time goes"],
                "mostly upstream 127.0.0.1:3306, 60 %")
    check.equal("the slowest upstream", page.mostly["span", title], "mostly 127.0.0.1:3306, 75 %")
    check.equal("upstreams, from above", list(page.charts["span"][title]), ["other", "_2001:db8::1_:80", "127.0.0.1:3306"])
    check.equal("their response times", page.charts["span"]["Mean response time of upstreams"]["_2001:db8::1_:80"],
                ["750 µs"] * 3)


def test_many_upstreams(check, output):
    page = check_page(check, sheet(output, "db1", "fan"))
    charts = page.charts["span"]
    check.equal("those with most requests", set(charts["Requests at upstreams"]),
                {"5 others", *(f"10.0.0.{position}:80" for position in range(1, 7)), "<b>sock"})
    check.equal("the others, in all", charts["Requests at upstreams"]["5 others"], ["15", "15", "19 %"])
    check.equal("the slowest, and how many are left out", set(charts["Mean response time of upstreams"]),
                {*(f"10.0.0.{position}:80" for position in range(5, 12)), "5 others"})
    check.equal("whose sum is no time", charts["Mean response time of upstreams"]["5 others"], ["–"] * 3)
    check.true("a name is no element", "<b>" not in page.source and "upstream &lt;b&gt;sock" in page.source)


def test_drawing(check, output):
    """1000 bytes for half of the time, a gap, 3000 bytes: the axis ends at 3150."""
    page = Page(sheet(output, "db1", "steps"))
    check.equal("its figures", page.charts["span"]["Memory"]["resident now"][0::2], ["2.93 KiB"] * 2)
    areas = page.paths["span", "Memory"][1].split("z")
    pieces = [[tuple(map(int, point.split())) for point in re.findall(r"-?\d+ -?\d+", area)] for area in areas if area]
    check.equal("pieces of the area", len(pieces), 2)
    for piece, height in zip(pieces, (1000, 3000)):
        check.within("its height", 250 - piece[0][1], 250 * height / 3150 - 1, 250 * height / 3150 + 1)
    gap = pieces[1][0][0] - (pieces[0][0][0] + max(sum(x for x, _ in pieces[0][1:n]) for n in range(2, len(pieces[0]))))
    check.within("the gap, thousandths of the width", gap, 120 / SPAN * 1000 - 20, 120 / SPAN * 1000 + 40)


def test_appearance(check, output):
    index = check_page(check, os.path.join(output, "index.html"))
    tails = index.charts["span"]["99th percentile of response time"]
    check.equal("who has the highest percentile", sorted(tails), ["api", "db", *(f"tail{position}" for position in range(5))])
    more = re.search(r'<details class="rest"><summary>(.*?)</summary><a [^>]*>(.*?)</a></details>', index.source)
    check.equal("and who comes after these", more and more.groups(), ("1 more", "cache"))
    check.true("the heading tells the order", 'aria-sort="descending"><button>CPU' in index.source)
    check.equal("devices that have done nothing", [link for link in index.links if "sdz" in link], [])
    api = check_page(check, sheet(output, "db1", "api"))
    check.contains("what a graph shows", api.text, "Requests: each is what a client sends, and the response to it.")
    check.true("and nothing of what it does not show", "Streams: " not in api.text)
    check.contains("what few want to know", api.source, '<details class="more"><summary>More: Variance of the gaps</summary>')
    start, end = (int(re.search(f'data-time="[^"]*{word}&quot;: (\\d+)', api.source).group(1)) for word in ("start", "end"))
    check.equal("a reading alone is a dot", re.findall(r'class="dots" data-of="0" d="M(\d+) \d+l0 0"', api.source),
                [str(round(1000 * (END // 10 * 10 - 100 - start) / (end - start)))])
    tints = re.findall(r"stroke:(color-mix[^\"]*)", api.source)
    check.equal("percentiles, one colour, other tints", (len(set(tints)), {"#0072B2" in tint for tint in tints}), (4, {True}))


def test_first_minutes(check, tree):
    """Of a fresh installation: the time since the first reading, once."""
    output = os.path.join(check.dir, "first")
    done = draw("--rrd", tree, "--output", output, "--host", "db1", "--service", "steps", "--end", str(END))
    check.equal("first minutes: exit status", done.returncode, 0)
    page = check_page(check, os.path.join(output, "index.html"))
    check.equal("first minutes: spans", list(page.tables), ["minutes", "hour"])
    check.contains("first minutes: title", page.text, "First 10 minutes: ")
    grid = page.paths["hour", "Memory by service, resident"][0]
    check.true("more than one label of time", grid.count("v250") > 1, grid)
    done = draw("--rrd", tree, "--output", output, "--host", "db1", "--service", "steps", "--span", "10min", "--span", "year")
    labels = re.findall(r"<label for=([^>]*)>([^<]*)", check_page(check, os.path.join(output, "index.html")).source)
    check.equal("spans that are asked for", labels, [('"minutes"', "Last 10 minutes"), ('"year"', "Last year")])


def test_gap(check):
    """Readings before a gap count."""
    directory, output = os.path.join(check.dir, "gap"), os.path.join(check.dir, "gap-pages")
    Tree(directory, END, 3 * DAY, 300).file(
        "db1", "back", "ps_rss", lambda now: math.nan if END - 2 * DAY < now < END - 1500 else 1000)
    draw("--rrd", directory, "--output", output, "--end", str(END))
    page = check_page(check, os.path.join(output, "index.html"))
    check.equal("spans after a gap", re.findall(r"<label for=[^>]*>([^<]*)", page.source),
                ["Last 10 minutes", "Last hour", "Last 6 hours", "Last day", "First 3 days"])


def test_images(check, tree):
    output = os.path.join(check.dir, "images")
    done = draw("--rrd", tree, "--output", output, "--start", str(END - SPAN), "--host", "db1", "--service", ODD[3],
                "--service", "api", "--png")
    check.equal("images: complaints", done.stderr, "")
    drawn = sorted(os.listdir(os.path.join(output, "png", "db1", "api")))
    check.equal("images of api", drawn, [f"span-{name}.png" for name in (
        "oldest-request", "requests", "response-time", "slack", "variance-of-the-gaps")])
    with open(os.path.join(output, "png", "db1", ODD[3], "span-cpu.png"), "rb") as file:
        head = file.read(24)
    check.equal("a PNG of a service with an odd name", head[:8], b"\x89PNG\r\n\x1a\n")
    check.within("its width", int.from_bytes(head[16:20], "big"), 720, 900)


def test_choice(check, tree, output):
    """A second page in the place of the first."""
    done = draw("--rrd", tree, "--output", output, "--start", str(END - SPAN), "--host", "db1", "--service", "web",
                "--table", "9", COLUMNS="30")
    check.equal("exit status", done.returncode, 0)
    check.equal("a table of 30 columns", [line.split() for line in done.stdout.splitlines()[:2]],
                [["service", "CPU%", "memory"], ["web", "25.5", "3Mi"]])
    page = check_page(check, os.path.join(output, "index.html"))
    check.equal("services", list(page.tables["span"]), ["web", "web · process 77"])
    left = sorted(os.listdir(os.path.join(output, "services", "db1")))
    check.equal("pages that are left", left, ["web-77-1234.html", "web.html"])


def test_spans(check, tree):
    """What is gone is shown for the time in which it was there, and not at all after that."""
    output = os.path.join(check.dir, "spans")
    done = draw("--rrd", tree, "--output", output, "--span", "hour", "--span", "day", "--span", "week")
    check.equal("exit status", done.returncode, 0)
    check.equal("complaints", done.stderr, "")
    page = check_page(check, os.path.join(output, "index.html"))
    shown = {span: sorted(re.sub("ended .*", "", name) for name in table) for span, table in page.tables.items()}
    check.equal("services", shown, {"hour": ["lives"], "day": ["ended", "lives"], "week": ["ended", "lives", "past"]})
    check.equal("who is gone", page.text.count("ended 20"), 3)
    used = {span: [cells["CPU"] for _, cells in sorted(table.items())] for span, table in page.tables.items()}
    check.equal("the CPU of who was there all the time", {many[-2 if span == "week" else -1] for span, many in used.items()}, {"50"})
    check.true("of who was not, the time without it counts as 0", all(float(cpu) < 50 for cpu in (used["day"][0], used["week"][0], used["week"][2])),
               used)
    memory = {span: charts["Memory"]["resident now"] for span, charts in
              check_page(check, sheet(output, "db1", "lives")).charts.items()}
    check.equal("a spike is the maximum of all spans that have it", [most for _, _, most in memory.values()],
                ["1000 B", "8.79 KiB", "8.79 KiB"])
    check.equal("and not the last value", {last for last, _, _ in memory.values()}, {"1000 B"})
    week = check_page(check, sheet(output, "db1", "past"))
    check.equal("spans on the sheet of one that is gone", list(week.charts), ["week"])


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
    done = draw("--rrd", directory, "--output", os.path.join(check.dir, "repaired"), "--start", str(END - SPAN))
    check.equal("damaged files: exit status", done.returncode, 0)
    said = [re.search(r"/ebpf-web/(\w+)\.rrd: ", line).group(1) for line in done.stderr.splitlines()]
    check.equal("damaged files: one complaint of each", sorted(said), ["ps_count", "ps_vm", "swap"])
    charts = check_page(check, sheet(os.path.join(check.dir, "repaired"), "db1", "web")).charts["span"]
    left = {title: [figures[1] for figures in curves.values()] for title, curves in charts.items()}
    check.equal("what is left", left, {"CPU": ["50", "0"], "Memory": ["1 MiB"]})


def test_locked(check, tree):
    """A collectd that is about to write holds a lock."""
    with open(os.path.join(tree, "db1", "ebpf-web", "ps_cputime.rrd"), "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        release = threading.Timer(1, fcntl.lockf, (file, fcntl.LOCK_UN))
        started = time.monotonic()
        release.start()
        output = os.path.join(check.dir, "locked")
        done = draw("--rrd", tree, "--output", output, "--host", "db1", "--start", f"-{SPAN}s")
        release.join()
    check.equal("a locked file: exit status", done.returncode, 0)
    check.equal("a locked file: complaints", done.stderr, "")
    check.true("a locked file was waited for", time.monotonic() - started >= 1)


def test_nothing(check, tree):
    output = os.path.join(check.dir, "nothing")
    for what, arguments in (("a service that is not there", ("--service", "nothing")),
                            ("no data directory", ("--rrd", "/nonexistent"))):
        done = draw("--rrd", tree, "--output", output, *arguments)
        check.equal(f"{what}: exit status", done.returncode, 1)
        check.equal(f"{what}: lines said", len(done.stderr.splitlines()), 1)
    done = draw("--rrd", tree, "--output", output, "--service", "nothing")
    check.contains("a service that is not there: its name", done.stderr, "no such service: 'nothing'; there ")
    done = draw("--rrd", tree, "--host", "db1", "--output", output, "--start", "end-1h", "--end", str(END - DAY))
    check.equal("a time without values: exit status", done.returncode, 1)
    check.contains("a time without values", done.stderr, "no value from ")


with Check() as checks:
    if not shutil.which("rrdtool"):
        raise Skip("rrdtool is not installed")
    recent, week_old = os.path.join(checks.dir, "recent"), os.path.join(checks.dir, "week")
    make_recent(recent)
    make_week(week_old)
    pages = os.path.join(checks.dir, "pages")
    test_all(checks, recent, pages)
    test_sheets(checks, pages)
    test_parts(checks, pages)
    test_upstreams(checks, pages)
    test_many_upstreams(checks, pages)
    test_drawing(checks, pages)
    test_appearance(checks, pages)
    test_first_minutes(checks, recent)
    test_gap(checks)
    test_images(checks, recent)
    test_choice(checks, recent, pages)
    test_spans(checks, week_old)
    test_damaged(checks)
    test_locked(checks, recent)
    test_nothing(checks, recent)

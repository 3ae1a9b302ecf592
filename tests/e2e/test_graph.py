#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-graph on files with known content: what it finds, what it leaves out, and its figures."""

import fcntl
import os
import shutil
import subprocess
import threading
import time

from e2e import TOP, Check, Skip, check_page

TOOL = os.path.join(TOP, "contrib", "ebpf-graph")
STEP = 10
END = int(time.time()) // STEP * STEP
SPAN = 600
TYPES = {
    "ps_cputime": (("user", "DERIVE"), ("syst", "DERIVE")),
    "ps_rss": (("value", "GAUGE"),),
    "ps_rss-peak": (("value", "GAUGE"),),
    "io_octets": (("rx", "DERIVE"), ("tx", "DERIVE")),
    "ps_count": (("processes", "GAUGE"), ("threads", "GAUGE")),
    "total_events-processes_started": (("value", "DERIVE"),),
    "duration-read_process": (("seconds", "GAUGE"),),
}


def rrd(tree, host, subject, name, values):
    """A file with the same rate, or value, all the while; None for a value: nothing stored."""
    path = os.path.join(tree, host, f"ebpf-{subject}", name + ".rrd")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    sources = [f"DS:{source}:{kind}:{2 * STEP}:U:U" for source, kind in TYPES[name]]
    rras = [f"RRA:{consolidation}:0.5:1:200" for consolidation in ("AVERAGE", "MIN", "MAX")]
    subprocess.run(["rrdtool", "create", path, "-s", str(STEP), "-b", str(END - SPAN - STEP), *sources, *rras], check=True)
    if values is not None:
        subprocess.run(["rrdtool", "update", path, *(
            f"{stamp}:" + ":".join(str(value * (stamp - END + SPAN) if kind == "DERIVE" else value)
                                   for value, (_, kind) in zip(values, TYPES[name]))
            for stamp in range(END - SPAN, END + 1, STEP))], check=True, stdout=subprocess.DEVNULL)
    return path


def make_tree(tree):
    for subject, user in (("web", 250000), ("web-77-1234", 100000), ("(sd-pam)", 10000),
                          ("Web Content", 20000), ("a:b'c\"d#e%f&<g>", 30000), ("50%\\n", 40000)):
        rrd(tree, "db1", subject, "ps_cputime", (user, 5000))
    rrd(tree, "db1", "web", "ps_rss", (3 * 2 ** 20,))
    rrd(tree, "db1", "web", "ps_rss-peak", (5 * 2 ** 30,))
    rrd(tree, "db1", "web", "io_octets", (0, 0))
    rrd(tree, "db1", "web", "ps_count", (4, 9))
    rrd(tree, "db1", "web", "total_events-processes_started", (7,))
    rrd(tree, "db1", "silent", "ps_cputime", None)
    rrd(tree, "db1", "self", "duration-read_process", (0.001,))
    rrd(tree, "db2", "mail", "ps_cputime", (10000, 0))
    with open(rrd(tree, "db2", "broken", "ps_cputime", None), "wb") as file:
        file.write(b"no RRD")
    os.makedirs(os.path.join(tree, "db1", "cpu-0"))
    os.makedirs(os.path.join(tree, "db1", "ebpf-empty"))


def draw(*arguments):
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "DISPLAY")}
    return subprocess.run([TOOL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env=environment, timeout=120)


def test_all(check, tree):
    output = os.path.join(check.dir, "all")
    done = draw("--rrd", tree, "--output", output, "--start", f"-{SPAN}s", "--end", str(END), "--table", "9")
    check.equal("exit status", done.returncode, 0)
    check.contains("a broken file is named", done.stderr, "ebpf-broken")
    check.contains("last line", done.stdout.splitlines()[-1], f"file://{output}/index.html")
    page = check_page(check, os.path.join(output, "index.html"))
    check.equal("the row of web", page.row("web"), ["25.0", "0.5", "–", "3.0M", "5.0G", "0", "0", "4", "7.0"])
    check.equal("the row of a process", page.row("web · process 77")[:2], ["10.0", "0.5"])
    for name in ("(sd-pam)", "Web Content", "a:b'c\"d#e%f&<g>", "50%\\n", "mail"):
        check.true(f"{name} is on the page", page.row(name) is not None)
        check.contains("and in the terminal", done.stdout, name)
    check.contains("zeros are told", page.text, "All zero: Read and written.")
    graphs = os.path.join(output, "graphs", "db1")
    check.equal("pictures of web", sorted(os.listdir(os.path.join(graphs, "web"))),
                [f"{name}-{theme}.png" for name in ("cpu", "memory", "processes", "turnover") for theme in ("dark", "light")])
    check.equal("pictures of the plugin itself", sorted(os.listdir(os.path.join(graphs, "self"))),
                ["reading-dark.png", "reading-light.png"])
    check.true("a service without values has no sheet", "silent" not in page.text)


def test_choice(check, tree):
    output = os.path.join(check.dir, "choice")
    done = draw("--rrd", tree, "--output", output, "--start", str(END - SPAN), "--host", "db1", "--service", "web")
    check.equal("exit status", done.returncode, 0)
    page = check_page(check, os.path.join(output, "index.html"))
    check.equal("services", [row[0] for row in page.rows[1:]], ["web", "web · process 77"])


def test_locked(check, tree):
    """A collectd that is about to write holds a lock."""
    with open(os.path.join(tree, "db1", "ebpf-web", "ps_cputime.rrd"), "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        release = threading.Timer(1, fcntl.lockf, (file, fcntl.LOCK_UN))
        release.start()
        started = time.monotonic()
        done = draw("--rrd", tree, "--output", os.path.join(check.dir, "locked"), "--host", "db1", "--start", f"-{SPAN}s")
        release.join()
    check.equal("a locked file: exit status", done.returncode, 0)
    check.equal("a locked file: complaints", done.stderr, "")
    check.within("a locked file: seconds", time.monotonic() - started, 1, 5)


def test_nothing(check, tree):
    for what, arguments in (("a service that is not there", ("--service", "nothing")), ("no data directory", ("--rrd", "/nonexistent"))):
        done = draw("--rrd", tree, "--output", os.path.join(check.dir, "nothing"), *arguments)
        check.equal(f"{what}: exit status", done.returncode, 1)
        check.equal(f"{what}: lines said", len(done.stderr.splitlines()), 1)
    done = draw("--rrd", tree, "--output", os.path.join(check.dir, "old"), "--start", "end-1h", "--end", str(END - 86400))
    check.equal("a time without values: exit status", done.returncode, 1)
    check.contains("a time without values", done.stderr, "no value")


with Check() as checks:
    if not shutil.which("rrdtool"):
        raise Skip("rrdtool is not installed")
    directory = os.path.join(checks.dir, "rrd")
    make_tree(directory)
    test_all(checks, directory)
    test_choice(checks, directory)
    test_locked(checks, directory)
    test_nothing(checks, directory)

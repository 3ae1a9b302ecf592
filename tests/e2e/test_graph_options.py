#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ebpf-graph makes of times, and what it says if there is nothing to draw, if files cannot be read, and on a terminal.

Command lines that cannot be right are in commands.txt.
"""

import json
import os
import pty
import shutil
import signal
import subprocess
import time

import receiver
from e2e import TOP, Check, Skip
from tree import Tree

TOOL = os.path.join(TOP, "contrib", "ebpf-graph")
MODULES = os.path.join(TOP, "contrib", "lib")
PYTHON = "/usr/bin/python3"     # which has the module rrdtool
END = int(time.time()) // 10 * 10
SPAN = 600
BROKEN = 5      # files
CACHED = "RRDCACHED_ADDRESS"

# Each with the seconds that it stands for in Berlin.
TIMES = {"2026-06-01": 1780264800, "2026-06-01T03:10": 1780276200, "2026-06-01 03:10:05": 1780276205,
         "2026-06-01T03:10Z": 1780283400, "2026-06-01T03:10:00+05:30": 1780263600, "20260601": None, "end-600s": None}
TIMES_SCRIPT = """import json, options, sys
read = lambda text: options.parse(["--output", "x", "--end", "1780300000", "--start", text]).start
print(json.dumps({text: read(text) for text in sys.argv[1:]}))"""
SLOW_SCRIPT = """import progress, time
progress.QUIET = 0.2
with progress.Progress("services") as shown:
    for done in range(1, 41):
        shown.step(done, 40)
        time.sleep(0.01)"""
HANG_SCRIPT = """import rrd, sys
rrd.REPLY = 1
rrd.flush(sys.argv[1:])"""


def python(script, *arguments, **environment):
    return subprocess.run([PYTHON, "-B", "-c", script, *arguments], capture_output=True, text=True, check=False, timeout=20,
                          cwd=MODULES, env={**os.environ, **environment})


def draw(tree, *arguments, interpreter=(), **environment):
    """(exit status, lines of standard error, standard output)"""
    done = subprocess.run([*interpreter, TOOL, "--rrd", tree, "--output", tree + "-pages", *arguments], capture_output=True,
                          stdin=subprocess.DEVNULL, text=True, check=False, timeout=60, env={**os.environ, **environment})
    return done.returncode, done.stderr.replace(tree, "TREE").splitlines(), done.stdout


def test_times(check):
    done = python(TIMES_SCRIPT, *TIMES, TZ="Europe/Berlin")
    read = json.loads(done.stdout or "{}")
    check.equal("times", {text: read.get(text) for text, want in TIMES.items() if want},
                {text: want for text, want in TIMES.items() if want})
    check.equal("a time of rrdtool's", read.get("end-600s"), 1780300000 - 600)
    for option in "--start", "--end":
        status, said, _ = draw(check.dir, option, os.fsdecode(b"\xff"))
        check.equal(f"{option} that is no text: exit status", status, 2)
        check.contains(f"{option} that is no text", said[-1], rf"argument {option}: no such time: '\udcff'; ")


def test_choice(check, tree):
    for what, arguments, want in (
            ("a service", ("--service", "ngnix"), "no such service: 'ngnix'; there is nginx"),
            ("a host", ("--host", "bd1"), "no such host: 'bd1'; there is db1"),
            ("one of two services", ("--service", "nginx", "--service", "\x1b[2J", "--host", "db1"),
             "no such service: '\\x1b[2J'; there are nginx, web"),
            ("a service of another host", ("--host", "db2", "--service", "nginx"), "no such service: 'nginx'; there is mail")):
        check.equal(f"{what}, misspelt", draw(tree, *arguments), (1, [f"ebpf-graph: {want}"], ""))


def test_nothing(check, tree):
    status, said, _ = draw(tree, "--host", "db2", "--start", "-1h")
    check.equal("files without a value", (status, len(said)), (1, 1))
    check.contains("files without a value", said[0], "a new file gets its first value after two Intervals")
    status, said, _ = draw(tree, "--host", "db1", "--end", "-30d", "--span", "hour")
    check.equal("a time without values", (status, len(said)), (1, 1))
    check.contains("a time without values", said[0], "choose the time with --start and --end")


def test_refused(check):
    tree = os.path.join(check.dir, "refused")
    directory = os.path.join(tree, "db1", "ebpf-web")
    os.makedirs(directory)
    files = [os.path.join(directory, f"gauge-{number}.rrd") for number in range(BROKEN)]
    for file in files:
        with open(file, "w", encoding="utf-8"):
            pass
    status, said, _ = draw(tree)
    empty = [f"ebpf-graph: TREE/db1/ebpf-web/gauge-{number}.rrd: is empty; skipping it" for number in range(3)]
    check.equal("empty files", (status, said[:4]), (1, [*empty, f"ebpf-graph: and {BROKEN - 3} more files"]))
    check.equal("empty files: why", said[4:], [
        f"ebpf-graph: the RRD files below TREE are empty ({BROKEN}, of 0 bytes each), as a full disk leaves them; make room and "
        "remove them, and collectd makes new ones"])
    with open(files[0], "w", encoding="utf-8") as file:
        file.write("no RRD")
    status, said, _ = draw(tree)
    check.equal("files of which none can be read", (status, said[-1]),
                (1, f"ebpf-graph: no RRD file below TREE can be read ({BROKEN})"))


def test_rrdcached(check, tree):
    """One message if it is down or hangs; what it still has is drawn."""
    for what, address, reason in (("no socket", f"unix:{check.dir}/none", "No such file or directory"),
                                  ("nobody listens", "127.0.0.1:1", "Connection refused")):
        check.equal(f"rrdcached: {what}", draw(tree, RRDCACHED_ADDRESS=address), (1, [
            f"ebpf-graph: rrdcached at {address} does not answer: {reason}; start it again, or unset RRDCACHED_ADDRESS to draw "
            "what it has written so far"], ""))
    if not shutil.which("rrdcached"):
        print("rrdcached is not installed: what it holds is not tested")
        return
    socket, path = f"unix:{check.dir}/socket", os.path.join(tree, "db1", "ebpf-nginx", "ps_rss.rrd")
    daemon = subprocess.Popen(["rrdcached", "-g", "-b", tree, "-p", f"{check.dir}/pid", "-l", socket, "-w", "3600", "-f", "7200"],
                              stdout=subprocess.DEVNULL)
    try:
        receiver.wait_until("rrdcached", lambda: receiver.listens(f"{check.dir}/socket"))
        updates = [f"{moment}:{5 * 2 ** 20}" for moment in (END + 10, END + 20)]
        subprocess.run(["rrdtool", "update", "--daemon", socket, path, *updates], check=True, stdout=subprocess.DEVNULL)
        options = "--service", "nginx", "--start", str(END), "--end", str(END + 20), "--table", "5"
        check.equal("what rrdcached holds, before", draw(tree, *options)[2], "")
        check.contains("what rrdcached holds", draw(tree, *options, RRDCACHED_ADDRESS=socket)[2], "5Mi")
        daemon.send_signal(signal.SIGSTOP)
        done = python(HANG_SCRIPT, path, RRDCACHED_ADDRESS=socket)
        check.contains("an rrdcached that hangs", done.stderr, f"{socket} does not answer: no reply within 1 seconds; ")
    finally:
        daemon.kill()
        daemon.wait()


def test_module(check, tree):
    """A Python without the module: an empty one in its place."""
    with open(os.path.join(check.dir, "rrdtool.py"), "w", encoding="utf-8") as file:
        file.write("raise ModuleNotFoundError\n")
    check.equal("no module rrdtool", draw(tree, PYTHONPATH=check.dir), (1, [
        "ebpf-graph: the Python module rrdtool is missing; on Debian: apt-get install python3-rrdtool"], ""))


def terminal(script):
    """What a script writes on standard error, if that is a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run([PYTHON, "-B", "-c", script], stderr=theirs, check=True, timeout=60, cwd=MODULES)
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 10000):
            seen += part
    except OSError:  # all was read
        pass
    os.close(ours)
    return seen.decode()


def test_progress(check):
    seen = terminal(SLOW_SCRIPT).split("\r")
    check.true("progress", any(line.endswith(" of 40 services\x1b[K") for line in seen), seen)
    check.true("not at first, nor at each step", 1 <= len(seen) - 2 <= 4, seen)
    check.equal("no line is left", seen[-1], "\x1b[K")
    check.equal("without a terminal", python(SLOW_SCRIPT).stderr, "")


def main():
    with Check() as check:
        if not shutil.which("rrdtool"):
            raise Skip("rrdtool is not installed")
        tree = Tree(os.path.join(check.dir, "rrd"), END, SPAN)
        tree.file("db1", "nginx", "ps_rss", 2.0 ** 20)
        tree.file("db1", "web", "ps_rss", 2.0 ** 20)
        tree.file("db2", "mail", "ps_rss")
        test_times(check)
        test_choice(check, tree.directory)
        test_nothing(check, tree.directory)
        test_refused(check)
        test_rrdcached(check, tree.directory)
        test_module(check, tree.directory)
        test_progress(check)


if __name__ == "__main__":
    main()

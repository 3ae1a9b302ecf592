#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/quickstart: what it stores agrees with its load, its page is whole, and nothing of it stays.

Truth: the kernel's own count of the processes' CPU time (/proc/PID/schedstat), and what the load says that it did.
"""

import ctypes
import glob
import math
import os
import re
import shutil
import signal
import subprocess
import time

import rrd
from e2e import TOP, Check, Skip, check_page

import lib

QUICKSTART = os.path.join(TOP, "contrib", "quickstart")
SECONDS = 24
INTERVAL = 2
MIB = 2 ** 20


class Quickstart:
    """One run, without a home, a terminal and an input."""

    def __init__(self, directory, *arguments, path=""):
        environment = {"PATH": path + "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        self.output = directory
        self.process = subprocess.Popen(
            [QUICKSTART, "--output", directory, "--seconds", str(SECONDS), "--interval", str(INTERVAL), *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/",
            env=environment, start_new_session=True)
        self.said = ""

    def read_until(self, text):
        """Read what it says up to the line with this text, or up to its end."""
        for line in self.process.stdout:
            print("     |", line.rstrip())
            self.said += line
            if text and text in line:
                return
        self.process.wait()

    def read_all(self):
        self.read_until(None)
        return self.process.returncode


def wait_for(name, parent, seconds=SECONDS):
    """The process below this one with these command names, its own and its parent's."""
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        for pid in lib.descendants():
            if command(pid) == name and command(parent_of(pid)) == parent:
                return pid
        time.sleep(0.05)
    raise TimeoutError(f"no process {name} of {parent} after {seconds} s")


def stat(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            head, _, tail = file.read().rpartition(")")
        return head.partition("(")[2], tail.split()
    except OSError:
        return "", []


def command(pid):
    return stat(pid)[0]


def parent_of(pid):
    return int((stat(pid)[1] or (0, 0))[1])


def watch_cpu(pid, seconds):
    """[(time, CPU seconds by the kernel's count, ticks of it in user mode, in system mode), ...]"""
    samples = []
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            samples.append((time.time(), int(file.read().split()[0]) / 1e9, *map(int, stat(pid)[1][11:13])))
        time.sleep(0.1)
    return samples


def next_to(samples, begin, end):
    """The samples next to these moments."""
    return (min(samples, key=lambda sample: abs(sample[0] - moment)) for moment in (begin, end))


def percent_between(samples, begin, end):
    first, last = next_to(samples, begin, end)
    return 100 * (last[1] - first[1]) / (last[0] - first[0])


def user_share_between(samples, begin, end):
    """Of the CPU time; a machine that shares its CPUs with others spends some of it in the kernel."""
    first, last = next_to(samples, begin, end)
    user, system = last[2] - first[2], last[3] - first[3]
    return user / (user + system)


def living():
    """Descendants that have not ended: an orphan is a zombie until this process asks for it."""
    return [f"{pid} {command(pid)}" for pid in lib.descendants() if (stat(pid)[1] or "Z")[0] != "Z"]


def check_remains(check, ledger, allowed):
    check.equal("processes left", living(), [])
    check.equal("BPF objects left", ledger.wait_empty(), [])
    check.true("only the output directory is left", set(os.listdir(check.dir)) <= allowed, os.listdir(check.dir))


def series(output, service, file):
    found = glob.glob(os.path.join(output, "rrd", "*", f"ebpf-{glob.escape(service)}", file + ".rrd"))
    if len(found) != 1:
        raise FileNotFoundError(f"{len(found)} files ebpf-{service}/{file}.rrd below {output}/rrd")
    return found[0]


def check_values(check, run, begin, end, samples):
    """samples: of the CPU time of stress, by the kernel."""
    def rows(service, file, source="value", span=(begin, end), consolidation="AVERAGE"):
        """Of each second wholly within the span: of a counter what it grew by."""
        stored = rrd.steps(series(run.output, service, file), source, span[0] + 1, span[1], consolidation)
        return list(stored.values())

    # A reading ends at any moment: leave out the intervals in which the samples begin and end.
    span = (int(samples[0][0]) + 1 + INTERVAL, int(samples[-1][0]) - INTERVAL)
    truth = percent_between(samples, *span)
    user, system = (rows("stress", "ps_cputime", source, span) for source in ("user", "syst"))
    check.true("seconds of stress", len(user) >= 6, len(user))
    share = (sum(user) + sum(system)) / len(user) / 1e4
    check.within("stress, percent by its CPU time", share, truth - 5, truth + 5)
    mode = user_share_between(samples, *span)
    check.within("stress, user share of its CPU time", sum(user) / (sum(user) + sum(system)), mode - 0.05, mode + 0.05)

    with open(os.path.join(run.output, "log", "load.log"), encoding="ascii") as log:
        said = dict(line.split() for line in log)
    storm, answered = int(said["true"]), int(said["requests"])
    # The name earns its series during the storm; what comes before that is under other, and stays there.
    own, others = (sum(rows(service, "total_events-processes_started")) for service in ("true", "other"))
    check.within("true, processes started", own, 1, storm)
    check.within("true and other, processes started", own + others, 0.9 * storm, math.inf)

    # The service is new in the first interval, has a row of its own in the second, and its first reading is no rate.
    seen = sum(rows("demo-server", "total_requests"))
    check.within("demo-server, requests answered", seen, 0.8 * answered, answered)
    slow = rows("demo-server", "latency-response-percentile-99")
    check.within("demo-server, slowest 99th percentile", max(slow), 0.001, SECONDS)

    peak = max(rows("tail", "ps_rss-peak", consolidation="MAX"))
    check.within("tail, peak of its memory", peak, 195 * MIB, 230 * MIB)
    memory = rows("demo-worker", "ps_rss")
    check.within("demo-worker, its memory at most", max(memory), 40 * MIB, 200 * MIB)
    written = sum(rows("dd", "disk_octets", "write"))
    check.within("dd, bytes written", written, 16 * MIB * 0.9, 16 * MIB * (SECONDS / 2 + 1))
    own = rows("self", "duration-read_process", "seconds")
    check.within("time of a reading", max(own), 1e-6, INTERVAL)


def check_figures(check, run, page, samples):
    with open(os.path.join(run.output, "log", "graphs.log"), encoding="utf-8") as log:
        check.equal("complaints of ebpf-graph", [line for line in log if not line.startswith("+ ")], [])
    table = page.tables["span"]
    for service in ("stress", "true", "tail", "dd", "demo-worker", "kernel", "demo-server"):
        check.true(f"{service} is in the table of the page", service in table)
    check.contains("the terminal's table", run.said, "\nstress")
    truth = percent_between(samples, samples[0][0], samples[-1][0])
    check.within("stress, CPU in the table", float(table["stress"]["CPU"]), 0.3 * truth, 100.5)
    check.true("demo-server, response time in the table", table["demo-server"]["p99"].endswith(" ms"),
               table["demo-server"]["p99"])


def follow_tutorial(check, output):
    """Its commands, word for word but for the places."""
    with open(os.path.join(TOP, "docs", "tutorial.md"), encoding="utf-8") as file:
        commands = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.M | re.S)
    check.true("the tutorial has commands", len(commands) >= 5, len(commands))
    for command in commands:
        here = re.sub(r"\bcontrib/", TOP + "/contrib/", command).replace("quickstart-out", output)
        done = subprocess.run(["sh", "-e", "-c", here], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        check.equal(f"tutorial: {command.splitlines()[0]}: exit status, complaints", (done.returncode, done.stderr), (0, ""))
        check.true("tutorial: says something", done.stdout.strip(), len(done.stdout))


def test_run(check, ledger):
    output = os.path.join(check.dir, "out")
    begin = time.time()
    run = Quickstart(output)
    run.read_until("4/6")
    daemon = wait_for("collectd", "quickstart")
    worker = wait_for("stress", "stress")
    time.sleep(1)
    samples = watch_cpu(worker, SECONDS * 4 // 6 - 3)
    look = [os.path.join(TOP, "contrib", "ebpf-top"), "--socket", os.path.join(output, "socket"), "--once"]
    seen = subprocess.run(look, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    check.contains("ebpf-top, meanwhile", seen.stdout, "\nstress ")
    follow_tutorial(check, output)
    ledger.note(daemon)
    check.true("collectd holds BPF objects", ledger.held, len(ledger.held))
    check.equal("exit status", run.read_all(), 0)
    end = time.time()
    check.contains("last words", run.said, f"file://{output}/index.html")
    page = check_page(check, os.path.join(output, "index.html"))
    check_figures(check, run, page, samples)
    check_values(check, run, begin, end, samples)
    check_remains(check, ledger, {"out"})


def write_program(directory, name, *lines):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, name), "w", encoding="ascii") as script:
        script.write("\n".join(("#!/bin/sh",) + lines) + "\n")
    os.chmod(script.name, 0o755)


def keep_build(directory):
    """Programs with which the plugin that the first run has built stays."""
    write_program(directory, "autoreconf", "echo '#!/bin/sh' >configure", "chmod +x configure")
    write_program(directory, "make", ":")


def test_interrupt(check, ledger):
    kept = os.path.join(check.dir, "kept")
    keep_build(kept)
    run = Quickstart(os.path.join(check.dir, "out"), path=kept + ":")
    run.read_until("4/6")
    ledger.note(wait_for("collectd", "quickstart"))
    wait_for("stress", "stress")
    stopped = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    check.equal("exit status after SIGINT", run.read_all(), 130)
    check.within("seconds until it ended, long before the load", time.monotonic() - stopped, 0, SECONDS / 2)
    check.contains("says so", run.said, "interrupted")
    check_remains(check, ledger, {"out", "kept"})


def test_failure(check, ledger):
    """A collectd that does not start, and a directory that belongs to somebody else."""
    broken = os.path.join(check.dir, "bin")
    write_program(broken, "collectd", "echo 'collectd is out of order' >&2", "exit 1")
    run = Quickstart(os.path.join(check.dir, "out"), "--no-install", path=f"{broken}:{check.dir}/kept:")
    check.equal("broken collectd: exit status", run.read_all(), 1)
    for part in ("quickstart: ", "collectd is out of order", "What to do: "):
        check.contains("broken collectd", run.said, part)
    run = Quickstart(broken)
    check.equal("foreign directory: exit status", run.read_all(), 1)
    check.contains("foreign directory", run.said, "--output")
    check.equal("foreign directory is as it was", os.listdir(broken), ["collectd"])
    check_remains(check, ledger, {"out", "bin", "kept"})


def test_usage(check, _):
    """Each names the word that is wrong."""
    for arguments, word in ((["--seconds", "5"], "'5'"), (["--interval", "often"], "'often'"), (["--output", ""], "--output"),
                            (["--speed"], "'--speed'"), (["--seconds"], "--seconds")):
        done = subprocess.run([QUICKSTART, *arguments], capture_output=True, text=True, check=False)
        check.equal(f"{arguments}: exit status", done.returncode, 2)
        check.contains(f"{arguments}: the first line", done.stderr.partition("\n")[0], word)


with Check() as checks:
    if os.geteuid() != 0:
        raise Skip("needs root to load BPF programs")
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        raise Skip("this kernel has no BTF (/sys/kernel/btf/vmlinux)")
    if not shutil.which("bpftool"):
        raise Skip("bpftool is not installed")
    # Whatever quickstart leaves behind becomes a child of this process.
    ctypes.CDLL(None).prctl(lib.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        for test in (test_usage, test_run, test_interrupt, test_failure):
            print("---", test.__name__)
            test(checks, lib.Ledger())
    finally:
        lib.kill_descendants()

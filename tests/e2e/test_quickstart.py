#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/quickstart: what it stores agrees with its load, its page is whole, and nothing of it stays.

Truth: the kernel's own count of the processes' CPU time (/proc/PID/schedstat), and what the load says that it did.
TEST_FIGURES in the environment: it builds the plugin, and its load is longer; else it takes the plugin from the build.
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

import receiver
import rrd
from e2e import TOP, Check, Skip, check_output

import lib

QUICKSTART = os.path.join(TOP, "contrib", "quickstart")
BUILDS = bool(os.environ.get("TEST_FIGURES"))
SECONDS = 24 if BUILDS else 12
INTERVAL = 2 if BUILDS else 1
PATIENCE = 60   # s
MIB = 2 ** 20


class Quickstart:
    """One run, without a home, a terminal and an input."""

    def __init__(self, directory, *arguments, path="", command=(QUICKSTART,), stdout=subprocess.PIPE):
        environment = {"PATH": path + "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        self.output = directory
        self.process = subprocess.Popen(
            [*command, "--output", directory, "--seconds", str(SECONDS), "--interval", str(INTERVAL), *arguments,
             *(() if BUILDS else ("--no-install",))],
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.STDOUT, text=True, cwd="/",
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


def wait_for(name, parent):
    """The process below this one with these command names, its own and its parent's."""
    return receiver.wait_until(f"process {name} of {parent}", lambda: next(
        (pid for pid in lib.descendants() if command(pid) == name and command(parent_of(pid)) == parent), None))


def stat(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            head, _, tail = file.read().rpartition(")")
        return head.partition("(")[2], tail.split()
    except OSError:
        return "", []


def command(pid):
    return stat(pid)[0]


def cgroup(pid):
    """Its path in cgroup2."""
    with open(f"/proc/{pid}/cgroup", encoding="ascii") as file:
        return next(line[3:-1] for line in file if line.startswith("0::"))


def parent_of(pid):
    return int((stat(pid)[1] or (0, 0))[1])


def watch_cpu(pid, seconds):
    """[(time, CPU seconds by the kernel's count, ticks of it in user mode, in system mode), ...] while it lives"""
    samples = []
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up and (found := stat(pid)[1]) and found[0] != "Z":
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            samples.append((time.time(), int(file.read().split()[0]) / 1e9, *map(int, found[11:13])))
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


def check_names(check, run, *parts):
    """Units if none of these is in what it says and configures."""
    with open(os.path.join(run.output, "collectd.conf"), encoding="utf-8") as file:
        text = file.read() + run.said
    for part in parts:
        check.contains("its configuration and words", text, part)
    check.equal("services are named by commands", "<Service " in text, bool(parts))


def check_remains(check, ledger, allowed):
    give_up = time.monotonic() + PATIENCE
    # What was killed is gone at some time.
    while living() and time.monotonic() < give_up:
        time.sleep(0.05)
    check.equal("processes left", living(), [])
    check.equal("BPF objects left", ledger.wait_empty(), [])
    check.true("only the output directory is left", set(os.listdir(check.dir)) <= allowed, os.listdir(check.dir))


def path_of(output, service, file):
    """One that is not there has no values."""
    found = glob.glob(os.path.join(output, "rrd", "*", f"ebpf-{glob.escape(service)}", file + ".rrd"))
    if len(found) > 1:
        raise ValueError(f"{len(found)} files ebpf-{service}/{file}.rrd below {output}/rrd")
    return found[0] if found else ""


def check_values(check, run, begin, end, samples):
    """samples: of the CPU time of stress, by the kernel."""
    def rows(service, file, source="value", span=(begin, end), consolidation="AVERAGE"):
        """Of each second wholly within the span: of a counter what it grew by."""
        stored = rrd.steps(path_of(run.output, service, file), source, span[0] + 1, span[1], consolidation)
        return list(stored.values())

    check_stress(check, rows, samples, end)
    with open(os.path.join(run.output, "log", "load.log"), encoding="ascii") as log:
        said = dict(line.split() for line in log)
    # What has not ended in time has not said anything.
    storm, answered = (int(said.get(word, 10 ** 9)) for word in ("true", "requests"))
    # The service may get its series during the storm; what came before stays under other.
    own, others = (sum(rows(service, "total_events-processes_started")) for service in ("checks", "other"))
    check.true("checks and other, processes started", own + others > 0, own + others)
    check.figures.within("checks, processes started", own, 0, storm + 5)  # shells, too
    check.figures.within("checks and other, processes started", own + others, 0.9 * storm, math.inf)

    # The service is new in the first interval, has a row of its own in the second, and its first reading is no rate.
    seen = sum(rows("webshop", "total_requests"))
    check.within("webshop, requests answered", seen, 1, answered)
    check.figures.within("webshop, requests answered", seen, 0.8 * answered, answered)
    slow = rows("webshop", "latency-response-percentile-99")
    check.within("webshop, slowest 99th percentile", max(slow), 0.001, end - begin)

    peak = max(rows("report", "ps_rss-peak", consolidation="MAX"))
    check.within("report, peak of its memory", peak, MIB, 230 * MIB)
    # By the end the second may not have taken all that it takes, and the first is the name's first process.
    check.figures.within("report, peak of its memory", peak, 195 * MIB, 230 * MIB)
    memory = max(rows("thumbnails", "ps_rss"))
    check.within("thumbnails, its memory at most", memory, MIB, 200 * MIB)
    check.figures.within("thumbnails, its memory at most", memory, 40 * MIB, 200 * MIB)
    written = sum(rows("full-backup", "disk_octets", "write"))
    check.within("full-backup, bytes written", written, 0, 16 * MIB * ((end - begin) / 2 + 1))
    check.figures.within("full-backup, bytes written", written, 16 * MIB * 0.9, 16 * MIB * (SECONDS / 2 + 1))
    own = max(rows("self", "duration-read_process", "seconds"))
    check.within("time of a reading", own, 1e-6, math.inf)
    check.figures.within("time of a reading", own, 1e-6, INTERVAL)


def check_stress(check, rows, samples, end):
    """Of its CPU time."""
    whole = sum(sum(rows("encoder", "ps_cputime", source)) for source in ("user", "syst")) / 1e6
    # Its one thread goes on behind the last sample.
    check.within("encoder, seconds of CPU time", whole, 0.01, samples[-1][1] + end - samples[-1][0])
    # A reading ends at any moment: leave out the intervals in which the samples begin and end.
    span = (int(samples[0][0]) + 1 + INTERVAL, int(samples[-1][0]) - INTERVAL)
    user, system = (rows("encoder", "ps_cputime", source, span) for source in ("user", "syst"))
    if not check.figures.true("seconds of stress", len(user) >= 6, len(user)):
        return
    truth = percent_between(samples, *span)
    share = (sum(user) + sum(system)) / len(user) / 1e4
    check.figures.within("encoder, percent by its CPU time", share, truth - 5, truth + 5)
    mode, share = user_share_between(samples, *span), sum(user) / (sum(user) + sum(system))
    check.figures.within("encoder, user share of its CPU time", share, mode - 0.05, mode + 0.05)


def check_figures(check, run, pages, samples):
    with open(os.path.join(run.output, "log", "graphs.log"), encoding="utf-8") as log:
        check.equal("complaints of ebpf-graph", [line for line in log if not line.startswith("+ ")], [])
    host, = {host for host, _ in pages.services}
    table, _ = pages.texts(host)
    for service in ("encoder", "report", "thumbnails", "kernel", "webshop", "visitors"):
        check.true(f"{service} is in the table of the page", service in table)
    # Others may leave little CPU time for these.
    for service in ("checks", "full-backup"):
        check.figures.true(f"{service} is in the table of the page", service in table)
    check.contains("the terminal's table", run.said, "\nservice ")
    check.figures.contains("the terminal's table", run.said, "\nencoder")
    truth = percent_between(samples, samples[0][0], samples[-1][0])
    used, tail = float(table["encoder"]["CPU"]), table["webshop"]["p99"]
    check.true("encoder, CPU in the table", used > 0, used)
    check.figures.within("encoder, CPU in the table", used, 0.3 * truth, 100.5)
    check.true("webshop, response time in the table", re.fullmatch(r"[\d.]+ m?s", tail), tail)
    check.figures.true("webshop, response time in the table", tail.endswith(" ms"), tail)


def write_program(directory, name, *lines):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, name), "w", encoding="ascii") as script:
        script.write("\n".join(("#!/bin/sh",) + lines) + "\n")
    os.chmod(script.name, 0o755)


def built(parent):
    """A directory of programs with which the plugin that is to be built is the one of this build."""
    directory = os.path.join(parent, "built")
    write_program(directory, "autoreconf", "echo '#!/bin/sh' >configure", "chmod +x configure")
    write_program(directory, "make", '[ "$1" = install ] || exit 0',
                  f'exec /usr/bin/make -C "{os.path.abspath(lib.BUILD)}" "$@" prefix=/usr libdir=/usr/lib')
    return directory


def test_run(check, ledger):
    output = os.path.join(check.dir, "out")
    begin = time.time()
    run = Quickstart(output, path="" if BUILDS else built(check.dir) + ":")
    run.read_until("4/6")
    daemon = wait_for("collectd", "quickstart")
    check_names(check, run)
    stress = wait_for("stress", "stress")
    group = cgroup(stress)
    check.true("stress looks like a unit", re.fullmatch(r"/demo-\d+\.slice/encoder\.service", group), group)
    samples = watch_cpu(stress, SECONDS * 4 // 6 - 3)
    ledger.note(daemon)
    check.true("collectd holds BPF objects", ledger.owned, len(ledger.owned))
    check.equal("exit status", run.read_all(), 0)
    end = time.time()
    check.contains("last words", run.said, f"file://{output}/index.html")
    check_figures(check, run, check_output(check, output), samples)
    check_values(check, run, begin, end, samples)
    check.equal("cgroups left", glob.glob(f"/sys/fs/cgroup/**/{group.split('/')[1]}", recursive=True), [])
    check_remains(check, ledger, {"out", "built"})


def watch(check, output):
    receiver.wait_until("slack of webshop", lambda: path_of(output, "webshop", "percent-slack"))
    top_command = [os.path.join(TOP, "contrib", "ebpf-top"), "--socket", os.path.join(output, "socket"), "--once"]
    seen = subprocess.run(top_command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    check.contains("ebpf-top, meanwhile", seen.stdout, "\nwebshop ")


def test_interrupt(check, ledger):
    """In a cgroup namespace, as in a container, and somebody presses Ctrl-C."""
    output = os.path.join(check.dir, "out")
    run = Quickstart(output, "--seconds", "30", command=("unshare", "--cgroup", QUICKSTART))
    run.read_until("Watch it")
    ledger.note(wait_for("collectd", "quickstart"))
    watch(check, output)
    check.contains("the build of the first run", run.said, "kept")
    check_names(check, run, "<Service ", "named by their commands: this is a container")
    stopped = time.monotonic()
    run.process.send_signal(signal.SIGINT)
    check.equal("exit status after SIGINT", run.read_all(), 130)
    check.figures.within("seconds until it ended", time.monotonic() - stopped, 0, SECONDS / 2)
    check.contains("says so", run.said, "interrupted")
    check_remains(check, ledger, {"out", "built"})


def test_failure(check, ledger):
    """A collectd that does not start, and a directory that belongs to somebody else."""
    broken = os.path.join(check.dir, "bin")
    write_program(broken, "collectd", "echo 'collectd is out of order' >&2", "exit 1")
    run = Quickstart(os.path.join(check.dir, "out"), "--no-install", path=f"{broken}:")
    check.equal("broken collectd: exit status", run.read_all(), 1)
    for part in ("quickstart: ", "collectd is out of order", "What to do: "):
        check.contains("broken collectd", run.said, part)
    run = Quickstart(broken)
    check.equal("foreign directory: exit status", run.read_all(), 1)
    check.contains("foreign directory", run.said, "--output")
    check.equal("foreign directory is as it was", os.listdir(broken), ["collectd"])
    check_remains(check, ledger, {"out", "built", "bin"})


def test_usage(check, _):
    """Each names the word that is wrong."""
    for arguments, word in ((["--seconds", "5"], "'5'"), (["--interval", "often"], "'often'"), (["--output", ""], "--output"),
                            (["--speed"], "'--speed'"), (["--seconds"], "--seconds")):
        done = subprocess.run([QUICKSTART, *arguments], capture_output=True, text=True, check=False)
        check.equal(f"{arguments}: exit status", done.returncode, 2)
        check.contains(f"{arguments}: the first line", done.stderr.partition("\n")[0], word)


def main():
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


if __name__ == "__main__":
    main()

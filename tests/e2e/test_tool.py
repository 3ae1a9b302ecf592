#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How each tool ends: wrong options, a pipe whose reader has gone, standard output that is full or closed, signals; and what
contrib/lib/tool.py promises to a tool's own code."""

import concurrent.futures
import contextlib
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import threading
import time

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import tool  # noqa: E402
from tree import Tree  # noqa: E402

PYTHON = "/usr/bin/python3"     # which has the modules rrdtool and yaml
SIDE_BY_SIDE = 2
LIMIT_S = 60
UNSEEN = {"ebpf-check": 3}      # exit status after a message, also about options, if it is one for both
MANY = 300      # names, so that what a tool prints is larger than its buffer
# What plays bpftrace: it prints the mark of an interval again and again.
PLAYER = """#!/bin/sh
mark=$(sed -n 's/.*printf("\\(interval [0-9a-f]*\\).*/\\1/p')
while sleep 0.02; do printf '{"type": "printf", "data": "%s\\\\n"}\\n' "$mark"; done
"""
# A tool whose clean-up takes a while.
SLOW = """import os, sys, time, tool
def main():
    try:
        os.write(1, b"begun")
        time.sleep(60)
    finally:
        os.write(1, b" cleaning")
        time.sleep(0.5)
        os.write(1, b" clean")
tool.run(main)"""
FAILS = """import argparse, sys, tool
def main():
    if sys.argv[1:] == ["trouble"]:
        raise tool.Trouble("a\\x1bb")
    if sys.argv[1:] == ["file"]:
        open("/nonexistent")
    if sys.argv[1:] == ["status"]:
        return 1
    argparse.ArgumentParser().parse_args()
tool.run(main, trouble=3, wrong=4)"""


class Collectd(socketserver.StreamRequestHandler):
    """What plays collectd's unixsock plugin: it has a value of MANY services."""

    def handle(self):
        # A tool that ends early closes its end.
        with contextlib.suppress(ConnectionError):
            for line in self.rfile:
                listed = [f"1 h/ebpf-web{number}/ps_rss" for number in range(MANY)]
                said = listed if line.startswith(b"LISTVAL") else ["value=1"]
                self.wfile.write("".join(text + "\n" for text in [f"{len(said)} values", *said]).encode())


def listen(path):
    server = socketserver.ThreadingUnixStreamServer(path, Collectd)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def make_commands(check):
    """{tool: arguments with which it prints more than its buffer holds}"""
    where = check.dir
    listen(os.path.join(where, "socket"))
    for number in range(MANY):
        os.makedirs(os.path.join(where, "tidy", "h", f"ebpf-web{number}"))
    metrics = "".join(f"    - name: total_{number}\n      help: h\n      labels:\n        - name: n\n          size: 8\n          decoders:\n"
                      "            - name: uint\n" for number in range(MANY))
    player = write(os.path.join(where, "player"), PLAYER)
    os.chmod(player, 0o755)
    commands = {
        "ebpf-check": ["--no-trial", "--json", "--config", write(os.path.join(where, "conf"), "LoadPlugin ebpf\n")],
        "ebpf-top": ["--socket", os.path.join(where, "socket"), "--once"],
        "ebpf-dashboards": [os.path.join(where, "d" * 200)],
        "ebpf-convert": [write(os.path.join(where, "many.yaml"), "metrics:\n  counters:\n" + metrics)],
        "ebpf-tidy": ["--rrd", os.path.join(where, "tidy")],
        "ebpf-bpftrace": ["--bpftrace", player, "--name", "n" * 60, "-e", "BEGIN { @a = count(); }"]}
    if shutil.which("rrdtool"):
        tree = Tree(os.path.join(where, "rrd"), int(time.time()), 600)
        tree.file("h", "web", "ps_rss", 1e6)
        commands["ebpf-graph"] = ["--rrd", tree.directory, "--events", os.devnull, "--span", "hour", "--table", "1", "--output",
                                  os.path.join(where, "pages")]
    else:
        check.left_out("ebpf-graph", "rrdtool is not installed")
    return commands


def start(words, output, **options):
    return subprocess.Popen([PYTHON, "-B", *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True,
                            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONPATH": os.path.dirname(tool.__file__)},
                            **options)


def end(process):
    """(exit status, what it said)"""
    said = process.communicate(timeout=LIMIT_S)[1]
    return process.returncode, said


@contextlib.contextmanager
def closed_pipe():
    there, here = os.pipe()
    os.close(there)
    yield here
    os.close(here)


@contextlib.contextmanager
def full_pipe():
    there, here = os.pipe()
    os.set_blocking(here, False)
    for size in 4096, 1:
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(here, size * b"x")
    os.set_blocking(here, True)
    yield here
    os.close(there)
    os.close(here)


def signals(process, word):
    """The signals of a line of its status, as SigCgt."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        mask = int(next(line for line in file if line.startswith(word)).split()[1], 16)
    return {number for number in signal.valid_signals() if mask >> number - 1 & 1}


def wait_for_work(process):
    """Until it heeds signals."""
    give_up = time.monotonic() + LIMIT_S
    while process.poll() is None and signal.SIGTERM not in signals(process, "SigCgt") and time.monotonic() < give_up:
        time.sleep(0.01)


class Tool:
    def __init__(self, check, name, arguments):
        self.check, self.name = check, name
        self.path = os.path.join(TOP, "contrib", name)
        self.arguments, self.trouble, self.wrong = arguments, UNSEEN.get(name, 1), UNSEEN.get(name, 2)

    def expect(self, what, got, want):
        self.check.equal(f"{self.name}: {what}", got, want)

    def run(self, output, *arguments, **options):
        return end(start([self.path, *(arguments or self.arguments)], output, **options))

    def test(self):
        with closed_pipe() as pipe:
            self.expect("a reader that has gone", self.run(pipe), (141, ""))
            self.expect("a reader that has gone, at the last flush", self.run(pipe, "--version"), (141, ""))
            self.expect("a reader of both streams that has gone", subprocess.run(
                [PYTHON, "-B", self.path, *self.arguments], stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, check=False,
                timeout=LIMIT_S).returncode, 141)
        with open("/dev/full", "wb") as full:
            for what, arguments in (("", ()), (", at the last flush", ("--version",))):
                self.expect("a full device" + what, self.run(full, *arguments),
                            (self.trouble, f"{self.name}: standard output: No space left on device\n"))
        self.expect("closed standard output", self.run(None, preexec_fn=lambda: os.close(1)),
                    (self.trouble, f"{self.name}: standard output: Bad file descriptor\n"))
        self.expect("a wrong option", self.run(subprocess.DEVNULL, "--nonsense")[0], self.wrong)
        for signum in tool.ENDS:
            with full_pipe() as pipe:
                process = start([self.path, *self.arguments], pipe)
                wait_for_work(process)
                process.send_signal(signum)
                self.expect(signum.name, end(process), (128 + signum, ""))


def ignore_hangup():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_clean_up(check):
    there, here = os.pipe()
    process = start(["-c", SLOW], here, preexec_fn=ignore_hangup)
    os.close(here)
    said = os.read(there, 100)
    check.equal("clean-up: what is ignored stays ignored", signal.SIGHUP in signals(process, "SigIgn"), True)
    process.terminate()
    said += os.read(there, 100)
    process.send_signal(signal.SIGINT)
    check.equal("clean-up: exit status", end(process), (143, ""))
    said += os.read(there, 100)
    check.equal("clean-up: a second signal does not disturb it", said, b"begun cleaning clean")
    os.close(there)


def test_failures(check):
    for what, want in (("trouble", (3, "-c: a\N{REPLACEMENT CHARACTER}b\n")), ("status", (1, "")),
                       ("file", (3, "-c: /nonexistent: No such file or directory\n"))):
        check.equal(f"status and message: {what}", end(start(["-c", FAILS, what], subprocess.DEVNULL)), want)
    status, said = end(start(["-c", FAILS, "more"], subprocess.DEVNULL))
    check.equal("status and message: wrong options", (status, said.splitlines()[-1:]), (4, ["-c: error: unrecognized arguments: more"]))
    check.equal("status: help", end(start(["-c", FAILS, "--help"], subprocess.DEVNULL)), (0, ""))
    check.equal("closed standard error: status", end(start(["-c", FAILS, "status"], subprocess.DEVNULL, preexec_fn=lambda: os.close(2))), (1, ""))


def main():
    with Check() as check:
        tools = [Tool(check, name, arguments) for name, arguments in make_commands(check).items()]
        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            list(pool.map(Tool.test, tools))
        test_clean_up(check)
        test_failures(check)


if __name__ == "__main__":
    main()

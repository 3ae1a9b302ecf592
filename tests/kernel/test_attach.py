#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Attach lines: programs of one object on functions of a program, by name and by offset, on markers, tracepoints and
perf events, as many as the block has. A line that cannot be attached is ignored.

Truth: the program that is called. Where the kernel has kprobes, they count system calls of this process.
"""

import os
import shutil
import signal
import subprocess
import time

import lib
from lib import WITH_TRACEFS, Test, in_mounts, without

INTERVAL = 0.2 if lib.SLOWNESS < 2 else 0.5
CALLS = 1000
HOOK = b"uprobe" + b"/" * 77 + b"path:called"
OFF = without("poll", "request", "process")
KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")


def symbol_offset(path, name):
    """The offset of a function in the file of a program."""
    def output(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    address = next(int(line.split()[0], 16) for line in output("nm", path) if line.lower().endswith(" t " + name))
    text = next(line.split() for line in output("objdump", "-h", path) if " .text " in line)
    return address - int(text[3], 16) + int(text[5], 16)


def block(name, source, *lines):
    path = source if source.startswith("/") else os.path.join(lib.BUILD, "tests", "bpf", source + ".bpf.o")
    return f'<Probe "{name}">\n Object "{path}"\n ' + "\n ".join(lines) + "\n</Probe>\n"


def section_object(directory, name, path):
    with open(os.path.join(lib.BUILD, "tests", "bpf", "attach_section.bpf.o"), "rb") as file:
        content = file.read()
    assert HOOK in content
    where = os.path.join(directory, name + ".o")
    with open(where, "wb") as file:
        file.write(content.replace(HOOK, b"uprobe" + path.encode().rjust(81, b"/") + b":called"))
    return where


def helpers(daemon):
    """The daemon's helper processes: all its descendants."""
    found = {daemon}
    for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent in found:
            found.add(pid)
    return found - {daemon}


def main():
    with Test(limit=90) as test:
        directory = test.mkdir("attach")
        called, second, fifo, text = (os.path.join(test.disk, name) for name in ("called", "second", "fifo", "text"))
        shutil.copy(os.path.join(lib.BUILD, "tests", "kernel", "load_call"), called)
        shutil.copy(called, second)
        os.mkfifo(fifo)
        with open(text, "w", encoding="ascii") as file:
            file.write("text")
        offset = symbol_offset(called, "other")
        lines = [f'Attach "uprobe:{called}:called" "attach_call"',
                 f'Attach "uprobe:{second}:called" "attach_call"',
                 f'Attach "uprobe:{called}:{offset:#x}" "attach_other"',
                 f'Attach "uretprobe:{called}:called"',
                 f'Attach "usdt:{called}:load:two"',
                 f'Attach "usdt:{called}:load:watched"',
                 'Attach "perf:cpu-clock:frequency=50"',
                 'Attach "kprobe:__x64_sys_getppid"',
                 'Attach "kretprobe:__x64_sys_getppid"',
                 f'Attach "tracepoint:{"syscalls:sys_enter_getppid" if KPROBES else "sched:sched_process_fork"}"']
        wrong = {f'Attach "uprobe:{fifo}:called" "attach_call"': "it is not a regular file",
                 f'Attach "uprobe:{text}:called" "attach_call"': "it is not a 64-bit program",
                 f'Attach "uprobe:{called}:caled" "attach_call"': "it has no function of this name",
                 f'Attach "uprobe:{called}:0x1" "attach_call"': "no code is at this offset",
                 f'Attach "usdt:{called}:load:one"': "it has no marker of this name",
                 f'Attach "uprobe:{test.disk}/none:called" "attach_call"': "No such file or directory",
                 f'Attach "uprobe:{called}:other"': 'which program? name one after it: "attach_call", "attach_other"',
                 'Attach "perf:cpu-clock:frequency=50" "attach_call"': 'the program is SEC("uprobe")',
                 'Attach "perf:cpu-clock:frequency=50" "attach_cal"': 'no program of this name, but "attach_call"',
                 'Attach "tracepoint:no:such"': "cannot attach to no:such: "}
        own = block("own", "attach", f'Parameter "only" {os.getpid()}', *lines[-3:-1]) if KPROBES else ""
        daemon = test.collectd(
            OFF + own + block("attach", "attach", *lines, *wrong) +
            block("fifo", section_object(directory, "fifo", fifo)) +
            block("section", section_object(directory, "section", called)) +
            block("nothing", "attach", f'Attach "uprobe:{fifo}:called" "attach_call"'), interval=INTERVAL,
            wrap=in_mounts(WITH_TRACEFS))
        daemon.wait_rows("attach", "derive-calls")
        first, other = test.load_at(called), test.load_at(second)
        for load in (first, other):
            load.ask(str(CALLS))
        now = time.time()
        truth = {"calls": 2 * CALLS, "others": 2 * CALLS, "returns": CALLS, "markers": 3 * CALLS}
        got = {name: daemon.row_after("attach", "derive-" + name, now)[1] for name in truth}
        test.equal("calls of two programs; calls by offset, returns and markers of one",
                   got, truth)
        test.equal("calls, as the section says", daemon.row_after("section", "derive-section_calls", now)[1], CALLS)
        for pid in helpers(daemon.process.pid):
            os.kill(pid, signal.SIGKILL)
        first.ask(str(CALLS))
        test.equal("calls after the end of the process that has opened the file",
                   daemon.row_after("attach", "derive-calls", time.time())[1], 3 * CALLS)
        samples = [row[1] for row in daemon.rows("attach", "derive-samples")]
        test.true("samples of the clock go on", samples[-1] > samples[0], samples)
        if KPROBES:
            for _ in range(CALLS):
                os.getppid()
            for name in ("kernel_calls", "kernel_returns"):
                test.equal(f"{name} of this process", daemon.row_after("own", "derive-" + name, time.time())[1], CALLS)
                everyone = daemon.row_after("attach", "derive-" + name, time.time())[1]
                test.true(f"{name} of all", everyone >= CALLS, everyone)
        said = daemon.complaints()
        for line, why in wrong.items():
            lines = [it for it in said if f"probe attach: ignoring {line}" in it]
            test.equal(f"messages for {line}", len(lines), 1)
            test.contains("why", "".join(lines), why)
        replaced = [it for it in said if "replaces the address to which the function returns" in it]
        test.equal("messages about what a uretprobe does", len(replaced), 1)
        test.contains("of which", "".join(replaced), f'probe attach: Attach "uretprobe:{called}:called": the kernel replaces')
        kernel = [it for it in said if "probe attach: ignoring Attach \"k" in it]
        test.equal(f"kprobes refused: {kernel}", len(kernel), 0 if KPROBES else 1)
        test.contains("section of a FIFO", "\n".join(said), "probe fifo is off: cannot read")
        test.contains("nothing attached", "\n".join(said), "probe nothing is off: nothing of it is attached")
        for load in (first, other):
            load.end()


if __name__ == "__main__":
    main()

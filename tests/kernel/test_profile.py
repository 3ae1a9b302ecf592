#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles: which functions have how much of the CPU time, in the folded files; and the other views there: waits,
switches, files, and connections that are left open.

Truth: programs whose functions have known shares (load_profile.c): as they are linked, with their symbols removed, in a
mount namespace of their own, and of code that the program makes while it runs. They have ended when their functions are
looked up. Of the other views, what load_offcpu.c says of its waits, and what the test asks for.
"""

import contextlib
import json
import os
import platform
import shutil
import subprocess
import time

import bpf_objects
import lib
from lib import Test

HZ = 999
SAMPLES, SAMPLES_OF_ORDER = 5200, 1000  # of each program
WITHIN = 2      # points
COST_MAX = 0.5  # percent of a CPU
SHARES = (10, 20, 30, 40)
CONF = "".join(f"""
  <Service "{name}">
    Process "kt_{name}"
  </Service>""" for name in ("native", "strip", "inside", "made", "blocked", "files", "leak", "before")) + f"""
  MaxSampling 20
  <Probe "profile">
    Enable true
    Parameter "hz" {HZ}
  </Probe>
  <Probe "offcpu">
    Enable true
    Frequency 100
    Budget 10
    Option "switches"
    Parameter "least_us" 0
  </Probe>
  <Probe "files">
    Enable true
    Option "top_files"
  </Probe>
  <Probe "tcp">
    Enable true
    Option "opened"
    Parameter "opened_after" 1
  </Probe>
"""
# Of load_offcpu.c: a part of the name of a function of the kernel in each.
WAYS = {"sleep": "nanosleep", "futex": "futex", "pipe": "pipe_read", "sync": "fsync"}
WRITTEN_SECONDS = 150 * lib.SLOWNESS
FILE_SIZE = 4 << 20
LEAKED, LEAKED_BEFORE = 7, 5
LONG_NAMES = [255 * letter for letter in "abc"]


def stripped(test, name):
    path = test.program("profile", name)
    os.unlink(path)
    subprocess.run(["strip", "-o", path, test.program("profile")], check=True)
    return path


def inside(test, name):
    """In a file system that nobody else sees."""
    where = os.path.join(test.disk, "inside")
    os.makedirs(where)
    command = (f"mount --make-rprivate / && mount -t tmpfs none {where} && "
               f"cp {test.program('profile')} {where}/{name} && exec {where}/{name} native")
    return lib.Load(["unshare", "-m", "sh", "-c", command])


def shares(lines, prefix):
    """Percent by function, of all samples that are in one of them."""
    found = {share: 0 for share in SHARES}
    for line, value in lines.items():
        for share in SHARES:
            if f"{prefix}_{share}" in line.split(";"):
                found[share] += value
    total = sum(found.values()) or 1
    return {share: 100 * value / total for share, value in found.items()}


def thread_seconds(daemon):
    """CPU time of the thread that takes the stacks."""
    for task in os.listdir(f"/proc/{daemon.process.pid}/task"):
        with open(f"/proc/{daemon.process.pid}/task/{task}/comm", encoding="ascii") as name:
            if name.read().strip() == "ebpf profiles":
                with open(f"/proc/{daemon.process.pid}/task/{task}/schedstat", encoding="ascii") as times:
                    return int(times.read().split()[0]) / 1e9
    raise RuntimeError("there is no such thread")


def program_seconds(daemon):
    """Of a run of the program, mean."""
    shown = bpf_objects.show("prog", bpf_objects.numbers("prog", daemon.process.pid))
    found = next(one for one in shown if one.get("name") == "profile_sample")
    return found["run_time_ns"] / found["run_cnt"] / 1e9


def cost(test, daemon, taken):
    """Of one CPU at 99 Hz, percent: the program at each sample, and the thread, which also looks once a second."""
    program, thread = program_seconds(daemon), thread_seconds(daemon) / taken
    print(f"note: a sample takes {1e6 * program:.2f} us in the kernel and {1e6 * thread:.2f} us in the thread")
    test.figures.within("cost at 99 Hz, percent of a CPU", 9900 * (program + thread), 0.001, COST_MAX * lib.SLOWNESS)


def samples(daemon, service):
    rows = daemon.rows(service, "total_events-profile_samples")
    return rows[-1][1] - rows[0][1] if rows else 0


def waits(test, daemon, truth):
    """Each way is there; as figures, percent of all, within 5 points: the probe takes turns with what else the machine
    does."""
    total = sum(all_ns for all_ns, _, _ in truth.values())
    for view, part in (("switches", "in_{way}"), ("waits", "{word}")):
        lines = daemon.folded("blocked", view)
        found = {}
        for way, word in WAYS.items():
            text = part.format(way=way, word=word)
            found[way] = sum(value for line, value in lines.items() if text in line)
        of = sum(found.values()) or 1
        # The shortest may not be met.
        test.equal(f"{view}: ways without any", [way for way, value in found.items() if not value and way != "sync"], [])
        for way, (all_ns, queued_ns, _) in truth.items():
            test.figures.between(f"{view}: {way}, percent", 100 * found[way] / of,
                                 (100 * (all_ns - queued_ns) / total, 100 * all_ns / total), slack=5)
        test.true(f"{view}: the kernel's functions have names", any("_[k]" in line for line in lines), list(lines)[:3])


class Others:
    """What the other views are of."""

    def __init__(self, test):
        self.blocked = test.load("offcpu", test.disk, name="kt_blocked")
        self.blocked.ask("cycle 4")
        self.leak = test.load("profile", "leak", LEAKED, name="kt_leak")
        self.leak.hear()
        self.path = os.path.join(test.disk, "used")
        with open(self.path, "wb") as file:
            file.write(bytes(FILE_SIZE))
        self.deep = os.path.join(test.disk, *LONG_NAMES)  # the names fill the room that a path has
        os.makedirs(os.path.dirname(self.deep))
        shutil.copyfile(self.path, self.deep)
        self.files = test.load("files", name="kt_files")
        for word in ("read", "write"):
            self.files.ask(f"{word} 65536 {self.path}")
        self.files.ask(f"read 65536 {self.deep}")

    def end(self):
        """What the program that waits says of its waits."""
        truth = {way: sums for way, sums in json.loads(self.blocked.ask("sums")).items() if way in WAYS}
        for load in (self.blocked, self.files, self.leak):
            load.end()
        return truth


def check_others(test, daemon, path, truth):
    waits(test, daemon, truth)
    lines = daemon.folded("leak", "opened")
    test.equal("opened: connections by the function that opens them",
               sum(value for line, value in lines.items() if "leak_one" in line.split(";")), LEAKED)
    test.equal("opened: connections from before the probe", daemon.folded("before", "opened"),
               {"[earlier]": LEAKED_BEFORE})
    if files_are_off(daemon):
        test.left_out("files", "this kernel permits none of the hooks of the probe files")
        return
    frames = ";".join(path.split("/")[1:])
    lines = daemon.folded("files", "files")
    for word in ("read", "write"):
        test.equal(f"files: bytes of {word}", lines.get(f"{frames};[{word}]"), FILE_SIZE)
    test.equal("files: bytes of a path that is cut", lines.get(";".join(["...", *LONG_NAMES, "[read]"])), FILE_SIZE)
    test.true("file_time: the file", any(line.startswith(frames) for line in daemon.folded("files", "file_time")))


def read_samples(test, daemon, loads):
    """Until there are enough of each."""
    wanted = SAMPLES if test.measures else SAMPLES_OF_ORDER
    for service in loads:
        daemon.wait_rows(service, "total_events-profile_samples", 2)
    while min(samples(daemon, service) for service in loads) < wanted:
        time.sleep(0.2)
    if test.measures:
        cost(test, daemon, sum(samples(daemon, service) for service in loads))


def files_are_off(daemon):
    return any("probe files is off" in line for line in daemon.log())


def wait_written(daemon, loads):
    """Until all files of a minute are there. What is left when collectd ends has names only as far as these are found soon."""
    give_up = time.monotonic() + WRITTEN_SECONDS
    views = [*((service, "cpu") for service in loads), ("blocked", "switches"), ("blocked", "waits"), ("leak", "opened"),
             ("before", "opened")]
    if not files_are_off(daemon):
        views += [("files", "files"), ("files", "file_time")]
    while not all(daemon.folded(service, view) for service, view in views):
        if time.monotonic() > give_up:
            raise RuntimeError(f"no profiles after {WRITTEN_SECONDS} s")
        time.sleep(0.5)


def functions(test, daemon, service):
    lines = daemon.folded(service, "cpu")
    prefix = "made" if service == "made" else "share"
    got = shares(lines, prefix)
    named = sum(value for line, value in lines.items() if f";{prefix}_" in line)
    test.figures.within(f"{service}: samples in the functions, percent of all",
                        100 * named / (sum(lines.values()) or 1), 90, 100)
    test.true(f"{service}: functions by their shares", got[40] > got[20] > 0 and
              got[30] > got[10] > 0, got)
    for share in SHARES:
        test.figures.within(f"{service}: {prefix}_{share}, percent", got[share], share - WITHIN, share + WITHIN)


def main():
    with Test(limit=240) as test:
        loads = {"native": test.load("profile", "native", name="kt_native"),
                 "strip": test.load_at(stripped(test, "kt_strip"), "native"),
                 "inside": inside(test, test.own("kt_inside"))}
        if platform.machine() == "x86_64":
            loads["made"] = test.load("profile", "made", name="kt_made")
        for load in loads.values():
            load.hear()
        before = test.load("profile", "leak", LEAKED_BEFORE, name="kt_before")
        before.hear()
        if test.measures:
            statistics = contextlib.ExitStack()
            statistics.enter_context(bpf_objects.run_statistics())
            test.at_end(statistics.close)
        daemon = test.collectd(CONF, interval=1)
        for service in loads:
            daemon.wait_rows(service, "total_events-profile_samples", 1)
        # They take the CPU from each other.
        others = None if test.measures else Others(test)
        read_samples(test, daemon, loads)
        for load in loads.values():
            load.kill()
        others = others or Others(test)
        wait_written(daemon, loads)
        check_others(test, daemon, others.path, others.end())
        for service in loads:
            functions(test, daemon, service)
        before.end()
        test.equal("complaints", [line for line in daemon.complaints() if "probe files is off" not in line], [])


if __name__ == "__main__":
    main()

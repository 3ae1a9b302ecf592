#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many functions at once: all calls of 200 functions are counted, and attaching takes less than a second if the kernel
has links for many functions; a missing function is ignored. A program that is replaced, or that another process of a
service runs, is attached while the daemon runs, and the old one stays attached. What fails for lack of memory in the
kernel, or because symbols were not found in time, is tried again.

Truth: the programs that are called.
"""

import itertools
import os
import shutil
import threading
import time

import bpf_objects
import lib
from lib import Skip, Test
from test_attach import OFF, block, section_object
from test_oom import LIMIT, Cgroup
from test_symbols import wait_for_program

FUNCTIONS = 200
CALLS = 50
PATIENCE = 100 * lib.SLOWNESS  # seconds until a replaced file is noticed: the daemon checks every 10 s
INTERVAL = 0.2 if lib.SLOWNESS < 2 else 0.5
UPROBE_MULTI_SECONDS = 1
HELPER = "ebpf-symbols"
HELPER_SECONDS = 8  # for which it may read symbols; the start does not wait so long
KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")
TRACEABLE = "/sys/kernel/tracing/available_filter_functions"
GETPPID = "__x64_sys_getppid"


class Daemon:
    """A daemon with only these Attach lines, and the seconds until its first reading."""

    def __init__(self, test, *lines, services=""):
        self.test = test
        begin = time.monotonic()
        self.daemon = test.collectd(OFF + services + block("links", "function_links", *lines), interval=INTERVAL)
        self.daemon.wait_rows("links", "derive-calls")
        self.seconds = time.monotonic() - begin

    def counts(self, *names):
        now = time.time()
        return {name: self.daemon.row_after("links", "derive-" + name, now)[1] for name in names}

    def wait_said(self, words, times=1):
        """Waits until the log has a line with these words. Returns whether it has."""
        give_up = time.monotonic() + PATIENCE
        while sum(words in line for line in self.daemon.log()) < times:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.1)
        return True

    def wait_links(self, count):
        """Waits until the daemon has so many links. Returns whether it has."""
        give_up = time.monotonic() + PATIENCE
        while len(links_of(self)) != count:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.1)
        return True

    def end(self):
        self.test.stop(self.daemon)


def many(path, number):
    return f'Attach "uprobe:{path}:many_{number:03}"'


def links_of(daemon):
    return bpf_objects.numbers("link", daemon.daemon.process.pid)


def check_many(test):
    """200 functions of a running program and a missing one, and the returns of 50 with another BPF program."""
    load = test.load("many", name="kt_many")
    path = test.program("many", "kt_many")
    one = Daemon(test, many(path, 0))
    few = len(links_of(one))
    one.end()
    lines = [many(path, number) for number in range(FUNCTIONS)]
    lines.insert(FUNCTIONS // 3, many(path, 777))
    lines += [f'Attach "uretprobe:{path}:many_{number:03}"' for number in range(50)]
    all_of_them = Daemon(test, *lines)
    more = len(links_of(all_of_them)) - few
    test.equal("calls that the load has made", int(load.ask(str(CALLS))), CALLS * FUNCTIONS)
    test.equal("calls and returns", all_of_them.counts("calls", "returns"),
               {"calls": CALLS * FUNCTIONS, "returns": CALLS * 50})
    said = [line for line in all_of_them.daemon.complaints() if "ignoring" in line]
    test.equal("messages", len(said), 1)
    test.contains("message for the one that is not there", "".join(said), "many_777")
    seconds = all_of_them.seconds - one.seconds
    print(f"note: {len(lines)} functions instead of one: {more} links more, {seconds:.2f} s longer")
    if more < 10:
        test.figures.within("seconds for 250 functions", seconds, -10, UPROBE_MULTI_SECONDS * lib.SLOWNESS)
    else:
        test.left_out("the time that links to 250 functions take",
                      "this kernel has no uprobe.multi: single events were tried")
    all_of_them.end()
    load.end()


def check_replaced(test):
    """A path whose file is replaced twice, one whose file is made later, and one whose file is removed. Yields where the
    daemon has to notice it."""
    path, late, removed = (os.path.join(test.disk, name) for name in ("replaced", "late", "gone"))
    source = os.path.join(lib.BUILD, "tests", "kernel", "load_call")
    loads = []

    def install(where):
        shutil.copy(source, where + ".new")
        os.rename(where + ".new", where)
        loads.append(test.load_at(where))

    install(path)
    install(removed)
    daemon = Daemon(test, *(f'Attach "uprobe:{where}:called"' for where in (path, late, removed)))
    install(path)
    install(late)
    os.unlink(removed)
    yield
    test.true("replaced: told", daemon.wait_said(f"attached to {path}, which has been replaced"))
    test.true("late: told", daemon.wait_said(f"attached to {late}, which is there now"))
    test.true("gone: told", daemon.wait_said(f'Attach "uprobe:{removed}:called" until its file changes'))
    for load in loads:
        load.ask(str(CALLS))
    test.equal("calls of the new program, of the old, of the late one, and of one whose file is gone",
               daemon.counts("calls"), {"calls": 4 * CALLS})
    install(path)
    yield
    test.true("replaced again: told", daemon.wait_said(f"attached to {path}, which has been replaced", 2))
    for load in loads:
        load.ask(str(CALLS))
    test.equal("calls of the newest, of the one before, of the late one, and of one whose file is gone",
               daemon.counts("calls"), {"calls": 8 * CALLS})
    daemon.end()
    for load in loads:
        load.end()


def check_service(test):
    """The program of a service, a second one at the same time, and a file in its mount namespace. Yields, too."""
    inside = test.own("/tmp/kt_inside")
    services = '<Service "web">\n Process "kt_web"\n</Service>\n'
    daemon = Daemon(test, 'Attach "uprobe:service:web:called"', f'Attach "uretprobe:service:web:{inside}:called"',
                    'Attach "uprobe:service:other:called"', services=services)
    test.true("no process yet: told", daemon.wait_said("and 1 other wait: no process of the service web runs yet"))
    test.true("no such service: told", daemon.wait_said('there is no Service block "other"'))
    paths = []
    for number in range(2):
        path = os.path.join(test.mkdir(f"web{number}"), test.own("kt_web"))
        shutil.copy(os.path.join(lib.BUILD, "tests", "kernel", "load_call"), path)
        paths.append(path)
    first = test.load_at(paths[0])
    yield
    test.true("first process: told", daemon.wait_said("attached to the program, which the service web uses now"))
    test.at_end(lambda: os.path.exists(inside) and os.unlink(inside))
    mounted = lib.Load(lib.in_mounts(f"touch {inside}", f"mount --bind {paths[1]} {inside}") + [paths[0]])
    second = test.load_at(paths[1])
    yield
    test.true("second process: told", daemon.wait_said("attached to the program, which the service web uses now", 2))
    test.true("in a mount namespace: told", daemon.wait_said(f"attached to {inside}, which the service web uses now"))
    for load in (first, second):
        load.ask(str(CALLS))
    test.equal("calls of two programs of a service, and returns of the one that a path of it leads to",
               daemon.counts("calls", "returns"), {"calls": 2 * CALLS, "returns": CALLS})
    for load in (first, second, mounted):
        load.end()
    daemon.end()


class Helper:
    """A path for ebpf-symbols: a symbolic link that can be changed."""

    def __init__(self, test, name, program):
        self.path = os.path.join(test.mkdir("readers"), name)
        self.become(program)

    def become(self, program):
        os.symlink(program, self.path + ".new")
        os.rename(self.path + ".new", self.path)


def check_late_helper(test):
    """The symbol helper hangs the first time, or is missing at first: what a section or a line names is attached later.
    Yields, too."""
    path, hangs, real = os.path.join(test.disk, "slow"), os.path.join(test.disk, "hangs"), os.path.join(lib.BUILD, HELPER)
    shutil.copy(os.path.join(lib.BUILD, "tests", "kernel", "load_call"), path)
    shutil.copy(shutil.which("wc"), hangs)
    load = test.load_at(path)
    section = block("section", section_object(test.mkdir("section"), "section", path))
    hung, missing = Helper(test, "hung", hangs), Helper(test, "missing", "/none/here")

    def reply_next():
        if wait_for_program(test, hangs):
            hung.become(real)

    answering = threading.Thread(target=reply_next)
    answering.start()
    slow, none = (Daemon(test, f'Attach "uprobe:{path}:called"', services=f'SymbolHelper "{helper.path}"\n{section}')
                  for helper in (hung, missing))
    answering.join()
    test.true("a helper that hangs is not waited for at the start", slow.seconds < HELPER_SECONDS, slow.seconds)
    yield
    test.true("no reader: told", none.wait_said("is not attached yet and is tried again: cannot read", 2))
    missing.become(real)
    yield
    test.true("a reader again: told", none.wait_said("is attached now", 2))
    test.true("after one that hung all is attached", slow.wait_links(len(links_of(none))))
    load.ask(str(CALLS))
    for name, daemon, messages in (("slow", slow, 0), ("none", none, 2)):
        now = time.time()
        test.equal(f"reader {name}: calls, as a line and a section say",
                   (daemon.counts("calls"), daemon.daemon.row_after("section", "derive-section_calls", now)[1]),
                   ({"calls": CALLS}, CALLS))
        test.equal(f"reader {name}: warnings", len(daemon.daemon.complaints()), messages)
        daemon.end()
    load.end()


def check_full(test):
    """A process of the program is at the memory limit of its cgroup, so the kernel has no page for the breakpoint. Yields,
    too."""
    try:
        cgroup = Cgroup(test)
    except Skip as skip:
        test.left_out("a process at its memory limit", skip)
        return
    path = os.path.join(test.disk, "full")
    shutil.copy(os.path.join(lib.BUILD, "tests", "kernel", "load_call"), path)
    load = test.load_at(path)
    load.ask("1")  # so that its start, which needs memory, is over
    cgroup.write("cgroup.procs", load.pid)
    cgroup.spare(load.pid)
    cgroup.limit(0)
    daemon = Daemon(test, f'Attach "uprobe:{path}:called"')
    yield
    test.true("full: told", daemon.wait_said("is not attached yet and is tried again"))
    cgroup.limit(LIMIT)
    yield
    test.true("room again: told", daemon.wait_said("called\" is attached now"))
    load.ask(str(CALLS))
    test.equal("calls of a process that was at its memory limit", daemon.counts("calls"), {"calls": CALLS})
    test.equal("messages about it", len(daemon.daemon.complaints()), 1)
    daemon.end()
    load.end()


def quiet_functions():
    """Functions of the kernel that the load does not call."""
    with open(TRACEABLE, encoding="ascii") as lines:
        names = sorted({line.strip() for line in lines if line.startswith("tcp_") and " " not in line})
    return names[:FUNCTIONS - 1]


def check_kernel(test):
    if not KPROBES:
        test.left_out("functions of the kernel", "this kernel has no kprobes")
        return
    load = test.load("getppid", name="kt_getppid")
    only = f'Parameter "only" {load.pid}'
    few = Daemon(test, only, f'Attach "kprobe:{GETPPID}" "links_kernel_calls"',
                 f'Attach "kretprobe:{GETPPID}" "links_kernel_returns"',
                 f'Attach "kprobe:{GETPPID}" "links_kernel_call"',
                 'Attach "kretprobe:no_such_function" "links_kernel_returns"')
    said = "\n".join(few.daemon.complaints())
    has_kprobe_multi = f'"kprobe:{GETPPID}"' not in said
    test.contains("message for the one that is not there", said, "kretprobe:no_such_function")
    load.ask(str(CALLS))
    expected = {"kernel_calls": CALLS * has_kprobe_multi, "kernel_returns": CALLS * has_kprobe_multi, "single": CALLS}
    test.equal("system calls, by a link for many and by one", few.counts(*expected), expected)
    few.end()
    program, member = ("links_kernel_calls", "kernel_calls") if has_kprobe_multi else ("links_kernel_call", "single")
    lines = [f'Attach "kprobe:{name}" "{program}"' for name in [*quiet_functions(), GETPPID]]
    wildcard = 'Attach "kprobe:*_sys_getppi[d]" "links_kernel_calls"'
    all_of_them = Daemon(test, only, *lines, wildcard)
    load.ask(str(CALLS))
    test.equal("system calls, by one of 200 functions and, where there are links for many, by a wildcard",
               all_of_them.counts(member), {member: CALLS * (1 + has_kprobe_multi)})
    said = "\n".join(all_of_them.daemon.complaints())
    if has_kprobe_multi:
        test.equal("messages where there are links for many", said, "")
    else:
        test.contains("message for the wildcard", said, "kprobe.multi")
    print(f"note: {len(lines)} functions of the kernel, {'one link' if has_kprobe_multi else 'single'}: "
          f"{all_of_them.seconds - few.seconds:.2f} s longer")
    all_of_them.end()
    load.end()


def main():
    with Test(limit=400) as test:
        changes = check_replaced(test), check_service(test), check_full(test), check_late_helper(test)
        for change in changes:
            next(change, None)
        check_many(test)
        check_kernel(test)
        for _ in itertools.zip_longest(*changes):
            pass


if __name__ == "__main__":
    main()

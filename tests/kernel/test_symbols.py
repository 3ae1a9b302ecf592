#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs of others are read by ebpf-symbols, a process that can do nothing else: functions by the names of their
source are attached to; what is ended or hangs there costs its Attach line, with a message, and nothing of the daemon.

Truth: the program that is called, and what /proc tells of the process.
"""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import time

import lib
from lib import Test, without

CALLS = 1000
INTERVAL = 0.2 if lib.SLOWNESS < 2 else 0.5
PATIENCE = 60 * lib.SLOWNESS
HELPER = os.path.join(lib.BUILD, "ebpf-symbols")
OFF = without("poll", "request", "process")
NOBODY = "65534"


def block(*lines):
    path = os.path.join(lib.BUILD, "tests", "bpf", "attach.bpf.o")
    return OFF + f'<Probe "attach">\n Object "{path}"\n ' + "\n ".join(lines) + "\n</Probe>\n"


def objcopy(source, to, *options):
    subprocess.run(["objcopy", *options, source, to], check=True)
    os.chmod(to, 0o755)


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return dict(line.rstrip("\n").split(":\t", 1) for line in status if ":\t" in line)


def wait_for_program(test, name):
    """The process that runs it as ebpf-symbols."""
    def find():
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.path.samefile(f"/proc/{pid}/exe", name):
                    with open(f"/proc/{pid}/cmdline", "rb") as line:
                        if line.read() == b"ebpf-symbols\0":
                            return int(pid)
            except OSError:
                continue
        return None

    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        pid = find()
        if pid:
            return pid
        time.sleep(0.02)
    test.true("a process that runs " + name, False, "none")
    return None


def check_sandbox(test):
    """What the real one may do, when it waits for what it is asked."""
    ours, its = socket.socketpair()
    with subprocess.Popen([HELPER], stdin=its, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        its.close()
        end = time.monotonic() + PATIENCE
        while status_of(process.pid)["Seccomp"] != "2" and time.monotonic() < end:
            time.sleep(0.01)
        status = status_of(process.pid)
        test.equal("it filters its system calls, and cannot get privileges",
                   (status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        with open(f"/proc/{process.pid}/limits", encoding="ascii") as limits:
            space = next(line for line in limits if line.startswith("Max address space"))
        test.contains("its memory is bounded", space, str(512 << 20))
        ours.send(bytes(range(256)) * 4)
        ours.shutdown(socket.SHUT_WR)
        ended = process.wait(PATIENCE)
        test.true("it ends at nonsense", ended in (0, 1), ended)
    ours.close()


def check_privileges(test, pid):
    status = status_of(pid)
    test.equal("user and group", (status["Uid"].split(), status["Gid"].split()), ([NOBODY] * 4, [NOBODY] * 4))
    test.equal("capabilities", [status[name].strip("0") for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")], [""] * 4)
    test.equal("no new privileges", status["NoNewPrivs"], "1")
    end = time.monotonic() + PATIENCE
    # The dynamic linker closes a library once it has mapped it.
    while (found := sorted(os.listdir(f"/proc/{pid}/fd"))) != ["0", "1"] and time.monotonic() < end:
        time.sleep(0.01)
    test.equal("its descriptors", found, ["0", "1"])
    with open(f"/proc/{pid}/environ", "rb") as environment:
        test.equal("its environment", environment.read(), b"")


def break_headers(path):
    """Garbage where the headers of the sections are; always the same."""
    with open(path, "r+b") as file:
        file.seek(40)
        at = int.from_bytes(file.read(8), "little")
        file.seek(at + 64)
        file.write(random.Random(17).randbytes(64 * 60))


def check_names(test, cxx, go, broken):
    daemon = test.collectd(block(f'Attach "uprobe:{cxx}:load::called(unsigned int)" "attach_call"',
                                 f'Attach "uprobe:{cxx}:load::other" "attach_other"',
                                 f'Attach "uretprobe:{go}:called"',
                                 f'Attach "uprobe:{broken}:load::called" "attach_call"',
                                 f'Attach "uprobe:{cxx}:load::calld" "attach_call"'), interval=INTERVAL)
    daemon.wait_rows("attach", "derive-calls")
    process = test.load_at(cxx)
    process.ask(str(CALLS))
    now = time.time()
    test.equal("calls of a function of C++ and one of Rust, by the names of the source",
               {name: daemon.row_after("attach", "derive-" + name, now)[1] for name in ("calls", "others")},
               {"calls": CALLS, "others": 2 * CALLS})
    said = "\n".join(daemon.complaints())
    test.contains("the return of a function of Go", said, "a function of Go moves its stack, which a uretprobe would break, and where it returns")
    test.contains("a name that is nearly right", said, 'did you mean "load::called"')
    test.contains("a broken file", said, f"cannot read {broken}: ")
    process.end()


def check_debug(test, load, text):
    """A separate file of symbols that is none."""
    path = os.path.join(test.disk, "part")
    objcopy(load, path, "--strip-symbol=other")
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    found = re.search("Build ID: (..)([0-9a-f]+)", notes)
    if not found:
        test.left_out("a separate file of symbols", "programs have no build ID")
        return
    where = f"/usr/lib/debug/.build-id/{found[1]}"
    daemon = test.collectd(block(f'Attach "uprobe:{path}:called" "attach_call"', f'Attach "uprobe:{path}:other" "attach_other"',
                                 f'Attach "uprobe:{path}:another" "attach_other"'), interval=INTERVAL,
                           wrap=lib.in_mounts("mkdir -p /usr/lib/debug", "mount -t tmpfs none /usr/lib/debug", f"mkdir -p {where}",
                                              f"cp {text} {where}/{found[2]}.debug"))
    daemon.wait_rows("attach", "derive-calls")
    process = test.load_at(path)
    process.ask(str(CALLS))
    test.equal("calls of a function that the file itself has", daemon.row_after("attach", "derive-calls", time.time())[1],
               CALLS)
    logged = [line for line in daemon.log() if f"[notice] ebpf plugin: probe attach: only the symbols of {path} are used" in line]
    test.equal("messages about the separate file", len(logged), 1)
    test.contains("which", "".join(logged), f"cannot use {where}/{found[2]}.debug: it is not a 64-bit file")
    test.equal("messages about what it might have", len(daemon.complaints()), 2)
    process.end()


def check_mini(test, load):
    """A stripped program whose functions only .gnu_debugdata names, and one without that."""
    with open(HELPER, "rb") as helper:
        if not shutil.which("xz") or b"liblzma" not in helper.read():
            test.left_out("symbols of .gnu_debugdata", "it needs xz, and a build with liblzma")
            return
    symbols, bare, mini = (os.path.join(test.disk, name) for name in ("symbols", "bare", "mini"))
    objcopy(load, symbols, "--only-keep-debug")
    subprocess.run(["xz", symbols], check=True)
    objcopy(load, bare, "--strip-all")
    objcopy(bare, mini, f"--add-section=.gnu_debugdata={symbols}.xz")
    daemon = test.collectd(block(f'Attach "uprobe:{mini}:called" "attach_call"', f'Attach "uprobe:{mini}:other" "attach_other"',
                                 f'Attach "uprobe:{bare}:called" "attach_call"'), interval=INTERVAL)
    daemon.wait_rows("attach", "derive-calls")
    for path in (bare, mini):
        process = test.load_at(path)
        process.ask(str(CALLS))
        process.end()
    now = time.time()
    test.equal("calls of functions that only .gnu_debugdata names",
               {name: daemon.row_after("attach", "derive-" + name, now)[1] for name in ("calls", "others")},
               {"calls": CALLS, "others": 2 * CALLS})
    said = daemon.complaints()
    test.equal("messages about the program without", len(said), 1)
    test.contains("which", said[0] if said else "", bare)


def begin_hung(test, cxx, go):
    """A daemon whose process reads what it is asked, and waits for more; the first of them is killed. All are tried
    again."""
    counter = shutil.which("wc")
    daemon = test.collectd(f'SymbolHelper "{counter}"\n' +
                           block(f'Attach "uprobe:{cxx}:load::called" "attach_call"',
                                 f'Attach "uprobe:{go}:other" "attach_call"',
                                 'Attach "perf:cpu-clock:frequency=50"'), interval=INTERVAL)
    pid = wait_for_program(test, counter)
    if pid:
        check_privileges(test, pid)
        os.kill(pid, signal.SIGKILL)
    return daemon, pid


def check_hung(test, daemon, pid):
    daemon.wait_rows("attach", "derive-samples")
    end = time.monotonic() + PATIENCE
    while len(daemon.complaints()) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    said = daemon.complaints()
    test.equal("messages for one that was killed and hangs, and one that hangs", len(said), 2)
    for line in said:
        test.contains("message", line, "is not attached yet and is tried again: cannot read")
        test.contains("message", line, "takes too long: more than 8 s")
    test.equal("nothing of it is left", [it for it in os.listdir("/proc") if it == str(pid)], [])


def main():
    with Test(limit=180) as test:
        cxx, go, broken, text = (os.path.join(test.disk, name) for name in ("cxx", "go", "broken", "text"))
        load = os.path.join(lib.BUILD, "tests", "kernel", "load_call")
        objcopy(load, cxx, "--redefine-sym", "called=_ZN4load6calledEj", "--redefine-sym", "other=_RNvC4load5other")
        with open(text, "w", encoding="ascii") as file:
            file.write("Go")
        objcopy(load, go, "--add-section", ".go.buildinfo=" + text)
        shutil.copy(cxx, broken)
        break_headers(broken)
        hung = begin_hung(test, cxx, go)
        check_names(test, cxx, go, broken)
        check_debug(test, load, text)
        check_sandbox(test)
        check_hung(test, *hung)
        check_mini(test, load)


if __name__ == "__main__":
    main()

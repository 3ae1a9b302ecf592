#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a kernel or a user may lack: BTF, a capability, tracefs, hooks. Each causes the message that collectd-ebpf(5)
promises. A probe that needs it uses its next set of hooks or is off; probes that do not need it count as usual, the
daemon's other plugins continue, and nothing stays in the kernel.

Only the daemon loses something: by mounts in its own namespace, and by its capabilities.

Truth: what was removed; renames of this process.
"""

import os
import re
import shutil
import statistics
import subprocess
import time

import collectd
from lib import BUILD, SLOWNESS, WITH_TRACEFS, Skip, Test, in_mounts, without

RENAMES = 200
ROWS = 5
INTERVAL = 0.2 if SLOWNESS < 2 else 1

# The sets of hooks of tests/bpf/absent.bpf.c.
CLASSIC, PLAIN = 2, 3

# For tests/bpf/absent_all.bpf.c: what fails, and the remedy.
LACKS_TYPE = "the running kernel lacks a function, type or hook that this object needs"
LACKS_HOOK = "the running kernel lacks this hook"
NO_KPROBES = "the kernel is built without kprobes (CONFIG_KPROBE_EVENTS)"
KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")
LACKS = "the running kernel lacks something that this object needs"
NOWHERE = [
    ("load", "'no_such_hook'", LACKS_TYPE),
    ("attach to raw_tp/no_such_hook", "No such file", LACKS_HOOK),
    ("attach to tracepoint/task/no_such_hook", "task/no_such_hook", LACKS_HOOK),
    ("load", "'no_such_hook'", LACKS_TYPE),
    ("attach to kprobe/no_such_hook", "No such file", LACKS_HOOK if KPROBES else NO_KPROBES),
    ("load", "'no_such_hook'", LACKS_TYPE),
    ("load", "task_struct___absent.no_such_member", LACKS),
]
NO_RIGHTS = "collectd needs CAP_BPF and CAP_PERFMON (as root, or AmbientCapabilities= in its systemd unit)"
FORBIDDEN = "kernel.perf_event_paranoid is above 2, for which this kernel needs CAP_SYS_ADMIN"
NO_BTF = "the kernel must have BTF (CONFIG_DEBUG_INFO_BTF=y), in /sys/kernel/btf/vmlinux"
EMPTY_BTF = "/sys/kernel/btf/vmlinux is there, but is not the kernel's BTF"
NO_TRACEFS = "tracefs is not there; mount -t tracefs tracefs /sys/kernel/tracing"

# Without the probe poll, which logs a message where only expensive hooks are available.
RENAMER = """
  <Service "renamer">
    Process "kt_renamer"
  </Service>
""" + without("poll")


def probe(name):
    return f'<Probe "{name}">\n Object "{os.path.join(BUILD, "tests", "bpf", name)}.bpf.o"\n</Probe>\n'


def hidden(*paths):
    return [f"[ ! -d {path} ] || mount -t tmpfs tmpfs {path}" for path in paths]


def with_capabilities(change):
    return ["setpriv", "--bounding-set", change, "--inh-caps", "-all", "--"]


def require_tools():
    for name, words in (("unshare", in_mounts()), ("setpriv", with_capabilities("-all,+bpf,+perfmon"))):
        if not shutil.which(name) or subprocess.run(words + ["true"], check=False, capture_output=True).returncode:
            raise Skip(f"{name} cannot take anything away here")


def hidden_btf():
    """Hides the kernel's BTF and the copies that libbpf searches for."""
    release = os.uname().release
    copies = [f"/boot/vmlinux-{release}", f"/lib/modules/{release}/vmlinux-{release}"]
    copies += [f"/lib/modules/{release}/{below}/vmlinux" for below in ("build", "kernel")]
    copies += [f"/usr/lib/debug/boot/vmlinux-{release}{end}" for end in ("", ".debug")]
    copies += [f"/usr/lib/debug/lib/modules/{release}/vmlinux"]
    return hidden("/sys/kernel/btf") + [f"mount --bind /dev/null {copy}" for copy in copies if os.path.exists(copy)]


def said(daemon, text=""):
    """The plugin's messages, except that a probe is on, or that a hook set of another probe is unavailable."""
    lines = [line.split("] ", 1)[1] for line in daemon.log() if "] [" in line]
    lines = [line for line in lines if "ebpf plugin: " in line and not line.startswith("[info] ")]
    lower = re.compile(r"\[notice\] ebpf plugin: probe (?!absent)\w+: hook set \d+ is unavailable, ")
    return [line for line in lines if text in line and not lower.match(line) and not collectd.OTHERS.search(line)]


def says(test, what, line, *parts):
    for part in parts:
        test.true(f"{what}: {line!r} has {part!r}", part in line)


def goes_on(test, daemon, what):
    """Checks that the daemon's other plugin dispatches at its interval."""
    rows = daemon.wait_rows("", "load", ROWS, plugin="load")
    test.true(f"{what}: another plugin goes on", rows)
    gaps = [b[0] - a[0] for a, b in zip(rows, rows[1:])]
    test.figures.close(f"{what}: time between two values of another plugin", statistics.median(gaps), daemon.interval,
                       rel=0.5)


def ends(test, daemon, what):
    test.stop(daemon)
    test.equal(f"{what}: BPF objects left", test.ledger.wait_empty(), [])


def rename(test, count):
    for _ in range(count):
        with open("/proc/self/comm", "w", encoding="ascii") as comm:
            comm.write(test.own("kt_renamer"))


def start(test, wrap, *probes):
    return test.collectd(RENAMER + "".join(map(probe, probes)), interval=INTERVAL, extra="LoadPlugin load", wrap=wrap)


def plugin_is_off(test, what, wrap, *parts):
    """The plugin logs one message, and of its series only those about itself are dispatched."""
    daemon = start(test, wrap, "absent")
    goes_on(test, daemon, what)
    found = said(daemon)
    test.equal(f"{what}: messages {found}", len(found), 1)
    says(test, what, found[0], "[error] ", "the plugin is off: cannot load into the kernel: ", *parts)
    for name in ("services", "process", "absent"):
        check_hook_set(test, daemon, what, name, 0)
    test.equal(f"{what}: subjects", daemon.subjects(), {"self"})
    ends(test, daemon, what)


def check_hook_set(test, daemon, what, name, hook_set):
    test.equal(f"{what}: count-tier_{name}", daemon.wait_rows("self", f"count-tier_{name}")[-1][1], hook_set)


def falls_to(test, what, wrap, hook_set, *parts):
    """The probe works with the hooks that are available, and so does the probe that lacks none."""
    daemon = start(test, wrap, "absent")
    before = daemon.row_after("renamer", "derive-renames", time.time())
    rename(test, RENAMES)
    after = daemon.row_after("renamer", "derive-renames", time.time())
    test.equal(f"{what}: renames counted", after[1] - before[1], RENAMES)
    # The sum: the kernel may count a short time as user time or as system time alone.
    test.true(f"{what}: probe process counts", sum(daemon.wait_rows("renamer", "ps_cputime", 2)[-1][1:]) > 0)
    check_hook_set(test, daemon, what, "absent", hook_set)
    check_hook_set(test, daemon, what, "process", 1)
    goes_on(test, daemon, what)
    found = said(daemon)
    test.equal(f"{what}: messages {found}", len(found), hook_set - 1)
    says(test, what, found[0], "[notice] ", "probe absent: hook set 1 is unavailable, trying the next: ", *NOWHERE[-1])
    if hook_set == PLAIN:
        says(test, what, found[1], "[notice] ", "probe absent: hook set 2 is unavailable, trying the next: ",
             "cannot attach to tracepoint/task/task_rename: ", *parts)
    ends(test, daemon, what)


def hooks(test):
    """A probe none of whose hooks exist is off, without effect on others, and logs what each hook set lacks."""
    what = "no hook"
    daemon = start(test, in_mounts(WITH_TRACEFS), "absent_all")
    check_hook_set(test, daemon, what, "process", 1)
    check_hook_set(test, daemon, what, "absent_all", 0)
    goes_on(test, daemon, what)
    found = said(daemon)
    test.equal(f"{what}: messages", len(found), len(NOWHERE))
    for hook_set, (line, (step, *parts)) in enumerate(zip(found, NOWHERE), 1):
        last = hook_set == len(NOWHERE)
        begin = "[error] ebpf plugin: probe absent_all is off: " if last else f"hook set {hook_set} is unavailable, trying the next: "
        says(test, f"{what}, hook set {hook_set}", line, begin + f"cannot {step}", *parts)
    test.equal(f"{what}: its subjects", {name for name in daemon.subjects() if "absent" in name}, set())
    ends(test, daemon, what)


def perf_events_forbidden():
    """Debian's kernels have a further level, at which CAP_PERFMON does not suffice."""
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as level:
        return int(level.read()) > 2


def capabilities(test):
    for missing in ("bpf", "perfmon", "bpf,-perfmon"):
        # CAP_SYS_ADMIN includes both.
        plugin_is_off(test, f"without CAP {missing}", with_capabilities(f"-{missing},-sys_admin"),
                      "Operation not permitted", NO_RIGHTS)
    traced = in_mounts(WITH_TRACEFS)
    falls_to(test, "without CAP_SYS_RESOURCE", traced + with_capabilities("-sys_resource"), CLASSIC)
    least = traced + with_capabilities("-all,+bpf,+perfmon")
    if perf_events_forbidden():
        falls_to(test, "with the least capabilities, paranoid", least, PLAIN, "Permission denied", FORBIDDEN)
    else:
        falls_to(test, "with the least capabilities", least, CLASSIC)


def main():
    with Test(limit=240) as test:
        require_tools()
        rename(test, 1)
        hooks(test)
        falls_to(test, "all there", in_mounts(WITH_TRACEFS), CLASSIC)
        falls_to(test, "no tracefs", in_mounts(*hidden("/sys/kernel/tracing", "/sys/kernel/debug")), PLAIN,
                 "No such file", NO_TRACEFS)
        plugin_is_off(test, "no BTF", in_mounts(*hidden_btf()), "kernel BTF", NO_BTF)
        plugin_is_off(test, "an empty BTF", in_mounts(*hidden_btf(), "touch /sys/kernel/btf/vmlinux"), "valid kernel BTF", EMPTY_BTF)
        capabilities(test)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""What the running kernel offers to BPF programs, and the rates of its busiest hooks. Everything is read below `proc` and
`sys`, so that tests can provide it."""

import os
import re

from finding import judge, limit, missing, note

OLDEST = 5, 15
BTF = b"\x9f\xeb", b"\xeb\x9f"     # the magic number of a file, in either byte order
INITIAL_NAMESPACE = "pid:[4026531836]"   # PROC_PID_INIT_INO of the kernel
RATES = {"ctxt": "context switches", "intr": "interrupts", "processes": "forks"}


def read(*path):
    """The text of a small file; None if it cannot be read."""
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
            return file.read(65536).strip()
    except OSError:
        return None


def number(*path):
    text = read(*path)
    return int(text) if text and re.fullmatch("-?[0-9]{1,9}", text) else None


class Kernel:
    def __init__(self, proc="/proc", sys="/sys"):
        self.proc, self.sys = proc, sys

    def sysctl(self, name):
        return number(self.proc, "sys", *name.split("."))

    def release(self):
        text = read(self.proc, "sys/kernel/osrelease") or "unknown"
        version = tuple(map(int, re.findall(r"[0-9]{1,6}", text)[:2]))
        return judge(version >= OLDEST, "version", f"Linux {text}", f"Linux {text} is older than {OLDEST[0]}.{OLDEST[1]}",
                     "boot a newer kernel", missing)

    def btf(self):
        path = os.path.join(self.sys, "kernel/btf/vmlinux")
        try:
            with open(path, "rb") as file:
                good = file.read(2) in BTF
                size = os.fstat(file.fileno()).st_size
        except OSError as error:
            return missing("BTF", f"{path}: {error.strerror}",
                           "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian's; a container needs the host's /sys")
        return judge(good, "BTF", f"{path}, {size >> 10} KiB", f"{path} is not BTF", "boot a kernel with BTF", missing)

    def lockdown(self):
        """The mode in brackets, which is the active one."""
        text = read(self.sys, "kernel/security/lockdown")
        if text is None:
            return note("lockdown", "unknown: /sys/kernel/security/lockdown cannot be read",
                        "as root: mount -t securityfs none /sys/kernel/security; a kernel without the lockdown module has no "
                        "such file")
        mode = (re.findall(r"\[(\w+)\]", text) or [text])[0]
        return judge(mode != "confidentiality", "lockdown", mode, "confidentiality: programs may not read the kernel's memory",
                     "boot with lockdown=integrity, or without lockdown", missing)

    def paranoid(self, privileges):
        value = self.sysctl("kernel.perf_event_paranoid")
        if value is None:
            return limit("perf_event_paranoid", "unknown: the kernel has no perf events", "boot a kernel with CONFIG_PERF_EVENTS=y")
        return judge(value <= 2 or privileges.has("SYS_ADMIN"), "perf_event_paranoid", str(value),
                     f"{value}: without CAP_SYS_ADMIN there are no classic tracepoints, kprobes, uprobes and no profile",
                     "sysctl kernel.perf_event_paranoid=2, or the drop-in that gives CAP_SYS_ADMIN", limit)

    def tracefs(self):
        there = next((path for path in ("kernel/tracing", "kernel/debug/tracing")
                      if os.path.isdir(os.path.join(self.sys, path, "events"))), None)
        return judge(there, "tracefs", f"/sys/{there}", "not mounted: there are no classic tracepoints",
                     "mount -t tracefs none /sys/kernel/tracing")

    def symbols(self, privileges):
        value = self.sysctl("kernel.kptr_restrict") or 0
        return judge(value == 0 or value == 1 and privileges.has("SYSLOG"), "kernel symbols", "readable",
                     f"hidden (kernel.kptr_restrict is {value}): stacks have addresses in place of the kernel's functions",
                     "sysctl kernel.kptr_restrict=0" + (", or give collectd CAP_SYSLOG" if value == 1 else ""))

    def compiler(self):
        value = self.sysctl("net.core.bpf_jit_enable")
        return judge(value != 0, "BPF compiler", "on" if value else "as the kernel was built",
                     "off: programs are interpreted, at several times the cost", "sysctl net.core.bpf_jit_enable=1")

    def host(self):
        """Whether this is the initial PID namespace: only there all processes of a service are visible."""
        try:
            inside = os.readlink(os.path.join(self.proc, "self/ns/pid")) != INITIAL_NAMESPACE
        except OSError:
            inside = True
        return judge(not inside, "host", "this is the host, so that all containers are seen",
                     "this is a container: names of other containers and of units may be unknown",
                     "run collectd on the host, or with the host's PID namespace (--pid=host) and /sys")

    def cgroups(self):
        top = os.path.join(self.sys, "fs/cgroup")
        second = os.path.exists(os.path.join(top, "cgroup.controllers"))
        both = os.path.isdir(os.path.join(top, "unified"))
        if not second and not both and any(os.path.isdir(os.path.join(top, name)) for name in ("memory", "cpu")):
            return note("cgroups", "version 1: limits of services are read, their pressure is unavailable",
                        "boot with systemd.unified_cgroup_hierarchy=1")
        return judge(second or both, "cgroups", "version 2" if second else "versions 1 and 2",
                     "not mounted: limits and pressure of services are unknown", "mount -t cgroup2 none /sys/fs/cgroup", limit)

    def findings(self, privileges):
        return [self.release(), self.btf(), self.lockdown(), self.paranoid(privileges), self.tracefs(),
                self.symbols(privileges), self.compiler(), self.cgroups(), self.host()]

    def counts(self):
        """The count of each of RATES since the machine started."""
        found = re.findall(r"^(\w+) ([0-9]{1,20})", read(self.proc, "stat") or "", re.M)
        return {RATES[word]: int(count) for word, count in found if word in RATES}


def rates(before, now, seconds):
    """The rates per second between two results of counts()."""
    return {what: (now[what] - before[what]) / seconds for what in before if what in now and seconds > 0}

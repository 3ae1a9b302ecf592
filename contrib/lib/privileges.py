# SPDX-License-Identifier: MIT
"""The capabilities and the user that collectd has, and what the plugin can do with them."""

import os
import pwd
import re

import kernel
import systemd
from finding import fine, judge, missing, note, unknown
from samples import sample

# Sorted by number.
EVERY = """CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT
SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG
WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE""".split()
NUMBERS = {name: number for number, name in enumerate(EVERY)}
# Capabilities that collectd works without.
OPTIONAL = {
    "SYS_ADMIN": "functions of programs before Linux 6.6, hooks in modules, run time of each program",
    "SYS_PTRACE": "functions in files of containers and of other users' services",
    "SYSLOG": "names of the kernel's functions where kernel.kptr_restrict is 1",
    "DAC_READ_SEARCH": "paths of cgroups as labels",
}
YOU = "you"     # the owner if no collectd is known
ROOT = 0, 0, []


class Unknown(ValueError):
    """There is no such capability."""


def parse(text):
    """The mask of comma-separated names, with or without cap_."""
    mask = 0
    for name in text.split(","):
        number = NUMBERS.get(name.strip().upper().removeprefix("CAP_"))
        if number is None:
            raise Unknown(f"{name!r} is not a capability; write them as in cap_bpf,cap_perfmon")
        mask |= 1 << number
    return mask


def of_process(pid):
    """The mask of a process's effective capabilities; None if it has exited."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            found = re.search(r"^CapEff:\s*([0-9a-f]{16})$", file.read(65536), re.M)
    except OSError:
        return None
    return int(found.group(1), 16) if found else None


def of_unit(unit):
    """The mask that systemd would leave to collectd; None without a unit. unit: its properties, see systemd.py"""
    if not unit:
        return None
    names = unit.get("CapabilityBoundingSet" if unit.get("User") in ("", "root") else "AmbientCapabilities", "").split()
    return sum(1 << NUMBERS[name] for name in NUMBERS if f"cap_{name.lower()}" in names)


def user_of(pid, unit):
    """(uid, gid, other groups) of a process or, with None, of the unit's user; root's if they are unknown."""
    ids = dict(re.findall(r"^(Uid|Gid|Groups):[ \t]*(.*)$", kernel.read(f"/proc/{pid}/status") or "", re.M)) if pid else {}
    if ids:
        return int(ids["Uid"].split()[1]), int(ids["Gid"].split()[1]), [*map(int, ids["Groups"].split())]
    try:
        user = pwd.getpwnam(unit.get("User") or "root")
    except KeyError:
        return ROOT
    return user.pw_uid, user.pw_gid, os.getgrouplist(user.pw_name, user.pw_gid)


class Privileges:
    def __init__(self, mask, owner, user=ROOT):
        self.mask, self.owner, self.user = mask, owner, user

    def command(self):
        """The prefix of a command of root's that is to have only these."""
        own, (user, group, others) = of_process("self") or 0, self.user
        if not user:
            lacking = ",".join(f"-{name.lower()}" for name, number in NUMBERS.items() if (own & ~self.mask) >> number & 1)
            return ["setpriv", "--bounding-set", lacking, "--inh-caps", lacking] if lacking else []
        has = ",".join(["-all", *(f"+{name.lower()}" for name, number in NUMBERS.items() if (own & self.mask) >> number & 1)])
        groups = ["--groups", ",".join(map(str, others))] if others else ["--clear-groups"]
        return ["setpriv", "--reuid", str(user), "--regid", str(group), *groups, "--bounding-set", has, "--inh-caps", has,
                "--ambient-caps", has]

    def has(self, name):
        return bool(self.mask >> NUMBERS[name] & 1)

    def findings(self):
        enough = self.has("SYS_ADMIN") or self.has("BPF") and self.has("PERFMON")
        if not enough and self.owner == YOU and os.geteuid():
            yield unknown("CAP_BPF, CAP_PERFMON", "you lack them, and what collectd has is unknown", "run ebpf-check as root")
            return
        yield judge(enough, "CAP_BPF, CAP_PERFMON", f"{self.owner}: has them", f"{self.owner}: lacks them",
                    f"run collectd as root, or install {sample('systemd/ebpf.conf')}, which says how", missing)
        for name, what in OPTIONAL.items():
            if self.has(name):
                yield fine("CAP_" + name, what, "more")
            else:
                yield note("CAP_" + name, f"not there: no {what}")


def find(chosen, pids, unit):
    """The privileges of collectd. chosen: a mask to use instead, or None; pids, unit: see daemon.py"""
    pid = pids[0] if len(pids) == 1 else None
    for mask, owner in ((chosen, "those chosen"), (pid and of_process(pid), f"collectd (process {pid})"),
                        (of_unit(unit), systemd.UNIT)):
        if mask is not None:
            return Privileges(mask, owner, user_of(pid, unit))
    return Privileges(of_process("self") or 0, YOU)

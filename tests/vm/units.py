#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The machine of `run --systemd` is a server as its name says: what runs there, and in which cgroup.

    tests/vm/run --steady --systemd unified 6.12 tests/vm/units.py [RECORD]

RECORD, below a directory given by --share, gets a line of each process: hierarchies, command, hierarchy and path.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "kernel")]
import check
import server

SLEEP = ("sleep", "infinity")
BATCH, JOB, NOTES = "batch.service", "job-17.scope", "notes.service"
CONTAINER = "web"
HOME = f"/user.slice/user-{server.UID}.slice"
MANAGER = f"{HOME}/user@{server.UID}.service"
# Those that are there from the boot on.
BOOTED = {
    "init.scope": "/init.scope",
    "vm.service": "/system.slice/vm.service",
    "dbus.service": "/system.slice/dbus.service",
    "systemd-journald.service": "/system.slice/systemd-journald.service",
    "systemd-logind.service": "/system.slice/systemd-logind.service",
    "cron.service": "/system.slice/cron.service",
    "nginx.service": "/system.slice/nginx.service",
    "postgresql@15-main.service": "/system.slice/system-postgresql.slice/postgresql@15-main.service",
    "job@south.service": "/system.slice/system-job.slice/job@south.service",
    r"job@north\x2dwest.service": r"/system.slice/system-job.slice/job@north\x2dwest.service",
    "job@10-20.service": "/system.slice/system-job.slice/job@10-20.service",
    "job@2026-11-27.service": "/system.slice/system-job.slice/job@2026-11-27.service",
}
# Transient units with these names.
NAMED = {
    "io.service": "/system.slice/_io.service",
    "run-billing.service": "/system.slice/run-billing.service",
    r"my\x2dapp.service": r"/system.slice/my\x2dapp.service",
}
COMMANDS = {
    "nginx.service": {"nginx"},
    "postgresql@15-main.service": {"postgres"},
    "cron.service": {"cron", "sleep"},
    "job@south.service": {"sleep"},
}
CLIENTS = []


def check_hierarchies(check):
    with open("/proc/cmdline", encoding="ascii") as file:
        boot = file.read()
    check.equal("first process", server.processes("/init.scope"), {1: "systemd"})
    check.equal("unified", server.is_unified(), "unified_cgroup_hierarchy=1" in boot)
    check.equal("hierarchy of systemd", "name=systemd" in server.cgroups(1), not server.is_unified())
    check.equal("hierarchy of version 2", "" in server.cgroups(1), True)
    check.equal("failed units", server.command("systemctl", "list-units", "--failed", "--plain", "--no-legend"), "")


def check_unit(check, unit, path, commands=None):
    """The manager and the kernel agree on where it is."""
    check.equal(f"{unit}: cgroup", server.show(unit, "ControlGroup"), [path])
    found = server.processes(path)
    check.true(f"{unit}: processes", found, sorted(set(found.values())))
    if commands:
        check.equal(f"{unit}: commands", set(found.values()), commands)
    for pid in found:
        check_versions(check, f"{unit}: {found[pid]} {pid}", pid)


def check_versions(check, what, pid):
    """In a hybrid machine systemd keeps its tree in both, and a part of it in the hierarchies of controllers; Debian's
    6.12 has none of memory."""
    paths = server.cgroups(pid)
    mine = server.of_unit(pid)
    check.equal(f"{what}: version 2", paths[""], mine)
    for controllers in () if server.is_unified() else {"pids", *paths}.intersection({"memory", "pids"}):
        check.true(f"{what}: {controllers} in {mine}", (mine + "/").startswith(paths[controllers].rstrip("/") + "/"),
                   paths[controllers])


def check_booted(check):
    server.wait_for("cron's job", lambda: "sleep" in server.processes(BOOTED["cron.service"]).values())
    for unit, path in BOOTED.items():
        check_unit(check, unit, path, COMMANDS.get(unit))


def check_connections(check):
    """They stay."""
    ends = f"{server.ECHO_ADDRESS}:{server.ECHO_PORT}-{server.ECHO_ADDRESS}:"
    for connect, pattern in ((server.connect, rf"echo@\d+-{re.escape(ends)}\d+\.service"),
                             (server.connect_locally, r"echo@\d+-\d+-0\.service")):
        client, unit = connect()
        check.true(f"unit of a connection: {pattern}", re.fullmatch(pattern, unit), unit)
        check_unit(check, unit, f"/system.slice/system-echo.slice/{unit}", {"cat"})
        CLIENTS.append(client)


def check_transient(check):
    unit = server.run(*SLEEP)
    check.true("transient unit", unit.startswith("run-r") and unit.endswith(".service"), unit)
    check_unit(check, unit, f"/system.slice/{unit}", {"sleep"})
    for unit, path in NAMED.items():
        server.run(*SLEEP, options=(f"--unit={unit}",))
        check_unit(check, unit, path, {"sleep"})
    unit = server.run(*SLEEP, options=(f"--unit={BATCH}", f"--uid={server.USER}"))
    check_unit(check, unit, f"/system.slice/{BATCH}", {"sleep"})
    process = server.scope(JOB, *SLEEP)
    check_unit(check, JOB, f"/system.slice/{JOB}", {"sleep"})
    check.true("scope: process", process.pid in server.processes(f"/system.slice/{JOB}"))


def check_user(check):
    server.linger()
    check_unit(check, f"user@{server.UID}.service", MANAGER)
    unit = server.login(*SLEEP)
    check_unit(check, unit, f"{HOME}/{unit}")
    unit = server.user_run(*SLEEP, options=(f"--unit={NOTES}",))
    check.equal("unit of the user's manager", unit, NOTES)
    check.equal(f"{NOTES}: commands", set(server.processes(f"{MANAGER}/app.slice/{NOTES}").values()), {"sleep"})


def check_container(check):
    """Its id and the PID of its first process."""
    server.import_image()
    ident, pid = server.container(CONTAINER)
    check.true("id", len(ident) == 64 and not ident.strip("0123456789abcdef"), ident)
    unit = f"libpod-{ident}.scope"
    check_unit(check, unit, f"/machine.slice/{unit}", {"busybox"})
    check.true("container: process", pid in server.processes(f"/machine.slice/{unit}"))
    conmon = f"libpod-conmon-{ident}.scope"
    check_unit(check, conmon, f"/machine.slice/{conmon}", {"conmon"})
    return ident, pid


def record(path):
    """/proc/PID/cgroup of each process that is none of the kernel's threads."""
    boot = "unified" if server.is_unified() else "hybrid"
    lines = {f"{boot} {name} {controllers or '-'} {where}\n" for pid, name in server.processes("/").items()
             if os.path.exists(f"/proc/{pid}/exe") for controllers, where in server.cgroups(pid).items()}
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(sorted(lines))


def print_times():
    print(server.command("systemd-analyze", "time"))
    print("\n".join(server.command("systemd-analyze", "blame", "--no-pager").splitlines()[:8]))


def main():
    with check.Check() as checks:
        print_times()
        server.add_user()
        for part in (check_hierarchies, check_booted, check_connections, check_transient, check_user, check_container):
            part(checks)
        if len(sys.argv) > 1:
            record(sys.argv[1])


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""What an operator does on the server of `units`: as root, in the machine that `run --systemd` boots. All of it goes on
until the machine ends, or until it is stopped by the unit's name."""

import os
import socket
import subprocess
import tarfile
import time

USER, UID = "alice", 2000
ECHO_ADDRESS, ECHO_PORT, ECHO_PATH = "127.0.0.1", 7, "/run/echo"
IMAGE = "localhost/small:1"
# On the disk: podman's overlays cannot lie on that of the machine.
STORAGE, STORAGE_ON_DISK = "/var/lib/containers", "/var/tmp/containers"
PATIENCE = 120  # seconds: a login starts a dozen processes, each takes one


def command(*argv, **options):
    """Its output; what it said if it fails."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout[-500:]}{done.stderr[-1000:]}")
    return done.stdout.strip()


def wait_for(what, condition):
    """What the condition returns once it is true."""
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"no {what} within {PATIENCE} s")


def is_unified():
    return os.path.exists("/sys/fs/cgroup/cgroup.procs")


def show(unit, *names):
    """The values of these properties of a unit."""
    lines = command("systemctl", "show", unit, *(f"--property={name}" for name in names)).splitlines()
    values = dict(line.split("=", 1) for line in lines)
    return [values[name] for name in names]


def units(pattern):
    """Names of the active units that match."""
    lines = command("systemctl", "list-units", "--plain", "--no-legend", "--state=active", "--", pattern).splitlines()
    return [line.split()[0] for line in lines]


def cgroups(pid):
    """{controllers, as in the second field of /proc/PID/cgroup: path}"""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        return {words[1]: words[2] for words in (line.rstrip("\n").split(":", 2) for line in file)}


def of_unit(pid):
    """The path in the hierarchy that systemd itself uses."""
    paths = cgroups(pid)
    return paths.get("name=systemd") or paths[""]


def processes(path):
    """{PID: command} of those whose path in that hierarchy is this one or below."""
    found = {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if (of_unit(pid) + "/").startswith(path.rstrip("/") + "/"):
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                    found[int(pid)] = file.read().rstrip("\n")
        except FileNotFoundError:
            pass
    return found


def run(*argv, options=()):
    """Starts a transient unit; its name."""
    said = subprocess.run(["systemd-run", *options, *argv], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=True)
    return (said.stdout + said.stderr).split("unit:")[1].split()[0]


def scope(unit, *argv):
    """The process, which is its unit's."""
    process = subprocess.Popen(["systemd-run", "--scope", f"--unit={unit}", *argv], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(unit, lambda: units(unit))
    return process


def add_user():
    command("useradd", "--uid", str(UID), "--create-home", "--shell", "/bin/sh", USER)


def login(*argv):
    """Of the user, as at a terminal; the name of the new session's unit."""
    before = set(units("session-*.scope"))
    run(*argv, options=("--property=PAMName=login", f"--uid={USER}"))
    return wait_for("session", lambda: set(units("session-*.scope")) - before).pop()


def linger():
    """Starts the user's manager, which stays without a session."""
    command("loginctl", "enable-linger", USER)
    manager = f"user@{UID}.service"
    wait_for(manager, lambda: units(manager))


def user_run(*argv, options=()):
    """Starts a transient unit of the user's manager; the name of the unit."""
    return command("setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "env", "--ignore-environment",
                   f"PATH={os.environ['PATH']}", f"XDG_RUNTIME_DIR=/run/user/{UID}",
                   "sh", "-c", '"$@" 2>&1', "sh", "systemd-run", "--user", *options, *argv).split("unit:")[1].split()[0]


def connect():
    """(socket, name of the unit that serves it) by TCP."""
    client = socket.create_connection((ECHO_ADDRESS, ECHO_PORT))
    return client, _serving(client, f"echo@*-{ECHO_ADDRESS}:{ECHO_PORT}-*.service")


def connect_locally():
    """Likewise by a socket file."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(ECHO_PATH)
    return client, _serving(client, f"echo@*-{os.getpid()}-{os.getuid()}.service")


def _serving(client, pattern):
    client.settimeout(PATIENCE)
    client.sendall(b"?")
    client.recv(1)
    return units(pattern)[-1]


def import_image():
    """busybox, as an image that podman's containers are made of."""
    for path in (STORAGE, STORAGE_ON_DISK):
        os.makedirs(path, exist_ok=True)
    command("mount", "--bind", STORAGE_ON_DISK, STORAGE)
    archive = os.path.join(STORAGE_ON_DISK, "small.tar")
    with tarfile.open(archive, "w") as tar:
        tar.add("/bin/busybox", "bin/busybox")
    command("podman", "import", archive, IMAGE)


def container(name, *argv, options=()):
    """Starts it as from a shell: podman, when a unit runs it, leaves its monitor in that. (Its id, the PID of its first
    process)."""
    shell = {key: value for key, value in os.environ.items() if key != "INVOCATION_ID"}
    # crun wants no hybrid hierarchies that have controllers in version 2.
    runtime = "crun" if is_unified() else "runc"
    ident = command("podman", "--runtime", runtime, "run", "--detach", "--name", name, "--network=none", *options,
                    IMAGE, *argv, env=shell)
    return ident, int(command("podman", "inspect", "--format", "{{.State.Pid}}", name))

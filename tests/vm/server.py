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
# Starts as many processes as a line of the file /work says, one after the other, and tells at /done.
SPAWNER = """/bin/busybox mkfifo /work /done
while :; do
	read -r n </work || continue
	while [ "$n" -gt 0 ]; do
		/bin/busybox true
		n=$((n - 1))
	done
	echo >/done
done"""
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
            if is_below(of_unit(pid), path):
                with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
                    found[int(pid)] = file.read().rstrip("\n")
        except FileNotFoundError:
            pass
    return found


def is_below(path, other):
    """In this one or below."""
    return (path + "/").startswith(other.rstrip("/") + "/")


def is_zombie(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


def placed():
    """{PID: (its path as of of_unit(), number of threads)} of those that have not ended"""
    found = {}
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if not is_zombie(pid):
                found[int(pid)] = of_unit(pid), len(os.listdir(f"/proc/{pid}/task"))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


def active():
    """How many connections and transient units there are."""
    return len(units("echo@*.service")), len(units("run-*.service"))


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


def echo():
    """A connection that ends as soon as it is served."""
    with socket.create_connection((ECHO_ADDRESS, ECHO_PORT)) as client:
        client.settimeout(PATIENCE)
        client.sendall(b"?")
        client.recv(1)


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


def podman(*argv):
    """Its output. As from a shell: podman, when a unit runs it, leaves its monitor in that."""
    shell = {key: value for key, value in os.environ.items() if key != "INVOCATION_ID"}
    # crun wants no hybrid hierarchies that have controllers in version 2.
    return command("podman", "--runtime", "crun" if is_unified() else "runc", *argv, env=shell)


def container(name):
    """Starts one that spawn() can be asked of; another one of that name ends. (Its id, the PID of its first
    process)."""
    ident = podman("run", "--detach", "--replace", "--name", name, "--network=none", "--stop-timeout=0", IMAGE,
                   "busybox", "sh", "-c", SPAWNER).split()[-1]  # behind what it has replaced
    pid = int(podman("inspect", "--format", "{{.State.Pid}}", name))
    wait_for("its files", lambda: os.path.exists(f"/proc/{pid}/root/done"))
    spawn(pid, 0)
    return ident, pid


def spawn(pid, count):
    """Lets a container, whose first process this is, start so many processes; returns when they have ended."""
    spawn_on(pid, count)
    with open(f"/proc/{pid}/root/done", encoding="ascii") as done:
        done.read()


def spawn_on(pid, count):
    """Likewise, and does not wait. It can be asked nothing more."""
    with open(f"/proc/{pid}/root/work", "w", encoding="ascii") as work:
        work.write(f"{count}\n")


def undo():
    """Ends what was started here, as far as it can be done."""
    for words in ("podman rm --all --force --time 0", f"umount {STORAGE}", f"loginctl disable-linger {USER}",
                  f"systemctl stop user-{UID}.slice run-*.service echo@*.service batch.service job-17.scope "
                  "io.service my\\x2dapp.service",
                  f"userdel --remove {USER}"):
        subprocess.run(words.split(), stdin=subprocess.DEVNULL, check=False)

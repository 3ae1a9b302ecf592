#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A user's manager runs two containers with rootless podman: one as a quadlet does, in the cgroup of its unit, and one in a
scope of its own. Each is a service under the user's name and its own; the podman of the user is the user's.

Truth: podman's ids, and the processes in the containers' cgroups by /proc.
"""

import os
import tarfile

from lib import Test
from test_units import INTERVAL, USER, check_counts, few, require_systemd, server, units

SYSTEMD = "unified"
ARCHIVE = "/var/tmp/rootless.tar"
RUN = f"/run/user/{server.UID}"
CONF = f"""
  ServicesFrom "containers" "units" "commands"
  <Service "named">
    Container "{USER}:db"
  </Service>
  <Service "not-joined">
    Container "w?b"
    Container "db"
  </Service>
"""


def podman(*argv, options=()):
    """As a unit of the user's manager."""
    return server.user_run("podman", "--storage-driver=vfs", "--runtime=crun", *argv, options=options)


def import_image():
    """One id of the user's is enough for it, and needs no newuidmap."""
    for path in ("/etc/subuid", "/etc/subgid"):
        with open(path, "w", encoding="ascii"):
            pass
    with tarfile.open(ARCHIVE, "w") as tar:
        tar.add("/bin/busybox", "bin/busybox")
    os.chmod(ARCHIVE, 0o644)
    podman("import", ARCHIVE, "small", options=("--wait",))


def container(name, manager, *options):
    """Its id."""
    podman(f"--cgroup-manager={manager}", "run", f"--cidfile={RUN}/{name}.id", f"--name={name}", "--network=none", *options,
           "small", "/bin/busybox", "sleep", "1000", options=(f"--unit=of-{name}", "--property=Delegate=yes"))

    def read_id():
        path = f"{RUN}/{name}.id"
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                return file.read().strip()
        return None

    return server.wait_for(f"container {name}", read_id)


def group_of(identity):
    """The path of the container's cgroup, once it has a process."""
    def find():
        return next((path for path, _ in server.placed().values() if identity in path and "conmon" not in path), None)

    return server.wait_for(f"process of {identity}", find).split(identity)[0] + identity


def main():
    with Test(limit=150) as test:
        require_systemd(SYSTEMD)
        server.add_user()
        server.linger()
        import_image()
        web, db = container("web", "cgroupfs", "--cgroups=split"), container("db", "systemd")
        paths = {f"{USER}:web": group_of(web), "named": group_of(db) + ".scope"}
        test.equal("where the unit has its container", paths[f"{USER}:web"],
                   f"{units.MANAGER}/app.slice/of-web.service/libpod-payload-{web}")
        daemon = test.collectd(CONF, interval=INTERVAL, extra=few("csv"))
        check_counts(test, daemon, "rootless", {service: [path] for service, path in paths.items()})
        test.true("the user is a service", USER in daemon.services())
        test.equal("services of the user", sorted(name for name in daemon.services() if name.startswith(USER)),
                   [USER, f"{USER}:web"])
        test.equal("the block that names no user", daemon.wait_rows("not-joined", "ps_count", 1)[0][1:], (0, 0))


if __name__ == "__main__":
    main()

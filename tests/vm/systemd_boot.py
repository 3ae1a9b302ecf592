# SPDX-License-Identifier: MIT
"""Debian's systemd as first process of the machine: of all that the packages of the host enable, it starts little more
than the units of the directory `units` want, as an emulated CPU needs a tenth of a second and more for each process."""

import glob
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
HIERARCHIES = {"unified": "systemd.unified_cgroup_hierarchy=1", "hybrid": "systemd.unified_cgroup_hierarchy=0"}
# What is kept of the units that others want. Sockets and mounts cost next to nothing.
REQUIRED = {"collectd.service", "dbus.socket", "dev-hugepages.mount", "dev-mqueue.mount",
        "sys-kernel-debug.mount", "sys-kernel-tracing.mount",
        "systemd-journald-dev-log.socket", "systemd-journald.service", "systemd-journald.socket",
        "systemd-tmpfiles-setup.service"}
# Below /run alone: Debian's rules would also empty /tmp, where the host's files are.
TMPFILES = "[Service]\nExecStart=\nExecStart=systemd-tmpfiles --create --prefix=/run\n"
CRON_JOB = "@reboot root exec sleep infinity\n"


def required():
    """And those of the server."""
    with open(os.path.join(HERE, "units", "vm.target"), encoding="utf-8") as file:
        wants = [line.partition("=")[2].split() for line in file if line.startswith("Wants=")]
    return REQUIRED.union(*wants)


def unwanted(manager, root):
    """Names of the units that others of this manager, `system` or `user`, want, less those that are kept."""
    paths = [path for top in ("lib", "etc") for path in glob.glob(f"{root}/{top}/systemd/{manager}/*.wants/*")]
    return {os.path.basename(path) for path in paths} - required()


def mask(names, directory):
    os.makedirs(directory, exist_ok=True)
    for name in names:
        os.symlink("/dev/null", os.path.join(directory, name))


def write(path, text):
    os.makedirs(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def install(etc, root):
    """Makes `etc`, to be laid over the /etc of this root directory."""
    base = os.path.join(etc, "systemd")
    shutil.copytree(os.path.join(HERE, "units"), os.path.join(base, "system"))
    for manager in ("system", "user"):
        mask(unwanted(manager, root), os.path.join(base, manager))
        generators = f"{manager}-generators"
        mask(map(os.path.basename, glob.glob(f"{root}/lib/systemd/{generators}/*")), os.path.join(base, generators))
    write(os.path.join(base, "system", "systemd-tmpfiles-setup.service.d", "vm.conf"), TMPFILES)
    write(os.path.join(etc, "cron.d", "vm"), CRON_JOB)


def words(hierarchies):
    """For the kernel's command line."""
    return f"systemd.unit=vm.target systemd.show_status=error {HIERARCHIES[hierarchies]}"

# SPDX-License-Identifier: MIT
"""What systemd knows about collectd's unit."""

import os
import shutil
import subprocess

UNIT = "collectd.service"
RUNS = "/run/systemd/system"    # is there if systemd is the machine's init
PROPERTIES = "LoadState", "User", "MainPID", "CapabilityBoundingSet", "AmbientCapabilities"
PATIENCE = 10   # seconds


def unit():
    """The properties of collectd's unit; {} without systemd or without the unit."""
    if not (os.path.isdir(RUNS) and shutil.which("systemctl")):
        return {}
    try:
        said = subprocess.run(["systemctl", "show", "-p", ",".join(PROPERTIES), UNIT], capture_output=True, text=True,
                              check=False, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return {}
    shown = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    return shown if shown.get("LoadState") == "loaded" else {}

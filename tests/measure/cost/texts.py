# SPDX-License-Identifier: MIT
"""What a reading of files of the kernel takes, and what it takes to find the cgroups of services."""

import re
import subprocess

from statistic import Estimate

FILE = re.compile(r"^(\S.*?) +\d+ +\d+ +([\d.]+) +([\d.]+) +([\d.]+)$", re.M)
CGROUPS = re.compile(r"^us of CPU to find (\d+) cgroups: ([\d.]+); (\d+): ([\d.]+)$", re.M)


class Texts:
    """files: by what is read, microseconds of a reading of one that stays open, the kernel's part of it, and of one that is
    opened for it. cgroup_us: of one more cgroup, or None."""

    def __init__(self, site, count, readings):
        outputs = [subprocess.run([site.program("text"), str(readings)], capture_output=True, text=True, check=False).stdout
                   for _ in range(count)]
        runs = [{name: tuple(map(float, figures)) for name, *figures in FILE.findall(output)} for output in outputs]
        self.files = {name: [Estimate(run[name][i] for run in runs) for i in range(3)] for name in runs[0]}
        walks = [tuple(map(float, walk)) for output in outputs for walk in CGROUPS.findall(output)]
        self.cgroup_us = Estimate((us - us_before) / (found - before) for before, us_before, found, us in walks) if walks else None

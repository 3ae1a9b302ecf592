# SPDX-License-Identifier: MIT
"""What workloads need of the machine."""

import os
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """What a workload needs is not on this machine."""


def require(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def compile_cpp(build, name, package):
    """tests/evidence/NAME.cc with the library of this pkg-config name. Returns the program's path."""
    require("pkg-config", "c++")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    if flags.returncode:
        raise Missing(f"{package} is not installed")
    built = os.path.join(build, "tests", "evidence", name)
    sources = [os.path.join(HERE, f"{name}.cc"), os.path.join(build, "tests", "evidence", "record.o")]
    if not os.path.exists(built) or os.path.getmtime(built) < max(map(os.path.getmtime, sources)):
        subprocess.run(["c++", "-std=c++17", "-O2", "-Wall", "-o", built, *sources, "-pthread",
                        *flags.stdout.split()], check=True)
    return built

# SPDX-License-Identifier: MIT
"""What workloads need of the machine."""

import os
import shutil
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GO_PATH = "/usr/share/gocode"


class Missing(Exception):
    """What a workload needs is not on this machine."""


def require(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def _older(built, *sources):
    return not os.path.exists(built) or os.path.getmtime(built) < max(map(os.path.getmtime, sources))


def compile_cpp(build, name, package):
    """tests/measure/accuracy/NAME.cc with the library of this pkg-config name. Returns the program's path."""
    require("pkg-config", "c++")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, check=False)
    if flags.returncode:
        raise Missing(f"{package} is not installed")
    built = os.path.join(build, "tests", "measure", "accuracy", name)
    sources = [os.path.join(HERE, f"{name}.cc"), os.path.join(build, "tests", "measure", "accuracy", "record.o")]
    if _older(built, *sources):
        subprocess.run(["c++", "-std=c++17", "-O2", "-Wall", "-o", built, *sources, "-pthread",
                        *flags.stdout.split()], check=True)
    return built


def _built(build, room, name):
    directory = os.path.join(build, "tests", "measure", room)
    os.makedirs(directory, exist_ok=True)
    return os.path.join(directory, name)


def compile_go(build, name, *packages, room="accuracy"):
    """tests/measure/ROOM/NAME.go, with these packages of Debian's. Returns the program's path."""
    require("go")
    for package in packages:
        if not os.path.isdir(os.path.join(GO_PATH, "src", package)):
            raise Missing(f"Go's {package} is not installed")
    built, source = _built(build, room, name), os.path.join(os.path.dirname(HERE), room, f"{name}.go")
    if _older(built, source):
        with tempfile.TemporaryDirectory() as cache:
            subprocess.run(["go", "build", "-o", built, source], check=True,
                           env={**os.environ, "GO111MODULE": "off", "GOCACHE": cache, "GOPATH": GO_PATH})
    return built


def compile_java(build, name, room="accuracy"):
    """tests/measure/ROOM/NAME.java. Returns the directory of its classes."""
    require("javac", "java")
    classes, source = _built(build, room, f"{name}.class"), os.path.join(os.path.dirname(HERE), room, f"{name}.java")
    built = os.path.dirname(classes)
    if _older(classes, source):
        subprocess.run(["javac", "-d", built, source], check=True)
    return built

# SPDX-License-Identifier: MIT
"""What a server is measured with beside nothing: this plugin, and the others. Each is started and ended again."""

import contextlib
import glob
import os
import re
import subprocess
from typing import NamedTuple

from daemon import Daemon
from process import WITH_TRACEFS, prepare
from server import program

HERE = os.path.dirname(os.path.abspath(__file__))
SETUPS = ("before", "probe", "response", "clients", "floor", "reads", "listing", "bpftrace")

CALL_NUMBERS = {
    "x86_64": {"epoll": 232, "read": 0, "write": 1, "sendmsg": 46},
    "aarch64": {"epoll": 22, "read": 63, "write": 64, "sendmsg": 211},
}
SENDS_BY = {"memcached": "sendmsg", "redis": "write", "nghttpd": "write"}

# Prefixes of answers that say of an error.
ERRORS = {
    "memcached": ("ERROR", "CLIENT_ERROR", "SERVER_ERROR"),
    "redis": ("-",),
    "nghttpd": ("HTTP/2 400", "HTTP/2 404", "HTTP/2 500"),
}

BLOCK = """\
  <Service "{name}">
    Process "{program}"
{responses}  </Service>
  <Probe "request">
{options}  </Probe>
{others}"""


def setups(site):
    return tuple(name for name in SETUPS if name != "before" or site.before)


def script(pair):
    """listing.bt for this server, with those calls alone that it makes: bpftrace compares with each."""
    with open(os.path.join(HERE, "bpf", "listing.bt"), encoding="ascii") as file:
        _comment, text = file.read().split("\n\n", 1)
    number = CALL_NUMBERS[os.uname().machine]
    for word, call in (("POLL", "epoll"), ("RECEIVE", "read"), ("SEND", SENDS_BY[pair.name])):
        text = text.replace(word, f"args->id == {number[call]}")
    return text.replace("TGID", str(pair.server.pid))


@contextlib.contextmanager
def _program(command):
    """A program that says when it is ready, and ends with its input or by SIGTERM."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, preexec_fn=prepare())
    try:
        for line in process.stdout:
            if line.strip() == "ready":
                break
        else:
            raise RuntimeError(f"{command}: {process.stderr.read()}")
        yield process
    finally:
        process.terminate()
        process.communicate()


def _others_off(build):
    names = [os.path.basename(path).removesuffix(".bpf.o") for path in sorted(glob.glob(f"{build}/bpf/*.bpf.o"))]
    return "".join(f'  <Probe "{name}">\n    Enable false\n  </Probe>\n' for name in names if name != "request")


class On(NamedTuple):
    """pid: of the process that has the programs; hook_set: of the probe"""

    pid: int
    hook_set: int = 0


@contextlib.contextmanager
def _probe(site, pair, build, responses="", options=""):
    """A collectd with the probe request, and these lines in the blocks of the service and of the probe."""
    block = site.ebpf(BLOCK.format(name=pair.name, program=program(pair.name), responses=responses, options=options,
                                   others=_others_off(build)), build)
    # So long an interval that no reading falls into a measurement.
    with Daemon(site, block, interval=3600, probe="request") as daemon:
        found = re.search(rb"probe request is on \(hook set (\d+)\)", daemon.log)
        yield On(daemon.process.pid, int(found.group(1)) if found else 0)


def _of_probe(name, site, pair):
    if name == "before":
        return _probe(site, pair, site.before)
    if name == "response":
        return _probe(site, pair, site.build, "".join(f'    Response "error" "{prefix}"\n' for prefix in ERRORS[pair.name]))
    return _probe(site, pair, site.build, options='    Option "clients"\n' if name == "clients" else "")


@contextlib.contextmanager
def on(name, site, pair):
    """A context in which the variant is on; gives an On."""
    if name in ("before", "probe", "response", "clients"):
        with _of_probe(name, site, pair) as running:
            yield running
        return
    if name == "bpftrace":
        command = ["bpftrace", "-q", "-e", script(pair)]
    else:
        path = os.path.join(site.build, "tests", "measure", "cost", "bpf", f"{name}.bpf.o")
        command = [site.program("hooks"), path, str(pair.server.pid)]
    with _program(WITH_TRACEFS + command) as process:
        yield On(process.pid)

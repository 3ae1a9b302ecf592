# SPDX-License-Identifier: MIT
"""What a server is measured with: nothing, this plugin, and the others. Each is started and ended again."""

import contextlib
import os
import subprocess

from daemon import Daemon
from process import WITH_TRACEFS, prepare
from server import program

HERE = os.path.dirname(os.path.abspath(__file__))
SETUPS = ("nothing", "before", "probe", "response", "floor", "listing", "bpftrace")

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
  <Probe "process">
    Enable false
  </Probe>
  <Probe "poll">
    Enable false
  </Probe>
"""


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


@contextlib.contextmanager
def _probe(site, pair, build, errors=()):
    responses = "".join(f'    Response "error" "{prefix}"\n' for prefix in errors)
    block = site.ebpf(BLOCK.format(name=pair.name, program=program(pair.name), responses=responses), build)
    # So long an interval that no reading falls into a measurement.
    with Daemon(site, block, interval=3600, probe="request") as daemon:
        yield daemon.process


def on(name, site, pair):
    """A context in which the variant is on; gives its process, that of nothing is None."""
    tgid = str(pair.server.pid)
    objects = os.path.join(site.build, "tests", "measure", "cost", "bpf")
    if name == "nothing":
        return contextlib.nullcontext()
    if name in ("probe", "before"):
        return _probe(site, pair, site.before if name == "before" else site.build)
    if name == "response":
        return _probe(site, pair, site.build, ERRORS[pair.name])
    if name == "bpftrace":
        return _program(WITH_TRACEFS + ["bpftrace", "-q", "-e", script(pair)])
    return _program(WITH_TRACEFS + [site.program("hooks"), os.path.join(objects, f"{name}.bpf.o"), tgid])

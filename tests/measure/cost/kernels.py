# SPDX-License-Identifier: MIT
"""The request probe under other kernels: what is measured in the emulator, the page and the rows."""

import os

import rows
from crossover import Crossover, full
from daemon import Site
from markdown import table
from requests import NAMES, OF_SETUP
from server import CPU, Pair

SERVER = "memcached"
SETUPS = ("probe", "response", "clients", "floor", "listing")
SHORT = ("probe", "floor", "listing")  # collectd's start is most of the time
NS_PER_INSTRUCTION = 4  # of the emulator's clock
LISTING_PART = 2

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# What the request probe costs under other kernels

Written by `make measure PARTS=kernels`, as root. Server ({server}) and client are at full load on the one CPU of an emulator,
whose clock goes by the instructions that it executes (`tests/vm/run --steady`); so nothing else on the machine shows in the
figures, which are instructions and no time. Measured are {rounds} rounds in turns, as on [the page on the machine's own
kernel](cost-requests.md). "Added" is what an exchange executes more than with nothing, of the server, its client and the
kernel. What is in the programs, and the figures of each program, are by the kernel's run statistics; what these take of each
run is told by the empty programs and subtracted.
"""


def floor_object():
    """That of the hooks that the probe has here."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        return "floor" if b"btf_trace_sock_recv_length\0" in file.read() else "floor_functions"


def measure(short):
    """Under this kernel: {"release", "hook_set", "without", "added" and "inside" by variant, "programs"}"""
    floor = floor_object()
    with Site(os.environ.get("COLLECTD") or "collectd", os.environ.get("abs_top_builddir") or os.getcwd()) as site:
        with Pair(site, SERVER, client_cpu=CPU) as pair:
            names = tuple(floor if name == "floor" else name for name in (SHORT if short else SETUPS))
            rounds, spans, span_s = (1, 1, 0.1) if short else (2, 5, 0.2)
            full(pair, spans, span_s)  # what is done once is over
            crossover = Crossover(site, pair, names, rounds, spans, span_s, events={}, floor=floor)
    own = min(crossover.own)
    programs = [[name.replace(floor, "floor"), program, (ns - own) / NS_PER_INSTRUCTION, runs]
                for (name, program), (ns, runs) in crossover.programs().items()]
    return {"release": os.uname().release, "hook_set": crossover.hook_set, "rounds": rounds, "programs": programs,
            "without": crossover.samples.without("both_ns").median / NS_PER_INSTRUCTION,
            **{key: {name.replace(floor, "floor"): figures(crossover.samples.added(name, ns)) for name in names}
               for key, ns in (("added", "both_ns"), ("inside", "programs_ns"))}}


def figures(value):
    return [each / NS_PER_INSTRUCTION for each in (value.median, value.low, value.high)]


def interval(three, sign=""):
    return f"{three[0]:{sign},.0f} [{three[1]:{sign},.0f}, {three[2]:{sign},.0f}]"


def section(kernel, found):
    print(f"\n## Linux {kernel}\n\n{found['release']}: the probe has hook set {found['hook_set']}.")
    table("Instructions per exchange", ["added", "in programs"],
          [("nothing", [f"{found['without']:,.0f} in all", ""]),
           *((NAMES[name], [interval(found["added"][name], "+"), interval(found["inside"][name])]) for name in found["added"])])
    table("Programs", ["instructions a run", "runs an exchange"],
          [(f"`{program}`" + OF_SETUP.get(name, ""), [f"{count:,.0f}", f"{runs:.2f}"])
           for name, program, count, runs in found["programs"] if name != "floor"])


def document(found):
    print(HEAD.format(server=SERVER, rounds=next(iter(found.values()))["rounds"]))
    print("Medians, in brackets from least to most.")
    for kernel, of_kernel in found.items():
        section(kernel, of_kernel)


def add_rows(kernel, found):
    texts = {"probe": "this probe", "response": "classes of responses", "clients": "Option clients", "floor": "empty programs",
             "listing": "Listing 1"}
    added = found["added"]
    limit = added["listing"][0] / LISTING_PART
    rows.add(f"{kernel}: hook set", str(found["hook_set"]))
    rows.add(f"{kernel}: an exchange with nothing", f"{found['without']:,.0f} instructions")
    for name in added:
        wanted = (f"at most 1/{LISTING_PART} of Listing 1's", rows.judge(added[name][0] <= limit)) if name == "probe" else ()
        rows.add(f"{kernel}: {texts[name]}, added", f"{interval(added[name], '+')} instructions", *wanted)
        if name != "floor":
            rows.add(f"{kernel}: {texts[name]}, in programs", f"{interval(found['inside'][name])} instructions")
    for name, program, count, runs in found["programs"]:
        if name == "probe":
            rows.add(f"{kernel}: {program}, instructions a run", f"{count:,.0f}")
            rows.add(f"{kernel}: {program}, runs an exchange", f"{runs:.2f}")

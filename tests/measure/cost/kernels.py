# SPDX-License-Identifier: MIT
"""The request probe under other kernels: what is measured in the emulator, the page and the rows."""

import os

import rows
from crossover import Crossover, full
from daemon import Site
from markdown import table
from requests import NAMES
from server import CPU, STREAMS, Pair

SERVERS = {"memcached": ("probe", "response", "clients", "floor", "listing"),
           "nghttpd": ("probe", "response", "floor", "listing")}
SPANS = {"memcached": (5, 0.2), "nghttpd": (3, 1)}  # and their seconds: h2load opens its connections in each of them
SHORT = ("probe", "floor", "listing")  # collectd's start is most of the time
NS_PER_INSTRUCTION = 4  # of the emulator's clock
LISTING_PARTS = {"memcached": 2, "nghttpd": 1}  # of HTTP/2 Listing 1 sees no frames

HEAD = """\
<!-- SPDX-License-Identifier: MIT -->

# What the request probe costs under other kernels

`make measure PARTS=kernels` writes this page, as root. Server and client run at full load on the one CPU of an emulator. Its
clock advances with the instructions that it executes (`tests/vm/run --steady`), so other work on the machine does not affect
the figures. They are instructions, not time. Each server is measured in {rounds} rounds, in turns, as on
[the page on the machine's own kernel](cost-requests.md). nghttpd speaks HTTP/2, with {streams} requests in progress on each
connection.

"Added" is how many more instructions the server, its client and the kernel execute for an exchange. The instructions in
programs come from the kernel's run statistics. The run statistics themselves take instructions in each run, which the empty
programs show; these are subtracted.

Figures are medians, with the least and the greatest in brackets.
"""


def floor_object():
    """That of the hooks that the probe has here."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        return "floor" if b"btf_trace_sock_recv_length\0" in file.read() else "floor_functions"


def measure(server, short):
    """Of this server under this kernel: {"release", "hook_set", "without", "added" and "inside" by variant, "programs"}"""
    floor = floor_object()
    with Site(os.environ.get("COLLECTD") or "collectd", os.environ.get("abs_top_builddir") or os.getcwd()) as site:
        with Pair(site, server, client_cpu=CPU) as pair:
            names = tuple(floor if name == "floor" else name for name in (SHORT if short else SERVERS[server]))
            rounds, spans, span_s = (1, 1, 0.1) if short else (2, *SPANS[server])
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


def programs(found):
    """A row for each program of the probe, of which there may be one variant with each setup."""
    by_program = {}
    for name, program, count, runs in found["programs"]:
        by_program.setdefault(program, {})[name] = f"{count:,.0f}", f"{runs:.2f}"
    setups = [name for name in found["added"] if name != "floor"]
    return [(f"`{program}`", [next(iter(of_setup.values()))[1], *(of_setup.get(name, ("",))[0] for name in setups)])
            for program, of_setup in by_program.items() if "floor" not in of_setup], setups


def section(kernel, found):
    """found: {server: measured}"""
    first = next(iter(found.values()))
    print(f"\n## Linux {kernel}\n\nThe kernel is {first['release']}; the probe uses hook set {first['hook_set']}.")
    for name, of_server in found.items():
        table(f"{name}, instructions per exchange", ["added", "in programs"],
              [("nothing", [f"{of_server['without']:,.0f} in total", ""]),
               *((NAMES[setup], [interval(figures, "+"), interval(of_server["inside"][setup])])
                 for setup, figures in of_server["added"].items())])
        lines, setups = programs(of_server)
        table(f"{name}, instructions of each program in a run", ["runs per exchange", *(NAMES[setup] for setup in setups)], lines)


def document(found):
    """found: {kernel: {server: measured}}"""
    first = next(iter(next(iter(found.values())).values()))
    print(HEAD.format(rounds=first["rounds"], streams=STREAMS), end="")
    for kernel, of_kernel in found.items():
        section(kernel, of_kernel)


def add_rows(kernel, found):
    """found: {server: measured}"""
    rows.add(f"{kernel}: hook set", str(next(iter(found.values()))["hook_set"]))
    for name, of_server in found.items():
        add_server(f"{kernel}, {name}", of_server, LISTING_PARTS[name])


def add_server(where, found, listing_part):
    texts = {"probe": "this probe", "response": "classes of responses", "clients": "Option clients", "floor": "empty programs",
             "listing": "Listing 1"}
    added = found["added"]
    limit, most = added["listing"][0] / listing_part, f"1/{listing_part} of " if listing_part > 1 else ""
    rows.add(f"{where}: an exchange with nothing", f"{found['without']:,.0f} instructions")
    for name in added:
        wanted = (f"at most {most}Listing 1's", rows.judge(added[name][0] <= limit)) if name == "probe" else ()
        rows.add(f"{where}: {texts[name]}, added", f"{interval(added[name], '+')} instructions", *wanted)
        if name != "floor":
            rows.add(f"{where}: {texts[name]}, in programs", f"{interval(found['inside'][name])} instructions")
    for name, program, count, runs in found["programs"]:
        if name == "probe":
            rows.add(f"{where}: {program}, instructions a run", f"{count:,.0f}")
            rows.add(f"{where}: {program}, runs an exchange", f"{runs:.2f}")

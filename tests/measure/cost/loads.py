# SPDX-License-Identifier: MIT
"""What the kernel does to load each BPF program: most of it is the verifier's, and most of a start."""

import os

from daemon import Daemon
from process import WITH_TRACEFS
from statistic import Estimate

UNNAMED = "-"  # of libbpf, which asks what the kernel can


class Program:
    """One program, of several starts."""

    def __init__(self, instructions, processed, loads_ns):
        """loads_ns: of each start."""
        self.instructions = instructions
        self.processed = processed
        self.load_ns = Estimate(loads_ns)


class Loads:
    def __init__(self, site, count):
        self.count = count
        starts = [_start(site, os.path.join(site.dir, f"loads{i}")) for i in range(count)]
        names = [name for name in starts[0] if all(name in start for start in starts)]
        self.programs = {name: Program(*starts[-1][name][:2], [start[name][2] for start in starts]) for name in names}
        self.all = Program(*(sum(program[i] for program in starts[-1].values()) for i in (0, 1)),
                           [sum(program[2] for program in start.values()) for start in starts])


def _start(site, path):
    """{program: [instructions, processed, nanoseconds]}; what is loaded several times has the sum."""
    wrap = WITH_TRACEFS + ["env", f"LD_PRELOAD={site.program('loads.so')}", f"LOADS_FILE={path}"]
    with Daemon(site, site.ebpf(), interval=3600, wrap=wrap):
        pass
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            name, *figures = line.split()
            if name != UNNAMED:
                found[name] = [sum(pair) for pair in zip(found.get(name, (0, 0, 0)), map(int, figures))]
    return found

# SPDX-License-Identifier: MIT
"""What the walk over tasks takes where all threads sleep, beside one that looks at none.

The engine's object and those of the probes are loaded without the daemon: the time is that of the walk alone. Both walks
are run in turns, by one process.
"""

import os

from process import Process, threads_of_machine
from statistic import Estimate

WARM_UP = 20  # walks: at first each task is visited, then each comes to its turn
PROBES = ("process", "request")


class Walk:
    def __init__(self, site, threads, count):
        self.count = count
        objects = [os.path.join(site.build, path) for path in
                   ("tests/measure/cost/bpf/walk.bpf.o", "bpf/engine/service.bpf.o",
                    *(f"bpf/{probe}.bpf.o" for probe in PROBES))]
        with Process([site.program("threads"), threads], talks=True) as sleeping:
            sleeping.hear()
            self.tasks = threads_of_machine()
            with Process([site.program("walk"), *objects], talks=True) as walk:
                pairs = [tuple(map(int, walk.ask().split())) for _ in range(WARM_UP + count)][WARM_UP:]
        self.empty_ns = Estimate(empty for empty, _ in pairs)
        self.walk_ns = Estimate(walk for _, walk in pairs)
        self.ratio = Estimate(walk / empty for empty, walk in pairs)

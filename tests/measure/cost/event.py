# SPDX-License-Identifier: MIT
"""What everything else pays: events made with and without the plugin in the daemon, and what a start costs.

A collectd with the plugin and one without are started in turns, the order changing each time. The interval is so long
that no reading falls into a measurement.
"""

import subprocess
import time

from daemon import Daemon
from process import WITH_TRACEFS
from statistic import Estimate

# So many at a time that one run lasts some 30 ms.
EVENTS = {"switch": 8000, "syscall": 150000, "fork": 300, "exec": 60}
SYSCALLS = {"syscall": EVENTS["syscall"]}
MESSAGES = {"message": 20000}
RUNS = 3
CPU = "0"
# Polls by the hooks that every system call pays for.
SOFTIRQ = "".join(f'<Probe "{name}">\n Enable false\n</Probe>\n' for name in ("process", "poll", "request", "oom")) + \
    '<Probe "softirq">\n Enable true\n</Probe>\n'
POLL_SYSCALLS = '<Probe "poll">\n Enable true\n HookSet 3\n Option "syscalls"\n</Probe>\n'
SETTLED_S = 0.4  # the reading right after the start is over, and its sample of run times


def softirqs():
    """How many the machine has handled."""
    with open("/proc/softirqs", encoding="ascii") as file:
        return sum(int(count) for line in file.read().splitlines()[1:] for count in line.split()[1:])


class Start:
    """One start of the daemon: what it took, and what events cost while it was there."""

    def __init__(self, site, block, events):
        with Daemon(site, block, interval=3600, wrap=WITH_TRACEFS) as daemon:
            self.start_s = daemon.start_s
            self.start_cpu_s = daemon.cpu_ns() / 1e9
            self.resident_kib, self.share_kib = daemon.memory_kib()
            time.sleep(SETTLED_S)
            before = softirqs()
            self.events_ns = {kind: self._cost_ns(site, kind, count) for kind, count in events.items()}
            self.softirqs = (softirqs() - before) / RUNS / sum(events.values())

    @staticmethod
    def _cost_ns(site, kind, count):
        """CPU time, of the run that was disturbed least."""
        command = [site.program("event"), kind, str(count), CPU]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(RUNS)]
        return min(float(run.stdout) for run in runs)


class Comparison:
    """A figure of many starts: without the plugin, with it, and the difference from pair to pair; percent: of that without."""

    def __init__(self, pairs, figure):
        self.without = Estimate(figure(without) for without, _ in pairs)
        self.loaded = Estimate(figure(loaded) for _, loaded in pairs)
        self.added = Estimate(figure(loaded) - figure(without) for without, loaded in pairs)
        self.percent = Estimate(100 * (figure(loaded) / figure(without) - 1) for without, loaded in pairs)


class Starts:
    def __init__(self, site, count, text="", events=None):
        """text: more of the plugin's configuration."""
        events = events or EVENTS
        self.count = count
        self.pairs = []
        for i in range(count):
            if i % 2:
                loaded = Start(site, site.ebpf(text), events)
                self.pairs.append((Start(site, "", events), loaded))
            else:
                self.pairs.append((Start(site, "", events), Start(site, site.ebpf(text), events)))

    def compare(self, figure):
        return Comparison(self.pairs, figure)

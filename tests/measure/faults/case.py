# SPDX-License-Identifier: MIT
"""A service that is healthy, and then broken in a known way."""

import glob
import threading

from workload import Workload


def tasks(pids):
    """The directories below /proc of all threads of these processes and their descendants."""
    found = []
    for pid in pids:
        for task in glob.glob(f"/proc/{pid}/task/*"):
            found.append(task)
            found += tasks(read(f"{task}/children").split())
    return found


def read(path):
    """Nothing of a thread that has ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def run_queue_seconds(pids):
    """What the kernel says of how long they waited for a CPU, so far."""
    return sum(int((read(f"{task}/schedstat") or "0 0 0").split()[1]) for task in tasks(pids)) / 1e9


class Rhythm:
    """Does something in a thread, again and again, until it is to end: step(pause), where pause(seconds) waits."""

    def __init__(self, step):
        self._ended = threading.Event()
        self._error = None
        self._step = step
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            while not self._ended.is_set():
                self._step(self._ended.wait)
        except Exception as error:  # pylint: disable=broad-except
            self._error = error

    def end(self):
        self._ended.set()
        self._thread.join()
        if self._error:
            raise self._error


class Case(Workload):
    """name: of its pictures; causes: {service: the part of its requests' time that the fault is}, the one first that
    the client asks; allows: parts that send nobody to a wrong place, such as async where nothing is known; slow: {service:
    {part: percent of the time of its slow requests}}, where these tell the fault; truths: {what truth() has in seconds: (the
    service, the parts of its requests' time that are the same)}; seconds: with the fault, half as long before it;
    further: text of the plugin's block, files: that are read, too, for add_rows().

    detailed: has a section with pictures in docs/measured/why-slow.md, and for that healthy: what goes on; broken: what is done,
    command: how; truth_note: what the reader needs for the truth; note: for the result."""
    name = healthy = broken = command = None
    causes = {}
    allows = frozenset()
    slow = {}
    truths = {}
    truth_note = note = further = ""
    files = ()
    detailed = True
    seconds = 24
    rate = 0    # requests per second, where the client is `load`

    def pids(self):
        """{service: pid of its first process}"""
        return {name: self.pid for name in self.causes}

    def ask(self, seconds):
        """What the client says: begin, end and the record `latency`."""
        return self.load(self.rate, seconds)

    def break_it(self):
        raise NotImplementedError

    def mend(self):
        raise NotImplementedError

    def counters(self):
        """{what: seconds so far}, by whoever knows"""
        return {}

    def truth(self, before, after, said):
        """{what: seconds per request, or a text} between two of these."""
        return {what: (after[what] - before[what]) / said["latency"]["count"] for what in after}

    @staticmethod
    def add_rows(run):
        """Rows of this case alone"""


class Brief(Case):
    """A case that is a line of the summary."""
    detailed = False
    seconds = 12

# SPDX-License-Identifier: MIT
"""What is asked of rrdtool, which in turn asks rrdcached if RRDCACHED_ADDRESS names one."""

import array
import atexit
import dataclasses
import json
import math
import os
import re
import subprocess
import threading
import time

PATIENCE = 5    # seconds
POINTS = 300    # of a curve, about; at least 10 by rrdtool's rule

SMALLEST, LARGEST = 1e-30, 1e30     # beyond these is no figure of anything, and arithmetic ends

thread = threading.local()


class Refused(Exception):
    """What rrdtool says against a request."""


@dataclasses.dataclass(frozen=True)
class Grid:
    """Times of values: each is about the `step` seconds that end then."""
    first: int
    step: int
    count: int

    def times(self):
        return range(self.first, self.first + self.step * self.count, self.step)

    def index(self, moment):
        """Of the value that is about this moment."""
        return -((self.first - moment) // self.step)


def quote(argument):
    """For `rrdtool -`, which knows both quotes and no escape."""
    return '"' + re.sub(r"[\r\n]", " ", argument).replace('"', "\"'\"'\"") + '"'


def answer(pipe, command):
    output = []
    for line in pipe.stdout:
        if line.startswith("OK "):
            return "".join(output)
        if line.startswith("ERROR: "):
            raise Refused(f"rrdtool {command}: {line[7:].strip()}")
        output.append(line)
    raise Refused("rrdtool ended: " + "".join(output).strip())


def request(*arguments):
    """One process for each thread: to start one costs more than an answer."""
    if not hasattr(thread, "pipe"):
        # Names of files are bytes, whatever they mean.
        thread.pipe = subprocess.Popen(("rrdtool", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, encoding="utf-8", errors="surrogateescape")
        # Waited for at the end, so that none is left behind.
        atexit.register(thread.pipe.communicate)
    give_up = time.monotonic() + PATIENCE
    while True:
        thread.pipe.stdin.write(" ".join(map(quote, arguments)) + "\n")
        thread.pipe.stdin.flush()
        try:
            return answer(thread.pipe, arguments[0])
        except Refused as error:
            # A collectd that runs holds the lock for as long as it writes one value.
            if "could not lock" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def define(name, path, source, consolidation="AVERAGE"):
    colon = r"\:"
    return f"DEF:{name}={path.replace(':', colon)}:{source}:{consolidation}"


def number(value):
    """NaN where it is unknown."""
    if value is None or not abs(value) < LARGEST:
        return math.nan
    return value if abs(value) > SMALLEST else 0


def read(wanted, start, end):
    """The grid, and the values of each (path, data source, consolidation) on it; NaN where unknown."""
    elements = [element for number, one in enumerate(wanted)
                for element in (define(f"d{number}", *one), f"XPORT:d{number}")]
    options = f"--start={start}", f"--end={end}", f"--maxrows={POINTS}"
    said = request("xport", "--json", *options, *elements)
    try:
        export = json.loads(said)
    except ValueError as error:
        # It writes what is infinite as no JSON has it.
        raise Refused(f"rrdtool xport: {error}") from None
    rows = export["data"]
    columns = [array.array("d", map(number, column)) for column in zip(*rows)]
    return Grid(export["meta"]["start"], export["meta"]["step"], len(rows)), columns


def sources(path):
    """The data sources of a file."""
    return re.findall(r"^ds\[([^]]+)\]\.index", request("info", path), re.M)


def last_update(path):
    return int(request("last", path))


def seconds(start, end):
    """rrdtool's notations of time as seconds, by a drawing of nothing."""
    said = request("graphv", os.devnull, f"--start={start}", f"--end={end}", "HRULE:0#000000")
    return [int(re.search(rf"^graph_{word} = (\d+)", said, re.M).group(1)) for word in ("start", "end")]

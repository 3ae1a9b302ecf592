# SPDX-License-Identifier: MIT
"""Requests to rrdtool, which in turn flushes by rrdcached if RRDCACHED_ADDRESS is set."""

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
POINTS = 361    # of a curve, at most: an hour of readings, 10 seconds apart

SMALLEST, LARGEST = 1e-30, 1e30     # the range of plausible values; arithmetic on others might overflow

thread = threading.local()


class Refused(Exception):
    """rrdtool's reason for refusing a request."""


@dataclasses.dataclass(frozen=True)
class Grid:
    """The times of values. Each value is of the `step` seconds that end at its time."""
    first: int
    step: int
    count: int

    def times(self):
        return range(self.first, self.first + self.step * self.count, self.step)

    def index(self, moment):
        """The index of the value of this moment."""
        return -((self.first - moment) // self.step)


def quote(argument):
    """Quotes an argument for `rrdtool -`, which knows both quotes but no escapes."""
    return '"' + re.sub(r"[\r\n]", " ", argument).replace('"', "\"'\"'\"") + '"'


def reply(pipe, command):
    output = []
    for line in pipe.stdout:
        if line.startswith("OK "):
            return "".join(output)
        if line.startswith("ERROR: "):
            raise Refused(f"rrdtool {command}: {line[7:].strip()}")
        output.append(line)
    raise Refused("rrdtool ended: " + "".join(output).strip())


def request(*arguments):
    """Each thread has a process of rrdtool, because starting one costs more than a request."""
    if not hasattr(thread, "pipe"):
        # File names are bytes in no known encoding.
        thread.pipe = subprocess.Popen(("rrdtool", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, encoding="utf-8", errors="surrogateescape")
        # Reaped at the end, so that no process is left behind.
        atexit.register(thread.pipe.communicate)
    give_up = time.monotonic() + PATIENCE
    while True:
        thread.pipe.stdin.write(" ".join(map(quote, arguments)) + "\n")
        thread.pipe.stdin.flush()
        try:
            return reply(thread.pipe, arguments[0])
        except Refused as error:
            # A running collectd has the file locked while it writes a value.
            if "could not lock" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def define(name, path, source, consolidation="AVERAGE"):
    colon = r"\:"
    return f"DEF:{name}={path.replace(':', colon)}:{source}:{consolidation}"


def number(value):
    """A number of rrdtool's output; NaN if it is unknown."""
    if value is None or not abs(value) < LARGEST:
        return math.nan
    return value if abs(value) > SMALLEST else 0


def read(wanted, start, end):
    """(grid, values of each (path, data source, consolidation) at its times); NaN where unknown."""
    elements = [element for number, one in enumerate(wanted)
                for element in (define(f"d{number}", *one), f"XPORT:d{number}")]
    options = f"--start={start}", f"--end={end}", f"--maxrows={POINTS}"
    said = request("xport", "--json", *options, *elements)
    try:
        export = json.loads(said)
    except ValueError as error:
        # rrdtool writes infinite values in a form that JSON does not have.
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
    """Converts rrdtool's notations of time to seconds, by drawing an empty graph."""
    said = request("graphv", os.devnull, f"--start={start}", f"--end={end}", "HRULE:0#000000")
    return [int(re.search(rf"^graph_{word} = (\d+)", said, re.M).group(1)) for word in ("start", "end")]

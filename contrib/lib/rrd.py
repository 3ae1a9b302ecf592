# SPDX-License-Identifier: MIT
"""Reads RRD files by Python's module rrdtool (1.7.1 or later, whose calls may run in several threads)."""

import array
import dataclasses
import functools
import math
import os
import re
import signal
import time

from tool import Trouble

POINTS = 361    # of a curve, at most: an hour of readings, 10 seconds apart
PATIENCE = 5    # seconds, for a lock
REPLY = 20      # seconds, for rrdcached to write what it has of one file
CACHED = "RRDCACHED_ADDRESS"

SMALLEST, LARGEST = 1e-30, 1e30     # the range of plausible values; arithmetic on others might overflow


class Refused(Trouble):
    """rrdtool's reason for refusing a request."""


class Unavailable(Trouble):
    """Why no file can be read."""


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


@functools.cache
def _module():
    """Imported when it is first needed: the other functions work without it."""
    try:
        import rrdtool
    except ImportError:
        raise Unavailable("the Python module rrdtool is missing; on Debian: apt-get install python3-rrdtool") from None
    return rrdtool


def request(command, *arguments):
    """What the module's function returns. Raises Refused."""
    module = _module()
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            # The module takes a text that is not UTF-8 for a null pointer.
            "".join(arguments).encode()
            return getattr(module, command)(*arguments)
        except (module.OperationalError, module.ProgrammingError) as error:
            reason = str(error)
        except (UnicodeError, SystemError):
            # The module fails so on bytes in a file that are not UTF-8.
            reason = "a text that is not UTF-8"
        if reason.startswith("Unable to connect to rrdcached"):
            raise _silent(reason)
        # A running collectd has the file locked while it writes a value.
        if "could not lock" not in reason or time.monotonic() > give_up:
            raise Refused(f"rrdtool {command}: {reason}")
        time.sleep(0.01)


def _silent(reason):
    return Unavailable(f"rrdcached at {os.environ.get(CACHED)} does not answer: {reason.rpartition(': ')[2].rstrip('.')}; "
                       f"start it again, or unset {CACHED} to draw what it has written so far")


def _give_up(*_):
    raise _silent(f"no reply within {REPLY} seconds")


def flush(paths):
    """If RRDCACHED_ADDRESS is set, makes rrdcached write what it still has of these files. They are read from disk afterwards,
    which is faster than through rrdcached, and leaves no connection that processes would share. To be called in the main
    thread, once. Raises Unavailable."""
    if not os.environ.get(CACHED):
        return
    before = signal.signal(signal.SIGALRM, _give_up)
    for path in paths:
        signal.alarm(REPLY)
        _flush(path)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    del os.environ[CACHED]


def _flush(path):
    try:
        request("flushcached", _readable(path))
    except Refused as error:
        if not os.path.exists(path):
            return
        reason = re.sub(r'^.*?Flushing of file ".*" failed: |\. Skipping remaining.*$', "", str(error))
        if reason.startswith("request: "):
            raise _silent(reason) from None
        raise Unavailable(f"rrdcached at {os.environ[CACHED]} does not flush {path}: {reason}; unset {CACHED} if it does not "
                          "write this file") from None


@functools.cache
def _opened(directory):
    return os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)


def _readable(path):
    """The path as the module takes it, which is only in UTF-8: another directory is named by a descriptor of it."""
    try:
        path.encode()
        return path
    except UnicodeEncodeError:
        directory, name = os.path.split(path)
    try:
        name.encode()
        return f"/proc/self/fd/{_opened(directory)}/{name}"
    except UnicodeEncodeError:
        raise Refused("its name is not UTF-8") from None
    except OSError as error:
        raise Refused(error.strerror) from None


def define(name, path, source, consolidation="AVERAGE"):
    colon = r"\:"
    return f"DEF:{name}={_readable(path).replace(':', colon)}:{source}:{consolidation}"


def _implausible(value):
    """Of a number outside the plausible range, or below 0."""
    if not abs(value) < LARGEST:
        return math.nan
    return value if abs(value) > SMALLEST else 0.0


def _column(values):
    """NaN where unknown. A call for each value would take as long as all the rest of reading."""
    return array.array("d", [(value if SMALLEST < value < LARGEST else _implausible(value)) if value
                             else math.nan if value is None else 0.0 for value in values])


def read(wanted, start, end):
    """(grid, values of each (path, data source, consolidation) at its times); NaN where unknown."""
    elements = [element for number, one in enumerate(wanted)
                for element in (define(f"d{number}", *one), f"XPORT:d{number}")]
    if not wanted:
        return Grid(start, 1, 0), []
    export = request("xport", f"--start={start}", f"--end={end}", f"--maxrows={POINTS}", *elements)
    rows, step = export["data"], export["meta"]["step"]
    grid, columns = Grid(export["meta"]["start"] + step, step, len(rows)), list(map(_column, zip(*rows)))
    # The module of rrdtool 1.7 holds a reference to the list for ever.
    rows.clear()
    return grid, columns


def highest(wanted, start, end):
    """The highest reading of each (path, data source); NaN where unknown. It is printed and not drawn, which takes half the time of
    reading all values."""
    elements = [element for number, one in enumerate(wanted) for element in (
        define(f"d{number}", *one, "MAX"), f"VDEF:v{number}=d{number},MAXIMUM", f"PRINT:v{number}:%.6le")]
    said = request("graphv", os.devnull, f"--start={start}", f"--end={end}", f"--width={POINTS}", *elements) if wanted else {}
    return _column([float(said[f"print[{number}]"]) for number in range(len(wanted))])


def sources(path):
    """The data sources of a file."""
    return [key[3:-7] for key in request("info", _readable(path)) if key.startswith("ds[") and key.endswith("].index")]


def last_update(path):
    return request("last", _readable(path))


def image(*arguments):
    """The bytes of a PNG, by the arguments of `rrdtool graph`."""
    return request("graphv", "-", *arguments)["image"]


def seconds(start, end):
    """Converts rrdtool's notations of time to seconds, by drawing an empty graph."""
    drawn = request("graphv", os.devnull, f"--start={start}", f"--end={end}", "HRULE:0#000000")
    return [drawn["graph_start"], drawn["graph_end"]]

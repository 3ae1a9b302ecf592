# SPDX-License-Identifier: MIT
"""What is asked of rrdtool."""

import math
import os
import re
import subprocess
import threading
import time

PATIENCE = 5    # seconds

thread = threading.local()


class Refused(Exception):
    """What rrdtool says against a request."""


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
    """One process for each thread: to find the fonts costs more than to draw a picture."""
    if not hasattr(thread, "pipe"):
        thread.pipe = subprocess.Popen(("rrdtool", "-"), stdin=subprocess.PIPE, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
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


def printed(output):
    """The values of the PRINT elements, in order."""
    return [float(value) for value in re.findall(r'^print\[\d+\] = "\s*(\S+)"', output, re.M)]


def source(name, path, data_source, consolidation="AVERAGE"):
    colon = r"\:"
    return f"DEF:{name}={path.replace(':', colon)}:{data_source}:{consolidation}"


def define(name, parts, consolidation=None):
    """`name` is the sum of the (path, series) in the unit shown, where at least one is known."""
    sources = [source(f"{name}_{number}", path, series.source,
                      consolidation or series.consolidation)
               for number, (path, series) in enumerate(parts)]
    terms = [f"{name}_{number},{series.scale:g},*" for number, (_, series) in enumerate(parts)]
    return [*sources, f"CDEF:{name}=" + ",".join(terms + ["ADDNAN"] * (len(terms) - 1))]


def figures(queries, span):
    """The figure of each (parts, figure, value where unknown); NaN for no parts, and unknown."""
    arguments, asked = [], []
    for number, (parts, figure, unknown) in enumerate(queries):
        if parts:
            name = f"v{number}"
            asked.append(number)
            arguments += [*define(name, parts, "MAX" if figure == "MAXIMUM" else None),
                          f"CDEF:{name}_all={name},{unknown},ADDNAN",
                          f"VDEF:{name}_figure={name}_all,{figure}", f"PRINT:{name}_figure:%le"]
    answers = {}
    if asked:
        answers = dict(zip(asked, printed(request("graphv", os.devnull, *span, *arguments))))
    return [answers.get(number, math.nan) for number in range(len(queries))]


def seconds(path, data_source, start, end):
    """rrdtool's notations of time as seconds, cut to the steps of this file."""
    meta = request("xport", "--json", f"--start={start}", f"--end={end}",
                   source("a", path, data_source), "XPORT:a")
    return [int(re.search(rf'"{word}": (\d+)', meta).group(1)) for word in ("start", "end")]


def time_axis(start, end):
    """Options for this span. A label with seconds is so long that at the right edge it is cut: then a
    little time is added."""
    if end - start > 900:
        return f"--start={start}", f"--end={end}"
    apart = next(step for step in (5, 10, 20, 30, 60, 120, 300) if 4 * step >= end - start)
    end = max(end, end // apart * apart + (end - start) // 20)
    return (f"--start={start}", f"--end={end}",
            f"--x-grid=SECOND:{apart // 5}:SECOND:{apart}:SECOND:{apart}:0:%H:%M:%S")

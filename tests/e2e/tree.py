# SPDX-License-Identifier: MIT
"""RRD files as collectd's rrdtool plugin makes them, with what a test wants in them."""

import math
import os
import subprocess

from e2e import read_types

# As collectd makes them without configuration: one set for each of these, of about so many rows.
SPANS = (3600, 86400, 7 * 86400)
ROWS = 1200
BEATS = 2       # steps without a value until it is unknown
AT_ONCE = 500   # updates


def rrdtool(*arguments):
    subprocess.run(["rrdtool", *arguments], check=True, stdout=subprocess.DEVNULL)


class Tree:
    """Files with a value each `step` seconds, from `end` - `span` to `end`."""

    def __init__(self, directory, end, span, step=10):
        self.directory, self.end, self.span, self.step = directory, end // step * step, span, step
        self.types = read_types()

    def file(self, host, subject, name, *rates, until=0):
        """rates: for each data source a number or a function of time: of a counter the rate, else the value; of none,
        nothing is stored. until: seconds before the end after which no more is."""
        path = os.path.join(self.directory, host, f"ebpf-{subject}", name + ".rrd")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        sources = self.types[name.partition("-")[0]]
        begin = self.end - self.span
        stored = [f"DS:{source}:{kind}:{BEATS * self.step}:U:U" for source, kind in sources]
        rrdtool("create", path, "-s", str(self.step), "-b", str(begin - self.step), *stored, *self._archives())
        if rates:
            self._update(path, sources, rates, range(begin, self.end - until + 1, self.step))
        return path

    def _archives(self):
        widths = dict.fromkeys(max(1, span // (ROWS * self.step)) for span in SPANS)
        return [f"RRA:{how}:0.1:{width}:{ROWS}" for width in widths for how in ("AVERAGE", "MIN", "MAX")]

    def _update(self, path, sources, rates, moments):
        counters, updates = [0.0] * len(rates), []
        for moment in moments:
            values = [rate(moment) if callable(rate) else rate for rate in rates]
            counters = [count + value * self.step for count, value in zip(counters, values)]
            updates.append(f"{moment}:" + ":".join(
                str(round(count)) if kind == "DERIVE" else "U" if math.isnan(value) else f"{value:.10g}"
                for count, value, (_, kind) in zip(counters, values, sources)))
        for first in range(0, len(updates), AT_ONCE):
            rrdtool("update", path, *updates[first:first + AT_ONCE])

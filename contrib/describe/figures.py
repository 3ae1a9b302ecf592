# SPDX-License-Identifier: MIT
"""What documents say of costs and accuracy, from docs/measured.md, which `make measure` writes.

README, MANUAL and RECEIVERS are the only lists of what documents say. What is not on the page is "not measured", with a warning:
a part of `make measure` may give its figures other names.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.append(os.path.join(HERE, "..", "..", "tests", "measure"))

import measured  # noqa: E402

CLIENT, CPU = "divided by the client's, poisson", "memcached, one CPU"
README = (      # (what README calls it, ((part, what docs/measured.md calls it), ...))
    ("a reading of 10,000 processes, CPU time; with the samples of `delay`; times cheaper than collectd's `processes`",
     (("daemon", "reading, 10,000 processes: without the probe delay"), ("daemon", "reading, 10,000 processes: with the probe delay"),
      ("daemon", "reading, 10,000 processes: times cheaper than processes with ProcessMatch"))),
    ("start of collectd, CPU time", (("daemon", "start, CPU: added"),)),
    ("memory of collectd, VmRSS; of all maps in the kernel",
     (("daemon", "memory of collectd, VmRSS with 10,000 processes: added"), ("daemon", "memory of the kernel, maps"))),
    ("an exchange of memcached, server and client on one CPU: the probe `request`", (("requests", f"{CPU}: this probe, added"),)),
    ("the same: empty programs on its hooks", (("requests", f"{CPU}: empty programs, added"),)),
    ("the same: Listing 1 of the paper", (("requests", f"{CPU}: Listing 1, added"),)),
    ("the same: Listing 1 in bpftrace", (("requests", f"{CPU}: bpftrace, added"),)),
    ("error of the capacity that is predicted at 40 % of the load", (("evidence", "capacity at 40 % of the load: error"),)),
    ("response time, 50th percentile, divided by the client's", (("evidence", f"response p50, {CLIENT}"),)),
    ("runs in which saturation is shown within a level of the load at which the client sees it",
     (("evidence", "saturation shown within a level of the client's knee"),)),
)
MANUAL = (      # (part, those of its figures, their title)
    ("daemon", r"(?!InfluxDB|start: |reading, (100|1,000) |sampling, (100|3,000) |.*: one reading)", "Collectd and the machine"),
    ("hooks", r"", "An event, by the kind of hook"),
    ("toolbox", r".*\bthe probe .*, added$", "An event, by the probe and, where both were measured, the other tool's name"),
)
RECEIVERS = ("daemon", r"InfluxDB: .* day$")


class Page:
    """docs/measured.md"""

    def __init__(self, path):
        self.path, self.rows = path, measured.rows(path)

    def warn(self, text):
        print(f"warning: {self.path}: {text}", file=sys.stderr)

    def got(self, part, what):
        if (part, what) not in self.rows:
            self.warn(f"part {part} has no \"{what}\"")
        return self.rows.get((part, what), "not measured")

    def of_part(self, part, which):
        """[(what, got)] of those of its figures that match."""
        found = [(what, got) for (its_part, what), got in self.rows.items() if its_part == part and re.match(which, what)]
        if not found:
            self.warn(f"part {part} has nothing like \"{which}\"")
        return found


def table(rows):
    if not rows:
        return "Not measured.\n"
    return "".join(f"| {what} | {got} |\n" for what, got in [("what", "measured [95 %]"), ("---", "---")] + rows)


def readme(page):
    return table([(title, "; ".join(page.got(part, what) for part, what in rows)) for title, rows in README])


def receivers(page):
    return table(page.of_part(*RECEIVERS))


def verbatim(rows):
    """A paragraph of pod, with two lines for each figure where one would be too long for a terminal."""
    if not rows:
        return "    not measured\n"
    width = max(len(what) for what, _ in rows)
    one_line = width + max(len(got) for _, got in rows) < 72
    return "".join(f"    {what:{width}}  {got}\n" if one_line else f"    {what}\n        {got}\n" for what, got in rows)


def manual(page):
    return "".join(f"{title}:\n\n{verbatim(page.of_part(part, which))}\n" for part, which, title in MANUAL)

# SPDX-License-Identifier: MIT
"""A proxy's share of time at its upstreams, window by window, beside what it measures as a client."""

import math

import rows
import waits
from case import Brief

NEAR = 10       # percent of the requests' time
IN_SERVICE = "gauge-requests_in_progress", "gauge-requests_waiting"
AT_UPSTREAMS = "gauge-requests_in_progress-upstream-"
UPSTREAM = "latency-in_upstream"


class Windows(Brief, waits.Upstream):
    name = "nginx-windows"
    title = "nginx: windows with a slow upstream"
    causes = {"nginx": "upstream"}
    truths = {waits.Upstream.NGINX: ("nginx", ("upstream",))}
    seconds = 24
    further = """\
  <Probe "request">
    Option "clients"
  </Probe>
"""
    files = (*IN_SERVICE, f"{AT_UPSTREAMS}*")

    def pids(self):
        return {"nginx": self.pid}

    @staticmethod
    def shares(run):
        """[(percent by the samples, percent as a client)] of each window."""
        files = run.result["rows"]["nginx"]
        found = []
        for begin, end, values in run.windows("nginx", "during"):
            means = {file: run.mean_between("nginx", file, begin, end) for file in files}
            at_upstreams = sum(value for file, value in means.items() if file.startswith(AT_UPSTREAMS) and not math.isnan(value))
            found.append((100 * values.get(UPSTREAM, 0) / sum(values.values()),
                          100 * at_upstreams / sum(means.get(file, math.nan) for file in IN_SERVICE)))
        return found

    @classmethod
    def add_rows(cls, run):
        shares = cls.shares(run)
        different = [f"{ours:.0f} % for {client:.0f} %" for ours, client in shares if not abs(ours - client) <= NEAR]
        rows.add(f"{cls.title}: windows that differ", f"{len(different)} of {len(shares)}" +
                 (f": {', '.join(different)}" if different else ""),
                 f"0: each share of `{UPSTREAM}` within {NEAR} points of requests at upstreams by those in the service",
                 rows.judge(shares and not different))


CASES = (Windows,)

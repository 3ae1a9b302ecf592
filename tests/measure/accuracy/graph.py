# SPDX-License-Identifier: MIT
"""Pictures of a run, drawn by rrdtool from its RRD files: two for each, over the time in which the load rises."""

import math
import subprocess

COLORS = {"load": "#54AEFF66", "slack": "#1A7F37", "cv": "#CF222E", "knee": "#24292F", "send": "#CF222E",
          "receive": "#8250DF", "wait": "#BC4C00"}


def define(name, run, metric):
    path = run.store.path(metric).replace(":", r"\:")
    return f"DEF:{name}={path}:value:AVERAGE"


def during(name, run, metric, steps):
    """Of these steps alone."""
    within = "".join(f",TIME,{step},EQ,+" for step in steps)
    return [define(f"{name}_all", run, metric), f"CDEF:{name}=0{within},{name}_all,UNKN,IF"]


def whole(name, run, metric):
    return during(name, run, metric, [step for level in run.levels for step in level.readings])


def gaps(name, run, which, figure):
    return during(name, run, f"gauge-{which}_gap-{figure}", [step for level in run.levels for step in level.windows])


def knee_line(run):
    knee = run.knee
    if knee is None:
        return ["COMMENT:the client shows no knee\\l"]
    legend = f" the client's knee, at {knee.share:.0%} of the maximum\\l"
    return [f"VRULE:{int(knee.begin)}{COLORS['knee']}:{legend}:dashes=3"]


def draw(run, path, title, unit, elements, *options):
    begin, end = int(run.levels[0].begin), int(run.levels[-1].end) + 1
    subprocess.run(["rrdtool", "graph", path, f"--start={begin}", f"--end={end}", f"--title={title}",
                    f"--vertical-label={unit}", "--width=420", "--height=160", "--border=0", "--disable-rrdtool-tag",
                    "--x-grid=SECOND:1:SECOND:5:SECOND:10:0:%H:%M:%S", "--font=DEFAULT:8:DejaVu Sans",
                    "--color=BACK#FFFFFF", *options, *elements], check=True, stdout=subprocess.DEVNULL)


def saturation(run, path):
    """Load, slack and the gaps' coefficient of variation."""
    highest = max((level.gap("cv") for level in run.levels if not math.isnan(level.gap("cv"))), default=1)
    scale = 100 / math.ceil(highest)
    slack = [*whole("slack", run, "percent-slack"), f"LINE2:slack{COLORS['slack']}: slack in %\\l"]
    draw(run, path, run.title, "percent",
         [*whole("exchanges", run, "total_requests"), f"CDEF:load=exchanges,{run.most},/,100,*",
          *gaps("cv", run, "send", "cv"),
          f"CDEF:scaled=cv,{scale},*",
          f"AREA:load{COLORS['load']}: exchanges, in % of {run.most:.0f}/s\\l",
          *(slack if run.store.has("percent-slack") else []),
          f"LINE1.5:scaled{COLORS['cv']}: coefficient of variation of the gaps between sends (right)\\l",
          *knee_line(run)],
         "--lower-limit=0", "--upper-limit=130", "--rigid", f"--right-axis={1 / scale}:0", "--right-axis-format=%.1lf")


def variance(run, path):
    """What the paper plots, and how long requests wait."""
    draw(run, path, run.title, "s², s",
         [*gaps("send", run, "send", "variance"), *gaps("receive", run, "receive", "variance"),
          *whole("wait", run, "latency-wait-percentile-99"),
          f"LINE1.5:send{COLORS['send']}: variance of the gaps between sends, s²\\l",
          f"LINE1.5:receive{COLORS['receive']}: variance of the gaps between receives, s²\\l",
          f"LINE1.5:wait{COLORS['wait']}: p99 of the wait in the socket, s\\l",
          *knee_line(run)],
         "--logarithmic", "--units=si")

# SPDX-License-Identifier: MIT
"""What the RRD files of a case say: the parts of a request's time, by service."""

import fnmatch
import json
import math
import os

import collectd
import definitions
from process import prepare

HOST = "why"
RESULT = "result.json"
INTERVAL = 2
TITLE = "Where a request's time goes"
RESPONSE = "latency-response-average"
SAMPLED = "latency-in_"     # what there is of windows
SLOW = "percent-slow_"
NEAR_PERCENT = 10           # of slow requests' time
LATE = INTERVAL / 4         # seconds between what two probes read at one reading, at most

RRDTOOL = """\
LoadPlugin rrdtool
<Plugin rrdtool>
  DataDir "{dir}/rrd"
  StepSize {interval}
  HeartBeat {heartbeat}
  RRARows 1800
  RRATimespan {timespan}
  CacheTimeout 0
</Plugin>
"""
SERVICE = """\
  <Service "{name}">
    PidFile "{dir}/{name}.pid"
  </Service>
"""
# More samples than by default: what takes minutes by itself is shown in seconds.
FREQUENCY, BUDGET = 100, 5
PLUGIN = f"""\
  Percentile 50 95
  <Probe "delay">
    Frequency {FREQUENCY}
    Budget {BUDGET}
    Collect "default" "{SLOW}*"
  </Probe>
"""
NICE = -10


def graph():
    """ebpf-graph's definition of the picture."""
    return next(graph for section in definitions.GRAPHS.values() for graph in section if graph.title == TITLE)


def parts():
    """{part: series} of what is stacked there."""
    return {series.file.rpartition(SAMPLED)[2].removeprefix("gauge-"): series for series in graph().series
            if series.draw in ("stack", "cap")}


class Collector(collectd.Daemon):
    """with Collector(directory, {service: pid}, site): ... -- leaves the RRD files of these services below DIRECTORY.
    further: text of the plugin's block."""

    def __init__(self, directory, pids, site, further=""):
        files = RRDTOOL.format(dir=directory, interval=INTERVAL, heartbeat=10 * INTERVAL, timespan=1800 * INTERVAL)
        for name, pid in pids.items():
            with open(os.path.join(directory, f"{name}.pid"), "w", encoding="ascii") as file:
                file.write(f"{pid}\n")
        blocks = "".join(SERVICE.format(name=name, dir=directory) for name in pids)
        super().__init__(site.collectd, directory, site.build, 0, blocks + PLUGIN + further, INTERVAL, files,
                         preexec=prepare(site.client_cpus, NICE), host=HOST)

    def __enter__(self):
        self.start()
        try:
            self.wait_rows("self", "duration-read_request")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_error):
        self.stop()

    def stored(self, service, *further):
        """{file: [(time, value), ...]} of what the page speaks of, and of further files, where * stands for any text."""
        files = [*(file for glob in further for file in fnmatch.filter(self.metrics(service), glob)), RESPONSE,
                 *(series.file for series in (*parts().values(), *definitions.IN_SLOW))]
        return {file: self.rows(service, file) for file in files}


def mean(weighted):
    """Of (weight, value); NaN of none."""
    weighted = list(weighted)
    total = sum(weight for weight, _ in weighted)
    return sum(weight * value for weight, value in weighted) / total if total else math.nan


class Run:
    """A case and its result."""

    def __init__(self, case, directory, result):
        self.case, self.directory, self.result = case, directory, result
        self.phases = result["phases"]
        self.kernel = ".".join(result["kernel"].split(".")[:2])
        self.span = self.phases["before"]["begin"] - INTERVAL, self.phases["after"]["end"] + INTERVAL

    def _rows(self, service):
        """[(time, {file: value})], of the readings that have a split"""
        columns = self.result["rows"][service]
        moments = sorted({moment for series in parts().values() for moment, _ in columns.get(series.file, ())
                          if series.draw == "stack"})
        known = {file: dict(map(tuple, rows)) for file, rows in columns.items()}
        return [(moment, {file: values[moment] for file, values in known.items() if moment in values})
                for moment in moments]

    def windows(self, service, phase):
        """[(begin, end, {file: value})] of the whole windows within a phase; each may be dispatched several times."""
        windows = []
        for moment, values in self._rows(service):
            values = {file: value for file, value in values.items() if file.startswith(SAMPLED)}
            if not windows or windows[-1][1] != values:
                windows.append((moment, values))
        begin, end = self.phases[phase]["begin"], self.phases[phase]["end"]
        return [(before, moment, values) for (before, _), (moment, values) in zip(windows, windows[1:])
                if begin <= before and moment <= end]

    def mean_between(self, service, file, begin, end):
        """Of what each reading dispatches"""
        rows = self.result["rows"][service].get(file, [])
        return mean((moment - before, value) for (before, _), (moment, value) in zip(rows, rows[1:])
                    if begin - LATE <= before and moment <= end + LATE)

    def _mean(self, service, file, phase):
        """Of what each reading dispatches, over the time of the windows; without these, of the phase."""
        windows = self.windows(service, phase)
        begin, end = ((windows[0][0], windows[-1][1]) if windows else
                      (self.phases[phase][which] for which in ("begin", "end")))
        return self.mean_between(service, file, begin, end)

    def split(self, service, phase):
        """{part: seconds}; NaN: nothing was dispatched."""
        windows = self.windows(service, phase)
        return {part: mean((end - begin, values[series.file]) for begin, end, values in windows if series.file in values)
                if series.file.startswith(SAMPLED) else self._mean(service, series.file, phase)
                for part, series in parts().items()}

    def total(self, service, phase, chosen=None):
        """Of these parts, or of all; NaN: nothing was dispatched of any."""
        known = [value for part, value in self.split(service, phase).items()
                 if not math.isnan(value) and part in (chosen or parts())]
        return sum(known) if known else math.nan

    def seconds(self, phase):
        return self.phases[phase]["end"] - self.phases[phase]["begin"]

    def response(self, service, phase):
        return self._mean(service, RESPONSE, phase)

    def largest(self, service, phase="during"):
        """(part, its share of all) or (None, NaN)"""
        known = {part: value for part, value in self.split(service, phase).items() if not math.isnan(value)}
        total = sum(known.values())
        if not total:
            return None, math.nan
        part = max(known, key=known.get)
        return part, known[part] / total

    def slow(self, service):
        """{part: percent of the time of slow requests}, with the fault"""
        found = {series.file.removeprefix(SLOW): self._mean(service, series.file, "during") for series in definitions.IN_SLOW}
        return {part: value for part, value in found.items() if not math.isnan(value)}

    def names_cause(self, service):
        slow = self.slow(service)
        return self.largest(service)[0] == self.case.causes[service] and all(
            abs(slow.get(part, math.inf) - percent) <= NEAR_PERCENT
            for part, percent in self.case.slow.get(service, {}).items())

    def misleads(self, service):
        slow, true = self.slow(service), self.case.slow.get(service)
        return (self.largest(service)[0] not in (None, self.case.causes[service], *self.case.allows)
                or bool(true and slow and max(slow, key=slow.get) not in true))


def load(case, results):
    """The run whose result is there, or None."""
    directory = os.path.join(results, case.name)
    try:
        with open(os.path.join(directory, RESULT), encoding="utf-8") as file:
            return Run(case, directory, json.load(file))
    except FileNotFoundError:
        return None

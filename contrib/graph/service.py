# SPDX-License-Identifier: MIT
"""The services that are stored, found by the names of directories and files."""

import fnmatch
import functools
import math
import os
import re
import sys

import rrd
from definitions import COLUMNS, OVERVIEW, PALETTE

PREFIX = "ebpf-"


def is_rrd(path):
    with open(path, "rb") as file:
        fine = file.read(4) == b"RRD\0"
    if not fine:
        print(f"ebpf-graph: {path} is no RRD file; skipping it", file=sys.stderr)
    return fine


class Service:
    """The RRD files of one plugin instance of one host."""

    def __init__(self, host, name, directory):
        self.host, self.name, self.directory = host, name, directory
        self.figures = [math.nan] * len(COLUMNS)
        self.weights = [math.nan] * len(OVERVIEW)

    @functools.cached_property
    def files(self):
        return sorted(file[:-4] for file in os.listdir(self.directory)
                      if file.endswith(".rrd") and is_rrd(os.path.join(self.directory, file)))

    def match(self, series):
        """(path, label) of each file that is this series."""
        before, star, after = series.file.partition("*")
        for file in fnmatch.filter(self.files, series.file):
            varying = file[len(before):len(file) - len(after)] if star else ""
            yield os.path.join(self.directory, file + ".rrd"), series.label.replace("*", varying)

    def parts(self, *many):
        return tuple((path, series) for series in many for path, _ in self.match(series))

    def any_source(self):
        """(path, data source) of one of the files."""
        path = os.path.join(self.directory, self.files[0] + ".rrd")
        return path, re.search(r"^ds\[(\w+)\]", rrd.request("info", path), re.M).group(1)

    def read_figures(self, span):
        """Figures of the table are of the known time; weights, of all of it."""
        columns = [(self.parts(column.series), column.figure, "UNKN") for column in COLUMNS]
        overview = [(self.parts(*graph.series), "AVERAGE", 0) for graph in OVERVIEW]
        try:
            answers = rrd.figures(columns + overview, span)
        except rrd.Refused as error:
            print(f"ebpf-graph: {self.name}: {error}; no figures", file=sys.stderr)
            return
        self.figures, self.weights = answers[:len(columns)], answers[len(columns):]

    @property
    def parent(self):
        """SERVICE of a process's SERVICE-PID-STARTTICKS: what is counted here is counted there."""
        return re.sub(r"-\d+-\d+$", "", self.name)

    @property
    def is_process(self):
        return self.name != self.parent

    @property
    def is_plugin(self):
        """What the plugin says of itself."""
        return self.name == "self"

    @property
    def title(self):
        return re.sub(r"-(\d+)-\d+$", r" · process \1", self.name)

    @property
    def cpu(self):
        return sum(figure for figure in self.figures[:2] if not math.isnan(figure))


def find(tree, hosts, names):
    """The services by host; no hosts, or no names: all."""
    found = {}
    for host in sorted(os.listdir(tree)):
        directory = os.path.join(tree, host)
        if os.path.isdir(directory) and (not hosts or host in hosts):
            services = [Service(host, instance[len(PREFIX):], os.path.join(directory, instance))
                        for instance in sorted(os.listdir(directory))
                        if instance.startswith(PREFIX)]
            found[host] = [s for s in services if (not names or s.parent in names) and s.files]
    return {host: services for host, services in found.items() if services}


def order(services):
    """By use of CPU in all of the time; a process after its service; the plugin itself last."""
    # The first overview is of CPU; NaN is not greater than 0.
    used = {service.name: max(0, service.weights[0]) for service in services}
    return sorted(services, key=lambda s: (
        s.is_plugin, -used.get(s.parent, 0), s.parent, s.is_process, -used[s.name]))


def pick_colors(services):
    """Name -> colour, the same in every overview: the first users of CPU, then who has the largest
    share of anything else."""
    named = [service for service in services if not service.is_process]
    totals = [sum(w for w in weights if w > 0) or 1 for weights in zip(*(s.weights for s in named))]
    share = {s.name: max((w / t for w, t in zip(s.weights, totals) if w > 0), default=0)
             for s in named}
    first = [service.name for service in named[:(len(PALETTE) + 1) // 2]]
    ranked = sorted((name for name in share if name not in first), key=share.get, reverse=True)
    chosen = first + ranked[:len(PALETTE) - len(first)]
    return dict(zip((name for name in share if name in chosen), PALETTE))

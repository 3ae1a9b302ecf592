#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""RRD files by the rrdtool plugin, and by rrdcached, hold what was dispatched; rrdcached may hang, and be gone."""

import glob
import json
import os
import subprocess
import sys

import archive
import receiver
import rrd
from e2e import TOP
from receiver import lib

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import storage  # noqa: E402

# The samples of a window of requests, beside whatever number of threads.
SAMPLING = """
  <Probe "delay">
    Frequency 100
    Budget 10
  </Probe>"""
RESOLUTION = 0.999  # s; the time of a last update is without its fraction


def start_rrdcached(test, directory, socket):
    """As Debian's package starts it, with a journal."""
    argv = ["rrdcached", "-g", "-B", "-b", f"{directory}/db", "-j", test.mkdir("rrdcached/journal"),
            "-p", f"{directory}/pid", "-l", f"unix:{socket}"]
    return receiver.Receiver(directory, argv, lambda: receiver.listens(socket))


def stored(daemon, tree, socket):
    """The time of the last update of each, after a flush."""
    paths = {name: archive.path_of(tree, daemon, *name) for name in receiver.dispatched(daemon)}
    last = rrd.last(paths.values(), {"RRDCACHED_ADDRESS": f"unix:{socket}"})
    return {name: [(last[path], None)] for name, path in paths.items()}


def check_storage(test, daemon, tree):
    """What `make describe` computes for docs/receivers.md is what collectd has made."""
    types = receiver.collectd.read_types()
    made, wrong = [], []
    for subject in daemon.subjects():
        for metric in daemon.metrics(subject):
            sources = len(types[metric.partition("-")[0]])
            size = os.path.getsize(archive.path_of(tree, daemon, subject, metric))
            if size != storage.rrd_size(sources, daemon.interval):
                wrong.append((subject, metric, size, storage.rrd_size(sources, daemon.interval)))
            if subject == "web":
                made.append(sources)
    test.equal("files of another size than computed", wrong[:3], [])
    described = json.loads(subprocess.run(
        [os.path.join(lib.BUILD, "ebpf-describe"), "/usr/share/collectd/types.db",
         *glob.glob(os.path.join(lib.BUILD, "bpf", "*.bpf.o"))], capture_output=True, text=True, check=True).stdout)
    files = {probe["probe"]: storage.files_of(probe) for probe in described}
    # It has no limits, and may have too few requests for a capacity.
    want = [count for probe in files if probe != "limits" for count in files[probe]]
    if "gauge-request_capacity" not in daemon.metrics("web"):
        want.remove(1)
    test.equal("data sources of the files of a service with requests", sorted(made), sorted(want))


def main():
    with lib.Test(limit=120) as test:
        receiver.need("rrdcached", "rrdtool")
        directory = os.path.dirname(test.mkdir("rrdcached/db"))
        direct, cached, socket = test.mkdir("rrd"), f"{directory}/db", f"{directory}/socket"
        rrdcached = start_rrdcached(test, directory, socket)
        receiver.Traffic(test)
        samples = (receiver.sample("receiver-rrdtool.conf", {"/var/lib/collectd/rrd": direct}),
                   receiver.sample("receiver-rrdcached.conf", {"/var/run/rrdcached.sock": socket,
                                                               "/var/lib/rrdcached/db": cached}))
        daemon = test.collectd(receiver.SERVICE + SAMPLING, "\n".join(samples), interval=1)
        daemon.wait_rows("web", "latency-in_cpu")
        store = receiver.Store(daemon, lambda: stored(daemon, cached, socket), RESOLUTION)
        absence = receiver.Absence(daemon, rrdcached, store)
        absence.check_steady(test, daemon)
        span = absence.begin, absence.end
        requests = archive.path_of(direct, daemon, "web", "total_requests")
        test.equal("the rrdtool plugin has written already", rrd.fetch([requests], *span)[requests], {"value": {}})
        test.stop(daemon)
        check_storage(test, daemon, direct)
        archive.compare(test, "rrdtool", daemon, direct, archive.WHOLE, span)
        archive.check_growth(test, "rrdtool", daemon, direct, archive.WHOLE, span)
        flushed = {"RRDCACHED_ADDRESS": f"unix:{socket}"}
        archive.compare(test, "rrdcached", daemon, cached, archive.FINE, span, absence.unheard, flushed)
        archive.check_growth(test, "rrdcached", daemon, cached, archive.FINE, span, flushed)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Graphite: what whisper files hold is what was dispatched; carbon may hang, and be gone."""

import json
import os
import subprocess
import sys

import receiver
from e2e import TOP
from receiver import lib

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import storage  # noqa: E402

STEP = 1  # s; whisper's times are whole seconds
RESOLUTION = 0.51
CARBON = """\
[cache]
STORAGE_DIR = {directory}/
LOCAL_DATA_DIR = {directory}/whisper/
CONF_DIR = {directory}/
LOG_DIR = {directory}/
PID_DIR = {directory}/
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = {line}
PICKLE_RECEIVER_PORT = 0
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = {query}
MAX_CREATES_PER_MINUTE = inf
MAX_UPDATES_PER_SECOND = 500
LOG_UPDATES = False
ENABLE_TAGS = False
"""


def start_carbon(test, retentions=f"{STEP}s:1h,60s:2d"):
    directory = test.mkdir("carbon")
    line, query = receiver.free_ports(2)
    receiver.write(os.path.join(directory, "storage-schemas.conf"),
                   receiver.sample("receiver-graphite-schemas.conf", {"10s:6h,60s:2d": retentions}))
    configuration = receiver.write(os.path.join(directory, "carbon.conf"),
                                   CARBON.format(directory=directory, line=line, query=query))
    argv = ["carbon-cache", f"--config={configuration}", f"--logdir={directory}", "--nodaemon", "start"]
    return receiver.Receiver(directory, argv, lambda: receiver.listens(line)), line, os.path.join(directory, "whisper")


def path_of(tree, subject, metric, source, single):
    """As write_graphite names it with SeparateInstances."""
    kind, _, instance = metric.partition("-")
    parts = ["collectd", "testhost", "ebpf", subject, kind, instance, "" if single else source]
    return os.path.join(tree, *(part.replace(".", "_") for part in parts if part)) + ".wsp"


# Of Debian's Python, which has whisper's module: {path: ((begin, end, step), values)}.
FETCH = """
import json, sys, time, whisper
print(json.dumps({path: whisper.fetch(path, time.time() - 600) for path in map(str.strip, sys.stdin)}))"""


def stored(tree, daemon):
    types = receiver.collectd.read_types()
    paths = {path_of(tree, *name, len(types[name[1].partition("-")[0]]) == 1): name
             for name in receiver.dispatched(daemon)}
    there = "\n".join(filter(os.path.exists, paths))
    fetched = subprocess.run(["/usr/bin/python3", "-c", FETCH], input=there, capture_output=True, text=True, check=True)
    return {paths[path]: [(stamp, value) for stamp, value in zip(range(*span), values) if value is not None]
            for path, (span, values) in json.loads(fetched.stdout).items()}


# Likewise: bytes of a file by the first line's archives, if whisper takes them.
CREATE = """
import json, os, sys, whisper
archives = json.load(sys.stdin)
whisper.validateArchiveList(archives)
whisper.create(sys.argv[1], archives)
print(os.path.getsize(sys.argv[1]))"""


def check_size(test):
    """What documents say of the sample's retentions is what whisper makes of them."""
    archives = storage.retentions(receiver.sample("receiver-graphite-schemas.conf", {}))
    made = subprocess.run(["/usr/bin/python3", "-c", CREATE, os.path.join(test.mkdir("size"), "one.wsp")],
                          input=json.dumps(archives), capture_output=True, text=True, check=True).stdout
    test.equal("bytes of a whisper file, and as it is computed", int(made), storage.whisper_size(archives))
    test.within("bytes of a whisper file", int(made), 0, 200000)
    with open(os.path.join(TOP, "docs", "receivers.md"), encoding="utf-8") as file:
        test.contains("and as docs/receivers.md says", file.read(), f"{int(made):,} bytes")


def main():
    with lib.Test(limit=120) as test:
        receiver.need("carbon-cache")
        check_size(test)
        carbon, port, tree = start_carbon(test)
        receiver.Traffic(test)
        graphite = receiver.sample("receiver-graphite.conf", {'"2003"': f'"{port}"'})
        daemon = test.collectd(receiver.SERVICE, graphite, interval=STEP)
        store = receiver.Store(daemon, lambda: stored(tree, daemon), RESOLUTION)
        absence = receiver.Absence(daemon, carbon, store)
        absence.check_steady(test, daemon)
        test.stop(daemon)
        # On SIGTERM it writes what it has.
        carbon.process.terminate()
        carbon.process.wait()
        receiver.compare(test, daemon, store, absence)


if __name__ == "__main__":
    main()

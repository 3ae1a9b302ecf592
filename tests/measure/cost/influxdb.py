# SPDX-License-Identifier: MIT
"""What InfluxDB 1.x takes on the disk for a series and a day, with the sample of its configuration.

A day of values each 10 s is written for some series of each kind, with times as collectd has them, to 2^-30 s, and
then compacted. Kinds: a counter that grows by another number each time; a gauge of ten significant digits; one that never changes.
"""

import os
import random
import shutil
import sys
import tempfile
import time
import urllib.request
from typing import NamedTuple

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.append(os.path.join(TOP, "tests", "e2e"))
import receiver  # noqa: E402
import test_influxdb  # noqa: E402

DAY, STEP = 86400, 10
BEGIN = int(time.time()) // DAY * DAY - 2 * DAY
SOON = {"INFLUXDB_DATA_CACHE_SNAPSHOT_WRITE_COLD_DURATION": "1s",
        "INFLUXDB_DATA_COMPACT_FULL_WRITE_COLD_DURATION": "1s"}


def counter():
    value = 0
    while True:
        value += random.randrange(5000)
        yield value


def gauge():
    while True:
        yield f"{random.lognormvariate(0, 1):.10g}"


def constant():
    while True:
        yield 0


KINDS = {"counter": counter, "gauge": gauge, "constant": constant}


def stamps():
    """A reading is some tenths of a millisecond late, now more, now less."""
    for moment in range(BEGIN, BEGIN + DAY, STEP):
        late = random.randrange(1 << 19)
        yield moment * 10 ** 9 + late * 10 ** 9 // (1 << 30)


def write(port, kind, number):
    tags = f"ebpf_value,host=db1,instance=service{number},type=gauge,type_instance={kind}"
    text = "\n".join(f"{tags} value={value} {stamp}" for stamp, value in zip(stamps(), KINDS[kind]()))
    request = urllib.request.Request(f"http://127.0.0.1:{port}/write?db={kind}&precision=ns", data=text.encode())
    urllib.request.urlopen(request, timeout=60).close()


def files(directory):
    return [os.path.join(path, name) for path, _, names in os.walk(directory) for name in names]


def wait_compacted(directory):
    """What is in the log is in files, and these no longer change."""
    before = None
    for _ in range(120):
        time.sleep(1)
        found = {path: os.path.getsize(path) for path in files(f"{directory}/data") if path.endswith(".tsm")}
        if found and found == before and not any(map(os.path.getsize, files(f"{directory}/wal"))):
            return
        before = found
    sys.exit("influxd: it compacts no more")


class Disk(NamedTuple):
    value: float  # bytes
    day: float    # bytes of one series


def _disk(directory, kind, series):
    size = sum(os.path.getsize(path) for path in files(f"{directory}/data/{kind}") if path.endswith(".tsm"))
    return Disk(size / series / (DAY / STEP), size / series)


def _fill(directory, http, series):
    for kind in KINDS:
        urllib.request.urlopen(f"http://127.0.0.1:{http}/query", data=f"q=CREATE DATABASE {kind}".encode(), timeout=30).close()
        for number in range(series):
            write(http, kind, number)
    wait_compacted(directory)


def measure(series):
    """{kind: Disk}, with so many series of each; nothing if InfluxDB is not installed."""
    if not shutil.which("influxd"):
        return {}
    random.seed(1)
    with tempfile.TemporaryDirectory(prefix="ebpf-bench.", dir="/var/tmp") as directory:
        configuration, http, _ = test_influxdb.configure(directory)
        os.environ.update(SOON)
        database = receiver.Receiver(directory, ["influxd", "-config", configuration], lambda: receiver.listens(http))
        try:
            _fill(directory, http, series)
            return {kind: _disk(directory, kind, series) for kind in KINDS}
        finally:
            database.kill()

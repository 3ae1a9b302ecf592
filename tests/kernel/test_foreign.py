#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects without our tags, described by Table blocks: maps of every kind and shape, each way to name a member of a
key, histograms of every kind; and what may go wrong with them.

Truth: bpftool's dump of the same maps while nothing changes them, and the kernel's files, for names.
"""

import glob
import json
import math
import os
import signal
import struct
import subprocess
import time

import bpf_objects
import lib
from cgroups import Cgroups
from foreign import HISTOGRAMS, HOSTILE, NAMES, SHAPES
from lib import Test, without

HALF = '<Key "half">\n</Key>\n<Key "bucket">\nDecode "bucket"\n</Key>'
PERCENTILES = (50, 90, 95, 99, 99.9)
INTERVAL = 0.5 if lib.SLOWNESS < 2 else 2
CSV = 6e-7  # rounding of the csv plugin
SERIES = {  # of each probe
    "shapes": "derive-single", "names": "derive-enums-DARK-word", "histograms": "latency-within-0-average",
    "hostile": "derive-vanishing-1",
}


def rows_of(key_name, metric, size):
    key = f"Size {size}\n" if size else ""
    return f'<Key "{key_name}">\n{key}</Key>\n<Value>\nMetric "{metric}"\n</Value>'


class Maps:
    """The maps of a daemon, as bpftool reads them."""

    def __init__(self, daemon):
        shown = bpf_objects.show("map", bpf_objects.numbers("map", daemon.process.pid))
        self.ids = {entry.get("name"): entry["id"] for entry in shown}

    def dump(self, name):
        """[(key, [value of each CPU, or the value]), ...], as bytes. The kernel keeps 15 bytes of a name."""
        out = subprocess.check_output([bpf_objects.BPFTOOL, "-j", "map", "dump", "id", str(self.ids[name[:15]])])
        found = []
        for entry in json.loads(out):
            values = [cpu["value"] for cpu in entry["values"]] if "values" in entry else [entry["value"]]
            found.append((byte_count(entry["key"]), [byte_count(value) for value in values]))
        return found

    def counts(self, name):
        """{key: sum of all CPUs}, for values of one integer."""
        return {key: sum(int.from_bytes(value, "little") for value in values) for key, values in self.dump(name)}


def byte_count(texts):
    return bytes(int(text, 16) for text in texts)


def whole(key):
    return int.from_bytes(key, "little")


def last(daemon, subject, metric, moment):
    return daemon.row_after(subject, metric, moment)[1]


def path(source):
    return os.path.join(lib.BUILD, "tests", "bpf", f"foreign_{source}.bpf.o")


def read_all(daemon, *probes):
    """Waits until each of these probes, or without arguments each probe, has just been read."""
    moment = time.time()
    for probe, metric in SERIES.items():
        if probe in probes or not probes:
            daemon.row_after(probe, metric, moment)


def count(daemon, load, calls):
    """Makes calls while the daemon is stopped, so that no reading falls among them."""
    os.kill(daemon.process.pid, signal.SIGSTOP)
    load.ask(str(calls))
    os.kill(daemon.process.pid, signal.SIGCONT)


def count_between_readings(daemon, load, calls):
    """Makes calls between two readings of histograms, again if a reading had begun. Returns the time after them."""
    began = True
    while began:
        read_all(daemon)
        known = daemon.rows("histograms", SERIES["histograms"])[-1][0]
        count(daemon, load, calls)
        moment = time.time()
        daemon.row_after("histograms", SERIES["histograms"], moment)
        began = any(known < row[0] <= moment for row in daemon.rows("histograms", SERIES["histograms"]))
    return moment


def check_counters(test, daemon, moment, subject, want):
    """want: {metric: count}"""
    for metric, count in sorted(want.items()):
        test.equal(f"{subject}/{metric}", last(daemon, subject, metric, moment), count)


def add_up(pairs):
    sums = {}
    for name, count in pairs:
        sums[name] = sums.get(name, 0) + count
    return {name: count for name, count in sums.items() if count}


def structs(test, maps):
    """Keys that differ only in padding, or in a member without a block, add up."""
    sums = {}
    for key, (value,) in maps.dump("struct_hash"):
        color, size = struct.unpack("<IB", key[:5])
        name = f"{('red', 'green', '2')[color]}-{size}"
        sums.setdefault(name, []).append(struct.unpack("<IHxxQ", value))
    test.equal("keys of each name, with one padding and the other", {len(values) for values in sums.values()}, {2})
    want = {}
    for name, values in sums.items():
        once, twice, thrice = (sum(column) for column in zip(*values))
        want |= {f"derive-once-{name}": once, f"derive-twice-{name}": 10 * twice, f"gauge-ratio-{name}": thrice / once}
    return want


def check_shapes(test, daemon, maps, moment):
    want = {}
    for name in ("plain_hash", "plain_lru", "percpu_hash", "percpu_lru", "plain_array", "percpu_array", "mapped_array"):
        counts = maps.counts(name)
        test.true(f"{name}: bpftool reads counts", sum(counts.values()) > 0)
        want |= {f"derive-{name}-{whole(key)}": count for key, count in counts.items() if count}
    want["derive-single"] = sum(maps.counts("single").values())
    want |= structs(test, maps)
    want |= add_up((f"derive-bare-{whole(key[:2])}-{int.from_bytes(key[3:6], 'big')}-{key[6]}",
                    struct.unpack("<QQQ", values[0])[1]) for key, values in maps.dump("bare_hash"))
    check_counters(test, daemon, moment, "shapes", want)
    test.equal("series of shapes", daemon.metrics("shapes"), set(want))
    for key, values in maps.dump("each_array"):
        for cpu, value in enumerate(values):
            if whole(value):
                test.equal(f"cpu{cpu}, {whole(key)}", last(daemon, f"cpu{cpu}", f"derive-each_array-{whole(key)}", moment),
                           whole(value))


def cut_name(parts, length):
    """Parts of a name cut to this length, with the first hash of the whole ones (key_text.c)."""
    prime, origin = 0x100000001b3, 0
    for part in parts:
        number = 0xcbf29ce484222325
        for byte in part.partition(b"\0")[0]:
            number = (number ^ byte) * prime % 2 ** 64
        origin = (origin ^ (number | 1 << 63)) * prime % 2 ** 64
    return "-".join(part[:length].decode() for part in parts) + f"+{(origin + 1) % 2 ** 32:08x}"


def check_names(test, daemon, maps, moment, facts):
    end = [f"_2-66051-197121-12345-dead-{n}" for n in range(3)]
    want = {f"derive-numbers-{end[key[15]]}": count for key, count in maps.counts("numbers").items()}
    want |= {f"derive-addresses-192.0.2.{key[3]}-2001:db8::1": count for key, count in maps.counts("addresses").items()}
    want |= add_up((f"derive-enums-{ {1: 'DARK', 200: 'BRIGHT'}[whole(key[:4])]}-word", count)
                   for key, count in maps.counts("enums").items() if whole(key[:4]) in (1, 200))
    want |= {"derive-cgroups-" + facts["cgroup"]: sum(maps.counts("cgroups").values()),
             "derive-functions-" + facts["function"]: sum(maps.counts("functions").values())}
    # Eight parts of eight bytes exceed the 63 of a name: each is cut to five, and a hash follows.
    want |= {f"derive-many-{cut_name([key[at:at + 8] for at in range(0, 64, 8)], 5)}": count
             for key, count in maps.counts("labels_many").items()}
    check_counters(test, daemon, moment, "names", want)
    test.equal("series of names", daemon.metrics("names"), set(want))
    for key, count in maps.counts("kernels").items():
        device, cpu = facts["device"].replace("-", "_"), whole(key[16:20])
        name = f"derive-kernels-ENOENT-SIGTERM-write-root-{device}-three-lo"
        test.equal(f"cpu{cpu}/{name}", last(daemon, f"cpu{cpu}", name, moment), count)
    test.equal("calls of the service of a cgroup", last(daemon, test.own("kt_group"), "derive-calls", moment),
               sum(maps.counts("group_services").values()))
    texts = add_up((key[:6].decode(), count) for key, count in maps.counts("texts").items() if key[:2] in (b"ks", b"sy"))
    want = {"derive-texts-kswapd": texts["kswapd"], "derive-texts-systemd_j": texts["system"]}
    check_counters(test, daemon, moment, "example.com", want)
    test.equal("series of example.com", daemon.metrics("example.com"), set(want))


def percentile(counts, bounds, percent):
    """The result of Prometheus' histogram_quantile(), for buckets that begin at 0; the last one is finite here."""
    rank, lower = percent / 100 * sum(counts), 0
    for count, upper in zip(counts, bounds):
        if rank <= count or upper == bounds[-1]:
            return lower + (upper - lower) * rank / count
        rank, lower = rank - count, upper
    return math.nan


def bucket_name(metric, bounds, i):
    low, high = bounds[i - 1] if i else 0, bounds[i] if i + 1 < len(bounds) else math.inf
    return f"bucket-{metric}-{low:g}_{high:g}"


def check_histogram(test, daemon, moment, metric, counts, bounds, total):
    """counts: by bucket; total: the sum of values, None: unknown."""
    middles = [(upper + (bounds[i - 1] if i else 0)) / 2 for i, upper in enumerate(bounds)]
    mean = (total if total is not None else sum(n * middle for n, middle in zip(counts, middles))) / sum(counts)
    test.close(f"{metric}: average", last(daemon, "histograms", f"{metric}-average", moment), mean, slack=CSV)
    for percent in PERCENTILES:
        test.close(f"{metric}: percentile {percent}",
                   last(daemon, "histograms", f"{metric}-percentile-{percent}", moment),
                   percentile(counts, bounds, percent), slack=CSV)
    rates = [last(daemon, "histograms", bucket_name(metric, bounds, i), moment) for i in range(len(bounds))]
    test.true(f"{metric}: shares of the buckets",
              all(abs(rate / sum(rates) - count / sum(counts)) < 1e-6 for rate, count in zip(rates, counts)),
              [round(rate / sum(rates), 6) for rate in rates])


def by_half(maps, name, numbers, scale, half):
    """The counts of these buckets, and the sum of values, which is in the bucket after them."""
    counts = {struct.unpack("<II", key): count for key, count in maps.counts(name).items()}
    return [counts.get((half, n), 0) for n in numbers], counts.get((half, numbers[-1] + 1), 0) * scale


def check_histograms(test, daemon, maps, moment):
    kinds = {
        "powers": ("powers", range(8), [2 ** n / 1000 for n in range(8)], 1 / 1000),
        "zero": ("with_zero", range(9), [0] + [2 ** n for n in range(8)], 1),
        "steps": ("steps", range(11), [10 * n for n in range(11)], 10),
        "bounds": ("bounds", (10, 25, 1000), [10, 25, 1000], 1),
    }
    for metric, (name, numbers, bounds, scale) in kinds.items():
        for half in (0, 1):
            counts, total = by_half(maps, name, numbers, scale, half)
            check_histogram(test, daemon, moment, f"latency-{metric}-{half}", counts, bounds, total)
    counts = maps.counts("powers_of_cpus")
    check_histogram(test, daemon, moment, "latency-cpus", [counts[struct.pack("<I", n)] for n in range(8)],
                    [2 ** n for n in range(8)], counts[struct.pack("<I", 8)])
    for key, (value,) in maps.dump("within"):
        check_histogram(test, daemon, moment, f"latency-within-{whole(key)}", list(struct.unpack("<8I", value[:32])),
                        [2 ** n for n in range(8)], None)


def check_hostile(test, daemon, maps, moment):
    full = maps.counts("full")
    test.equal("keys of a full map", len(full), 8)
    check_counters(test, daemon, moment, "hostile", {f"derive-full-{whole(key)}": n for key, n in full.items()})
    test.contains("a full map is told", "\n".join(daemon.complaints()), "map full: it is full")
    steady = maps.counts("vanishing")[struct.pack("<I", 1)]
    test.equal("a key that stays", last(daemon, "hostile", "derive-vanishing-1", moment), steady)
    names = {"derive-names-other_", "derive-names-.._.._x", "derive-names-self_", "derive-names-__2J_"}
    test.true("harmless names", names <= {name.replace("[", "_") for name in daemon.metrics("hostile")},
              sorted(daemon.metrics("hostile")))


def facts_of_names(groups):
    with open("/proc/kallsyms", encoding="ascii") as symbols:
        found = [line.split() for line in symbols if line.split()[2] == "ksys_read"]
    address = int(found[0][0], 16) if found else 0
    block = sorted(glob.glob("/sys/dev/block/*"))
    number = os.path.basename(block[0]) if block else "8:1"
    major, minor = map(int, number.split(":"))
    made = groups.make(f"foreign{os.getpid()}")
    return {"cgroup": os.path.basename(made), "id": os.stat(made).st_ino, "address": address or 0x1234,
            "function": "ksys_read" if address else "ksym_1234",
            "device": os.path.basename(os.readlink(block[0])) if block else number,
            "number": (minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)}


def main():
    with Test(limit=120) as test:
        load = test.load("getppid", name="kt_foreign")
        groups = Cgroups()
        test.at_end(groups.remove)
        facts = facts_of_names(groups)
        groups.enter(facts["cgroup"], load.pid)
        tables = {"target": load.pid, "eight": "", "four": ""}
        shapes = SHAPES
        for name in ("plain_hash", "plain_lru", "percpu_hash", "percpu_lru"):
            shapes = shapes.replace(f'"{name}">\n      %(eight)s', f'"{name}">\n' + rows_of("number", f"derive-{name}", 8))
        for name in ("plain_array", "percpu_array", "mapped_array", "each_array"):
            shapes = shapes.replace(f'"{name}">\n      %(four)s', f'"{name}">\n' + rows_of("number", f"derive-{name}", 0))
        hostile = HOSTILE
        for name in ("full", "vanishing"):
            hostile = hostile.replace(f'"{name}">\n      %(whole)s', f'"{name}">\n' + rows_of("number", f"derive-{name}", 4))
        many = "\n".join(f'<Key "part{i}">\nSize 8\nDecode "string"\n</Key>' for i in range(8))
        conf = (shapes % (tables | {"object": path("shapes")}) +
                NAMES % (tables | {"object": path("names"), "cgroup": facts["id"], "group": facts["cgroup"],
                                   "function": facts["address"],
                                   "device": facts["number"], "many": many}) +
                HISTOGRAMS % (tables | {"object": path("histograms"), "half": HALF}) +
                hostile % (tables | {"object": path("hostile")}))
        probes = ("shapes", "names", "histograms", "hostile")
        others = (os.path.basename(name).split(".")[0] for name in glob.glob(os.path.join(lib.BUILD, "bpf", "*.bpf.o")))
        daemon = test.collectd(without(*others) + conf, interval=INTERVAL)
        for probe in probes:
            daemon.wait_rows("self", f"objects-keys_{probe}", 1)
        maps = Maps(daemon)
        # The values 1 to 100 are counted once before the first reading, and six times in one interval.
        load.ask("100")
        moment = count_between_readings(daemon, load, 600)
        check_histograms(test, daemon, maps, moment)
        check_shapes(test, daemon, maps, moment)
        check_names(test, daemon, maps, moment, facts)
        # Every hundredth call deletes the key 2: its counts are 50, then 70, and 30 after it was made again.
        for calls, total in ((650, 50), (20, 70), (60, 100)):
            read_all(daemon, "hostile")
            count(daemon, load, calls)
            test.equal(f"a key that vanishes, after {calls} calls more",
                       last(daemon, "hostile", "derive-vanishing-2", time.time()), total)
        check_hostile(test, daemon, maps, time.time())
        test.contains("a table of no map is told", "\n".join(daemon.complaints()),
                      'probe shapes: ignoring <Table "absent">: its object has no map of this name, but "plain_hash"')
        test.equal("complaints", len(daemon.complaints()), 3)
        load.end()


if __name__ == "__main__":
    main()

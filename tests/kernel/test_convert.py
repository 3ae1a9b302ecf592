#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configurations of ebpf_exporter for our own objects: collectd accepts the output of contrib/ebpf-convert unchanged, and
the series have the values of the maps.

Truth: bpftool's dump of the maps, with labels as the exporter's manual defines them (tests/measure/foreign/map_rows.py).
"""

import importlib.util
import os
import shutil
import sys
import time

import lib
from lib import Test

sys.path.insert(0, os.path.join(lib.HERE, "..", "measure", "foreign"))

CALLS = 1000


def label(name, size, *decoders, padding=0):
    """A label; each decoder is a word or a mapping."""
    return {"name": name, "size": size, "padding": padding,
            "decoders": [{"name": word} if isinstance(word, str) else word for word in decoders]}


def counter(name, *labels):
    return {"name": name, "help": f"Calls, by {name}", "labels": list(labels)}


def histogram(name, kind, *labels, **buckets):
    return {"name": name, "help": "Of the values 1 to 100", "bucket_type": kind, **buckets,
            "labels": [*labels, label("bucket", 4, "uint")]}


HALF = label("half", 4, "uint", {"name": "static_map", "static_map": {0: "lower", 1: "upper"}})
NUMBER = label("number", 8, "uint")
POSITION = label("place", 4, "uint")
CPU = label("cpu", 2, "uint")
CONFIGURATIONS = {
    "histograms": {"histograms": [
        histogram("powers", "exp2", HALF, bucket_min=0, bucket_max=7, bucket_multiplier=0.001),
        histogram("powers_of_cpus", "exp2", bucket_min=0, bucket_max=7),
        histogram("with_zero", "exp2zero", HALF, bucket_min=0, bucket_max=8),
        histogram("steps", "linear", HALF, bucket_min=0, bucket_max=10, bucket_multiplier=10),
        histogram("bounds", "fixed", HALF, bucket_keys=[10, 25, 1000])]},
    "shapes": {"counters": [
        *(counter(name, NUMBER) for name in ("plain_hash", "plain_lru", "percpu_hash", "percpu_lru")),
        *(counter(name, POSITION) for name in ("plain_array", "percpu_array")),
        counter("each_array", POSITION, CPU), counter("single")]},
    "names": {"counters": [
        counter("numbers", label("low", 2, "uint"), label("rest", 10, "hex", padding=3),
                label("kind", 1, "uint", {"name": "static_map", "static_map": {1: "one"}, "allow_unknown": True})),
        counter("addresses", label("of_4", 4, "inet_ip"), label("of_6", 16, "inet_ip")),
        counter("texts", label("comm", 16, "string", {"name": "regexp", "regexps": ["^(kswapd).*$", "^a", "^systemd-.*$"]}),
                label("rest", 16, "hex")),
        counter("kernels", label("error", 4, "uint", "errno"), label("signal", 4, "uint"), label("call", 4, "uint", "syscall"),
                label("rest", 8, "hex", padding=20))]},
}


def trial_of(compare, directory, examples, load):
    class Trial(compare.Trial):
        def _find_maps(self):
            """Makes series before the first comparison."""
            super()._find_maps()
            load.ask(str(CALLS))
            time.sleep(2.5 * self.interval)

    return Trial(directory, 0, examples)


def main():
    with Test(limit=200) as test:
        if not importlib.util.find_spec("yaml"):
            raise lib.Skip("needs PyYAML: apt-get install python3-yaml")
        import compare
        import yaml
        objects = test.mkdir("objects")
        load = test.load("getppid", name="kt_convert")
        examples = []
        for name, metrics in CONFIGURATIONS.items():
            shutil.copy(os.path.join(lib.BUILD, "tests", "bpf", f"foreign_{name}.bpf.o"), os.path.join(objects, f"{name}.bpf.o"))
            path = os.path.join(objects, f"{name}.yaml")
            with open(path, "w", encoding="utf-8") as file:
                yaml.safe_dump({"metrics": metrics}, file)
            examples.append(compare.Example(path, objects, [f'Parameter "watched_pid" {load.pid}']))
            test.equal(f"{name}: what is left out", examples[-1].left_out, [])
        trial = trial_of(compare, test.dir, examples, load)
        results = trial.run(lambda: load.ask(str(CALLS)))
        test.equal("what the plugin says of the blocks", trial.daemon.complaints(), [])
        for example, result in zip(examples, results):
            test.equal(f"{example.name}: {result.get('equal')} series", (result["state"], result.get("wrong")), ("equal", []))
            # No map changes any more when it is read.
            test.equal(f"{example.name}: series compared to the last call", result.get("still"), result.get("equal"))
            test.true(f"{example.name}: series", result.get("equal", 0) >= 10, result.get("equal"))
        load.end()


if __name__ == "__main__":
    main()

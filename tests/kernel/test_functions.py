#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions of Function blocks: calls by services, errors, latency, and arguments as labels, sums and histograms.

Truth: the program that is called counts its calls and measures their time.
"""

import math
import os
import re
import subprocess
import time

from lib import SLOWNESS, Test, without

INTERVAL = 0.2 if SLOWNESS < 2 else 0.5
ROUNDS = 600
OFF = without("poll", "request", "process")
SERVICES = """
<Service "one">
  Process "kt_one"
</Service>
<Service "two">
  Process "kt_two"
</Service>
"""
PROBE = """
<Probe "functions">
  MaxOverhead 100
  <Function "failing">
    Attach "uprobe:{0}:failing"
    Errors "<" 0
  </Function>
  <Function "failing-64">
    Attach "uprobe:{0}:failing"
    Errors "==" "0xffffffff" "u64"
  </Function>
  <Function "both">
    Attach "uprobe:{0}:failing"
    Attach "uprobe:{0}:slow"
  </Function>
  <Function "nested">
    Attach "uprobe:{0}:nested"
    Latency true
  </Function>
  <Function "deep">
    Attach "uprobe:{0}:deep"
    Latency true
    Errors "==" 1
  </Function>
  <Function "slow">
    Attach "uprobe:{0}:slow"
    Latency true
  </Function>
  <Function "jumped">
    Attach "uprobe:{0}:jumped"
    Latency true
  </Function>
  <Function "tailed">
    Attach "uprobe:{0}:tailed"
    Latency true
  </Function>
  <Function "named">
    Attach "uprobe:{0}:named"
    Argument 1 "label" "string"
    Errors ">" 103
  </Function>
  <Function "numbered">
    Attach "uprobe:{0}:numbered"
    Argument 1 "label" "s32"
  </Function>
  <Function "second">
    Attach "uprobe:{0}:sized"
    Argument 2 "sum" "u32"
    Service "one"
  </Function>
  <Function "seventh">
    Attach "uprobe:{0}:sized"
    Argument 7 "histogram" "u32"
  </Function>
  <Function "returned">
    Attach "uprobe:{0}:returning"
    Argument "return" "sum"
  </Function>
  <Function "marked">
    Attach "usdt:{0}:load:sized"
    Argument 2 "sum"
  </Function>
  <Function "marker_label">
    Attach "usdt:{0}:load:sized"
    Argument 1 "label"
  </Function>
  <Function "marker_name">
    Attach "usdt:{0}:load:sized"
    Argument 3 "label" "string"
  </Function>
</Probe>
"""
KERNEL = """
<Probe "functions">
  MaxOverhead 100
  <Function "recvfrom">
    Attach "kprobe:__x64_sys_recvfrom"
    Service "one"
    Latency true
    Errors "<" 0 "s64"
  </Function>
  <Function "sendto">
    Attach "kprobe:__x64_sys_sendto"
    Service "one"
  </Function>
  <Function "entry">
    Attach "fentry:__sys_sendto"
    Argument "len" "sum"
    Latency true
  </Function>
  <Function "number">
    Attach "kprobe:__sys_sendto"
    Argument 3 "label"
  </Function>
</Probe>
"""
MANY = """
<Probe "functions">
  MaxOverhead 100
  Rows 50
  <Function "many">
    Attach "uprobe:{0}:sized"
    Argument 2 "label" "u32"
    Latency true
    Service "one"
  </Function>
  <Function "few">
    Attach "uprobe:{0}:named"
    Argument 1 "label" "string"
    Latency true
    Service "two"
  </Function>
  <Function "none">
    Attach "uprobe:{0}:failing"
    Latency true
    Service "two"
  </Function>
</Probe>
"""
CSV = 1e-6     # rounding of the csv plugin
BUCKET = 0.033  # an average by buckets may be off by so much
SLOW_MS = 0.3  # least time of a call of slow()
KPROBES = os.path.exists("/sys/bus/event_source/devices/kprobe")


def value(daemon, service, metric, moment):
    return daemon.row_after(service, metric, moment)[1]


def counts(test, daemon, service, moment, truth):
    """Compares calls, errors and arguments."""
    got = {name: value(daemon, service, f"total_operations-function-{name}", moment)
           for name in ("failing", "nested", "deep", "slow", "jumped", "tailed")}
    test.equal(f"{service}: calls", got, {name: truth[name] for name in got})
    test.equal(f"{service}: calls of two functions", value(daemon, service, "total_operations-function-both", moment),
               truth["failing"] + truth["slow"])
    for name in ("failing", "failing_64"):
        test.equal(f"{service}: {name}, failed", value(daemon, service, "errors-function-" + name, moment),
                   truth["failed"])
    test.equal(f"{service}: no call of deep() with this result but the innermost",
               value(daemon, service, "errors-function-deep", moment), truth["deep"] // 20)
    for name, text in (("alpha", "alpha"), ("be_ta", "be_ta"), ("gamma", "gamma")):
        test.equal(f"{service}: with the name {name}",
                   value(daemon, service, f"total_operations-function-named-{text}", moment), truth["named"] // 3)
    test.equal(f"{service}: no error by another name",
               [value(daemon, service, f"errors-function-named-{name}", moment) for name in ("alpha", "be_ta", "gamma")],
               [0, 0, 0])
    for number in ("_1", "2"):
        test.equal(f"{service}: with the number {number}",
                   value(daemon, service, f"total_operations-function-numbered-{number}", moment),
                   truth["numbered"] // 2)
    test.equal(f"{service}: sum of what was returned", value(daemon, service, "derive-argument-returned", moment),
               truth["returned"])


def markers(test, daemon, service, moment, truth):
    test.equal(f"{service}: markers", value(daemon, service, "total_operations-function-marked", moment),
               truth["marked"])
    test.equal(f"{service}: sum of an argument of the marker", value(daemon, service, "derive-argument-marked", moment),
               truth["second"])
    for number in ("_1", "0", "1", "2", "3"):
        test.equal(f"{service}: markers with the number {number}",
                   value(daemon, service, f"total_operations-function-marker_label-{number}", moment),
                   truth["marked"] // 5)
    for name in ("alpha", "be_ta", "gamma"):
        test.equal(f"{service}: markers with the name {name}",
                   value(daemon, service, f"total_operations-function-marker_name-{name}", moment),
                   truth["marked"] // 3)


def times(test, daemon, service, moment, truth):
    """Compares latency. The load measures outside of the function, so its time is longer."""
    slow_ms = truth["slow_ns"] / 1e6
    got = value(daemon, service, "total_time_in_ms-function-slow", moment)
    test.within(f"{service}: time in slow(), ms", got, SLOW_MS * truth["slow"] - 1, slow_ms)
    test.figures.within(f"{service}: time in slow(), ms", got, 0.85 * slow_ms, slow_ms)
    mean = slow_ms / truth["slow"] / 1000
    value(daemon, service, "latency-function-slow-percentile-99", moment)
    counts = daemon.rows(service, "total_operations-function-slow")
    averages = dict(daemon.rows(service, "latency-function-slow-average"))
    grown = [(averages[end], after - before) for (_, before), (end, after) in zip([(0, 0), *counts], counts)
             if averages.get(end, math.nan) > 0]
    got = sum(average * calls for average, calls in grown) / sum(calls for _, calls in grown)
    test.within(f"{service}: least mean latency of slow() in an interval, s", min(average for average, _ in grown),
                SLOW_MS / 1000 - CSV, slow_ms / 1000)
    test.figures.within(f"{service}: mean latency of slow(), s", got, 0.85 * mean, mean * (1 + BUCKET))
    test.equal(f"{service}: latency of what has none", [name for name in sorted(daemon.metrics(service))
                                                        if name.startswith("latency-function-failing")
                                                        or name.startswith("total_time_in_ms-function-failing")], [])


def is_single_stepped(path, symbol):
    """Does the kernel have to single-step the function's first instruction, by objdump?"""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", path], check=True,
                          capture_output=True, text=True).stdout
    mnemonic = re.search(rf"<{symbol}>:\n.*?\t(\S+)", text).group(1)
    return not re.match("push|nop|call|j", mnemonic)


def stepping(test, daemon, path):
    """One message is about all entries, another about all returns: "ret" is single-stepped."""
    want = 0
    for block in re.findall("<Function.*?</Function>", PROBE, re.S):
        returns = bool(re.search('Latency|Errors|"return"', block))
        symbols = re.findall(r'"uprobe:\{0\}:(\w+)"', block)
        want += any(is_single_stepped(path, symbol) for symbol in symbols) + bool(symbols and returns)
    said = [re.search(r'Function "(\w+)"(?: and (\d+) others)?: the kernel has to single-step', line) for line in daemon.log()]
    test.equal("what is single-stepped, as the log has it", sum(1 + int(it.group(2) or 0) for it in said if it), want)


def kernel(test):
    """Functions of the kernel, called by two services, for one of them."""
    if not KPROBES:
        test.left_out("functions of the kernel", "this kernel has no kprobes")
        return
    daemon = test.collectd(OFF + SERVICES + KERNEL, interval=INTERVAL)
    loads = {name: test.load_at(test.program("function", "kt_" + name)) for name in ("one", "two")}
    daemon.wait_rows("self", "duration-read_functions")
    for load in loads.values():
        load.say(str(ROUNDS))
        load.result()
    moment = time.time()
    for name in ("recvfrom", "sendto", "entry", "number-1"):
        test.equal(f"one: calls of {name}", value(daemon, "one", "total_operations-function-" + name, moment), ROUNDS)
    test.equal("one: bytes that were sent", value(daemon, "one", "derive-argument-entry", moment), ROUNDS)
    test.equal("one: failed", value(daemon, "one", "errors-function-recvfrom", moment), 0)
    for name in ("recvfrom", "entry"):
        value(daemon, "one", f"latency-function-{name}-average", moment)
        times = [row[1] for row in daemon.rows("one", f"latency-function-{name}-average") if row[1] == row[1]]
        test.true(f"one: latency of {name}, s", max(times, default=-1) >= 1e-7, times)
        test.figures.within(f"one: latency of {name}, s", max(times, default=-1), 1e-7, 0.1)
    test.equal("two: of one alone", [name for name in daemon.metrics("two") if name.endswith(("-recvfrom", "-sendto"))],
               [])
    test.equal("complaints", [it for it in daemon.complaints() if "functions" in it], [])
    for load in loads.values():
        load.end()


def many(test, path):
    """An argument with more values than there are rows does not use the rows of other functions."""
    daemon = test.collectd(OFF + SERVICES + MANY.format(path), interval=INTERVAL)
    loads = {name: test.load_at(test.program("function", "kt_" + name)) for name in ("one", "two")}
    daemon.wait_rows("self", "duration-read_functions")
    for name, load in loads.items():
        load.say(str(ROUNDS))
        load.result()
        if name == "one":  # its values use the rows first
            value(daemon, "one", "total_operations-function-many-other", time.time())
    moment = time.time()
    for metric in ("none", "few-alpha", "few-be_ta", "few-gamma"):
        rounds = ROUNDS if metric == "none" else ROUNDS // 3
        test.equal(f"beside many values: {metric}", value(daemon, "two", "total_operations-function-" + metric, moment), rounds)
        value(daemon, "two", f"latency-function-{metric}-average", moment)  # must exist
    names = [name for name in daemon.metrics("one") if name.startswith("total_operations-function-many-")]
    test.equal("values with series, and the others", len(names), 51)
    test.equal("calls with all values", sum(value(daemon, "one", name, moment) for name in names), ROUNDS)
    test.equal("told", len([it for it in daemon.log() if 'calls of Function "many"' in it]), 1)
    test.equal("refused", value(daemon, "self", "total_events-refused_functions", moment), 0)
    for load in loads.values():
        load.end()
    test.stop(daemon)


def main():
    with Test(limit=120) as test:
        one, two = test.program("function", "kt_one"), test.program("function", "kt_two")
        daemon = test.collectd(OFF + SERVICES + PROBE.format(one), interval=INTERVAL)
        loads = {"one": test.load_at(one), "two": test.load_at(two)}
        daemon.wait_rows("self", "duration-read_functions")
        truth = {}
        for name, load in loads.items():
            load.say(str(ROUNDS if name == "one" else ROUNDS // 2))
            truth[name] = load.result()
        moment = time.time()
        for name in loads:
            counts(test, daemon, name, moment, truth[name])
            times(test, daemon, name, moment, truth[name])
        test.equal("sum of an argument, of the one service that is wanted",
                   value(daemon, "one", "derive-argument-second", moment), truth["one"]["second"])
        test.equal("of another", [name for name in daemon.metrics("two") if name.endswith("-second")], [])
        value(daemon, "one", "gauge-argument-seventh-average", moment)
        values = {row[1] for row in daemon.rows("one", "gauge-argument-seventh-average")}
        test.true("an argument on the stack", 7.0 in values or 7.5 in values, values)
        test.equal("series of the machine's others", [name for name in daemon.metrics("other") if "function" in name], [])
        if os.uname().machine == "x86_64":
            stepping(test, daemon, one)
        refused = value(daemon, "self", "total_events-refused_functions", moment)
        rounds = (truth["one"]["deep"] + truth["two"]["deep"]) // 20
        test.equal("calls of deep() that were too many at once", refused, 4 * rounds)
        test.equal("complaints", [it for it in daemon.complaints() if "functions" in it], [])
        for name in loads:
            markers(test, daemon, name, moment, truth[name])
        for load in loads.values():
            load.end()
        test.stop(daemon)
        many(test, one)
        kernel(test)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The file of events as ebpf-graph reads it: sorted, alike ones together, whatever else the file has."""

import json
import math
import os
import sys
import tempfile

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import events  # noqa: E402

NOON = 1795800500.0
BROKEN = (b"{", b"null", b"[]", b'"text"', b"7", b"\xff\xfe", b"[" * 4000, b'{"time": ' + b"9" * 4000, b"x" * 100000,
          b'{"time": true, "host": "a", "kind": "k", "severity": "okay"}', b'{"time": NaN, "host": "a", "kind": "k"}',
          b'{"time": 1e999, "host": "a", "kind": "k", "severity": "okay"}', b'{"time": "1", "host": "a", "kind": "k"}',
          b'{"time": 1, "host": ["a"], "kind": "k", "severity": "okay"}', b'{"time": 1, "kind": "k", "severity": "okay"}',
          b'{"time": 1, "host": "a", "severity": "okay"}', b'{"time": 1, "host": "a", "kind": "k", "severity": "bad"}',
          b'{"time": 1, "host": "a", "kind": "k", "severity": "okay", "text": "' + b"x" * 600 + b'"}',
          b'{"time": 1, "host": "a", "kind": "k", "severity": "okay"' + b" " * 4096 + b"}")


def line(time=NOON, service="web", kind="oom_kills", severity="failure", **more):
    members = {"time": time, "host": "db1", "service": service, "kind": kind, "severity": severity, "series": "", "text": "it"}
    return json.dumps(members | more).encode() + b"\n"


def write(path, *lines):
    with open(path, "wb") as file:
        file.write(b"".join(lines))


def texts(path, *span, host="db1"):
    return [(event["service"], event["text"]) for event in events.read(path, *span).get(host, [])]


def test_files(check, path):
    check.equal("no file", events.read(path), {})
    check.equal("no directory", events.read(os.path.join(path, "none")), {})
    write(path + ".1", line(text="first"), line(NOON + 1, "db", text="second"))
    write(path, line(NOON + 3, "a", text="fourth"), line(NOON + 2, "b", text="third"))
    want = [("web", "first"), ("db", "second"), ("b", "third"), ("a", "fourth")]
    check.equal("both files, by time", texts(path), want)
    check.equal("a directory", texts(os.path.dirname(path)), want)
    check.equal("a part of the time", texts(path, NOON + 1, NOON + 2), want[1:3])
    write(path + ".1", line())
    write(path, line())
    check.equal("renamed meanwhile", texts(path), [("web", "it")])
    write(path, line(), line(host="../x", text="other"))
    check.equal("of another host", texts(path, host="../x"), [("web", "other")])
    os.remove(path + ".1")
    os.remove(path)
    os.mkfifo(path)
    check.equal("a pipe", events.read(path), {})
    os.remove(path)


def test_together(check, path):
    write(path, *(line(NOON + second, text=f"at {second}") for second in (0, 30, 60, 61, 200)))
    check.equal("within a minute of the first", texts(path), [("web", "at 0 (3 times)"), ("web", "at 61"), ("web", "at 200")])
    write(path, line(), line(service="db"), line(kind="probe"), line(severity="okay"), line(series="count-x"))
    check.equal("not alike", len(texts(path)), 5)
    write(path, *(line(NOON + 100 * i, text=str(i)) for i in range(2500)))
    check.equal("the last ones", (len(texts(path)), texts(path)[0], texts(path)[-1]), (2000, ("web", "500"), ("web", "2499")))


def test_threshold(check, path):
    def said(kind, instance, value, limit):
        return line(kind="threshold", series=f"{kind}-{instance}", text=(
            f"Host db1, plugin ebpf (instance web) type {kind} (instance {instance}): Data source \"value\" is currently "
            f"{value:f}. That is below the failure threshold of {limit:f}."))
    write(path, said("percent", "slack", 0.010855, 5), said("latency", "in_disk", 2.213575, 0.05),
          said("gauge", "x", math.nan, 100),
          line(NOON + 100, text="Host: is 2.213575", kind="oom_kills"),
          line(NOON + 200, text="other: text", kind="threshold", series="percent-slack"))
    got = [(service, text.replace("\N{NO-BREAK SPACE}", " ")) for service, text in texts(path)]
    check.equal("by series, rounded, with their units", got, [
        ("web", 'percent-slack: Data source "value" is currently 0.01 %. That is below the failure threshold of 5 %.'),
        ("web", 'latency-in_disk: Data source "value" is currently 2.21 s. That is below the failure threshold of 50 ms.'),
        ("web", 'gauge-x: Data source "value" is currently –. That is below the failure threshold of 100.'),
        ("web", "Host: is 2.213575"), ("web", "other: text")])


def test_hostile(check, path):
    notes = []
    write(path, *(broken + b"\n" for broken in BROKEN), line(text="</script>\x1b[31m\u202e\ud800"), line(NOON + 1, "self", "probe"))
    found = events.read(path, notes=notes)
    check.equal("what is left", found, {"db1": [
        {"time": NOON, "service": "web", "kind": "oom_kills", "severity": "failure", "text": "</script>\ufffd[31m\ufffd\ufffd"},
        {"time": NOON + 1, "service": "", "kind": "probe", "severity": "failure", "text": "it"}]})
    check.equal("what was wrong", notes, [f"lines that are not events: {len(BROKEN)}, in {path}, {path}.1"])
    json.dumps(found, ensure_ascii=False).encode()
    with open(path, "ab") as file:
        file.write(b"\0" * (8 << 20))
    check.equal("a file that is too long", len(texts(path)), 2)


def main():
    with Check() as check, tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "events.jsonl")
        test_files(check, path)
        test_together(check, path)
        test_threshold(check, path)
        test_hostile(check, path)


if __name__ == "__main__":
    main()

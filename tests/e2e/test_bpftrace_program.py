#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-bpftrace without bpftrace: what it finds in programs, what it makes of hostile output, and what it says
of mistakes."""

import json
import math
import os
import subprocess
import sys

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
import trace_figure  # noqa: E402
import trace_name  # noqa: E402
import trace_run  # noqa: E402
from trace_program import Program  # noqa: E402

TOOL = os.path.join(TOP, "contrib", "ebpf-bpftrace")
FULL = {f"k{i}": 0 for i in range(4096)}
# What plays bpftrace: it takes the program, and prints what is in the file that it is told.
PLAYER = """#!/bin/sh
mark=$(sed -n 's/.*printf("\\(interval [0-9a-f]*\\).*/\\1/p')
while read -r line; do
	[ "$line" = tick ] && printf '{"type": "printf", "data": "%s\\\\n"}\\n' "$mark" || printf '%s\\n' "$line"
done <"$4"
echo "what is wrong: ERROR: no such probe" >&2
exit 1
"""


def programs(check):
    for text, want in (
            ("k:f { @[comm] = count(); }", {"@": "count"}),
            ("k:f { @a[comm, @b[1]] = hist(1); @b[1]++ }", {"@a": "hist", "@b": "increment"}),
            ('k:f /* @x = sum(1) */ { printf("@y = sum(1)"); } // @z = max(1)', {}),
            ("k:f { @s[tid] = nsecs; } k:g { @m = avg(nsecs - @s[tid]); delete(@s[tid]); }", {"@m": "avg"}),
            ("k:f { @t = elapsed; @n = 0; @n += 2; @g = 5; @d--; ++@u; @c = counted; }",
             {"@n": "increment", "@g": "plain", "@d": "plain", "@u": "increment", "@c": "plain"}),
            ('k:f { @a["]"] = count(); @b["\\"@q"] = stats(1) }', {"@a": "count", "@b": "stats"}),
            ('BEGIN { @states[1] = "a state"; } k:f { @name = /* x */ "b"; @c = 1 }', {"@c": "plain"}),
            ("k:f { @a[ = count(", {})):
        check.equal(f"maps of {text}", {one.name: one.kind for one in Program(text).shown()}, want)
    program = Program('i:s:1 { @a = avg(1); @s = "avg(1)"; @m = max(2); print(@p, 5); clear(@p); @p[1] = count(); }')
    text = program.with_prints(program.shown(), 1500, "mark")
    check.contains("avg", text, '@a = stats(1); @s = "avg(1)";')
    check.equal("the lines that print", text.splitlines()[-1],
                'interval:ms:1500 { @ebpf_bpftrace_proof["\\n"] = 1; print(@ebpf_bpftrace_proof); print(@a); print(@m); clear(@m); '
                'printf("mark\\n"); }')
    ending = Program("k:f { @a = count(); @b[1] = 1; } END { print(@a); if (1) { clear(@a); } } k:g { delete(@b[1]); }")
    check.equal("what is printed at the end alone", [ending.maps["@a"].is_printed, ending.maps["@b"].is_state], [False, True])
    one = program.maps["@p"]
    check.equal("printed, cleared, in part", (one.is_printed, one.is_cleared, one.is_partial), (True, True, True))


def figures(check):
    def after(figure, *prints, **words):
        for name, value in words.items():
            setattr(figure, name, value)
        for rows in prints:
            figure.record(rows)
        return {name: value for _, name, value in figure.tick(10)}

    def make(kind):
        return trace_figure.make(kind, "m", "derive", kind == "count", 1)

    check.equal("a counter that was cleared", after(make("count"), {"a": 5}, {"a": 9}, {"a": 3}), {"m-a": 12})
    check.equal("a counter whose key was gone", after(make("count"), {"a": 5, "b": 1}, {"b": 1}, {"a": 5}),
                {"m-a": 10, "m-b": 1})
    check.equal("prints that start over", after(make("count"), {"a": 5}, {"a": 7}, restarts=True), {"m-a": 12})
    check.equal("prints of a part", after(make("count"), {"a": 5}, {"b": 1}, {"a": 6}, is_partial=True),
                {"m-a": 6, "m-b": 1})
    check.equal("what is no number",
                after(make("count"), {"a": "x", "b": [1], "c": None, "d": True, "e": -1, "f": 1}), {"m-f": 1})
    check.equal("the end of 64 bits", after(make("count"), {"a": 2 ** 63}), {"m-a": 0})
    stats = trace_figure.make("stats", "m", "gauge", False, 1)
    check.equal("stats", after(stats, {None: {"count": 2, "total": 10}}, {None: {"count": 4, "total": 30}}),
                {"m-average": 7.5, "m-count": 4, "m-total": 30})
    check.true("stats without samples", math.isnan(after(stats)["m-average"]))
    hist = trace_figure.make("hist", "m", "gauge", False, 1)
    buckets = [{"max": -1, "count": 1}, {"min": 0, "max": 0, "count": 1}, {"min": 4, "max": 7, "count": 6},
               {"min": 8, "count": 2}]
    check.equal("percentiles", after(hist, {"a": buckets}, percentiles=(5, 20, 50, 100)),
                {"m-a-percentile-5": -1, "m-a-percentile-20": 0, "m-a-percentile-50": 6, "m-a-percentile-100": 8,
                 "m-a-count": 10})
    wrong = [{"min": "x", "count": 1}, {"count": 1}, 7, {"min": 1, "count": -1}]
    check.equal("buckets that are none", after(hist, {"a": wrong}, percentiles=()), {"m-a-count": 10})
    many = after(make("count"), {f"n{i}": 1 for i in range(1000)})
    check.equal("names, and what the others count", (len(many), many["m-other"]), (257, 744))
    gauge = after(trace_figure.make("max", "m", "gauge", False, 1), {f"n{i}": 1 for i in range(1000)})
    check.equal("values as they stand", (len(gauge), "m-other" in gauge), (256, False))
    figure = make("count")
    rows = {"old": 7}
    for i in range(40):
        rows[f"n{i}"] = 1
        figure.record({**rows, **{f"r{i}n{j}": 1 for j in range(20)}})
        last = {name: value for _, name, value in figure.tick(10)}
    check.equal("a name that stays in the map", (len(last), last.get("m-old")), (257, 7))
    figure = make("count")
    for i in range(40):
        figure.record({f"r{i}n{j}": 1 for j in range(20)})
        last = figure.tick(10)
    check.equal("names that come and go", (len(last), any(name == "m-r39n5" for _, name, _ in last)), (257, True))


def names(check):
    for key, want in (("a-b/c d,e", "a_b_c_d-e"), ("", "none"), ("..", "_."), ("x" * 100, "x" * 63),
                      ("\u00e4" * 70, "_" * 63), ("a;b=c{}", "a_b_c__"), ("\udcff\x00\x9b", "___"), (",bash", "none-bash"), ("\n,bash", "none-bash"),
                      ("\n    f+12\n    main+5\n,bash", "f-bash"),
                      ("bash,\n    g(int, char)+0x1f\n", "bash-g_int__char_")):
        check.equal(f"name of {key!r}", trace_name.of_key(key), want)


def lines(check):
    for rows, want in ((rb'{"a\uffffffc3\uffffffa4": 1}', {"a\u00e4": 1}),
                       (rb'{"\\uffffffc3": 1, "x": 1, "x": 2}', {"\\uffffffc3": 1, "x": 3})):
        check.equal(f"{rows}", trace_run.parse(b'{"type": "map", "data": ' + rows + b"}")["data"], want)
    check.equal("keys that are escaped twice",
                trace_run.unescape_keys({r"a\nb\\": 1, r'\"': 2, r"\uffffffc3\uffffffa4\uffffffff": 3, '"': 4, r"\ud800\x": 5}),
                {"a\nb\\": 1, '"': 6, "\u00e4\udcff": 3, r"\ud800\x": 5})
    for line in (b"", b"[]", b"{", b"[" * 100000, b'{"a": NaN', b"\xff\xfe"):
        check.equal(f"no event: {line[:20]}", trace_run.parse(line), None)


def run(check, *arguments):
    return subprocess.run([TOOL, "--host", "h", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=60)


def played(check):
    """With all that bpftrace could say, and its end."""
    player, said = (os.path.join(check.dir, name) for name in ("player", "said"))
    with open(player, "w", encoding="ascii") as file:
        file.write(PLAYER)
    os.chmod(player, 0o755)
    # It refers to the file by the third word behind "-f json -".
    events = ['{"type": "map", "data": {"@": {"a": 1, "\\t": 2, "b\\" interval=1 1:1\\nPUTVAL x": 3}}}', "no JSON",
              '{"type": "map", "data": {"@": [1, 2]}}', '{"type": "map", "data": 5}', '{"type": 7}',
              '{"type": "stats", "data": {"@": {"a": {}}}}', '{"type": "lost_events", "data": {"events": 4}}',
              '{"type": "map", "data": {"@nobody": {"a": 1}}}',
              '{"type": "map", "data": {"@ebpf_bpftrace_proof": {"\\\\n": 1}}}',
              '{"type": "map", "data": {"@": {"c\\\\nd": 5}}}', "tick", json.dumps({"type": "map", "data": {"@": FULL}})]
    with open(said, "w", encoding="ascii") as file:
        file.write("\n".join(events) + "\n")
    command = [TOOL, "--host", "h", "--name", "n", "--bpftrace", player, "-e", "k:f { @[comm] = count(); }", said]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        full, printed = process.stderr.readline(), process.stderr.readline()
        process.terminate()
        output = process.communicate(timeout=60)[0].splitlines()
        check.equal("exit status after SIGTERM", process.returncode, 143)
    check.contains("a full map", full, "n: @ has 4096 keys, and bpftrace keeps no more")
    check.contains("why bpftrace has ended", printed,
                   "n: bpftrace has ended: what is wrong: ERROR: no such probe; starting it again in 10 s")
    check.equal("lines that are no values",
                [line for line in output if not line.startswith('PUTVAL "h/bpftrace-n/')], [])
    values = {line.split('"h/bpftrace-n/')[1].rpartition(" interval=10 ")[0]: line.rpartition(":")[2] for line in output}
    check.equal("values", values, {'total_events-lost"': "4", 'total_events-starts"': "1", 'derive-a"': "1", 'derive-_"': "2",
                                   'derive-b__interval_1_1:1_PUTVAL_x"': "3", 'derive-c_d"': "5"})


def without_bpftrace(check):
    """It may be installed later."""
    command = [TOOL, "--host", "h", "--name", "n", "--bpftrace", "/nonexistent", "-e", "k:f { @[comm] = count(); }"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as process:
        printed = process.stderr.readline()
        process.terminate()
    check.equal("no bpftrace", printed, "ebpf-bpftrace: n: cannot start /nonexistent: No such file or directory; --bpftrace names "
                "another; starting it again in 10 s\n")


def mistakes(check):
    count, hist = (("--name", "n", "-e", f"k:f {{ @a = {kind}; }}") for kind in ("count()", "hist(1)"))
    for arguments, want in (((), "name a program: FILE, or -e PROGRAM"), (("-e", "x"), "-e PROGRAM needs --name"),
                            (("/nonexistent.bt",), "/nonexistent.bt: No such file or directory"),
                            (("/dev/zero",), "not a bpftrace program: longer than 1048576 bytes"),
                            ((*count, "--map", "@b"), "has no map @b; it has: @a"),
                            ((*count, "--type", "@a=nothing"), "has no type nothing with one value"),
                            ((*count, "--type", "@a=if_octets"), "has no type if_octets with one value"),
                            ((*hist, "--type", "@a=derive"), "choose the type of a gauge"),
                            ((*hist, "--scale", "@b=2"), "@b of --type or --scale is not a map with series; these are: @a"),
                            ((*hist, "--scale", "@a=-2"), "is not MAP=FACTOR"),
                            (("--interval", "0", "x"), "is not a number of seconds from")):
        done = run(check, *arguments)
        check.true(f"{arguments}: exit status", done.returncode in (1, 2), done.returncode)
        check.contains(f"{arguments}: says", done.stderr, want)


with Check() as check:
    programs(check)
    figures(check)
    names(check)
    lines(check)
    played(check)
    without_bpftrace(check)
    mistakes(check)

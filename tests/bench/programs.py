# SPDX-License-Identifier: MIT
"""The BPF programs that a process holds, and what the kernel's run statistics say of them."""

import contextlib
import json
import os
import subprocess

RUN_STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"


def programs_of(pid):
    """Ids of the BPF programs that a process holds."""
    found = set()
    for info in os.scandir(f"/proc/{pid}/fdinfo"):
        with open(info.path, encoding="ascii") as file:
            found |= {int(line.split()[1]) for line in file if line.startswith("prog_id:")}
    return found


def _shown(ids):
    out = subprocess.run([os.environ.get("BPFTOOL") or "bpftool", "-j", "prog", "show"], capture_output=True, text=True,
                         check=True).stdout
    return [program for program in json.loads(out) if program["id"] in ids]


def run_counts(ids):
    """{program: (runs, nanoseconds)}"""
    return {shown["name"]: (shown.get("run_cnt", 0), shown.get("run_time_ns", 0)) for shown in _shown(ids)}


def run_total(ids):
    """(runs, nanoseconds) of all of them."""
    shown = _shown(ids)
    return sum(program.get("run_cnt", 0) for program in shown), sum(program.get("run_time_ns", 0) for program in shown)


def _write(text):
    with open(RUN_STATISTICS, "w", encoding="ascii") as file:
        file.write(text)


@contextlib.contextmanager
def statistics_on():
    with open(RUN_STATISTICS, encoding="ascii") as file:
        was = file.read()
    try:
        _write("1")
        yield
    finally:
        _write(was)

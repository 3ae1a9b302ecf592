# SPDX-License-Identifier: MIT
"""The BPF programs that a process holds, and what the kernel's run statistics say of them."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernel"))
import bpf_objects


def programs_of(pid):
    """Ids of the BPF programs that a process holds."""
    return bpf_objects.numbers("prog", pid)


def run_counts(ids):
    """{program: (runs, nanoseconds)}"""
    return {shown["name"]: (shown.get("run_cnt", 0), shown.get("run_time_ns", 0)) for shown in bpf_objects.show("prog", ids)}


def run_total(ids):
    """(runs, nanoseconds) of all of them."""
    shown = bpf_objects.show("prog", ids)
    return sum(program.get("run_cnt", 0) for program in shown), sum(program.get("run_time_ns", 0) for program in shown)

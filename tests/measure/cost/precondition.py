# SPDX-License-Identifier: MIT
"""Whether something can be measured here, and an end to it."""

import os
import shutil
import signal

SKIPPED = 77


def run_statistics():
    """Whether somebody has them on for the whole machine."""
    with open("/proc/sys/kernel/bpf_stats_enabled", encoding="ascii") as file:
        return file.read().strip() != "0"


def reason_to_skip(*programs):
    if os.geteuid() != 0:
        return "needs root: it loads BPF programs and starts collectd"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
    if run_statistics():
        return "the kernel's run statistics are on, which each program pays for: sysctl kernel.bpf_stats_enabled=0"
    missing = [program for program in programs if not shutil.which(program)]
    return f"not installed: {' '.join(missing)}" if missing else None


def end_after(seconds):
    def stop(signum, _frame):
        raise KeyboardInterrupt(signal.Signals(signum).name)

    for signum in (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, stop)
    signal.alarm(seconds)

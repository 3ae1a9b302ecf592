#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/writing-a-probe.md to the letter: its files and its commands, in an empty directory, with what `make install` puts
below /usr and nothing of the source. Truth: the signals that its commands send, and what the page says is to be seen.
And the probe in ten lines of collectd-ebpf-objects(7): it counts the programs that these commands run."""

import os
import re
import shutil
import subprocess

import follow
from e2e import TOP, Skip

import lib
from lib import Test

PAGE = "writing-a-probe.md"
END = "## Adding a probe to this repository"  # of the example
MANUAL = os.path.join(TOP, "docs", "collectd-ebpf-objects.pod")
# Rather than for so many seconds, its commands wait until SIGUSR1 is not pending, or for two readings, which are not as
# far apart as on the page.
WAIT = """
lines() { cat csv/here/ebpf-victim/ps_count-* 2>/dev/null | wc -l; }
sleep() {
    case $1 in
    0.*) while grep -q '^ShdPnd:.*[2367abef]..$' /proc/$victim/status; do command sleep 0.01; done ;;
    *) enough=$(($(lines) + 3)) && while [ $(lines) -lt $enough ]; do command sleep 0.1; done ;;
    esac
}
"""
SUBSTITUTIONS = {"Interval 2": "Interval 0.5"}
OBJECTS = "/usr/lib/collectd/ebpf"
FILE = re.compile(r"Write\s+`([a-z.]+)`:\s*$")
# The time and the day, which are others.
MOMENT = re.compile(r"\b\d{10}\.\d{3}\b|\b\d{4}-\d\d-\d\d\b")


def read_page(directory):
    """[(commands, what is to be seen or None), ...] of the page's example; its files go into the directory, from where a
    command fetches each when it is its turn."""
    blocks = [block for block in follow.read(PAGE) if END not in block[2]]
    return follow.steps(follow.with_files(blocks, FILE, directory, SUBSTITUTIONS.items() if lib.SLOWNESS < 2 else ()))


def add_ten_lines(steps, directory):
    """The probe of the manual: compiled after the page's, as the page says, and installed."""
    with open(MANUAL, encoding="utf-8") as file:
        example = file.read().partition("=head1 A SHORT PROBE\n\n")[2]
    path = os.path.join(directory, "ten.bpf.c")
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.match(r"(?:  .*\n|\n)*", example).group())
    at, compiles = next((at, commands) for at, (commands, _) in enumerate(steps) if commands.startswith("clang"))
    steps.insert(at + 1, (f"cp {path} .\n{compiles.replace('signals', 'ten')}cp ten.bpf.o {OBJECTS}\n", None))
    steps.append(("tail -qn 1 csv/here/*/total_events-programs_run-*\n", None))


def install(test):
    """What is below /usr, with the installed plugin on top, for who sees these mounts."""
    root, upper = os.path.join(test.disk, "root"), test.mkdir("upper")
    subprocess.run(["make", "-s", "-C", lib.BUILD, "install", f"DESTDIR={root}", "prefix=/usr", "libdir=/usr/lib"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    objects = subprocess.run(["make", "-s", "-C", lib.BUILD, "print-objectdir"], check=True, capture_output=True,
                             text=True).stdout.strip()
    # Where this build looks for objects.
    other = [] if objects == OBJECTS else [f"mkdir -p {objects}", f"mount --bind {OBJECTS} {objects}"]
    return lib.in_mounts(f"mount -t tmpfs none {upper}", f"mkdir {upper}/up {upper}/work",
                         f"mount -t overlay -o lowerdir={root}/usr:/usr,upperdir={upper}/up,workdir={upper}/work none /usr",
                         *other, "mount -t tmpfs none /tmp")


def main():
    with Test(limit=180) as test:
        if not shutil.which("clang"):
            raise Skip("clang is not installed")
        steps = read_page(test.mkdir("files"))
        test.equal("files of the page", sorted(os.listdir(test.mkdir("files"))), ["collectd.conf", "signals.bpf.c"])
        test.within("its steps", len(steps), 8, 12)
        add_ten_lines(steps, test.mkdir("files"))
        mark = "--- the next step"
        script = WAIT + "".join(f"{commands}\necho '{mark}'\n" for commands, _ in steps)
        environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}
        done = subprocess.run([*install(test), "sh", "-c", script], cwd="/", env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, timeout=150 * lib.SLOWNESS)
        test.equal("complaints of the commands", done.stderr, "")
        test.equal("exit status of the last command", done.returncode, 0)
        said = done.stdout.split(mark + "\n")
        test.equal("steps that were taken", len(said) - 1, len(steps))
        for (commands, want), got in zip(steps, said):
            if want is not None:
                test.equal("what is to be seen behind " + commands.strip().partition("\n")[0],
                           MOMENT.sub("TIME", got), MOMENT.sub("TIME", want))
        test.within("programs that all services have run",
                    sum(float(line.partition(",")[2]) for line in said[len(steps) - 1].split()), 1, 1e6)
        test.equal("in the machine's own directory", os.path.exists(os.path.join(OBJECTS, "signals.bpf.o")), False)


if __name__ == "__main__":
    main()

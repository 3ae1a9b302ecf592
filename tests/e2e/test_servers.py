#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "servers" of `make measure`: of a server that is installed, as many requests are counted as its client has sent, and
one that is not is on the page all the same."""

import json
import os
import shutil
import subprocess

from e2e import SKIPPED, TOP, Check, Skip

COUNTED, ABSENT = "memcached", ("nginx", "redis", "exim", "go", "postgresql")


def measure(check, name, servers, **environment):
    """(rows, lines of the page)"""
    rows, pages = os.path.join(check.dir, f"{name}.rows"), os.path.join(check.dir, name)
    program = os.path.join(TOP, "tests", "measure", "servers", "run")
    done = subprocess.run([shutil.which("python3"), program, "--short", *servers], capture_output=True, text=True, check=False,
                          env={**os.environ, "MEASURE_ROWS": rows, "MEASURE_PAGES": pages, **environment})
    print(done.stdout + done.stderr)
    if done.returncode == SKIPPED:
        raise Skip(done.stdout.strip().rpartition("skip: ")[2])
    check.equal(f"{name}: exit status", done.returncode, 0)
    with open(rows, encoding="utf-8") as file:
        found = {row["what"]: row for row in map(json.loads, file)}
    with open(os.path.join(pages, "measured", "servers.md"), encoding="utf-8") as file:
        return found, [line for line in file.read().splitlines() if line.startswith("| ")][2:]


def check_counted(check):
    rows, lines = measure(check, "counted", [COUNTED])
    check.equal("lines of the page", len(lines), 1)
    row = rows[f"{COUNTED}: counted"]
    if "not installed" in row["got"]:
        check.left_out("counts of a server", row["got"])
        return
    check.equal("verdict on its count", row["verdict"], "met")
    check.true("requests were sent", int(row["wanted"].replace(",", "")) > 100, row["wanted"])


def check_absent(check):
    tools = os.path.join(check.dir, "bin")
    os.makedirs(tools)
    os.symlink(shutil.which("setpriv"), os.path.join(tools, "setpriv"))
    daemon = shutil.which(os.environ.get("COLLECTD") or "collectd") or "collectd"
    os.symlink(daemon, os.path.join(tools, "collectd"))
    rows, lines = measure(check, "absent", ABSENT, PATH=tools, COLLECTD=daemon)
    check.equal("rows of those that are not installed", sorted(rows), sorted(f"{name}: counted" for name in ABSENT))
    check.equal("what these say", [row["got"].split(" (")[0] for row in rows.values()], ["not installed"] * len(ABSENT))
    check.equal("lines of the page that say so", sum("not installed" in line for line in lines), len(ABSENT))


def main():
    with Check() as check:
        check_absent(check)
        check_counted(check)


main()

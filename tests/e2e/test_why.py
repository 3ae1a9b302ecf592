#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The short form of `make why`: of two broken services the largest part of a request's time is the cause."""

import os
import subprocess

from e2e import SKIPPED, TOP, Check, Skip

CASES = ("mariadb-row-lock", "python-nagle")


def check_report(check, results):
    with open(os.path.join(results, "why-slow.md"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    pictures = [line.split("(")[1].rstrip(")") for line in lines if line.startswith("![")]
    check.equal("pictures of the report", len(pictures), len(CASES))
    check.equal("of these missing or too large for a document",
                [path for path in pictures if not 3000 < os.path.getsize(os.path.join(results, path)) < 150000], [])


def main():
    with Check() as check:
        results = os.path.join(check.dir, "why")
        program = os.path.join(TOP, "tests", "measure", "faults", "run")
        run = subprocess.run([program, "--seconds", "12", "--results", results, *CASES], capture_output=True, text=True,
                             check=False)
        print(run.stdout + run.stderr)
        if run.returncode == SKIPPED or "left out" in run.stdout:
            raise Skip(run.stdout.strip().rpartition("skip: ")[2])
        check.equal("status of the short form", run.returncode, 0)
        check.equal("causes named", run.stdout.count("ok      "), len(CASES))
        check_report(check, results)


main()

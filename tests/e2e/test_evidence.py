#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The short form of `make evidence`: what RRD files say of redis, and of a service that keeps a log of its own, against
what their clients and the service have counted."""

import os
import subprocess

from e2e import SKIPPED, TOP, Check, Skip

SERVICES = ("redis", "inference")


def check_report(check, results):
    with open(os.path.join(results, "evidence.md"), encoding="utf-8") as file:
        report = file.read()
    pictures = [line.split("(")[1].rstrip(")") for line in report.splitlines() if line.startswith("![")]
    check.equal("pictures of the report", len(pictures), 2 * len(SERVICES))
    check.equal("of these missing or too large for a document",
                [path for path in pictures if not 3000 < os.path.getsize(os.path.join(results, path)) < 150000], [])


def main():
    with Check() as check:
        results = os.path.join(check.dir, "evidence")
        program = os.path.join(TOP, "tests", "measure", "accuracy", "run")
        run = subprocess.run([program, "--short", "--arrivals", "poisson", "--results", results, *SERVICES],
                             capture_output=True, text=True, check=False)
        print(run.stdout + run.stderr)
        if run.returncode == SKIPPED:
            raise Skip(run.stdout.strip().rpartition("skip: ")[2])
        check.equal("status of the short evidence", run.returncode, 0)
        for word in ("exchanges are requests", "R² of exchanges"):
            check.equal(f"verdicts on '{word}'", run.stdout.count(f"ok      {word}"), len(SERVICES))
        check.equal("verdicts on bytes", run.stdout.count("ok      exchanges and bytes"), 3)
        check_report(check, results)


main()

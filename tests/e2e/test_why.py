#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of two services that are broken, the largest part of a request's time is the cause, and a page with a picture says so."""

import json
import os
import subprocess

from e2e import SKIPPED, TOP, Check, Skip

CASES = ("mariadb-row-lock", "python-nagle")


def measure(rows, pages):
    program = os.path.join(TOP, "tests", "measure", "faults", "run")
    done = subprocess.run([program, "--seconds", "12", *CASES], capture_output=True, text=True, check=False,
                          env={**os.environ, "MEASURE_ROWS": rows, "MEASURE_PAGES": pages})
    print(done.stdout + done.stderr)
    if done.returncode == SKIPPED or "left out" in done.stdout:
        raise Skip(done.stdout.strip().rpartition("skip: ")[2])
    return done.returncode


def check_rows(check, path):
    with open(path, encoding="utf-8") as file:
        causes = [row for row in map(json.loads, file) if row["what"].endswith(": largest part")]
    check.equal("causes that are named", [row["verdict"] for row in causes], ["met"] * len(CASES))


def check_page(check, pages):
    with open(os.path.join(pages, "measured", "why-slow.md"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    pictures = [line.split("(")[1].rstrip(")") for line in lines if line.startswith("![")]
    check.equal("pictures of the page", len(pictures), len(CASES))
    check.equal("of these missing or too large for a document",
                [path for path in pictures if not 3000 < os.path.getsize(os.path.join(pages, "measured", path)) < 150000], [])


def main():
    with Check() as check:
        rows, pages = os.path.join(check.dir, "rows"), os.path.join(check.dir, "pages")
        check.equal("exit status", measure(rows, pages), 0)
        check_rows(check, rows)
        check_page(check, pages)


main()

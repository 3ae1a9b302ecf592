#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The short form of `make measure PARTS=evidence`: what RRD files say of redis, and of a service that keeps a log of its own,
against what their clients and the service have counted."""

import json
import os
import subprocess

from e2e import SKIPPED, TOP, Check, Skip

EXACT = ("exchanges, of the client's requests: largest error of a level", "exchanges, against the client's rate: least R²",
         "exchanges and bytes are those of the service's own log: levels")


def check_rows(check, path):
    with open(path, encoding="utf-8") as file:
        rows = {row["what"]: row for row in map(json.loads, file)}
    check.equal("verdicts on what is counted", {what: rows[what]["verdict"] for what in EXACT}, dict.fromkeys(EXACT, "met"))
    check.equal("levels of the service with a log", rows[EXACT[-1]]["got"], "3 of 3")
    check.equal("services measured", rows["services measured"]["got"].split()[0], "2")


def check_page(check, pages):
    with open(os.path.join(pages, "measured", "evidence.md"), encoding="utf-8") as file:
        page = file.read()
    pictures = [line.split("(")[1].rstrip(")") for line in page.splitlines() if line.startswith("![")]
    check.equal("pictures of the page", len(pictures), 4)
    check.equal("of these missing or too large for a document",
                [path for path in pictures if not 3000 < os.path.getsize(os.path.join(pages, "measured", path)) < 150000], [])
    with open(os.path.join(pages, "measured", "evidence-levels.csv"), encoding="utf-8") as file:
        levels = [line.split(",") for line in file.read().splitlines()[1:]]
    check.equal("levels in the file", len(levels), 6)
    check.equal("of these without what was answered", [level for level in levels if not int(level[6]) > 0], [])


def main():
    with Check() as check:
        rows, pages = os.path.join(check.dir, "rows"), os.path.join(check.dir, "docs")
        run = subprocess.run([os.path.join(TOP, "tests", "measure", "accuracy", "run"), "--short", "--all-pictures"],
                             env={**os.environ, "MEASURE_ROWS": rows, "MEASURE_PAGES": pages},
                             capture_output=True, text=True, check=False)
        print(run.stdout + run.stderr)
        if run.returncode == SKIPPED:
            raise Skip(run.stdout.strip().rpartition("skip: ")[2])
        check.equal("status of the short evidence", run.returncode, 0)
        check_rows(check, rows)
        check_page(check, pages)


main()

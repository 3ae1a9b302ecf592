#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One quantity has one value on all pages of ebpf-graph: in the sentences of the triage, in its tables, in the table of all
services and in the legends of the graphs. And `other`, which is nobody, is never named as the cause."""

import itertools
import os
import shutil
import sys
import time

from browser import browse
from e2e import TOP, Check, Markup, check_output, draw
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import live  # noqa: E402
import triage  # noqa: E402
from unit import NBSP  # noqa: E402

END, SPAN = int(time.time()), 420
# [title, label, average] of each curve.
WALK = """async function look(page) {
  const found = [], until = async is_done => { while (!is_done()) await new Promise(done => setTimeout(done, 20)); };
  await until(() => page.querySelector("figure"));
  for (const figure of page.querySelectorAll("figure")) {
    const rows = [...figure.querySelectorAll(".legend tbody tr")];
    const title = figure.querySelector("figcaption span").firstChild.textContent;
    figure.scrollIntoView();
    await until(() => rows.every(row => row.cells[2].textContent));
    found.push(...rows.map(row => [title, row.querySelector(".name").textContent, row.cells[2].textContent]));
  }
  return found;
}"""


def plain(text):
    return text.replace(NBSP, " ")


def make(directory):
    """`true` is there for a third of the time, in which 840 a second start; its shell forks them all."""
    tree = Tree(directory, END, SPAN)
    steps = SPAN // tree.step + 1
    there = steps // 3 * tree.step      # with a step for the first value of a counter
    for service, until in (("shell", 0), ("true", SPAN - there), ("other", 0)):
        tree.file("h", service, "ps_cputime", 250000, 250000, until=until)
        tree.file("h", service, "ps_count", 1, 1, until=until)
    tree.file("h", "shell", "fork_rate", 280)
    tree.file("h", "true", "fork_rate", 0, until=SPAN - there)
    tree.file("h", "other", "fork_rate", 420)
    tree.file("h", "calm", "fork_rate", 0)
    tree.file("h", "calm", "total_events-processes_started", 1)
    tree.file("h", "other", "total_events-exits_failed", 5)
    tree.file("h", "shell", "total_events-exits_failed", 2)
    tree.file("h", "true", "total_events-processes_started", 840, until=SPAN - there)
    tree.file("h", "other", "total_events-processes_started", 70)
    tree.file("h", "shell", "disk_octets-submitted", 0, 2 << 20)
    tree.file("h", "true", "disk_octets-submitted", 0, 3 << 20, until=SPAN - there)
    tree.file("h", "other", "disk_octets-submitted", 0, 6 << 20)
    return there / SPAN


def legends(check, output, want):
    """want: title of a graph and label of a curve -> average"""
    if not shutil.which("chromium"):
        print("chromium is not installed: legends are not tested")
        return
    seen = browse(check.dir, WALK, [f"file://{output}/{name}.html" for name in ("index", "hosts/h", "services/h/true")], [1280])
    found = {(title, label): plain(average) for title, label, average in itertools.chain(*seen)}
    check.equal("averages in legends", {of: found.get(of) for of in want}, want)


def test_pages(check):
    directory, output = os.path.join(check.dir, "rrd"), os.path.join(check.dir, "pages")
    part = make(directory)
    done = draw(directory, output, "--start", str(END - SPAN), "--end", str(END))
    check.equal("exit status and complaints", (done.returncode, done.stderr), (0, ""))
    pages = check_output(check, output)
    table, finding = pages.texts("h")
    processes = finding["processes"].table
    started = table["true"]["started"]
    check.within("starts a second of true, of all the time", float(started), 840 * part * 0.9, 840 * part * 1.1)
    check.equal("in the table of the triage", processes["true"]["started"], started)
    check.equal("CPU in both tables", finding["run_queue"].table["true"]["CPU"], table["true"]["CPU"])
    said = {layer: one.text for layer, one in finding.items()}
    check.contains("who fails, though other fails more", said["processes"],
                   "shell has most failures, 2 a second, in addition to 5 of other")
    check.equal("of those without forks, who starts most is first", list(processes), ["other", "shell", "true", "calm"])
    check.equal("the sentence has the forks of the table", said["processes"].partition(",")[0],
                f"shell forks {processes['shell']['forks']} processes a second")
    submitted = finding["disk"].table
    check.equal("who did it, by the value and share of the table", said["disk"].partition(" of all")[0],
                f"shell submits {submitted['shell']['submitted']}, {submitted['shell']['share']}")
    check.contains("and the rest", said["disk"], f"{submitted['other']['share']} is other (what has no series of its own")
    summary = pages.host("h").members["spans"]["span"]["summary"]
    check.equal("sentences that are not on both pages", [layer for layer, source in summary.items()
                                                         if Markup(source).text not in said[layer]], [])
    legends(check, output, {("Processes started by service", "true"): started, ("Processes started and ended", "started"): started,
                            ("Runnable threads by service", "true"): finding["run_queue"].table["true"]["runnable"],
                            ("Processes forked by service", "shell"): processes["shell"]["forks"],
                            ("Processes forked by service", "other"): processes["other"]["forks"]})
    check.contains("what is counted", said["processes"], "A fork counts for the service that makes a process")


def test_nobody(check):
    """Nothing but `other` and the kernel's writing does anything."""
    submitted = {("disk_octets-submitted", "write"): 9.0 * 2 ** 20, ("ps_count", "processes"): 1}
    written = {("disk_octets-submitted-writeback", "write"): 20.0 * 2 ** 20}
    for extra, share, who in (({}, "100 %", "other (what has no series"), ({"disk": written}, "69 %", "writeback (the kernel's writing")):
        found = live.findings(live.rows({("h", name): of for name, of in {"other": submitted, **extra}.items()}))["h"]
        disk = next(finding for finding in found if finding.layer.name == "disk")
        check.contains("whose it is", plain(disk.sentence()), f"{share} is {who}")
        check.equal("nobody is to blame", disk.json()["blame"], None)
        check.true("it is in the table", "other" in [subject.name for subject, _ in disk.tables[0].rows])
    idle = triage.inspect(live.rows({("h", "other"): {("disk_octets-submitted", "write"): 0.0, ("ps_count", "processes"): 1}}))
    check.equal("nothing of anybody", [plain(one.sentence()) for one in idle if one.layer.name == "disk"], ["nothing is read or written"])


with Check() as checks:
    test_pages(checks)
    test_nobody(checks)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Flame graphs of ebpf-graph: bars of files of folded stacks as wide as their samples, the difference of two times, and
what a press, a search and keys do in a real browser, as wide as a telephone and as a desktop.

Truth: the counts that were written.
"""

import os
import re
import shutil
import subprocess
import sys
import time

from browser import browse
from e2e import TOP, Check, Output, Skip
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import flame  # noqa: E402
import stacks  # noqa: E402

HOST, SERVICE = "host", "web"
WIDTHS = (360, 1280)
MARKUP = "<b>&\"'{name}</b>"
# main 100: parse 30 (scan 10), write 60 (vfs_write_[k] 60, of it tcp_[k] 20), what has markup 10.
FOLDED = f"""main;parse 20
main;parse;scan 10
main;write;vfs_write_[k] 40
main;write;vfs_write_[k];tcp_[k] 20
main;{MARKUP} 10
"""
HOSTILE = ["no count", " 5", "a;b -1", "a;b 1.5", "a;b 9999999999999999", "a;b \u0665", ""]
SCRIPT = r"""async function look(page) {
  while (!page.querySelector("figure.flame button:disabled"))
    await new Promise(done => setTimeout(done, 20));
  const one = {}, figure = page.querySelector("figure.flame"), bars = [...figure.querySelectorAll(".bar")];
  const named = name => bars.find(bar => bar.querySelector("text").textContent === name);
  const places = () => Object.fromEntries(bars.filter(bar => bar.style.display !== "none").map(
    bar => [bar.querySelector("text").textContent, [bar.getAttribute("x"), bar.getAttribute("width")].map(parseFloat)]));
  const key = name => page.activeElement.dispatchEvent(new page.defaultView.KeyboardEvent("keydown", {key: name, bubbles: true}));
  const focused = () => page.activeElement.querySelector("text")?.textContent ?? page.activeElement.type;
  const search = figure.querySelector("input");
  one.hidden = page.documentElement.scrollWidth - page.documentElement.clientWidth;
  one.whole = places();
  one.pixels = named("parse").querySelector("rect").getBoundingClientRect().width / bars[0].getBoundingClientRect().width;
  named("write").dispatchEvent(new page.defaultView.MouseEvent("click", {bubbles: true}));
  one.write = places();
  one.path = [focused()];
  for (const name of ["ArrowDown", "ArrowDown", "ArrowUp", "Escape", "ArrowDown", "ArrowDown", "ArrowLeft"]) {
    key(name);
    one.path.push(focused());
  }
  one.escaped = places();
  key("Enter");
  one.parse = Object.keys(places());
  figure.querySelector("button").click();
  search.value = "_[K]";
  search.oninput();
  one.found = figure.querySelector("output").textContent;
  one.marked = figure.querySelectorAll(".found").length;
  bars[0].focus();
  key("/");
  one.slash = focused();
  one.markup = page.querySelectorAll("figure.flame b").length;
  return one;
}
"""


def write(directory, moment, text, service=SERVICE, view="cpu"):
    path = os.path.join(directory, f"{service}-{view}-{time.strftime('%Y%m%d-%H', time.localtime(moment))}.folded")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def draw(check, *options):
    """(the page, the HTML of its flame graphs)"""
    output = os.path.join(check.dir, "pages")
    subprocess.run([os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", os.path.join(check.dir, "rrd"), "--output", output,
                    "--span", "hour", "--stacks", os.path.join(check.dir, "stacks"), *options],
                   check=True, stdout=subprocess.DEVNULL)
    flames = Output(output).service(HOST, SERVICE, "hour").members["flames"]
    return os.path.join(output, "services", HOST, SERVICE + ".html"), flames["hour"]


def lines(check):
    """What is no line costs itself alone."""
    root = stacks.Stack("all")
    taken = [line for line in HOSTILE if stacks.add(root, line, False)]
    check.equal("lines without frames or a count", (taken, root.samples), ([], 0))
    deep = ";".join(f"f{number}" for number in range(10000)) + " 1"
    check.true("a deep stack is a line", stacks.add(root, deep, False), deep[:20])
    check.true("so is a long name", stacks.add(root, "n" * 100000 + " 2", False), "n")
    check.equal("how deep it is drawn", max(depth for depth, _, _ in flame.bars(root)), flame.DEPTH - 1)
    check.within("the longest name", max(len(stack.name) for _, _, stack in flame.bars(root)), 1, stacks.NAME)
    check.equal("without samples there is no picture", flame.html(stacks.Stack("all"), "t", ""), "")


def files(check, directory, now):
    """A file of each hour, and what is none."""
    write(directory, now - 7200, FOLDED)
    for other in ("web-cpu-20261301-00.folded", "web.folded", ".folded", "web-cpu-2026112300.folded", "web-CPU-20261123-00.folded"):
        write(directory, now, "")
        os.rename(write(directory, now, "a 1\n", "other"), os.path.join(directory, other))
    os.mkfifo(os.path.join(directory, "fifo-cpu-20260101-00.folded"))
    found = stacks.find(directory)
    check.equal("services with files", sorted(found), ["fifo", SERVICE])
    check.equal("files of the last hour", len(stacks.within(found[SERVICE]["cpu"], now - 60, now)), 1)
    check.equal("files of three hours", len(stacks.within(found[SERVICE]["cpu"], now - 7200, now)), 2)
    check.equal("lines of a FIFO", stacks.read(stacks.Stack("all"), stacks.within(found["fifo"]["cpu"], 0, now)), 0)


def near(check, what, got, want):
    check.equal(f"{what}: names", sorted(got), sorted(want))
    for name, (begin, width) in want.items():
        check.within(f"{what}: {name}: begin, %", got.get(name, (-1, -1))[0], begin - 0.01, begin + 0.01)
        check.within(f"{what}: {name}: width, %", got.get(name, (-1, -1))[1], width - 0.01, width + 0.01)


def responses(check, seen):
    check.equal("pages seen", len(seen), len(WIDTHS))
    for width, one in zip(WIDTHS, seen):
        what = f"{width} px"
        check.equal(f"{what}: pixels that stick out", one["hidden"], 0)
        # In the order of their names.
        whole = {"all": (0, 100), "main": (0, 100), MARKUP: (0, 10), "parse": (10, 30), "scan": (10, 10), "write": (40, 60),
                 "vfs_write_[k]": (40, 60), "tcp_[k]": (40, 20)}
        near(check, f"{what}: whole", one["whole"], whole)
        near(check, f"{what}: after Escape", one["escaped"], whole)
        check.within(f"{what}: share of a bar in pixels", one["pixels"], 0.28, 0.32)
        near(check, f"{what}: write", one["write"], {"all": (0, 100), "main": (0, 100), "write": (0, 100),
                                                     "vfs_write_[k]": (0, 100), "tcp_[k]": (0, 100 / 3)})
        check.equal(f"{what}: by keys", one["path"], ["write", "vfs_write_[k]", "tcp_[k]", "vfs_write_[k]", "all", "main",
                                                      "write", "parse"])
        check.equal(f"{what}: Enter on parse", sorted(one["parse"]), ["all", "main", "parse", "scan"])
        check.equal(f"{what}: search", (one["found"], one["marked"], one["slash"]), ("60.0 % in 2 of 8", 2, "search"))
        check.equal(f"{what}: elements that a name has made", one["markup"], 0)


def difference(check, directory, now):
    """Against two hours ago: parse had a larger share, write a smaller one."""
    write(directory, now - 7200, FOLDED.replace("parse 20", "parse 50").replace("scan 10", "scan 40\nmain;gone 60"))
    _, page = draw(check, "--before", str(int(now) - 7200))
    first = page.split("</figure>")[0]
    hues = {name: int(hue) for hue, name in re.findall(r'style="--color: hsl\((\d+) [^>]*><title>([^:]+): ', first)}
    said = dict(re.findall(r"<title>([\w\[\]]+): ([^<]*)</title>", first))
    check.equal("parse: shares", said["parse"], "30 %, 30\N{NO-BREAK SPACE}samples; before: 40.9 %")
    check.equal("write: shares", said["write"], "60 %, 60\N{NO-BREAK SPACE}samples; before: 27.3 %")
    check.equal("red is what has grown, blue what has shrunk, grey what has done neither",
                [hues[name] for name in ("write", "parse", "main")], [5, 215, 0])
    check.true("it says that it is one", "<figcaption>Where the CPU time goes, difference " in page, "")


def main():
    if not shutil.which("rrdtool") or not shutil.which("chromium"):
        raise Skip("rrdtool or chromium is not installed")
    with Check() as check:
        now = time.time()
        tree = Tree(os.path.join(check.dir, "rrd"), int(now), 600)
        tree.file(HOST, SERVICE, "total_requests", 20)
        directory = os.path.join(check.dir, "stacks")
        os.mkdir(directory)
        lines(check)
        files(check, directory, now)
        write(directory, now, FOLDED + "\n".join(HOSTILE) + "\n")
        write(directory, now, "main;lock 2500000\n", view="waits")
        write(directory, now, "main;disk 4096\n", view="my_own")
        # Also of the hour before, which may be a part of the span.
        before = os.path.exists(os.path.join(directory, f"{SERVICE}-cpu-{time.strftime('%Y%m%d-%H', time.localtime(now - 3600))}.folded"))
        check.true("no file of the hour before", not before, "")
        address, page = draw(check)
        check.true("lines that are none are told", f"100\N{NO-BREAK SPACE}samples, of whole hours; lines left out: {len(HOSTILE)}" in page, page[:0])
        check.equal("views, and what they are of", re.findall(r"<figcaption>([^<]*) <small>([^<,]*),", page),
                    [(title, amount.replace(" ", "\N{NO-BREAK SPACE}")) for title, amount in (
                        ("Where the CPU time goes", "100 samples"), ("Where threads wait", "2.50 s"))]
                    + [("my_own", "4")])
        responses(check, browse(check.dir, SCRIPT, ["file://" + address], WIDTHS))
        difference(check, directory, now)


if __name__ == "__main__":
    main()

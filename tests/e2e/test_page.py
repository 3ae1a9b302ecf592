#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages of contrib/ebpf-graph in a real browser, as wide as a telephone and as a desktop: nothing sticks out, the
spans of time and the columns to sort by can be chosen."""

import os
import shutil
import subprocess
import time

from browser import browse
from e2e import TOP, Check, Skip
from tree import Tree

SPAN = 600
HOST = "a.host.with.a.name.that.is.long.example.com"
WIDTHS = (360, 1280)
SCRIPT = r"""
// What is pointed at, dragged over and pressed in the charts of the last hour.
function chart(all, view) {
  const figures = all(".hour figure"), plots = figures.map(figure => figure.querySelector(".plot")), one = {};
  const point = (plot, kind, place) => {
    const box = plot.getBoundingClientRect();
    plot.dispatchEvent(new view.PointerEvent(kind, {clientX: box.left + place * box.width, bubbles: true, pointerId: 1}));
  };
  const legends = () => figures.map(figure => [...figure.querySelectorAll("tr[data-of]")].map(row => row.cells[1].textContent));
  const heads = () => [...new Set(figures.map(figure => figure.querySelector(".legend tr").cells[1].textContent))];
  const boxes = () => [...new Set(plots.map(plot => plot.querySelector("svg").getAttribute("viewBox")))];
  const labels = () => [...plots[0].querySelectorAll(".x")].map(label => label.textContent);
  const key = name => plots[0].dispatchEvent(new view.KeyboardEvent("keydown", {key: name, bubbles: true}));
  const dims = () => [all(".hour path.dim").length, all(".hour .legend tr.chosen").length];
  one.last = legends();
  one.labels = labels();
  point(plots[0], "pointermove", 0.95);
  one.now = legends();
  one.heads = heads();
  point(plots[0], "pointermove", 0.1);
  one.early = [...new Set(legends().flat())];
  point(plots[0], "pointerleave", 0.1);
  one.left = [legends(), heads()];
  point(plots[0], "pointerdown", 0.5);
  point(plots[0], "pointermove", 0.7);
  point(plots[0], "pointerup", 0.75);
  one.zoomed = [boxes(), labels()];
  key("Escape");
  one.whole = [boxes(), labels()];
  const row = all(".hour .legend tr[data-of]")[0];
  row.cells[0].click();
  one.dims = dims();
  row.cells[0].click();
  one.undimmed = dims();
  return one;
}
function look(page) {
  const all = selector => [...page.querySelectorAll(selector)], one = {order: [], body: page.documentElement};
  one.first = all("input[name=span]:checked")[0].id;
  all("label[for=hour]")[0].click();
  one.widths = all(".hour figure svg").map(svg => svg.getBoundingClientRect().width);
  one.hidden = one.body.scrollWidth - one.body.clientWidth;
  for (const button of all(".hour table.services button").slice(0, 2))
    for (let press = 0; press < 2; press++) {
      button.click();
      one.order.push(all(".hour table.services tbody a").map(a => a.text));
    }
  one.chart = chart(all, page.defaultView);
  all("label[for=week]")[0].click();
  one.shown = all(".span").filter(span => getComputedStyle(span).display !== "none").map(span => span.classList[1]);
  return one;
}
"""
LONG_SCRIPT = r"""function look(page) {
  const rows = () => [...page.querySelectorAll("table.services tbody tr")].filter(row => row.getClientRects().length).length;
  const before = rows(), button = page.querySelector("button.all"), text = button.textContent;
  button.click();
  return [before, text, rows()];
}
"""
# Both sides of a comparison.


def make_pages(directory):
    tree = Tree(os.path.join(directory, "rrd"), int(time.time()), SPAN)
    for service, rate in (("a-service-with-a-long-name", 20), ("web", 5000), ("zero", 300)):
        tree.file(HOST, service, "total_requests", rate)
        tree.file(HOST, service, "ps_cputime", 1000 * rate, 10)
        tree.file(HOST, service, "ps_rss", 2.0 ** 31)
        tree.file(HOST, service, "total_events-processes_started", rate)
        tree.file(HOST, service, "disk_octets", rate, rate)
        tree.file(HOST, service, "if_octets", rate, rate)
        for part in ("socket", "runqueue", "cpu", "disk", "upstream", "other"):
            tree.file(HOST, service, f"latency-in_{part}", 12345e-6)
    tree.file(HOST, "quiet", "ps_cputime", 10, 10)
    output = os.path.join(directory, "pages")
    tool = os.path.join(TOP, "contrib", "ebpf-graph")
    subprocess.run([tool, "--rrd", tree.directory, "--output", output, *(word for span in ("hour", "day", "week") for word in ("--span", span))],
                   check=True, stdout=subprocess.DEVNULL)


def charts(check, seen):
    """Of the sheet of web: its values are the same all the time, in the last ten minutes of the hour."""
    for width, one in zip(WIDTHS, (one["chart"] for one in seen)):
        check.true(f"{width}: figures", any("4.88\N{NO-BREAK SPACE}KiB/s" in figures for figures in one["last"]), one["last"])
        check.equal(f"{width}: at a time in the last minutes", one["now"], one["last"])
        check.true(f"{width}: the same time in all", len(one["heads"]) == 1 and ":" in one["heads"][0], one["heads"])
        check.equal(f"{width}: at a time before them", one["early"], ["–"])
        check.equal(f"{width}: when the pointer is gone", one["left"], [one["last"], ["last"]])
        check.equal(f"{width}: all are zoomed", one["zoomed"][0], ["500 0 250 250"])
        check.within(f"{width}: labels of a quarter of an hour", len(one["zoomed"][1]), 2, 5)
        check.equal(f"{width}: after Escape", one["whole"], [["0 0 1000 250"], one["labels"]])
        check.true(f"{width}: others are dim, one is chosen", one["dims"][0] > 0 and one["dims"][1] > 0, one["dims"])
        check.equal(f"{width}: chosen no more", one["undimmed"], [0, 0])


def long_table(check):
    """Of many services the first rows, and all of them when they are asked for."""
    tree = Tree(os.path.join(check.dir, "long"), int(time.time()), SPAN)
    first = os.path.dirname(tree.file(HOST, "service0", "ps_cputime", 10, 10))
    for number in range(1, 40):
        shutil.copytree(first, first[:-1] + str(number))
    subprocess.run([os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", tree.directory, "--span", "hour",
                    "--output", os.path.join(check.dir, "many")], check=True, stdout=subprocess.DEVNULL)
    (one,) = browse(check.dir, LONG_SCRIPT, ["many/index.html"], WIDTHS[:1])
    check.equal("rows at first, the button, and then", one, [20, "Show all 40", 40])


with Check() as check:
    if not shutil.which("rrdtool") or not shutil.which("chromium"):
        raise Skip("rrdtool or chromium is not installed")
    make_pages(check.dir)
    several = ("pages/index.html", f"pages/services/{HOST}/web.html", f"pages/hosts/{HOST}.html")
    seen = browse(check.dir, SCRIPT, several, WIDTHS)
    check.equal("pages looked at", len(seen), len(several) * len(WIDTHS))
    for what, one in zip([f"{address}, {width} wide" for address in several for width in WIDTHS], seen):
        check.within(f"{what}: charts", len(one["widths"]), 3, 20)
        check.within(f"{what}: width of the narrowest", min(one["widths"], default=0), 200, 1200)
        check.equal(f"{what}: pixels that stick out", one["hidden"], 0)
        check.equal(f"{what}: spans shown after a press on week", one["shown"], ["week"])
    charts(check, seen[len(WIDTHS):2 * len(WIDTHS)])
    long_table(check)
    by_name = ["a-service-with-a-long-name", "quiet", "web", "zero"]
    by_rate = ["web", "zero", "a-service-with-a-long-name"]
    orders = [by_name, by_name[::-1], [*by_rate, "quiet"], [*by_rate[::-1], "quiet"]]
    for one in seen[:len(WIDTHS)]:
        check.equal("sorted by name, by rate, what has none last", one["order"], orders)
    check.equal("open at first: what was chosen before", [one["first"] for one in seen], ["hour", *["week"] * 5])

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

BESIDE = True
SPAN = 600
HOST = "a.host.with.a.name.that.is.long.example.com"
WIDTHS = (360, 1280)
LOOK = r"""function look(page) {
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
  all("label[for=week]")[0].click();
  one.shown = all(".span").filter(span => getComputedStyle(span).display !== "none").map(span => span.classList[1]);
  return one;
}
"""


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
    subprocess.run([tool, "--rrd", tree.directory, "--output", output], check=True, stdout=subprocess.DEVNULL)


with Check() as check:
    if not shutil.which("rrdtool") or not shutil.which("chromium"):
        raise Skip("rrdtool or chromium is not installed")
    make_pages(check.dir)
    several = ("pages/index.html", f"pages/services/{HOST}/web.html", f"pages/hosts/{HOST}.html")
    seen = browse(check.dir, LOOK, several, WIDTHS)
    check.equal("pages looked at", len(seen), len(several) * len(WIDTHS))
    for what, one in zip([f"{address}, {width} wide" for address in several for width in WIDTHS], seen):
        check.within(f"{what}: charts", len(one["widths"]), 3, 20)
        check.within(f"{what}: width of the narrowest", min(one["widths"], default=0), 200, 1200)
        check.equal(f"{what}: pixels that stick out", one["hidden"], 0)
        check.equal(f"{what}: spans shown after a press on week", one["shown"], ["week"])
    by_name = ["a-service-with-a-long-name", "quiet", "web", "zero"]
    by_rate = ["web", "zero", "a-service-with-a-long-name"]
    orders = [by_name, by_name[::-1], [*by_rate, "quiet"], [*by_rate[::-1], "quiet"]]
    for one in seen[:len(WIDTHS)]:
        check.equal("sorted by name, by rate, what has none last", one["order"], orders)
    check.equal("open at first: what was chosen before", [one["first"] for one in seen], ["hour", *["week"] * 5])

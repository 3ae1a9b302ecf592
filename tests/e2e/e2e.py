# SPDX-License-Identifier: MIT
"""What the end to end tests share: a parsed page with its charts, and the path to the modules of the kernel tests."""

import html.parser
import os
import re
import sys
import urllib.parse

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tests", "kernel"))
from check import SKIPPED, Check, Skip  # noqa: E402
from collectd import read_types  # noqa: E402

__all__ = ["SKIPPED", "TOP", "Check", "Page", "Skip", "as_wanted", "check_page", "read_types"]


class Page(html.parser.HTMLParser):
    """A parsed page of ebpf-graph, by spans of time."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.links, self.anchors, self.text = [], [], ""
        self.tables = {}    # span -> {service: {heading: cell text}}
        self.charts = {}    # span -> {title: {curve: [last, average, maximum]}}
        self.paths = {}     # (span, title) -> [data of a drawn path, ...], the grid first
        self.mostly = {}    # (span, title) -> text about the largest part
        self.findings = {}  # of a machine's page: span -> {section: text}
        self.sections = {}  # (span, section) -> like tables, all tables of the section
        self.span = self.title = self.rows = self.section = self.open = None
        with open(path, encoding="utf-8") as page:
            self.source = page.read()
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        classes = (attrs.get("class") or "").split()
        self.links += [attrs["href"]] if "href" in attrs else []
        self.anchors += ["#" + attrs["id"]] if "id" in attrs else []
        self.open = tag if tag == "h2" else "finding" if "finding" in classes else self.open
        if tag == "h2":
            self.section = ""
        if "span" in classes:
            self.span = classes[1]
        elif tag == "figure":
            self.title = ""
        elif tag == "path":
            self.paths.setdefault((self.span, self.title), []).append(attrs["d"])
        elif tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag == "table":
            self._add_table(*self.rows)
            self.rows = None
        elif tag == "figure":
            self.title = None
        elif tag in ("h2", "p"):
            self.open = None

    def _add_table(self, headings, *rows):
        if self.title is None:
            table = self.tables.setdefault(self.span, {})
            table.update({row[0]: dict(zip(headings[1:], row[1:])) for row in rows})
            self.sections.setdefault((self.span, self.section), {}).update({row[0]: table[row[0]] for row in rows})
        else:
            self.charts.setdefault(self.span, {})[self.title] = {row[0]: row[1:] for row in rows}

    def handle_data(self, data):
        self.text += data
        if self.open == "h2":
            self.section += data
        elif self.open:
            found = self.findings.setdefault(self.span, {})
            found[self.section] = found.get(self.section, "") + data.replace("\N{NO-BREAK SPACE}", " ")
        below_heading = self.lasttag == "small" and self.rows and len(self.rows) == 1
        if self.lasttag in ("figcaption", "a") and self.title == "":
            self.title = data.strip()
        elif self.lasttag == "strong" and self.title:
            self.mostly.setdefault((self.span, self.title), data.replace("\N{NO-BREAK SPACE}", " "))
        elif self.rows and self.rows[-1] and not below_heading:
            self.rows[-1][-1] += data.strip("\n").replace("\N{NO-BREAK SPACE}", " ")

    def dead_links(self):
        directory = os.path.dirname(self.path)
        return [link for link in self.links if link not in self.anchors
                and not os.path.exists(os.path.join(directory, urllib.parse.unquote(link.partition("#")[0],
                                                                                    errors="surrogateescape")))]


def check_page(check, path):
    page = Page(path)
    check.true("the page has charts", page.charts, len(page.charts))
    check.equal("charts without a curve", [where for where, paths in page.paths.items() if len(paths) < 2], [])
    check.equal("links to nowhere", page.dead_links(), [])
    check.equal("what the page needs from elsewhere", re.findall(r"(?:https?:)?//[^\s\"<]+", page.source), [])
    return page


def as_wanted(lines, want):
    """The lines, each replaced by the wanted line with an ellipsis that has the same beginning: what follows is not ours."""
    def alike(line, wanted):
        head, ellipsis, _ = wanted.partition("...")
        return wanted if ellipsis and line.startswith(head) else line

    return [*map(alike, lines, want), *lines[len(want):]]

# SPDX-License-Identifier: MIT
"""What the end to end tests share: counted checks, a page and its pictures, RRD files.

Exit status of a test: 0 passed, 1 failed, 77 cannot run here (reason printed).
"""

import html.parser
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import traceback
import urllib.parse

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SKIPPED = 77


class Skip(Exception):
    """The test cannot run on this machine."""


class Check:
    """with Check() as check: ... -- counts, and gives the test a directory of its own in check.dir."""

    def __init__(self):
        self.passed = self.failed = 0
        self.dir = None

    def __enter__(self):
        sys.stdout.reconfigure(line_buffering=True)
        self.dir = tempfile.mkdtemp(prefix="ebpf-e2e.", dir="/var/tmp")
        return self

    def __exit__(self, kind, error, trace):
        skipped = isinstance(error, Skip)
        if skipped:
            print(f"skip: {error}")
        elif error is not None:
            self.failed += 1
            traceback.print_exception(kind, error, trace)
        if self.failed:
            print(f"what was made is in {self.dir}")
        else:
            shutil.rmtree(self.dir)
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else SKIPPED if skipped else 0)

    def true(self, what, fine, got=""):
        self.passed += bool(fine)
        self.failed += not fine
        print(("ok   " if fine else "FAIL ") + what + (f": got {got}" if got != "" else ""))
        return fine

    def equal(self, what, got, want):
        return self.true(f"{what}, want {want!r}", got == want, repr(got))

    def within(self, what, got, low, high):
        return self.true(f"{what}, want {low:.10g} .. {high:.10g}", low <= got <= high, f"{got:.10g}")

    def contains(self, what, text, part):
        return self.true(f"{what}, want in it {part!r}", part in text, "it" if part in text else repr(text[-800:]))


class Page(html.parser.HTMLParser):
    """What a page refers to, and the text of its table by rows."""

    def __init__(self, path):
        super().__init__()
        self.directory = os.path.dirname(path)
        self.pictures, self.anchors, self.links, self.rows = [], set(), [], []
        self.text = ""
        with open(path, encoding="utf-8") as page:
            self.source = page.read()
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.pictures += [attrs[name] for name in ("src", "srcset") if name in attrs]
        self.anchors |= {attrs["id"]} if "id" in attrs else set()
        self.links += [attrs["href"]] if "href" in attrs else []
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data):
        self.text += data
        if self.rows and self.rows[-1] and self.lasttag in ("td", "th", "a", "small"):
            self.rows[-1][-1] += data.strip("\n")

    def row(self, name):
        return next((row[1:] for row in self.rows if row and row[0] == name), None)

    def broken_pictures(self):
        return [p for p in self.pictures if not self._is_picture(urllib.parse.unquote(p))]

    def _is_picture(self, path):
        """A relative path to a PNG of some size."""
        try:
            with open(os.path.join(self.directory, path), "rb") as file:
                head = file.read(24)
        except OSError:
            return False
        if os.path.isabs(path) or head[:8] != b"\x89PNG\r\n\x1a\n":
            return False
        width, height = struct.unpack(">II", head[16:24])
        return width > 300 and height > 150

    def dead_links(self):
        ids = {urllib.parse.unquote(anchor) for anchor in self.anchors}
        return [link for link in self.links
                if not (link.startswith("#") and urllib.parse.unquote(link[1:]) in ids)]


def check_page(check, path):
    page = Page(path)
    check.true("the page has pictures", len(page.pictures) > 2, len(page.pictures))
    check.equal("pictures that are missing or no pictures", page.broken_pictures(), [])
    check.equal("links to nowhere", page.dead_links(), [])
    check.equal("what the page needs from elsewhere", re.findall(r"(?:https?:)?//[^\s\"<]+", page.source), [])
    return page


def fetch(path, source, start, end, consolidation="AVERAGE"):
    """[(end of step, value), ...] of the steps within start .. end; unknown ones are left out."""
    out = subprocess.run(["rrdtool", "fetch", path, consolidation, "--start", str(int(start)), "--end", str(int(end))],
                         capture_output=True, text=True, check=True).stdout.splitlines()
    column = out[0].split().index(source)
    rows = [(int(stamp), float(values.split()[column])) for stamp, values in
            (line.split(":") for line in out[2:])]
    step = rows[1][0] - rows[0][0]
    return [(stamp, value) for stamp, value in rows
            if not math.isnan(value) and start <= stamp - step and stamp <= end]

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collection3 of Debian's collectd shows each chart of a service by our definitions, and files of other plugins by its own."""

import os
import re
import shutil
import subprocess
import sys
import time

from e2e import TOP, Check, Skip
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import collection3  # noqa: E402

EXAMPLE = "/usr/share/doc/collectd-core/examples/collection3"
MODULES = {"Config::General": "libconfig-general-perl", "Regexp::Common": "libregexp-common-perl",
           "HTML::Entities": "libhtml-parser-perl", "RRDs": "librrds-perl", "URI::Escape": "liburi-perl",
           "CGI": "libcgi-pm-perl"}
KEYS = {"percentile-*": ("50", "90", "95", "99"), "upstream-*": ("10.0.0.1:80", "cache"),
        "response-*": ("2xx", "5xx", "timeout")}
SPAN = 600      # seconds with values
PNG = b"\x89PNG\r\n\x1a\n"


def need():
    if not os.path.isdir(EXAMPLE):
        raise Skip(f"no {EXAMPLE}: apt-get install collectd-core")
    missing = [package for module, package in MODULES.items()
               if subprocess.run(["perl", f"-M{module}", "-e1"], stderr=subprocess.DEVNULL, check=False).returncode]
    if missing:
        raise Skip("collection3 needs Perl modules: apt-get install " + " ".join(missing))


def install(directory, data):
    """A copy of collection3 with our files, as their first lines say."""
    target = os.path.join(directory, "collection3")
    shutil.copytree(EXAMPLE, target)
    for path, text in collection3.files().items():
        is_module = path.endswith(".pm")
        copied = os.path.join(target, "lib/Collectd/Graph/Type" if is_module else "etc", os.path.basename(path))
        with open(copied, "w", encoding="utf-8") as file:
            file.write(text if is_module else text.replace('DataDir "/var/lib/collectd/rrd"', f'DataDir "{data}"'))
    return target


def expand(series):
    """The names of files of a series."""
    keys = next((keys for pattern, keys in KEYS.items() if pattern in series.file), ("",))
    return [series.file.replace("*", key) for key in keys]


def make_files(data):
    """A service that has all series of the charts, one with memory alone, and a file of another plugin."""
    tree = Tree(data, int(time.time()), SPAN)
    for name in {name for graph in collection3.charts() for series in (*graph.series, *graph.above) for name in expand(series)}:
        tree.file("web1", "shop", name, *(10 + 5 * position for position in range(len(tree.types[name.partition("-")[0]]))))
    tree.file("web1", "small", "ps_rss", 1e6)
    other = os.path.join(data, "web1", "other")
    os.makedirs(other)
    shutil.copy(os.path.join(data, "web1", "ebpf-small", "ps_rss.rrd"), other)


class Pages:
    """The pages of an installed collection3."""

    def __init__(self, target):
        self.target = target

    def get(self, program, query):
        """(head, body as bytes, errors)"""
        path = os.path.join(self.target, "bin", program)
        environment = {**os.environ, "SCRIPT_FILENAME": path, "REQUEST_METHOD": "GET", "QUERY_STRING": query}
        done = subprocess.run(["perl", "-I../lib", path], cwd=os.path.dirname(path), env=environment, capture_output=True,
                              check=False, timeout=60)
        head, body = re.split(rb"\r?\n\r?\n", done.stdout, maxsplit=1)
        return head.decode(), body, done.stderr.decode()

    def pictures(self, query):
        """The queries of the pictures that a page has."""
        page = self.get("index.cgi", query)[1].decode()
        return [link.replace("&amp;", "&") for link in re.findall(r'src="graph\.cgi\?([^"]*)"', page)]

    def title(self, query):
        said = self.get("graph.cgi", query + ";debug=1")[1].decode()
        return re.search(r"^-t,\n(.*),$", said, re.M)[1]

    def curves(self, query):
        return len(re.findall(r"^(?:LINE1|AREA):", self.get("graph.cgi", query + ";debug=1")[1].decode(), re.M))


def main():
    with Check() as check:
        need()
        data = os.path.join(check.dir, "rrd")
        make_files(data)
        pages = Pages(install(check.dir, data))
        types = set(map(collection3.type_of, collection3.charts()))
        titles = {pages.title(query): query
                  for query in pages.pictures("action=show_selection;hostname=web1;plugin=ebpf;timespan=3600")
                  if re.search(r"type=(\w+)", query)[1] in types}
        wanted = {f"{title}: shop" for title in collection3.TITLES} | {"Memory: small"}
        check.equal("titles", set(titles), wanted)
        for title, query in titles.items():
            head, body, errors = pages.get("graph.cgi", query)
            check.equal(f"{title}: type", "Content-Type: image/png" in head, True)
            check.equal(f"{title}: a picture without an error", (body[:8], errors), (PNG, ""))
        for graph in collection3.charts():
            many = [one for one in graph.series if one.draw not in collection3.UNDRAWN]
            names = {(name, one.source) for one in many for name in expand(one) if one.key(name) is not None}
            check.equal(f"{graph.title}: curves", pages.curves(titles[f"{graph.title}: shop"]), len(names) + bool(graph.above))
        other, = pages.pictures("action=show_selection;hostname=web1;plugin=other;timespan=3600")
        check.equal("a file of another plugin", pages.get("graph.cgi", other)[1][:8], PNG)


if __name__ == "__main__":
    main()

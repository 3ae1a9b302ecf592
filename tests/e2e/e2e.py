# SPDX-License-Identifier: MIT
"""What the end to end tests share: what ebpf-graph has written, read as its pages read it, and the path to the modules of the
kernel tests."""

import html.parser
import json
import os
import re
import subprocess
import sys
import urllib.parse

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tests", "kernel"))
from check import SKIPPED, Check, Skip  # noqa: E402
from collectd import read_types  # noqa: E402

__all__ = ["SKIPPED", "TOP", "Check", "Markup", "Output", "Skip", "as_wanted", "check_output", "draw", "known", "read_types"]


class Markup(html.parser.HTMLParser):
    """HTML of a page or of its data."""

    def __init__(self, source):
        super().__init__()
        self.source, self.links, self.text = source, [], ""
        self.table = {}     # {first cell: {heading: cell}} of all its tables
        self.notes = {}     # {first cell: what is said below it}
        self.about = {}     # attributes of the page
        self.rows = None
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag == "body":
            self.about = dict(attrs)
        elif tag == "table":
            self.rows = []
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag == "table":
            headings, *rows = self.rows
            self.table |= {row[0]: dict(zip(headings[1:], row[1:])) for row in rows}
            self.rows = None

    def handle_data(self, data):
        data = data.replace("\N{NO-BREAK SPACE}", " ")
        self.text += data
        row = self.rows[-1] if self.rows else None
        if row and self.lasttag == "small":
            self.notes[row[0]] = data
        elif row:
            row[-1] += data.strip("\n")


def draw(tree, output, *options, **environment):
    """Runs ebpf-graph as cron does, without the events of this machine."""
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "DISPLAY", "COLUMNS")} | environment
    return subprocess.run([os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", tree, "--output", output, "--events", os.devnull,
                           *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment,
                          timeout=300)


def known(curve):
    return [value for value in curve["values"] if value is not None]


class Data:
    """A file of data, of a service or of a host."""

    def __init__(self, members):
        self.members = members
        self.all = [chart for part in members.get("sections", [members, *members.get("layers", ())]) for chart in part["charts"]]
        self.charts = {chart["title"]: chart for chart in self.all if "heat" not in chart}
        self.curves = {title: {curve["label"]: curve for curve in chart["curves"]} for title, chart in self.charts.items()}

    def steady(self, title):
        """The value of each curve that has one value all the time, else None."""
        values = {label: set(known(curve)) for label, curve in self.curves[title].items()}
        return {label: some.pop() if len(some) == 1 else None for label, some in values.items()}

    def markup(self):
        """All HTML in it."""
        of_spans = [text for span in self.members.get("spans", {}).values()
                    for text in (span["table"], *span["summary"].values(), *span["layers"].values())]
        return Markup("".join([*of_spans, *self.members.get("flames", {}).values()]))

    def links(self):
        charts = self.all + self.members.get("request_times", [])
        curves = [curve for chart in charts for curve in chart["curves"]]
        others = [other for chart in charts for other in chart["others"]]
        found = [one["link"] for one in (*charts, *curves, *others)] + [chart["doc"] for chart in charts]
        return [*filter(None, found), *self.markup().links]


class Output:
    """The folder of ebpf-graph, read as its pages read it."""

    def __init__(self, folder):
        self.folder = folder
        self.about = self.call("about", "about.js")
        self.services = {(host["name"], service["name"]): service for host in self.about["hosts"] for service in host["services"]}

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def page(self, *names):
        with open(self.path(*names), encoding="utf-8") as file:
            return Markup(file.read())

    def call(self, function, *names):
        """What a script gives to the function that it calls."""
        with open(self.path(*names), encoding="ascii") as file:
            head, text, tail = re.fullmatch(r"(\w+\()(.*)(\);\n)", file.read(), re.S).groups()
        if (head, tail) != (function + "(", ");\n"):
            raise ValueError(f"{file.name} calls {head}")
        # NaN and Infinity are not JSON, and no int() either.
        return json.loads(text, parse_constant=int)

    def host(self, host, level="span"):
        return Data(self.call("data", "data", host, level + ".js"))

    def service(self, host, service, level="span"):
        return Data(self.call("data", "data", host, level, service + ".js"))

    def events(self, host):
        return self.call("events", "data", host, "events.js")["events"]

    def texts(self, host, span="span", level=None):
        """The table of services as {service: {heading: cell}}, and {layer: Markup} of the triage."""
        said = self.host(host, level or span).members["spans"][span]
        return Markup(said["table"]).table, {layer: Markup(text) for layer, text in said["layers"].items()}

    def data(self):
        """All files of data that about.js names, as {path: Data}."""
        of_services = [("data", host, level, name) for (host, name), one in self.services.items() for level in one["levels"]]
        return {"/".join(path) + ".js": Data(self.call("data", *path[:-1], path[-1] + ".js"))
                for path in dict.fromkeys([*of_services, *(path[:3] for path in of_services)])}

    def files(self, folder):
        return {os.path.relpath(os.path.join(directory, name), self.folder)
                for directory, _, names in os.walk(self.path(folder)) for name in names}

    def dead(self, links, page=""):
        """Those of a page that lead nowhere."""
        base = os.path.dirname(self.path(page))
        names = {link: urllib.parse.unquote(link.partition("#")[0], errors="surrogateescape") for link in links}
        return [link for link, name in names.items() if not os.path.exists(os.path.join(base, name))]


def check_output(check, folder):
    """What is true of everything that ebpf-graph writes."""
    output = Output(folder)
    data = output.data()
    events = {f"data/{host}/events.js": output.events(host) for host, _ in output.services}
    check.equal("files of data that are missing or too many", output.files("data") ^ {*data, *events}, set())
    wanted = {f"services/{host}/{name}.html" for host, name in output.services}
    check.equal("pages of services that are missing or too many", output.files("services") ^ wanted, set())
    wanted = {f"hosts/{host['name']}.html" for host in output.about["hosts"] if host["triage"]}
    check.equal("pages of machines that are missing or too many", output.files("hosts") ^ wanted, set())
    pages = {name: output.page(name) for name in output.files(".") if name.endswith(".html")}
    own = {name: [json.loads(page.about["data-" + word]) for word in ("host", "service")]
           for name, page in pages.items() if name.startswith("services/")}
    check.equal("pages that are of another service", [name for name, of in own.items() if name != "services/{}/{}.html".format(*of)], [])
    dead = [link for name, page in pages.items() for link in output.dead(page.links, name)]
    check.equal("links of pages to nowhere", dead, [])
    check.equal("links of data to nowhere", {name: dead for name, one in data.items() if (dead := output.dead(one.links()))}, {})
    markup = [*pages.values(), *(one.markup() for one in data.values())]
    elsewhere = [found for one in markup for found in re.findall(r"(?:https?:)?//[^\s\"<]+", one.source)]
    check.equal("what is from elsewhere", elsewhere, [])
    empty = [(name, chart["title"]) for name, one in data.items() for chart in one.charts.values()
             if not any(known(curve) for curve in chart["curves"])]
    check.equal("graphs without a curve", empty, [])
    return output


def as_wanted(lines, want):
    """The lines, each replaced by the wanted line with an ellipsis that has the same beginning: what follows is not ours."""
    def alike(line, wanted):
        head, ellipsis, _ = wanted.partition("...")
        return wanted if ellipsis and line.startswith(head) else line

    return [*map(alike, lines, want), *lines[len(want):]]

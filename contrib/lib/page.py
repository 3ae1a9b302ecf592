# SPDX-License-Identifier: MIT
"""The pages: shells, which page.js fills with what the data files have, and the files that they share."""

import json
import os
import time
import urllib.parse

import meaning
from text import escape

HERE = os.path.dirname(os.path.realpath(__file__))
MARK = '<meta name="generator" content="ebpf-graph">'
SHEETS = "services"     # the directory of the pages of services
MACHINES = "hosts"      # the directory of the pages of machines
DATA = "data"           # the directory of what they show
SHARED = "lib"          # the directory of what they have in common
# In the order in which a page loads them; flame.js is loaded where there are stacks.
SCRIPTS = tuple(name + ".js" for name in ("units", "colors", "dom", "time", "data", "curve", "plot", "pointer", "legend", "chart",
                                          "heat", "board", "tables", "search", "sheet", "compare", "page"))
STYLE = "style.css"
DYGRAPHS = "/usr/share/javascript/dygraphs"
CHARTS = ("dygraph.min.js", "dygraph.min.css")
NEEDED = "This page needs JavaScript to show its graphs and tables. It loads no file from elsewhere."


def stamp(moment):
    return time.strftime("%F %H:%M", time.localtime(moment))


def sheet_name(service):
    return service.name + ".html"


def machine_name(host):
    return host + ".html"


def quoted(*parts):
    return urllib.parse.quote(os.fsencode("/".join(parts)))


def address(service):
    """The address of a service's page, from the output folder."""
    return quoted(SHEETS, service.host, sheet_name(service))


def script(function, text):
    """A file of data: a call of a function of page.js. text: JSON"""
    return f"{function}({text});\n"


def shell(title, heading, page, up="", host="", service=""):
    """A page without content. heading: HTML; up: the way to the output folder"""
    # As JSON, a name is exactly what it is in the files of data, whatever bytes it has.
    about = {"page": page, "up": up, "host": json.dumps(host), "service": json.dumps(service)}
    words = "".join(f' data-{name}="{escape(text)}"' for name, text in about.items())
    scripts = [*(f"{SHARED}/{name}" for name in ("dygraph.min.js", *SCRIPTS)), "about.js"]
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n{MARK}\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n"
            + "".join(f'<link rel="stylesheet" href="{up}{SHARED}/{name}">\n' for name in ("dygraph.min.css", STYLE))
            + f"</head><body{words}>\n<header>{heading}</header>\n<main></main>\n<footer></footer>\n"
            f"<noscript><p>{NEEDED}</p></noscript>\n"
            + "".join(f'<script src="{up}{name}"></script>\n' for name in scripts) + "</body></html>\n")


def back(up):
    return f'<p><a href="{up}index.html">All services</a></p>\n'


def write_shared(output):
    """Copies what all pages load. Returns whether the library of charts is there; if it is not, its files are empty."""
    with output.folder(SHARED) as shared:
        for name in (*SCRIPTS, "flame.js", STYLE):
            shared.write(name, _read(os.path.join(HERE, name)))
        there = all(os.path.exists(os.path.join(DYGRAPHS, name)) for name in CHARTS)
        for name in CHARTS:
            shared.write(name, _read(os.path.join(DYGRAPHS, name)) if there else b"")
    meaning.write(output)
    return there


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def write_shells(output, title, hosts, machines):
    """hosts: name -> services; machines: names of those with a triage"""
    output.write("index.html", shell(title, f"<h1>{escape(title)}</h1>", "index"))
    output.write("compare.html", shell("Compare", f"{back('')}<h1>Compare</h1>", "compare"))
    for host in machines:
        with output.folder(MACHINES) as folder:
            heading = (f'{back("../")}<h1>Triage of {escape(host)}</h1>\n'
                       '<p class="soft">Layer by layer, the service to blame first.</p>')
            folder.write(machine_name(host), shell(f"Triage of {host}", heading, "machine", "../", host=host))
    for host, services in hosts.items():
        with output.folder(SHEETS) as sheets, sheets.folder(host) as folder:
            for service in services:
                heading = (f'{back("../../")}<h1>{escape(service.title)} <small>{escape(host)}</small></h1>')
                folder.write(sheet_name(service), shell(f"{service.title} · {host}", heading, "service", "../../", host=host,
                                                        service=service.name))


def remove_old(directory, wanted):
    """Removes the pages of an earlier run that are not wanted now."""
    for name in directory.names():
        if name.endswith(".html") and name not in wanted and MARK.encode() in directory.begin_of(name, 200):
            directory.remove(name)


def remove_others(output, hosts, machines):
    """Removes the pages of all other services and machines. hosts: name -> services"""
    with output.folder(SHEETS) as sheets:
        for host, directory in folders(sheets):
            with directory:
                remove_old(directory, {sheet_name(service) for service in hosts.get(host, ())})
        sheets.remove_empty()
    with output.folder(MACHINES) as sheets:
        remove_old(sheets, {machine_name(host) for host in machines})


def folders(folder):
    for name in folder.names():
        try:
            yield name, folder.folder(name)
        except OSError:
            continue

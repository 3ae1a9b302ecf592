# SPDX-License-Identifier: MIT
"""The page, and the table in the terminal."""

import html
import math
import os
import time
import urllib.parse

from definitions import COLUMNS
from picture import ZERO

BUSY = 0.5      # percent of a CPU from which on a service's sheet is open at first


def cells(service):
    return ["–" if math.isnan(figure) else column.write(figure)
            for column, figure in zip(COLUMNS, service.figures)]


def anchor(service):
    return html.escape(urllib.parse.quote(f"{service.host}/{service.name}"))


def html_table(services):
    heads = "".join(f"<th>{c.heading}<small>{c.unit}</small></th>" for c in COLUMNS)
    rows = "".join(
        f'<tr><th><a href="#{anchor(s)}">{html.escape(s.title)}</a></th>'
        + "".join(f"<td>{cell}</td>" for cell in cells(s)) + "</tr>\n"
        for s in services if not s.is_plugin)
    return (f'<div class="wide"><table><thead><tr><th>service</th>{heads}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table></div>\n")


def html_grid(pictures):
    zero = ", ".join(p.graph.title for p in pictures if p.size == ZERO)
    return ('<div class="grid">' + "".join(p.html() for p in pictures) + "</div>\n"
            + (f'<p class="soft">All zero: {html.escape(zero)}.</p>\n' if zero else ""))


def html_sheet(service, pictures):
    state = " open" if service.cpu >= BUSY else ""
    note = "what it costs" if service.is_plugin else f"{service.cpu:.1f} % CPU"
    title = "the plugin itself" if service.is_plugin else service.title
    return (f"<details{state}><summary>{html.escape(title)}"
            f'<span class="soft">{note}</span></summary>\n<div id="{anchor(service)}">'
            f"{html_grid(pictures)}</div></details>\n")


def html_host(host, services, pictures):
    return "".join((
        f"<h2>{html.escape(host)}: all services</h2>\n", html_grid(pictures[None]),
        "<h2>In figures</h2>\n", html_table(services), "<h2>Service by service</h2>\n",
        *(html_sheet(service, pictures[service]) for service in services)))


def write(file, title, notes, seconds, hosts):
    start, end = (time.strftime("%F %T", time.localtime(second)) for second in seconds)
    style = os.path.join(os.path.dirname(os.path.realpath(__file__)), "style.css")
    with open(style, encoding="ascii") as css, open(file, "w", encoding="utf-8") as page:
        page.write(
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{html.escape(title)}</title>\n<style>\n{css.read()}</style></head><body>\n"
            f'<header><h1>{html.escape(title)}</h1>\n<p class="soft">{start} to {end}</p>\n'
            + "".join(f"<p>{html.escape(note)}</p>\n" for note in notes) + "</header>\n"
            + "".join(hosts) + f"<footer>Drawn {time.strftime('%F %T %Z')} by ebpf-graph."
            "</footer>\n</body></html>\n")


def print_table(services, most):
    shown = [service for service in services if not service.is_plugin][:most]
    if not shown:
        return
    rows = [["service", *(c.heading for c in COLUMNS)], ["", *(c.unit for c in COLUMNS)],
            *([service.title[:24], *cells(service)] for service in shown)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for name, *rest in rows:
        print("  ".join([name.ljust(widths[0]), *map(str.rjust, rest, widths[1:])]))

# SPDX-License-Identifier: MIT
"""The pages: one of all services, and one for each service and machine. Each is a self-contained file."""

import json
import math
import os
import time
import urllib.parse

import axis
from chart import Chart
from columns import COLUMNS
from definitions import GRAPHS, LEADING, OVERVIEW, REQUEST_TIME
from flame import FIGURE as FLAME
from host import overview
from table import filled
from text import escape

HERE = os.path.dirname(os.path.realpath(__file__))
MARK = '<meta name="generator" content="ebpf-graph">'
OTHERS = "Other metrics"
SHEETS = "services"     # the directory of the pages of services
MACHINES = "hosts"      # the directory of the pages of machines
AVERAGES = ("Averages of rates, CPU time, threads and requests are over all of the time in which the host has values; where a "
            "service has none, it counts as 0.")
PICTURED = 3            # services of a host whose request times the page of all services shows


def sheet_name(service):
    return service.name + ".html"


def machine_name(host):
    return host + ".html"


def address(service):
    """The address of a service's page, from the page of all services."""
    return "/".join((SHEETS, service.host, sheet_name(service)))


def link(service, up=""):
    return escape(up + urllib.parse.quote(os.fsencode(address(service))))


def stamp(moment, span=None):
    """A time of day, with seconds if the span is shown in seconds."""
    brief = span and span.end - span.start < 3600
    return time.strftime("%F %T" if brief else "%F %H:%M", time.localtime(moment))


# --- parts of a page ----------------------------------------------------------------------------

def grid(charts):
    """The charts that have values, and the names of those that are all zero."""
    zero = ", ".join(chart.graph.title for chart in charts if chart.is_zero())
    shown = [chart.html() for chart in charts if not chart.is_zero()]
    return ((f'<div class="grid">{"".join(shown)}</div>\n' if shown else "")
            + (f'<p class="soft">All zero: {escape(zero)}.</p>\n' if zero else ""))


def section(title, charts):
    more = [chart for chart in charts if chart.graph.more and not chart.is_zero()]
    shown = grid([chart for chart in charts if chart not in more])
    names = escape("; ".join(chart.graph.title for chart in more))
    more = f'<details class="more"><summary>More: {names}</summary>\n{grid(more)}</details>\n' if more else ""
    return f"<h2>{escape(title)}</h2>\n{shown}{more}" if charts else ""


def heading_of(column, is_order):
    order = ' aria-sort="descending"' if is_order else ""
    return f"<th{order}><button>{column.heading}<small>{column.below}</small></button></th>"


def table(heading, of, rows, order):
    """rows: (name as HTML, figures), sorted by the column `order`; columns without values are left out"""
    indices = filled([figures for _, figures in rows], of)
    if not indices:
        return ""
    heads = "".join(heading_of(of[position], of[position].name == order) for position in indices)
    body = "".join(f"<tr><th>{named}</th>" + "".join(cell(of[position], figures[position]) for position in indices) + "</tr>\n"
                   for named, figures in rows)
    return ('<div class="wide"><table class="services"><thead><tr>'
            f"<th><button>{heading}</button></th>{heads}</tr></thead>\n<tbody>{body}</tbody></table></div>\n")


def link_to(service, up="", title=""):
    return f'<a href="{link(service, up)}">{escape(title or service.title)}</a>'


def cell(column, figure):
    """A cell, with the plain number for sorting."""
    number = "" if math.isnan(figure) else f' data-value="{figure:.6g}"'
    return f"<td{number}>{escape(column.unit.write(figure))}</td>"


def services_table(services, span):
    return table("service", COLUMNS, [(link_to(service) + ended(service, span), service.figures(span))
                                      for service in services if not service.is_device], "cpu")


def ended(service, span):
    """A note for a service that has ended, else ""."""
    last = service.read_spans[span][0].step if span in service.read_spans else 0
    is_ended = span.end - service.updated > max(300, 5 * last)
    return f'<small>ended {stamp(service.updated)}</small>' if is_ended else ""


def sheet(service, span):
    charts = {title: [Chart(graph, curves, span) for graph in graphs if (curves := service.picture(graph, span))]
              for title, graphs in {**GRAPHS, OTHERS: service.others}.items()}
    first = leading(charts)
    sections = "".join(section(title, [chart for chart in many if chart is not first]) for title, many in charts.items())
    return (f'<div class="grid">{first.html()}</div>\n' if first else "") + sections


def leading(charts):
    """The first chart of the page, or None. charts: by section"""
    found = [chart for graph in LEADING for many in charts.values() for chart in many
             if chart.graph is graph and not chart.is_zero()]
    for chart in found[:1]:
        chart.leads = True
    return found[0] if found else None


def request_times(services, span):
    """The charts of request time of the services with most requests."""
    requests = OVERVIEW[0]
    with_requests = sorted((service for service in services if not service.is_process and service.picture(REQUEST_TIME, span)),
                   key=lambda service: -service.weight(requests, [span]))
    charts = [Chart(REQUEST_TIME, service.picture(REQUEST_TIME, span), span,
                    caption=link_to(service)) for service in with_requests[:PICTURED]]
    unit = f"<small>{escape(REQUEST_TIME.unit.name)}</small>"
    return f"<h3>{escape(REQUEST_TIME.title)} {unit}</h3>\n{grid(charts)}" if charts else ""


def host_part(name, services, span, colors, summary):
    """summary: of the host's triage, as HTML"""
    present = [service for service in services if service.is_in(span) and service.has_picture(span)]
    if not present:
        return ""
    addresses = {service.title: link(service) for service in present}
    charts = []
    for graph in OVERVIEW:
        curves, dropped = overview(present, graph, span, colors)
        if curves:
            charts.append(Chart(graph, curves, span, lambda curve: addresses.get(curve.label, ""), below=others_of(dropped)))
    others = ", ".join(link_to(service) for service in present if service.is_device and not service.is_plugin)
    others = f'<p class="others">Devices and probes: {others}</p>\n' if others else ""
    own = "".join(f'<p><a href="{link(service)}">What the plugin costs on {escape(name)}</a></p>\n'
                  for service in present if service.is_plugin)
    return (f'<h2 id="{anchor(name, span)}">{escape(name)}</h2>\n{summary}'
            + services_table(present, span) + request_times(present, span) + grid(charts) + others + own)


def others_of(services):
    """Links to the services that a graph has no room for."""
    links = ", ".join(map(link_to, services))
    return f'<details class="rest"><summary>{len(services)} more</summary>{links}</details>\n' if services else ""


def anchor(host, span):
    return escape(f"{span.name}-{host}")


def contents(hosts, span):
    """Links to the hosts; "" for a single host."""
    links = "".join(f'<a href="#{anchor(name, span)}">{escape(name)}</a>\n' for name in hosts)
    return f'<p class="hosts">{links}</p>\n' if len(hosts) > 1 else ""


# --- pages --------------------------------------------------------------------------------------

def _read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def tabs(spans, parts):
    """A tab for each span, made of radio buttons, which need no JavaScript. The first with content is open."""
    first = next(position for position, part in enumerate(parts) if part)
    radios = "".join(f'<input type="radio" name="span" id="{span.name}"{" checked" if position == first else ""}>'
                     for position, span in enumerate(spans))
    labels = "".join(f'<label for="{span.name}">{span.title}</label>' for span in spans)
    names = [span.name for span in spans]
    shown = "".join(f"#{name}:checked ~ main .{name} {{ display: block; }}\n"
                    f'#{name}:checked ~ nav [for="{name}"] {{ background: var(--card); color: var(--text); }}\n'
                    f'#{name}:focus-visible ~ nav [for="{name}"] {{ outline: 2px solid var(--link); }}\n'
                    for name in names)
    return f"<style>\n{shown}</style>\n{radios}" + (f"<nav>{labels}</nav>\n" if len(spans) > 1 else "")


def time_of(span):
    """The data that chart.js needs for this machine's local time."""
    return {"start": span.start, "end": span.end, "offset": time.localtime(span.end).tm_gmtoff, "steps": axis.APART}


def span_part(span, part):
    title = f"{span.title}: " if span.title.startswith("First") else ""
    when = f'<p class="soft when">{title}{stamp(span.start, span)} to {stamp(span.end, span)}</p>\n'
    return f'<div class="span {span.name}" data-time="{escape(json.dumps(time_of(span)))}">\n{when}{part or "<p>No value in this time.</p>"}</div>\n'


def document(title, head, spans, parts):
    """parts: HTML by span"""
    scripts = ["page.js", "chart.js"] + (["flame.js"] if any(FLAME in part for part in parts) else [])
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n{MARK}\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n<style>\n{_read('style.css')}</style></head><body>\n{head}"
            + tabs(spans, parts) + "<main>" + "".join(map(span_part, spans, parts)) + "</main>\n"
            f"<footer>Drawn {time.strftime('%F %T %Z')} by ebpf-graph. {AVERAGES}</footer>\n"
            f"<script>\n{''.join(map(_read, scripts))}</script></body></html>\n")


def write_index(output, title, notes, spans, hosts, summaries):
    """output: a Folder; hosts: name -> (services, their colours); summaries: by host and span, as HTML"""
    listed = "".join(f"<li>{escape(note)}</li>\n" for note in notes)
    head = f"<header><h1>{escape(title)}</h1>\n" + (f"<ul>{listed}</ul>\n" if notes else "") + "</header>\n"
    parts = []
    for span in spans:
        shown = {name: part for name, (services, colors) in hosts.items()
                 if (part := host_part(name, services, span, colors, summaries.get((name, span), "")))}
        parts.append(contents(shown, span) + "".join(shown.values()))
    if any(parts):
        output.write("index.html", document(title, head, spans, parts))


def write_sheet(output, service, spans, flame):
    """output: a Folder; flame: function from a span to the HTML of its flame graphs"""
    head = (f'<header><p><a href="../../index.html">All services</a></p>\n<h1>{escape(service.title)} '
            f"<small>{escape(service.host)}</small></h1></header>\n")
    parts = [sheet(service, span) + flame(span) for span in spans]
    if any(parts):
        with output.folder(SHEETS) as sheets, sheets.folder(service.host) as directory:
            directory.write(sheet_name(service), document(f"{service.title} · {service.host}", head, spans, parts))


def remove_old(directory, wanted):
    """Removes the pages of an earlier run that are not wanted now."""
    for name in directory.names():
        if name.endswith(".html") and name not in wanted and MARK.encode() in directory.begin_of(name, 200):
            directory.remove(name)


def remove_others(output, services, machines):
    """Removes the pages of all other services and machines."""
    wanted = {}
    for service in services:
        wanted.setdefault(service.host, set()).add(sheet_name(service))
    with output.folder(SHEETS) as sheets:
        for host in sheets.names():
            try:
                directory = sheets.folder(host)
            except OSError:
                continue
            with directory:
                remove_old(directory, wanted.get(host, ()))
    with output.folder(MACHINES) as sheets:
        remove_old(sheets, {machine_name(host) for host in machines})

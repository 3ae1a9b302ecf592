# SPDX-License-Identifier: MIT
"""The data of the pages: a file for each level of detail of a service, and of a host."""

import dataclasses
import json

import heat
import host
import machine
import page
import tables
from chart import Chart, array, compose
from definitions import GRAPHS, LEADING, OTHERS, OVERVIEW, REQUEST_TIME

PICTURED = 3            # services of a host whose request times the page of all services shows
EVENTS = "events.js"
FUNCTIONS = b"data(", b"events("    # that files of data call


# --- a service ----------------------------------------------------------------------------------

def sections(service, level):
    """(title, charts) of each section of a service's page."""
    drawn = [(title, [(graph, curves) for graph in graphs if (curves := service.picture(graph, level))])
             for title, graphs in {**GRAPHS, OTHERS: service.others}.items()]
    first = next((graph for graph in LEADING for _, many in drawn for one, curves in many
                  if one is graph and any(curve.weight() for curve in curves)), None)
    maps = heat.maps(*service.read_spans[level])
    charts = {title: heat.among([Chart(graph, curves, leads=graph is first) for graph, curves in many], title, maps)
              for title, many in drawn}
    return [(title, many) for title, many in charts.items() if many]


def of_service(service, level, flames):
    """The data of a service as JSON. flames: HTML of its flame graphs by span"""
    grid, _ = service.read_spans[level]
    found = [compose({"title": title}, charts=array(chart.json(grid) for chart in charts))
             for title, charts in sections(service, level)]
    return compose(_head(service.host, service.name, level, grid, service.newest, service.covered[level]),
                   flames=json.dumps(flames), sections=array(found))


def _head(host_name, service, level, grid, newest, covered):
    return {"host": host_name, "service": service, "level": level.name, "grid": dict(vars(grid)), "newest": newest,
            "covered": round(covered, 4)}


# --- a host -------------------------------------------------------------------------------------

def request_times(services, level):
    """The charts of request time of the services with most requests."""
    pictures = [(service, curves) for service in services if not service.is_process
                and (curves := service.picture(REQUEST_TIME, level))]
    pictures.sort(key=lambda one: -one[0].weight(OVERVIEW[0], [level]))
    return [Chart(dataclasses.replace(REQUEST_TIME, title=service.title), curves, link=page.address(service))
            for service, curves in pictures[:PICTURED]]


def overviews(services, level, colors):
    """The charts with a curve for each service."""
    links = {service.title: page.address(service) for service in services}
    found = ((graph, host.overview(services, graph, level, colors)) for graph in OVERVIEW)
    return [Chart(graph, curves, links, others=[(service.title, page.address(service)) for service in dropped])
            for graph, (curves, dropped) in found if curves]


def texts(subjects, findings):
    """The texts of a span: the table of services, and the triage."""
    table, count = tables.of_services(subjects)
    return {"table": table, "count": count,
            "summary": {finding.layer.name: machine.sentence(finding) for finding in findings},
            "layers": {finding.layer.name: machine.text(finding) for finding in findings}}


def of_host(name, services, level, spans, colors, is_whole):
    """The data of a host as JSON. spans: those that are drawn from this level; is_whole: whether all services are there, which
    a triage needs"""
    grid = min((service.read_spans[level][0] for service in services), key=lambda grid: grid.step)
    shown, layers = {}, []
    for span in spans:
        subjects = [machine.SpanSubject(one, span) for one in services if one.is_in(span) and one.has_picture(span)]
        findings = machine.inspect(subjects) if is_whole else []
        shown[span.name] = texts(subjects, findings)
        if span.name == level.name or not layers:
            layers = findings
    painted = machine.pick_colors(layers)
    drawn = [compose({"name": finding.layer.name, "title": finding.layer.title},
                     charts=array(chart.json(grid) for chart in machine.charts(finding, painted))) for finding in layers]
    present = [service for service in services if service.has_picture(level)]
    return compose({**_head(name, "", level, grid, services[0].newest, services[0].covered[level]), "spans": shown},
                   request_times=array(chart.json(grid) for chart in request_times(present, level)),
                   charts=array(chart.json(grid) for chart in overviews(present, level, colors)), layers=array(drawn))


# --- all ----------------------------------------------------------------------------------------

def read_level(services, level, spans, step):
    """Reads a host's services in a level and its spans. Returns those with values, sorted, and the colours of some. step: is
    called with how many are read, of how many"""
    for count, service in enumerate(services):
        step(count, len(services))
        service.read([level])
    services = [service for service in services if service.is_in(level)]
    newest = max((service.updated for service in services), default=0)
    for service in services:
        for span in spans:
            service.narrow(span, level)
        service.newest = newest
    parts = {span: host.covered(services, span) for span in (level, *spans)}
    for service in services:
        service.covered = parts
    weights = {(service, graph): service.weight(graph, [level]) for service in services for graph in OVERVIEW}
    services = host.order(services, weights)
    return services, host.pick_colors(services, weights)


def write_level(output, services, level, spans, colors, flames_of, is_whole):
    """Writes the files of a host's level. output: a Folder; flames_of: function from a service to one from a span to the HTML of
    its flame graphs"""
    name = services[0].host
    with output.folder(page.DATA) as top, top.folder(name) as folder:
        with folder.folder(level.name) as directory:
            for service in services:
                flames = {span.name: html for span in spans if (html := flames_of(service)(span))}
                directory.write(service.name + ".js", page.script("data", of_service(service, level, flames)))
        folder.write(level.name + ".js", page.script("data", of_host(name, services, level, spans, colors, is_whole)))


def write_events(output, host_name, found):
    """found: see events.read()"""
    with output.folder(page.DATA) as top, top.folder(host_name) as folder:
        folder.write(EVENTS, page.script("events", json.dumps({"host": host_name, "events": found})))


def is_there(output, host_name, level):
    """Whether a host's level has been written."""
    with output.folder(page.DATA) as top, top.folder(host_name) as folder:
        return bool(folder.begin_of(level.name + ".js", 1))


def remove_others(output, known):
    """Removes data of services, levels and hosts that are no longer shown. known: an About"""
    with output.folder(page.DATA) as top:
        for host_name, folder in page.folders(top):
            own = {service: levels for (host, service), levels in known.services.items() if host == host_name}
            with folder:
                _remove(folder, {level + ".js" for levels in own.values() for level in levels} | ({EVENTS} if own else set()))
                for level, directory in page.folders(folder):
                    with directory:
                        _remove(directory, {service + ".js" for service, levels in own.items() if level in levels})
                folder.remove_empty()
        top.remove_empty()


def _remove(directory, wanted):
    for name in directory.names():
        if name.endswith(".js") and name not in wanted and directory.begin_of(name, 8).startswith(FUNCTIONS):
            directory.remove(name)

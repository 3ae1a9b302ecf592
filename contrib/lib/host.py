# SPDX-License-Identifier: MIT
"""The services of a host, and overviews of all of them."""

import dataclasses
import os
import zlib

import name
from curve import known, total
from definitions import GREY, MORE_COLORS, OVERVIEW, PALETTE
from service import Service


def find(tree, hosts, names):
    """The services by host. Without hosts or names: all."""
    found = {}
    for host in sorted(os.listdir(tree) if os.path.isdir(tree) else ()):
        directory = os.path.join(tree, host)
        if os.path.isdir(directory) and (not hosts or host in hosts):
            instances = {service: os.path.join(directory, instance) for instance in sorted(os.listdir(directory))
                         if (service := name.of_directory(instance))}
            services = [Service(host, service, name.parent(service, instances), path)
                        for service, path in instances.items()]
            found[host] = [s for s in services if (not names or s.parent in names) and s.files]
    return {host: services for host, services in found.items() if services}


def covered(services, span):
    """The part of a span in which any service has a value."""
    first = [next(iter(service.read_spans[span][1].values()))[0] for service in services if service.is_in(span)]
    return max((len(known(values)) / len(values) for values in first), default=0)


def order(services, weights):
    """Sorts by use of CPU. A process follows its service; devices and the plugin itself are last. weights: by service and
    graph."""
    cpu = next(graph for graph in OVERVIEW if graph.title.startswith("CPU"))
    used = {service.name: weights[service, cpu] for service in services}
    return sorted(services, key=lambda s: (s.is_plugin, s.is_device, -used.get(s.parent, 0), s.parent, s.is_process,
                                           -used[s.name]))


def pick_colors(services, weights):
    """Name -> colour, the same in all overviews: first for the largest service of each graph, then for the second ones.
    Slack does not count, as it is not a use of anything."""
    named = [service for service in services if not (service.is_process or service.is_device)]
    ranks = [sorted((s for s in named if weights[s, graph] > 0), key=lambda s: -weights[s, graph])
             for graph in OVERVIEW if not graph.top]
    chosen = dict.fromkeys(ranked[index].name for index in range(len(named)) for ranked in ranks if index < len(ranked))
    return paint(list(chosen)[:len(PALETTE)])


def paint(names):
    """A colour for each name: if it is free that of the name, so that a service mostly has one colour everywhere."""
    free, found = list(PALETTE), {}
    for name_of in names:
        own = PALETTE[zlib.crc32(os.fsencode(name_of)) % len(PALETTE)]
        found[name_of] = own if own in free else free[0]
        free.remove(found[name_of])
    return found


def overview(services, graph, span, colors):
    """(curves, services without a curve). A stack has the services with a colour and the sum of all others; another graph
    has its worst services, in the order of the services."""
    services = [service for service in services if not service.is_device]
    if not graph.is_stacked():
        return ranked([service for service in services if not service.is_process], graph, span, colors)
    own = [s.sum(graph, span, colors[s.name]) for s in services if s.name in colors]
    others = [s.sum(graph, span, GREY) for s in services if s.name not in colors and not s.is_process]
    own, others = ([curve for curve in curves if curve and curve.weight()] for curves in (own, others))
    return own + ([total(others, "all others", "stack", GREY)] if others else []), []


def ranked(services, graph, span, colors):
    curves = {service: curve for service in services if (curve := service.sum(graph, span, "", True))}
    # Where the axis has a top, as for slack, the lowest service is the worst.
    worst = sorted(curves, key=lambda service: curves[service].average() * (1 if graph.top else -1))
    shown = worst[:len(PALETTE)]
    free = iter(MORE_COLORS)
    paint = {service: colors.get(service.name) or next(free) for service in shown}
    return [dataclasses.replace(curves[service], color=paint[service]) for service in shown], worst[len(shown):]

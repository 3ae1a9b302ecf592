# SPDX-License-Identifier: MIT
"""The services of a host: which there are, and all of them together."""

import dataclasses
import os

import name
from curve import total
from definitions import GREY, MORE_COLORS, OVERVIEW, PALETTE
from service import Service


def find(tree, hosts, names):
    """The services by host; no hosts, or no names: all."""
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


def order(services, weights):
    """By use of CPU; a process after its service; what is no service last, the plugin itself too. weights: by service and
    graph."""
    cpu = next(graph for graph in OVERVIEW if graph.title.startswith("CPU"))
    used = {service.name: weights[service, cpu] for service in services}
    return sorted(services, key=lambda s: (s.is_plugin, s.is_place, -used.get(s.parent, 0), s.parent, s.is_process,
                                           -used[s.name]))


def pick_colors(services, weights):
    """Name -> colour, the same in every overview: of who has most of something, then second most; slack is no use."""
    named = [service for service in services if not (service.is_process or service.is_place)]
    ranks = [sorted((s for s in named if weights[s, graph] > 0), key=lambda s: -weights[s, graph])
             for graph in OVERVIEW if not graph.top]
    chosen = dict.fromkeys(ranked[place].name for place in range(len(named)) for ranked in ranks if place < len(ranked))
    chosen = list(chosen)[:len(PALETTE)]
    return dict(zip((s.name for s in named if s.name in chosen), PALETTE))


def overview(services, graph, span, colors):
    """(curves, services that have none of them): in a stack who has a colour, and the sum of all others; else those that
    are worst of this graph, in the order of the services."""
    services = [service for service in services if not service.is_place]
    if not graph.is_stacked():
        return ranked([service for service in services if not service.is_process], graph, span, colors)
    own = [s.sum(graph, span, colors[s.name]) for s in services if s.name in colors]
    rest = [s.sum(graph, span, GREY) for s in services if s.name not in colors and not s.is_process]
    own, rest = ([curve for curve in curves if curve and curve.weight()] for curves in (own, rest))
    return own + ([total(rest, "all others", "stack", GREY)] if rest else []), []


def ranked(services, graph, span, colors):
    curves = {service: curve for service in services if (curve := service.sum(graph, span, "", True))}
    # Of what has a top, such as slack, the least is the worst.
    worst = sorted(curves, key=lambda service: curves[service].average() * (1 if graph.top else -1))
    shown = worst[:len(PALETTE)]
    free = iter(MORE_COLORS)
    paint = {service: colors.get(service.name) or next(free) for service in shown}
    return [dataclasses.replace(curves[service], color=paint[service]) for service in shown], worst[len(shown):]

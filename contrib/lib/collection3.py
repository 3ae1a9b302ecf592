# SPDX-License-Identifier: MIT
"""Definitions for collection3, collectd's example of a web page: a dozen charts of a service.

collection3 has one definition for a type, of which the plugin has many series, so that the charts are drawn by a module of its
own, collection3.pm: of a service, each chart for which it has files. All further series of these types are not drawn."""

import os

from definitions import GRAPHS, MORE_COLORS, PALETTE

MODULE = "Ebpf"
TITLES = ("Requests", "Responses by class, share of all", "Response time", "Where a request's time goes",
          "Requests in the service", "99th percentile of upstreams", "Slack", "Run-queue wait", "What threads wait for",
          "CPU", "Memory", "Read and written")
UNDRAWN = "figures", "samples"
HEAD = """\
# Charts of the ebpf plugin for collection3. Copy this file to etc/collection.conf and Ebpf.pm to lib/Collectd/Graph/Type/ of a
# copy of collection3, on Debian of /usr/share/doc/collectd-core/examples/collection3.
DataDir "/var/lib/collectd/rrd"
GraphWidth 400
"""


def block(kind, name, members, inner=()):
    """Lines of a block. members: {option: text or number}; inner: lines of the blocks in it"""
    return [f"<{kind} {name}>", *(f'  {option} "{value}"' for option, value in members.items() if value != ""),
            *(f"  {line}" for line in inner), f"</{kind}>"]


def plain(color):
    """A colour without its sign, which would begin a comment."""
    return "000000" if color == "text" else color.removeprefix("#")


def options(graph):
    """Options of rrdtool graph."""
    limits = f"-l 0 -u {graph.top:g} -r" if graph.top else "" if graph.log else "-l 0"
    return " ".join(filter(None, (limits, "-o --units=si" if graph.log else "", f"-b {graph.unit.base}")))


def type_of(graph):
    """The type under which collection3 shows a chart."""
    return graph.series[0].file.partition("-")[0]


def blocks_of_series(graph):
    """A block for each series; of those above a stack, only the first that a service has is drawn."""
    drawn = [(one, "") for one in graph.series if one.draw not in UNDRAWN] + [(one, "yes") for one in graph.above]
    for number, (one, is_above) in enumerate(drawn):
        yield from block("Series", f"{number:02}", {
            "File": one.file, "Source": one.source, "Label": one.label, "Draw": one.draw, "Scale": f"{one.scale:.10g}",
            "Color": plain(one.color), "Above": is_above, "Only": " ".join(sorted(one.only)),
            "Without": " ".join(sorted(one.without))})


def charts():
    """The charts in the order of TITLES."""
    found = {graph.title: graph for section in GRAPHS.values() for graph in section}
    return [found[title] for title in TITLES]


def block_of_chart(graph, number):
    # A prefix, such as that of milliseconds, is for units that have one.
    form = "%7.2lf%s" if graph.unit.small or graph.unit.base == 1024 else "%8.2lf"
    return block("Graph", f"{number:02}", {
        "Type": type_of(graph), "Title": graph.title, "Vertical": graph.unit.name, "Options": options(graph), "Format": form},
        blocks_of_series(graph))


def definitions():
    """The text of collection.conf."""
    graphs = charts()
    lines = [line for name in dict.fromkeys(map(type_of, graphs)) for line in block("Type", name, {"Module": MODULE})]
    lines += [line for number, graph in enumerate(graphs) for line in block_of_chart(graph, number)]
    colors = " ".join(plain(color) for color in (*PALETTE, *MORE_COLORS))
    return HEAD + "\n".join([f'Palette "{colors}"', *lines, ""])


def files():
    """{path below the directory of dashboards: text}"""
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "collection3.pm"), encoding="utf-8") as module:
        return {"collection3/collection.conf": definitions(), f"collection3/{MODULE}.pm": module.read()}

# SPDX-License-Identifier: MIT
"""Pictures: a graph of the definitions, drawn with the series of one service or of all."""

import dataclasses
import html
import math
import os
import re
import sys
import urllib.parse

import rrd
from definitions import GRAPHS, GREY, NBSP, OVERVIEW, PALETTE
from service import pick_colors

THEMES = {
    "light": {"BACK": "#FFFFFF", "CANVAS": "#FFFFFF", "FRAME": "#FFFFFF", "ARROW": "#FFFFFF00",
              "FONT": "#1F2328", "AXIS": "#8C959F", "GRID": "#D0D7DE80", "MGRID": "#AFB8C180"},
    "dark": {"BACK": "#161B22", "CANVAS": "#161B22", "FRAME": "#161B22", "ARROW": "#FFFFFF00",
             "FONT": "#E6EDF3", "AXIS": "#6E7681", "GRID": "#30363D80", "MGRID": "#484F5880"},
}
FONTS = {"DEFAULT": "8:DejaVu Sans", "TITLE": "10:DejaVu Sans Bold",
         "LEGEND": "8.5:DejaVu Sans Mono"}
LABEL = 18      # characters of a label in a legend
ZERO = (0, 0)   # the size of what is not drawn because all of it is zero


@dataclasses.dataclass(frozen=True)
class Layer:
    """What a picture shows in one colour: the sum of (path, series) pairs."""
    label: str
    parts: tuple
    draw: str
    color: str


def elements(number, layer, graph):
    name, highest = f"v{number}", f"m{number}"
    # The highest sum is not the sum of the highest.
    consolidation = "MAX" if len(layer.parts) == 1 else "AVERAGE"
    label = layer.label if len(layer.label) <= LABEL else layer.label[:LABEL - 1] + "…"
    label = re.sub(r"([\\:])", r"\\\1", label) + NBSP * (LABEL - len(label)) + "\\g"
    shape = {
        "line": f"LINE1.5:{name}{layer.color}:{label}",
        "dashes": f"LINE1.5:{name}{layer.color}:{label}:dashes=4,3",
        "area": f"AREA:{name}{layer.color}:{label}",
        "stack": f"AREA:{name}{layer.color}:{label}:STACK",
        "figures": f"COMMENT:{NBSP * 2}{label}",
    }[layer.draw]
    return [*rrd.define(name, layer.parts), *rrd.define(highest, layer.parts, consolidation), shape,
            f"GPRINT:{name}:LAST:{graph.figure}\\g", f"GPRINT:{name}:AVERAGE:{graph.figure}\\g",
            f"GPRINT:{highest}:MAX:{graph.figure}\\l",
            f"VDEF:{name}_known={highest},MAXIMUM", f"PRINT:{name}_known:%le"]


def heading(graph):
    """Over the figures of the legend, which begin after a box and a label."""
    suffix = graph.figure.count(NBSP)
    return "COMMENT:" + " " * (LABEL + 2 - suffix) + f"{'last':>10}{'avg':>10}{'max':>10}\\l"


@dataclasses.dataclass
class Picture:
    """Drawn once for each theme, as BASE-THEME.png below the output directory."""
    graph: object
    title: str
    layers: list
    base: str
    size: tuple = None      # None until drawn, and if no value is known

    def draw(self, span, output):
        try:
            sizes = [self._draw(span, theme, os.path.join(output, f"{self.base}-{theme}.png"))
                     for theme in THEMES]
            self.size = sizes[0]
        except rrd.Refused as error:
            print(f"ebpf-graph: {self.title}: {error}; skipping the picture", file=sys.stderr)

    def _draw(self, span, theme, file):
        output = rrd.request(
            "graphv", file, *span, f"--title={self.title}", f"--vertical-label={self.graph.unit}",
            f"--base={self.graph.base}", "--lower-limit=0", "--width=330", "--height=110",
            "--zoom=2", "--border=0", "--grid-dash=1:0", "--disable-rrdtool-tag",
            # Room for the last label of the time axis.
            "--right-axis-label= ",
            *(f"--color={name}{color}" for name, color in THEMES[theme].items()),
            *(f"--font={name}:{font}" for name, font in FONTS.items()), heading(self.graph),
            *(e for number, layer in enumerate(self.layers)
              for e in elements(number, layer, self.graph)))
        known = [value for value in rrd.printed(output) if not math.isnan(value)]
        if not any(known):
            os.unlink(file)
            return ZERO if known else None
        return tuple(int(re.search(rf"image_{word} = (\d+)", output).group(1)) // 2
                     for word in ("width", "height"))

    def html(self):
        """Nothing for a picture that would show nothing."""
        if self.size in (None, ZERO):
            return ""
        base = html.escape(urllib.parse.quote(self.base))
        return (f'<picture><source media="(prefers-color-scheme: dark)" srcset="{base}-dark.png">'
                f'<img src="{base}-light.png" width="{self.size[0]}" height="{self.size[1]}"'
                f' loading="lazy" alt="{html.escape(self.title)}"></picture>\n')


def service_layers(service, graph):
    layers = []
    for series in graph.series:
        for path, label in service.match(series):
            color = series.color or PALETTE[len(layers) % len(PALETTE)]
            layers.append(Layer(label, ((path, series),), series.draw, color))
    return layers


def overview_layers(services, graph, colors):
    index = OVERVIEW.index(graph)
    layers, rest = [], ()
    for service in services:
        parts = service.parts(*graph.series)
        if service.name in colors and service.weights[index] > 0:
            layers.append(Layer(service.name, parts, "stack", colors[service.name]))
        elif not service.is_process:
            rest += parts
    return layers + ([Layer("all others", rest, "stack", GREY)] if rest else [])


def plan(services):
    """Pictures still to be drawn: of all services of a host under None, and of each service."""
    colors = pick_colors(services)
    base = os.path.join("graphs", services[0].host)
    pictures = {None: [Picture(graph, graph.title, overview_layers(services, graph, colors),
                               os.path.join(base, ".all", graph.name)) for graph in OVERVIEW]}
    for service in services:
        pictures[service] = [Picture(graph, f"{service.title} · {graph.title}",
                                     service_layers(service, graph),
                                     os.path.join(base, service.name, graph.name))
                             for graph in GRAPHS]
    return {owner: [p for p in some if p.layers] for owner, some in pictures.items()}

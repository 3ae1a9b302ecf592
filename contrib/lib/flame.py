# SPDX-License-Identifier: MIT
"""Flame graphs: a bar for each frame of the sampled stacks, as wide as the time in it; below it the frames that it called.
Without JavaScript the graph is complete but static; see flame.js.
"""

import dataclasses
import zlib

import stacks
from text import escape
from unit import BYTES, NBSP, SECONDS, Unit

ROW = 18            # px
LEAST = 0.001       # the share of all samples below which a frame has no bar
DEPTH = 128         # rows
PARTS = 1_000_000   # the units of a bar's position and width
FIGURE = '<figure class="flame">'
KERNEL = "_[k]"     # the suffix of a kernel frame's name
EVEN = 0.002        # the share of all samples below which a difference is ignored


@dataclasses.dataclass(frozen=True)
class View:
    title: str
    unit: Unit
    scale: float = 1
    state: bool = False     # a state at one time, not a sum over time


SAMPLES = View("", Unit("samples"))
VIEWS = {
    "cpu": View("Where the CPU time goes", Unit("samples")),
    "waits": View("Where threads wait", SECONDS, 1e-6),
    "switches": View("Where threads block", SECONDS, 1e-6),
    "files": View("Files by bytes", BYTES),
    "file_time": View("Files by time", SECONDS, 1e-6),
    "opened": View("Who opened what is open", Unit("connections"), state=True),
}


def amount(value, view):
    if view.unit.symbol:
        return view.unit.write(value * view.scale)
    return f"{value:,}" + (f"{NBSP}{view.unit.name}" if view.unit.name else "")


def percent(part, whole):
    return f"{100 * part / whole:.3g}" if whole else "0"


def _color(stack, root):
    """Kernel frames are blue, others red to yellow, and a name always has the same colour. In a comparison, frames with
    more samples are red and those with fewer blue; a larger difference has a stronger colour."""
    if root.before:
        change = stack.samples / root.samples - stack.before / root.before
        if abs(change) < EVEN:
            return "hsl(0 0% 82%)"
        return f"hsl({5 if change > 0 else 215} 85% {90 - 40 * min(1, abs(change) / 0.1):.0f}%)"
    tint = zlib.crc32(stack.name.encode("utf-8", "replace")) % 1000 / 1000
    if stack.name.endswith(KERNEL):
        return f"hsl({200 + 20 * tint:.0f} 60% 72%)"
    return f"hsl({8 + 42 * tint:.0f} 88% {66 + 6 * tint:.0f}%)"


def _title(stack, root, view):
    said = f"{stack.name}: {percent(stack.samples, root.samples)} %, {amount(stack.samples, view)}"
    return said + (f"; before: {percent(stack.before, root.before)} %" if root.before else "")


def _bar(stack, root, depth, begin, view):
    x, width = (f"{100 * part / root.samples:.4f}%" for part in (begin, stack.samples))
    position = f"{round(PARTS * begin / root.samples)} {round(PARTS * stack.samples / root.samples)} {depth}"
    return (f'<svg class="bar" x="{x}" y="{depth * ROW}" width="{width}" height="{ROW}" tabindex="-1" data-at="{position}" '
            f'style="--color: {_color(stack, root)}"><title>{escape(_title(stack, root, view))}</title>'
            f'<rect width="100%" height="{ROW - 1}"/><text x="3" y="13">{escape(stack.name)}</text></svg>\n')


def bars(root):
    """(depth, start in samples, frame) of each frame with a bar; the frames of one caller are sorted by name."""
    rows = [(0, 0, root)]
    while rows:
        depth, begin, stack = rows.pop()
        yield depth, begin, stack
        if depth + 1 == DEPTH:
            continue
        for below in sorted(stack.below.values(), key=lambda one: one.name):
            if below.samples >= LEAST * root.samples and below.samples:
                rows.append((depth + 1, begin, below))
            begin += below.samples


def html(root, title, soft, view=SAMPLES):
    """The graph as HTML; "" without samples. soft: text beside the title"""
    if not root.samples:
        return ""
    drawn = list(bars(root))
    height = (1 + max(depth for depth, _, _ in drawn)) * ROW
    return (f'{FIGURE}<figcaption>{escape(title)} <small>{escape(soft)}</small></figcaption>\n'
            '<div class="tools"><input type="search" placeholder="Search functions" aria-label="Search functions">'
            '<button type="button">Whole picture</button><output></output></div>\n'
            f'<svg class="bars" height="{height}" role="img" aria-label="{escape(title)}">\n'
            + "".join(_bar(stack, root, depth, begin, view) for depth, begin, stack in drawn) + "</svg></figure>\n")


def of_view(view, hours, start, end, before):
    shown = VIEWS.get(view, View(view, Unit("")))
    root = stacks.Stack("all")
    files = stacks.within(hours, start, end)
    refused = stacks.read(root, files[-1:] if shown.state else files)
    if before is not None:
        files = stacks.within(hours, before - (end - start), before)
        refused += stacks.read(root, files[-1:] if shown.state else files, before=True)
    soft = f"{amount(root.samples, shown)}, of " + ("the last hour" if shown.state else "whole hours")
    soft += f"; lines left out: {refused:,}" if refused else ""
    return html(root, shown.title + (", difference" if root.before else ""), soft, shown)


def of_span(views, start, end, before=None):
    """The section of a service's page, from the files of its views. before: the end of the time to compare with"""
    figures = "".join(of_view(view, views[view], start, end, before) for view in sorted(views, key=rank_of))
    return f"<h2>Stacks</h2>\n{figures}" if figures else ""


def rank_of(view):
    """The sort key of a view: views with a title come first."""
    return list(VIEWS).index(view) if view in VIEWS else len(VIEWS), view

# SPDX-License-Identifier: MIT
"""Flame graphs: a bar for each frame of the stacks that were sampled, as wide as the time that was spent in it; below it
what it called. Whoever has no script sees all of it and can do nothing with it; see flame.js.
"""

import zlib

import stacks
from text import escape

ROW = 18            # px
LEAST = 0.001       # of all: what is less has no bar
DEPTH = 128         # rows
PARTS = 1_000_000   # that a bar's place is told in
FIGURE = '<figure class="flame">'
KERNEL = "_[k]"     # behind the name of a frame of the kernel's
EVEN = 0.002        # of all: a difference that is none


def percent(part, whole):
    return f"{100 * part / whole:.3g}" if whole else "0"


def _color(stack, root):
    """The kernel's are blue, others red to yellow, each name always the same. Against another time: red what is more,
    blue what is less, the stronger the more."""
    if root.before:
        change = stack.samples / root.samples - stack.before / root.before
        if abs(change) < EVEN:
            return "hsl(0 0% 82%)"
        return f"hsl({5 if change > 0 else 215} 85% {90 - 40 * min(1, abs(change) / 0.1):.0f}%)"
    tint = zlib.crc32(stack.name.encode("utf-8", "replace")) % 1000 / 1000
    if stack.name.endswith(KERNEL):
        return f"hsl({200 + 20 * tint:.0f} 60% 72%)"
    return f"hsl({8 + 42 * tint:.0f} 88% {66 + 6 * tint:.0f}%)"


def _title(stack, root):
    said = f"{stack.name}: {percent(stack.samples, root.samples)} %, {stack.samples:,} samples"
    return said + (f"; before: {percent(stack.before, root.before)} %" if root.before else "")


def _bar(stack, root, depth, begin):
    x, width = (f"{100 * part / root.samples:.4f}%" for part in (begin, stack.samples))
    place = f"{round(PARTS * begin / root.samples)} {round(PARTS * stack.samples / root.samples)} {depth}"
    return (f'<svg class="bar" x="{x}" y="{depth * ROW}" width="{width}" height="{ROW}" tabindex="-1" data-at="{place}" '
            f'style="--color: {_color(stack, root)}"><title>{escape(_title(stack, root))}</title>'
            f'<rect width="100%" height="{ROW - 1}"/><text x="3" y="13">{escape(stack.name)}</text></svg>\n')


def bars(root):
    """(how deep, where it begins in samples, the frame) of each that has a bar; those of a caller in the order of names."""
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


def html(root, title, soft):
    """A figure; "" where no sample is. soft: said beside the title"""
    if not root.samples:
        return ""
    drawn = list(bars(root))
    height = (1 + max(depth for depth, _, _ in drawn)) * ROW
    return (f'{FIGURE}<figcaption>{escape(title)} <small>{escape(soft)}</small></figcaption>\n'
            '<div class="tools"><input type="search" placeholder="Search functions" aria-label="Search functions">'
            '<button type="button">Whole picture</button><output></output></div>\n'
            f'<svg class="bars" height="{height}" role="img" aria-label="{escape(title)}">\n'
            + "".join(_bar(stack, root, depth, begin) for depth, begin, stack in drawn) + "</svg></figure>\n")


def of_span(hours, start, end, before=None):
    """The section of a service's page, by the files of its hours. before: the end of the time to compare with"""
    root = stacks.Stack("all")
    refused = stacks.read(root, stacks.within(hours, start, end))
    if before is not None:
        refused += stacks.read(root, stacks.within(hours, before - (end - start), before), before=True)
    soft = f"{root.samples:,} samples, of whole hours" + (f"; lines left out: {refused:,}" if refused else "")
    figure = html(root, "Difference" if root.before else "By function", soft)
    return f"<h2>Where the CPU time goes</h2>\n{figure}" if figure else ""

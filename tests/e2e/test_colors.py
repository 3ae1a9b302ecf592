#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The colours of the parts of a request's time are told apart, by every kind of colour vision: from those that are next to
them once one or two parts in between are zero, and from a light and a dark page.

Colours as a person with no cones of one kind sees them: Machado, Oliveira, Fernandes, A physiologically-based model for
simulation of color vision deficiency (2009). Distances are those of CIELAB.
"""

import itertools
import math
import os
import re
import sys

from e2e import TOP, Check

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
from definitions import IN_REQUESTS, PARTS  # noqa: E402

VISIONS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900))}
XYZ = (0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)
WHITE = 0.9505, 1, 1.089
APART = {1: 15, 2: 15, 3: 10}   # places in the stack: least distance
FROM_PAGE = 10


def product(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(color):
    parts = (int(color[position:position + 2], 16) / 255 for position in (1, 3, 5))
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def cielab(color, vision):
    seen = [min(1, max(0, part)) for part in product(VISIONS[vision], linear(color))]
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
               for part in (value / white for value, white in zip(product(XYZ, seen), WHITE)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other):
    return min((math.dist(cielab(one, vision), cielab(other, vision)), vision) for vision in VISIONS)


def cards():
    with open(os.path.join(TOP, "contrib", "lib", "style.css"), encoding="utf-8") as style:
        found = re.findall(r"--card: #([0-9A-F]+);", style.read())
    return ["#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits)) for digits in found]


with Check() as checks:
    stack = [series.label for series in IN_REQUESTS]
    checks.equal("all parts are in the stack", sorted(stack), sorted(label for label, _ in PARTS.values()))
    for (position, one), (above, other) in itertools.combinations(enumerate(IN_REQUESTS), 2):
        least = APART.get(above - position)
        if least:
            near, vision = distance(one.color, other.color)
            checks.true(f"{one.label} and {other.label}", near >= least, f"{near:.0f} of {least}, {vision}")
    pages = cards()
    checks.equal("pages", len(set(pages)), 2)
    for page, series in itertools.product(set(pages), IN_REQUESTS):
        near, vision = distance(page, series.color)
        checks.true(f"{series.label} on {page}", near >= FROM_PAGE, f"{near:.0f} of {FROM_PAGE}, {vision}")

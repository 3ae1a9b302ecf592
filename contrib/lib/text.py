# SPDX-License-Identifier: MIT
"""Untrusted names as text for a terminal and for a page."""

import html

from unit import NBSP


def printable(text):
    """Replaces characters that would control a terminal."""
    return "".join(letter if letter.isprintable() or letter == NBSP else "\N{REPLACEMENT CHARACTER}" for letter in text)


def escape(text):
    return html.escape(printable(text))

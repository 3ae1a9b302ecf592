# SPDX-License-Identifier: MIT
"""Names that anybody may have chosen, as text of a terminal and of a page."""

import html

from unit import NBSP


def printable(text):
    """What a terminal would obey is shown as unknown."""
    return "".join(letter if letter.isprintable() or letter == NBSP else "\N{REPLACEMENT CHARACTER}" for letter in text)


def escape(text):
    return html.escape(printable(text))

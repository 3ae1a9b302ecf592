# SPDX-License-Identifier: MIT
"""Checks names that a user gave, and suggests what was meant."""

import difflib

NAMED = 10


def unknown(what, chosen, there):
    """A message about the chosen names that do not exist; "" if all exist."""
    wrong = [one for one in chosen or () if one not in there]
    if not wrong:
        return ""
    said = f"no such {what}: {', '.join(map(repr, wrong))}"
    near = difflib.get_close_matches(wrong[0], there, NAMED, 0.6) or sorted(there)
    if near:
        said += f"; there {'is' if len(near) == 1 else 'are'} " + ", ".join(near[:NAMED]) + ", ..." * (len(near) > NAMED)
    return said

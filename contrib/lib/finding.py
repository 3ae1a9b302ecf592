# SPDX-License-Identifier: MIT
"""A finding of ebpf-check: whether something is present, and the remedy if it is not."""

import dataclasses

FINE, NOTE, MISSING = "fine", "note", "missing"


@dataclasses.dataclass(frozen=True)
class Finding:
    """NOTE: the plugin works without it, but does less; MISSING: what is configured does not work."""
    name: str
    state: str
    text: str
    remedy: str = ""
    group: str = ""     # good findings of one group share a line of the page

    def json(self):
        return {"name": self.name, "state": self.state, "text": self.text, "remedy": self.remedy or None}


def fine(name, text, group=""):
    return Finding(name, FINE, text, "", group)


def note(name, text, remedy=""):
    return Finding(name, NOTE, text, remedy)


def missing(name, text, remedy):
    return Finding(name, MISSING, text, remedy)


def judge(good, name, text, otherwise, remedy, kind=note):
    """A finding with `text` if it is good, else with `otherwise` and the remedy."""
    return fine(name, text) if good else kind(name, otherwise, remedy)

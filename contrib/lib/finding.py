# SPDX-License-Identifier: MIT
"""What ebpf-check finds: whether something is there, and what to do where it is not."""

import dataclasses

FINE, NOTE, MISSING = "fine", "note", "missing"


@dataclasses.dataclass(frozen=True)
class Finding:
    """NOTE: works without it, but less; MISSING: what is configured does not work."""
    name: str
    state: str
    text: str
    remedy: str = ""
    group: str = ""     # on the page, those that are fine share its line

    def json(self):
        return {"name": self.name, "state": self.state, "text": self.text, "remedy": self.remedy or None}


def fine(name, text, group=""):
    return Finding(name, FINE, text, "", group)


def note(name, text, remedy=""):
    return Finding(name, NOTE, text, remedy)


def missing(name, text, remedy):
    return Finding(name, MISSING, text, remedy)


def judge(good, name, text, otherwise, remedy, kind=note):
    """text if it is good, else otherwise, with the remedy."""
    return fine(name, text) if good else kind(name, otherwise, remedy)

# SPDX-License-Identifier: MIT
"""A finding of ebpf-check: whether something is present, and the remedy if it is not."""

import dataclasses

FINE, NOTE, LIMIT, MISSING, UNKNOWN = "fine", "note", "limit", "missing", "unknown"
# The exit status of ebpf-check is that of the first of these states that a finding has, else 0.
STATUSES = {MISSING: 2, UNKNOWN: 3, LIMIT: 1}


@dataclasses.dataclass(frozen=True)
class Finding:
    """NOTE: worth knowing; LIMIT: something that is configured, or on by default, does not work; MISSING: nothing works without
    it; UNKNOWN: whether the plugin works could not be seen."""
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


def limit(name, text, remedy):
    return Finding(name, LIMIT, text, remedy)


def missing(name, text, remedy):
    return Finding(name, MISSING, text, remedy)


def unknown(name, text, remedy):
    return Finding(name, UNKNOWN, text, remedy)


def judge(good, name, text, otherwise, remedy, kind=note):
    """A finding with `text` if it is good, else with `otherwise` and the remedy."""
    return fine(name, text) if good else kind(name, otherwise, remedy)


def status(findings):
    states = {finding.state for finding in findings}
    return next((number for state, number in STATUSES.items() if state in states), 0)

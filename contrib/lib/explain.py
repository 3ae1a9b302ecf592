# SPDX-License-Identifier: MIT
"""Explains a graph in a few sentences: by its own text, or by the tags of its series."""

import functools

from texts import TEXTS

MOST = 3    # series of a graph that are explained, at most


@functools.cache
def _texts_of(file):
    """{data source: text} of the series that this file, or glob of files, has."""
    found = [series for series in TEXTS if file == series or file.startswith(series + "-")]
    return TEXTS[max(found, key=len)] if found else {}


def explanation(graph, labels):
    """The explanation of the curves with these labels. Empty for series that no tag describes."""
    if graph.help:
        return graph.help
    shown = [series for series in graph.series if "*" in series.label or series.label in labels]
    said = dict.fromkeys(_texts_of(series.file).get(series.source) for series in shown or graph.series)
    return " ".join(text for text in list(said)[:MOST] if text)

# SPDX-License-Identifier: MIT
"""What a graph shows, in a sentence or some: its own, or what the tags of its series say."""

from texts import TEXTS

MOST = 3    # series of a graph that are explained


def _texts_of(file):
    """{data source: text} of the series that a file, or a pattern of files, is of."""
    found = [series for series in TEXTS if file == series or file.startswith(series + "-")]
    return TEXTS[max(found, key=len)] if found else {}


def explanation(graph, labels):
    """labels: of its curves; the text is of these alone. Empty where nothing is known, as of series that no tag describes."""
    if graph.help:
        return graph.help
    shown = [series for series in graph.series if "*" in series.label or series.label in labels]
    said = dict.fromkeys(_texts_of(series.file).get(series.source) for series in shown or graph.series)
    return " ".join(text for text in list(said)[:MOST] if text)

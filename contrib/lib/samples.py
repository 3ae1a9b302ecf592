# SPDX-License-Identifier: MIT
"""The paths of documents and sample configurations for messages: in the installation or in the sources."""

import os

HERE = os.path.dirname(os.path.realpath(__file__))
INSTALLED, SOURCES = (os.path.normpath(os.path.join(HERE, way)) for way in ("../doc/collectd-ebpf", "../.."))


def _first(*paths):
    """The first path that exists, else the first."""
    return next(filter(os.path.exists, paths), paths[0])


def document(name):
    return _first(os.path.join(INSTALLED, name), os.path.join(SOURCES, "docs", name), os.path.join(SOURCES, name))


def heading(name, text):
    """A section of a document."""
    return f'"{text}" in {document(name)}'


def sample(name):
    return _first(os.path.join(INSTALLED, "examples", name), os.path.join(SOURCES, "conf", name))

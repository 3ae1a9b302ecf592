# SPDX-License-Identifier: MIT
"""The paths of documents and sample configurations for messages: in the installation or in the sources."""

import os

HERE = os.path.dirname(os.path.realpath(__file__))
INSTALLED, SOURCES = (os.path.normpath(os.path.join(HERE, way)) for way in ("../doc/collectd-ebpf", "../.."))


def _first(installed, source):
    return source if os.path.exists(source) and not os.path.exists(installed) else installed


def document(name):
    return _first(os.path.join(INSTALLED, name), os.path.join(SOURCES, name))


def sample(name):
    return _first(os.path.join(INSTALLED, "examples", name), os.path.join(SOURCES, "conf", name))

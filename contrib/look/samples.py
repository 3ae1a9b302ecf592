# SPDX-License-Identifier: MIT
"""Where the samples of collectd.conf are, for messages: those of the installation, or those of the sources."""

import os

HERE = os.path.dirname(os.path.realpath(__file__))
PLACES = [os.path.normpath(os.path.join(HERE, way)) for way in ("../doc/collectd-ebpf/examples", "../../conf")]


def sample(name):
    found = (os.path.join(place, name) for place in PLACES)
    return next((path for path in found if os.path.exists(path)), os.path.join(PLACES[0], name))

# SPDX-License-Identifier: MIT
"""The version of the tools and of the plugin: configure.ac reads it from here."""

VERSION = "0.1.0"


def add_version(parser):
    """Adds the option --version."""
    parser.add_argument("--version", action="version", version=f"%(prog)s (collectd-ebpf) {VERSION}")

# SPDX-License-Identifier: MIT
"""The version of the tools, which is that of the plugin: configure.ac takes it from here."""

VERSION = "0.1.0"


def add_version(parser):
    """The option --version."""
    parser.add_argument("--version", action="version", version=f"%(prog)s (collectd-ebpf) {VERSION}")

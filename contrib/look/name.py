# SPDX-License-Identifier: MIT
"""Names of services: collectd's plugin instances."""

import re

PREFIX = "ebpf-"
PLUGIN = "self"     # what the plugin says of itself
PROCESS = re.compile(r"-(\d+)-\d+$")


def of_directory(text):
    """The service of PLUGIN-INSTANCE; None if it is another plugin's."""
    return text[len(PREFIX):] if text.startswith(PREFIX) else None


def parent(name):
    """SERVICE of a process's SERVICE-PID-STARTTICKS: what is counted here is counted there."""
    return PROCESS.sub("", name)


def brief(name):
    """As in a system's log."""
    return PROCESS.sub(r"[\1]", name)


def title(name):
    return "the plugin itself" if name == PLUGIN else PROCESS.sub(r" · process \1", name)

# SPDX-License-Identifier: MIT
"""Names of services: collectd's plugin instances."""

import re

PREFIX = "ebpf-"
PLUGIN = "self"     # what the plugin says of itself
PROCESS = re.compile(r"-(\d+)-\d+$")


def of_directory(text):
    """The service of PLUGIN-INSTANCE; None if it is another plugin's."""
    return text[len(PREFIX):] if text.startswith(PREFIX) else None


def parent(name, known):
    """SERVICE of a process's SERVICE-PID-STARTTICKS: what is counted here is counted there. Of others the name itself,
    as of a service app-1-2 where there is no app. known: the names of the host."""
    service = PROCESS.sub("", name)
    return service if service in known else name


def brief(name, service):
    """As in a system's log. service: its parent"""
    return PROCESS.sub(r"[\1]", name) if name != service else name


def title(name, service):
    if name == PLUGIN:
        return "the plugin itself"
    return PROCESS.sub(r" · process \1", name) if name != service else name


def varying(pattern, file):
    """What stands for the `*` of a pattern, if it has one, in the name of a file; None if it is another file."""
    if "*" not in pattern:
        return "" if file == pattern else None
    before, _, after = pattern.partition("*")
    fits = file.startswith(before) and file.endswith(after) and len(file) >= len(before) + len(after)
    return file[len(before):len(file) - len(after)] if fits else None

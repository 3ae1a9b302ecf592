# SPDX-License-Identifier: MIT
"""Names of services: collectd's plugin instances."""

import re

PREFIX = "ebpf-"
PLUGIN = "self"     # the plugin's own figures
OTHER = "other"     # what belongs to no service with series of its own
PROCESS = re.compile(r"-(\d+)-\d+$")


def of_directory(text):
    """The service of PLUGIN-INSTANCE; None for another plugin."""
    return text[len(PREFIX):] if text.startswith(PREFIX) else None


def parent(name, known):
    """SERVICE for a process, which is named SERVICE-PID-STARTTICKS and counts for that service, too. Otherwise the name
    itself, as for a service app-1-2 without a service app. known: the names of the host."""
    service = PROCESS.sub("", name)
    return service if service in known else name


def brief(name, service):
    """The short name of a process, as in the system log. service: its parent"""
    return PROCESS.sub(r"[\1]", name) if name != service else name


def title(name, service):
    if name == PLUGIN:
        return "the plugin itself"
    return PROCESS.sub(r" · process \1", name) if name != service else name


def varying(pattern, file):
    """The part of a file's name that the `*` of a glob stands for; None if the glob does not match."""
    if "*" not in pattern:
        return "" if file == pattern else None
    before, _, after = pattern.partition("*")
    fits = file.startswith(before) and file.endswith(after) and len(file) >= len(before) + len(after)
    return file[len(before):len(file) - len(after)] if fits else None

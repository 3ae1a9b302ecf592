# SPDX-License-Identifier: MIT
"""For packages: python3 switch_conf.py off|on [OWN]. A collectd whose configuration loads a plugin that is not there does not
start. So "off" makes comments of what loads or configures the plugin, in all files that the machine's collectd reads but OWN,
which is the package's; "on" makes lines of these comments again. It names the files that it changes."""

import os
import shutil
import sys
import tempfile

import collectd_conf

MARK = b"# collectd-ebpf is removed: "


def commented(lines, ours):
    numbers = {number for first, last in ours for number in range(first, last + 1)}
    return [MARK + line if number in numbers else line for number, line in enumerate(lines)]


def uncommented(lines, _ours):
    return [line[len(MARK):] if line.startswith(MARK) else line for line in lines]


def replace(path, content):
    """Whole, and with the same owner and mode."""
    descriptor, new = tempfile.mkstemp(prefix=".", dir=os.path.dirname(path))
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
            found = os.stat(path)
            os.fchown(descriptor, found.st_uid, found.st_gid)
        shutil.copystat(path, new)
        os.rename(new, path)
    except OSError:
        os.unlink(new)
        raise


def switch(path, change, ours):
    """Does the file change?"""
    with open(path, "rb") as file:
        content = file.read()
    changed = b"\n".join(change(content.split(b"\n"), ours))
    if changed != content:
        replace(path, changed)
    return changed != content


def main(word, own=""):
    change, said = {"off": (commented, "what loads or configures the plugin is a comment now, so that collectd starts without it"),
                    "on": (uncommented, "what loads or configures the plugin is in force again")}[word]
    status = 0
    try:
        files = {os.path.realpath(path): ours for path, ours in collectd_conf.load(None).files}
    except (collectd_conf.Trouble, OSError, ValueError) as error:
        sys.exit(f"collectd-ebpf: the configuration of collectd cannot be read: {error}")
    files.pop(os.path.realpath(own), None)
    for path, ours in files.items():
        try:
            if switch(path, change, ours):
                print(f"collectd-ebpf: {path}: {said}")
        except OSError as error:
            print(f"collectd-ebpf: {path} cannot be changed: {error.strerror}; collectd does not start while it loads a plugin "
                  "that is not there", file=sys.stderr)
            status = 1
    return status


sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Configurations, and all that the plugin says of each: a real collectd tries those of configurations/*.txt. There a row ends
with an empty line, and has

  its name
      the configuration, four blanks before each line; without <Plugin ebpf> it stands in such a block
  ---             what follows is another file
  probes: NAMES   collectd runs, with these objects of this build, or none, until all that follows is said and for some
                  readings more; if nothing is to be said, it reads once. Without this line it ends when it has read the
                  configuration, as collectd -t does
  times: NUMBER   the configuration so many times, @N@ being 0, 1 and so on
  > SEVERITY: what is said, up to an ellipsis, in the order of the log; without this line nothing may be said

@DIR@ is the directory of the row, @0x1b@ a byte, @127 x@ so many times an x. What is no configuration for collectd itself, as
an option without a value, is not the plugin's to tell.
"""

import concurrent.futures
import glob
import os
import re

from e2e import TOP, as_wanted

from configured import Workspace, Parser
import lib

TABLES = os.path.join(TOP, "tests", "e2e", "configurations", "*.txt")
ROWS = 128
SIDE_BY_SIDE = 2


class Row:
    """A configuration of the table. probes: None where only the configuration is read."""

    def __init__(self, text):
        self.name, *lines = text.split("\n")
        self.probes, self.want = None, []
        texts, times = [[]], 1
        for line in lines:
            word, _, remainder = line.partition(" ")
            if line.startswith("    "):
                texts[-1].append(line[4:])
            elif line == "---":
                texts.append([])
            elif word == "probes:":
                self.probes = [name for name in remainder.split() if name != "none"]
            elif word == "times:":
                times = int(remainder)
            elif word == ">":
                self.want.append(remainder)
            else:
                raise ValueError(f"{self.name}: {line}")
        self.files = [configuration("\n".join(lines), times) for lines in texts]


def configuration(text, times):
    """The bytes of a file. What is not a whole one stands in the plugin's block."""
    text = "\n".join(text.replace("@N@", str(number)) for number in range(times))
    if "Plugin ebpf>" not in text:
        text = f"<Plugin ebpf>\n{text}\n</Plugin>"
    text = re.sub("@([0-9]+) (.)@", lambda match: int(match[1]) * match[2], text)
    return re.sub(b"@0x([0-9a-f]{2})@", lambda match: bytes.fromhex(match[1].decode()), text.encode()) + b"\n"


def rows():
    found = []
    for path in sorted(glob.glob(TABLES)):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"^#.*\n", "", file.read(), flags=re.M)
        found += map(Row, re.split(r"\n{2,}", text.strip("\n")))
    return found


def run(workspace, want):
    """collectd's exit status. What has to wait for a helper at the start is said a second later."""
    if not want:
        return workspace.run(["-f", "-T"]).returncode
    return workspace.run_until(lambda: as_wanted(workspace.said(), want)[:len(want)] == want)


def attempt(test, number, row, parser):
    """(what was said, does collectd take the configuration?)"""
    workspace = Workspace(test, f"row.{number}")
    for at, content in enumerate(row.files):
        workspace.include(f"{at:02}.conf", content)
    if row.probes is None:
        taken = parser.read(workspace)
    else:
        workspace.link_objects(row.probes)
        taken = run(workspace, row.want) == 0
    return workspace.said(), taken


def try_table(test, parser, table):
    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        found = pool.map(lambda pair: attempt(test, *pair, parser), enumerate(table))
        for row, (said, taken) in zip(table, found):
            test.equal(f"{row.name}: what is said", as_wanted(said, row.want), row.want)
            test.true(f"{row.name}: collectd takes it", taken)


def without_log(test, parser):
    """What is said before there is a log goes to standard error."""
    workspace = Workspace(test, "without_log")
    workspace.include("wrong.conf", b"<Plugin ebpf>\n  MaxServices 0\n</Plugin>\n")
    done = parser.run(workspace, log=False)
    want = "ebpf plugin: ignoring MaxServices 0 in <Plugin ebpf>: it takes a whole number from 1 to 4096"
    test.equal("without a log plugin", [line for line in done.stderr.splitlines() if "ebpf plugin" in line], [want])


def main():
    with lib.Test(limit=400) as test:
        parser, table = Parser(test), rows()
        print("collectd -t", "reads the configuration" if parser.has_t else "reads nothing: it is tried without")
        try_table(test, parser, table)
        without_log(test, parser)
        test.true(f"at least {ROWS} rows", len(table) >= ROWS, len(table))
        test.equal("rows of one name", len(table) - len({row.name for row in table}), 0)


if __name__ == "__main__":
    main()

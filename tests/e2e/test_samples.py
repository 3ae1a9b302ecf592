#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The samples of conf/ for collectd, each alone and all together, as they stand in a directory that collectd.conf includes:
nothing is said of them, but that a program is not there which they name, and none takes away what another or the default has.

Of samples that set the plugin up, collectd reads once, with the probes that they name or with all of them. Those of other
plugins, which would need servers and sockets, are read as configuration.
"""

import glob
import os
import re

from e2e import TOP

from configured import NOWHERE, Workspace, Parser
import collectd
import lib

ROOM = b"<Plugin ebpf>\n  MaxOverhead 100\n</Plugin>\n"


class Sample:
    """blocks: with its blocks that are comments."""

    def __init__(self, path, blocks=False):
        self.name = os.path.basename(path)
        with open(path, "rb") as file:
            self.content = file.read().replace(b"/etc/collectd/passwords", b"@DIR@/conf.d/passwords")
        if blocks:
            self.content = re.sub(rb"^#(?=  )", b"", self.content, flags=re.M)
        lines = re.sub(r"^\s*#.*\n", "", self.content.decode(), flags=re.M)
        self.plugins = re.findall(r"^LoadPlugin (\w+)$", lines, re.M)
        self.is_ours = "ebpf" in self.plugins
        self.probes = sorted(set(re.findall(r'<Probe "(\w+)">', lines))) or ["request"]
        self.files = re.findall(r'Attach "\w+:(/[^:"]+):', lines)
        self.removals = re.findall(r"^ *(?:Enable false|ServicesFrom .*)$", lines, re.M)

    def lacks(self):
        """The plugins that are not installed."""
        return [name for name in self.plugins if name != "ebpf" and not os.path.exists(f"{collectd.PLUGINS}/{name}.so")]


def of_collectd():
    """Some are for other programs."""
    found = [Sample(path, path.endswith("/responses.conf")) for path in sorted(glob.glob(os.path.join(TOP, "conf", "*.conf")))]
    return [sample for sample in found if sample.plugins]


def workspace_of(test, name, samples):
    workspace = Workspace(test, name.replace(" ", "_"))
    for sample in samples:
        workspace.include(sample.name, sample.content)
    return workspace


def check_read(test, parser, name, samples):
    workspace = workspace_of(test, name, samples)
    # As its sample says.
    workspace.include("passwords", b"web1: secret\n")
    test.true(f"{name}: collectd takes it", parser.read(workspace))
    test.equal(f"{name}: what is said", [line for line in workspace.log_lines() if NOWHERE not in line[1]], [])


def check_run(test, name, samples, probes):
    """Of files that are not there it is told, and of nothing else. What a function costs is no complaint."""
    workspace = workspace_of(test, name, samples)
    workspace.link_objects(probes)
    # Not the neighbours' doing.
    workspace.include("zz.conf", ROOM)
    test.equal(f"{name}: exit status", workspace.run(["-f", "-T"]).returncode, 0)
    files = {file for sample in samples for file in sample.files}
    missing = {file for file in files if not os.path.exists(file)}
    said = [line for line in workspace.said() if re.match("warning|error|notice: (using|ignoring)", line)]
    expected_lines = set()
    for file in missing:
        expected_lines |= {line for line in said if file in line}
        test.true(f"{name}: it is told that there is no {file}", any(file in line for line in said))
    if files and missing == files:
        expected_lines |= {line for line in said if "probe functions is off" in line}
    test.equal(f"{name}: what else is said", [line for line in said if line not in expected_lines], [])


def main():
    with lib.Test(limit=180) as test:
        parser, samples = Parser(test), []
        for sample in of_collectd():
            if sample.lacks():
                test.left_out(sample.name, "not installed: the plugin " + ", ".join(sample.lacks()))
            else:
                samples.append(sample)
        test.equal("what samples take away", [(sample.name, sample.removals) for sample in samples if sample.removals], [])
        for sample in samples:
            if sample.is_ours:
                check_run(test, sample.name, [sample], sample.probes)
            else:
                check_read(test, parser, sample.name, [sample])
        check_read(test, parser, "all", samples)
        probes = [os.path.basename(path).removesuffix(".bpf.o") for path in glob.glob(f"{lib.BUILD}/bpf/*.bpf.o")]
        check_run(test, "all of the plugin", [sample for sample in samples if sample.is_ours], probes)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/install-deps where libbpf is too old for the plugin, as on Ubuntu 22.04: it says so, and changes nothing."""

import os
import subprocess

from e2e import TOP, Check
from test_quickstart import write_program

OLD = "1:0.5.0-1ubuntu22.04.1"

with Check() as check:
    calls = os.path.join(check.dir, "calls")
    write_program(check.dir, "id", "echo 0")
    write_program(check.dir, "apt-get", f'echo "$*" >>{calls}')
    write_program(check.dir, "apt-cache", 'echo "$2:"', "echo '  Installed: (none)'", f"echo '  Candidate: {OLD}'")
    write_program(check.dir, "dpkg-query", "exit 1")
    done = subprocess.run([os.path.join(TOP, "contrib", "install-deps"), "build"], capture_output=True, text=True, check=False,
                          env={"PATH": f"{check.dir}:/usr/sbin:/usr/bin:/sbin:/bin"})
    check.equal("exit status", done.returncode, 1)
    check.contains("what it says", done.stderr, f"libbpf-dev {OLD}; 1.1 is needed")
    check.equal("lines that it says", len(done.stderr.splitlines()), 1)
    with open(calls, encoding="ascii") as file:
        check.equal("what it asked of apt-get", [line.split()[-1] for line in file], ["update"])

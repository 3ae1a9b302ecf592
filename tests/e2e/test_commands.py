#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Command lines of the tools that cannot be right: each row of commands.txt has its name, the command, the exit status, and the
lines that standard error has below the usage, up to an ellipsis.

The command runs as the user nobody, from a copy of the tools, in a directory with what the rows name; @TOP@ is where it is.
"""

import concurrent.futures
import os
import re
import shlex
import shutil
import socket
import subprocess

from e2e import TOP, Check, as_wanted

TABLE = os.path.join(TOP, "tests", "e2e", "commands.txt")
ROW = re.compile(r"^(?P<name>.+)\n    (?P<command>.+)\nstatus: (?P<status>\d+)(?P<said>(\n> .+)+)\s*$")
NOBODY = 65534
SIDE_BY_SIDE = 2
FILES = {"pairs": b"web\n", "secret.yaml": b"", "broken.yaml": b"a: [\n", "nothing.yaml": b"", "large.yaml": (1 << 21) * b"#"}


def rows():
    with open(TABLE, encoding="utf-8") as file:
        text = re.sub(r"^#.*\n", "", file.read(), flags=re.M)
    return [ROW.match(part) for part in re.split(r"\n{2,}", text.strip())]


def make_files(directory):
    os.chmod(directory, 0o755)
    for name in "contrib", "conf":
        shutil.copytree(os.path.join(TOP, name), os.path.join(directory, name))
    os.mkdir(os.path.join(directory, "empty"))
    for name, content in FILES.items():
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)
    os.chmod(os.path.join(directory, "secret.yaml"), 0)
    left = os.path.join(directory, "left")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(left)
    os.chmod(left, 0o777)


def attempt(directory, row):
    """(exit status, lines that were said, standard output)"""
    tool, *arguments = shlex.split(row["command"])
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(["/usr/bin/python3", os.path.join(directory, "contrib", tool), *arguments], cwd=directory,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60, **user,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC"})
    # The usage goes on in lines that begin with blanks.
    said = [line.replace(directory, "@TOP@") for line in done.stderr.splitlines() if not re.match("usage: |  ", line)]
    return done.returncode, said, done.stdout


def main():
    with Check() as check:
        make_files(check.dir)
        table = rows()
        with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            for row, (status, said, out) in zip(table, pool.map(lambda row: attempt(check.dir, row), table)):
                check.equal(f"{row['name']}: exit status", status, int(row["status"]))
                want = [line[2:] for line in row["said"].strip().split("\n")]
                check.equal(f"{row['name']}: what is said", as_wanted(said, want), want)
                check.equal(f"{row['name']}: output", out, "")


if __name__ == "__main__":
    main()

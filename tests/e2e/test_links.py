#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Another user has been where contrib/ebpf-graph and contrib/quickstart write to as root, and still is: links, files and
directories of theirs lead nowhere, and what cannot be used is refused with the way out."""

import ctypes
import os
import pwd
import shutil
import subprocess
import time

from e2e import TOP, Check, Skip
from tree import Tree

GRAPH = os.path.join(TOP, "contrib", "ebpf-graph")
QUICKSTART = os.path.join(TOP, "contrib", "quickstart")
HOST, SPAN = "db1", 600
FILES = "index.html", f"services/{HOST}/web.html", "about.js", "lib/page.js", f"data/{HOST}/span.js", f"data/{HOST}/span/web.js"
RACES = 12
PR_SET_PDEATHSIG, SIGKILL = 1, 9

# Puts a link in the place of a directory, and the directory back, all the time.
SWAP = """
import contextlib, os, sys
directory, target = sys.argv[1:]
while True:
    with contextlib.suppress(OSError):
        os.rename(directory, directory + ".away")
    with contextlib.suppress(OSError):
        os.symlink(target, directory)
    with contextlib.suppress(OSError):
        os.unlink(directory)
    with contextlib.suppress(OSError):
        os.rename(directory + ".away", directory)
"""


class Workspace:
    """A directory in which everybody may write, as /tmp, and one of root's with a file that is to stay."""

    def __init__(self, check, name, mode=0o1777):
        self.check = check
        self.shared, self.victim = (os.path.join(check.dir, name, part) for part in ("shared", "victim"))
        for path in self.shared, self.victim:
            os.makedirs(path)
        os.chmod(self.shared, mode)
        self.precious = os.path.join(self.victim, "collectd.conf")
        with open(self.precious, "w", encoding="ascii") as file:
            file.write("precious")
        self.output = os.path.join(self.shared, "out")

    def mkdir(self, *names, user="nobody"):
        path = os.path.join(self.output, *names)
        os.mkdir(path)
        shutil.chown(path, user)
        return path

    def link(self, target, *names, user="nobody"):
        path = os.path.join(self.output, *names)
        os.symlink(target, path)
        os.chown(path, pwd.getpwnam(user).pw_uid, -1, follow_symlinks=False)

    def untouched(self, what):
        self.check.equal(f"{what}: what is in root's directory", os.listdir(self.victim), ["collectd.conf"])
        with open(self.precious, encoding="ascii") as file:
            self.check.equal(f"{what}: root's file", file.read(), "precious")


def run(*command, **environment):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=300,
                          cwd="/", env=os.environ | environment)


def draw(workspace, *arguments):
    return run(GRAPH, "--rrd", os.path.join(workspace.check.dir, "rrd"), "--output", workspace.output, "--start", f"-{SPAN}s",
               *arguments)


def refused(check, what, done, *parts):
    check.equal(f"{what}: exit status", done.returncode, 1)
    for part in parts:
        check.contains(f"{what}: the message", done.stderr, part)


def has_pages(check, what, directory):
    for name in FILES:
        path = os.path.join(directory, name)
        check.true(f"{what}: {name} is there and a file", os.path.isfile(path) and not os.path.islink(path))


def test_graph_links(check):
    """The directory is another user's, as a web server's is: pages come, and take the place of links."""
    workspace = Workspace(check, "links")
    workspace.mkdir()
    for name in "services", f"services/{HOST}", "lib", "data", f"data/{HOST}", f"data/{HOST}/span":
        workspace.mkdir(name)
    for name in FILES:
        workspace.link(workspace.precious, name)
    for name in f"services/{HOST}/old.html", f"services/{HOST}/old", f"data/{HOST}/old.js", f"data/{HOST}/span/old.js":
        os.mkfifo(os.path.join(workspace.output, name))
    for name in "services/other", "data/other", f"data/{HOST}/other":
        workspace.link(workspace.victim, name)
    done = draw(workspace)
    check.equal("links to a file: exit status and complaints", (done.returncode, done.stderr), (0, ""))
    has_pages(check, "links to a file", workspace.output)
    workspace.untouched("links to a file")


def test_graph_directories(check):
    for name in "services", "data", "lib", f"data/{HOST}", f"data/{HOST}/span":
        workspace = Workspace(check, "directory_" + name.replace("/", "_"))
        workspace.mkdir()
        for at in range(1, name.count("/") + 1):
            workspace.mkdir(*name.split("/")[:at])
        workspace.link(workspace.victim, name)
        refused(check, f"a link {name}", draw(workspace), os.path.join(workspace.output, name))
        workspace.untouched(f"a link {name}")
    workspace = Workspace(check, "way")
    workspace.link(workspace.victim)
    refused(check, "a link to the directory", draw(workspace), workspace.output, "another user's")
    workspace.output += "/further"
    refused(check, "a link on the way", draw(workspace), workspace.output, "another user's")
    workspace.untouched("a link on the way")


def test_graph_own_link(check):
    workspace = Workspace(check, "own")
    target = os.path.join(check.dir, "own", "target")
    workspace.link("../target", user="root")
    os.mkdir(target)
    check.equal("root's link: exit status", draw(workspace).returncode, 0)
    has_pages(check, "root's link", target)


def test_graph_race(check):
    """A link for an instant, again and again."""
    workspace = Workspace(check, "race")
    workspace.mkdir()
    workspace.mkdir("data")
    path = workspace.mkdir("data", HOST)
    swapping = subprocess.Popen(["/usr/bin/python3", "-c", SWAP, path, workspace.victim], user="nobody", group="nogroup",
                                extra_groups=[], cwd="/",
                                preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL))
    outcomes = {draw(workspace).returncode for _ in range(RACES)}
    swapping.kill()
    swapping.wait()
    check.true("race: exit statuses", outcomes <= {0, 1}, outcomes)
    workspace.untouched("race")


def start(workspace, *arguments):
    """As far as it would come: to the first command of the build."""
    tools = os.path.join(workspace.check.dir, "bin")
    if not os.path.exists(tools):
        os.mkdir(tools)
        os.symlink("/bin/false", os.path.join(tools, "autoreconf"))
    return run(QUICKSTART, "--no-install", "--output", workspace.output, *arguments, PATH=tools + ":" + os.environ["PATH"])


def test_quickstart(check):
    workspace = Workspace(check, "quickstart")
    refused(check, "a new directory in a sticky one", start(workspace), "autoreconf failed")
    check.equal("its owner and mode", (os.stat(workspace.output).st_uid, os.stat(workspace.output).st_mode & 0o777), (0, 0o755))
    refused(check, "again", start(workspace), "autoreconf failed")

    workspace = Workspace(check, "foreign")
    workspace.mkdir()
    workspace.link(workspace.precious, "collectd.conf")
    workspace.link(workspace.victim, "log")
    refused(check, "another user's directory", start(workspace), workspace.output, "belongs to somebody else", "--output")
    workspace.untouched("another user's directory")
    check.equal("it is as it was", sorted(os.listdir(workspace.output)), ["collectd.conf", "log"])

    workspace = Workspace(check, "foreign_link")
    workspace.link(workspace.victim)
    refused(check, "another user's link", start(workspace), workspace.output, "belongs to somebody else", "--output")
    workspace.untouched("another user's link")

    for name, mode, user in ("open", 0o777, "root"), ("group", 0o775, "root"), ("parent", 0o755, "nobody"):
        workspace = Workspace(check, name, mode)
        shutil.chown(workspace.shared, user, "nogroup")
        done = start(workspace)
        refused(check, f"below a directory of {user}'s with mode {mode:o}", done, workspace.shared, "--output")
        check.equal("nothing is made there", os.listdir(workspace.shared), [])

    workspace = Workspace(check, "own_link")
    workspace.link("../new/one", user="root")
    refused(check, "root's own link", start(workspace), "autoreconf failed")
    check.true("it is followed", os.path.exists(os.path.join(check.dir, "own_link", "new", "one", "collectd.conf")))
    os.chmod(os.path.join(check.dir, "own_link", "new", "one"), 0o777)
    refused(check, "a directory to which others can write", start(workspace), "others can write", "--output")


with Check() as checks:
    if os.geteuid() != 0:
        raise Skip("needs root, and another user")
    if not shutil.which("rrdtool"):
        raise Skip("rrdtool is not installed")
    os.chmod(checks.dir, 0o755)
    Tree(os.path.join(checks.dir, "rrd"), int(time.time()), SPAN).file(HOST, "web", "ps_rss", 1000)
    for test in (test_graph_links, test_graph_directories, test_graph_own_link, test_graph_race, test_quickstart):
        print("---", test.__name__)
        test(checks)

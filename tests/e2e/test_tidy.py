#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-tidy: what it lists, removes and renames in a tree of RRD files, and what it leaves alone whatever names
and links there are."""

import contextlib
import os
import shutil
import subprocess
import time

import receiver
from e2e import TOP, Check, Skip
from tree import rrdtool

TOOL = os.path.join(TOP, "contrib", "ebpf-tidy")
DAY = 86400
NOW = int(time.time())


def make(directory, host, service, name, days=0.0):
    """A file whose last value is so many days old."""
    path = os.path.join(directory, host, service, name + ".rrd")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    updated = NOW - int(days * DAY)
    rrdtool("create", path, "-s", "10", "-b", str(updated - 10), "DS:value:GAUGE:300:U:U", "RRA:AVERAGE:0.1:1:10")
    rrdtool("update", path, f"{updated}:1")
    # By its values it is judged, not by the time of a copy.
    os.utime(path, (NOW, NOW))
    return path


def state(directory):
    """Everything below it, with its kind and content."""
    found = {}
    for path, directories, names in os.walk(directory):
        for name in directories + names:
            one = os.path.join(path, name)
            content = os.readlink(one) if os.path.islink(one) else None
            if content is None and os.path.isfile(one):
                with open(one, "rb") as file:
                    content = file.read()
            found[os.path.relpath(one, directory)] = content
    return found


def tidy(tree, *arguments, **environment):
    return subprocess.run([TOOL, "--rrd", tree, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=300, errors="surrogateescape",
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environment})


class Case:
    """A tree of its own."""

    def __init__(self, check, what):
        self.check, self.what = check, what
        self.top = os.path.join(check.dir, what.replace(" ", "_"))
        self.tree = os.path.join(self.top, "rrd")
        os.makedirs(self.tree)

    def make(self, *arguments):
        return make(self.tree, *arguments)

    def run(self, *arguments, status=0, says=(), **environment):
        """The paths that have gone and that have come."""
        before = state(self.top)
        dry = tidy(self.tree, "--dry-run", *arguments, **environment)
        self.check.equal(f"{self.what}: a dry run changes", state(self.top) == before, True)
        done = tidy(self.tree, *arguments, **environment)
        after = state(self.top)
        self.check.equal(f"{self.what}: exit status, and of the dry run", (done.returncode, dry.returncode),
                         (status, status))
        self.check.equal(f"{self.what}: the dry run says the same",
                         dry.stdout.replace("would ", "") + dry.stderr, done.stdout + done.stderr)
        for text in says:
            self.check.contains(f"{self.what}: says", done.stdout + done.stderr, text)
        self.check.equal(f"{self.what}: lines that break or obey", [
            line for line in (done.stdout + done.stderr).split("\n") if not line.isprintable()], [])
        self.check.equal(f"{self.what}: what stays is as it was",
                         [path for path in before if path in after and before[path] != after[path]], [])
        return set(before) - set(after), set(after) - set(before)

    def expect(self, changes, removed=(), come=()):
        for word, got, want in (("gone", changes[0], removed), ("come", changes[1], come)):
            self.check.equal(f"{self.what}: {word}", sorted(got), sorted("rrd/" + path for path in want))


def listing(check):
    case = Case(check, "listing")
    case.make("h", "ebpf-web", "ps_rss", 3)
    case.make("h", "ebpf-web", "swap", 2)
    case.make("h", "cpu-0", "cpu-idle")
    size = os.path.getsize(os.path.join(case.tree, "h/ebpf-web/swap.rrd"))
    case.expect(case.run("--files", says=("2 files", "2 d ago", f"{size} ", "ps_rss.rrd", "1 services", "h/ebpf-web")))
    printed = tidy(case.tree).stdout
    check.equal("listing: of another plugin", "cpu-0" in printed, False)


def older(check):
    case = Case(check, "older")
    case.make("h", "ebpf-cc1", "ps_rss", 20)
    case.make("h", "ebpf-cc1", "swap", 7.1)
    case.make("h", "ebpf-web", "ps_rss", 6.9)
    case.make("h", "ebpf-web", "total_requests", 20)
    case.make("h", "cpu-0", "cpu-idle", 20)
    case.make("h", "ebpfx-a", "cpu-idle", 20)
    case.make("h", "ebpf", "cpu-idle", 20)
    changes = case.run("--older", "7", says=("2 files, ", "ebpf-cc1", "remove 1 file, ", "remove 3 files"))
    case.expect(changes, ["h/ebpf-cc1", "h/ebpf-cc1/ps_rss.rrd", "h/ebpf-cc1/swap.rrd", "h/ebpf-web/total_requests.rrd"])
    case.expect(case.run("--older", "7", says=("remove 0 files",)))
    case.expect(case.run("--older", "0", status=2))


def hostile_names(check):
    """Names that anybody may have chosen, and what is no file of the plugin."""
    case = Case(check, "hostile names")
    strange = ["ebpf-a\nb", "ebpf-\x1b[2J", "ebpf-..", "ebpf-$(id)", "ebpf- ", "ebpf--x", "ebpf-\udcff"]
    for name in strange:
        case.make("h", name, "ps_rss", 20)
    current = "ebpf-kept"
    case.make("h", current, "ps_rss", 20)
    directory = os.path.join(case.tree, "h", current)
    os.mkdir(os.path.join(directory, "directory.rrd"))
    os.mkfifo(os.path.join(directory, "fifo.rrd"))
    for name, content in (("notes.txt", b"x"), ("no.rrd", b"hello"), ("empty.rrd", b""), ("cut.rrd", b"RRD\0" + b"0003")):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)
    shutil.copy(os.path.join(directory, "ps_rss.rrd"), os.path.join(directory, "head.rrd"))
    with open(os.path.join(directory, "head.rrd"), "r+b") as file:
        file.truncate(200)
    with open(os.path.join(directory, "huge.rrd"), "wb") as file:
        file.write(b"RRD\x000003\0" + b"\0" * 7 + b"\x2f\x25\xc0\xc7\x43\x2b\x1f\x5b" + b"\xff" * 104)
    changes = case.run("--older", "7", says=("notes.txt is not called *.rrd", "fifo.rrd is not a regular file",
                                             "no.rrd is not an RRD file", "head.rrd is a damaged RRD file",
                                             "huge.rrd is a damaged RRD file"))
    case.expect(changes, [f"h/{name}" for name in strange] + [f"h/{name}/ps_rss.rrd" for name in strange]
                + [f"h/{current}/ps_rss.rrd"])


def links(check):
    case = Case(check, "links")
    case.make("h", "ebpf-web", "ps_rss")
    outside = os.path.join(case.top, "outside")
    for host in ("h", "victim"):
        make(outside, host, "ebpf-out", "ps_rss", 20)
    os.symlink(os.path.join(outside, "h", "ebpf-out"), os.path.join(case.tree, "h", "ebpf-link"))
    os.symlink(os.path.join(outside, "victim"), os.path.join(case.tree, "victim"))
    case.make("h", "ebpf-old", "swap", 20)
    os.symlink(os.path.join(outside, "h", "ebpf-out", "ps_rss.rrd"), os.path.join(case.tree, "h", "ebpf-old", "a.rrd"))
    case.expect(case.run("--older", "7", says=("a.rrd is a symbolic link",)), ["h/ebpf-old/swap.rrd"])
    case.expect(case.run("--host", "victim", "--older", "7", status=1, says=("no host 'victim' is there",)))
    case.expect(case.run("--remove", "link", status=1, says=("no ebpf-link is there",)))
    case.expect(case.run("--rename", "link=moved", status=1, says=("no ebpf-link is there",)))
    before = state(case.top)
    check.equal("links: rename to the name of a link", tidy(case.tree, "--rename", "web=link").returncode, 1)
    check.equal("links: nothing has changed", state(case.top) == before, True)
    # The operator's own word may be one.
    os.symlink(case.tree, os.path.join(case.top, "way"))
    printed = tidy(os.path.join(case.top, "way"), "--older", "0.000001", "--dry-run").stdout
    check.contains("links: the tree itself may be one", printed, "ebpf-web")


def bad_names(check):
    case = Case(check, "bad names")
    case.make("h", "ebpf-web", "ps_rss", 20)
    case.make("h", "cpu-0", "cpu-idle", 20)
    for name in ("../cpu-0", "..", ".", "a/b", "/etc", "a\nb", " a", "x" * 128, "\udcff"):
        for arguments in (("--rename", f"web={name}"), ("--rename", f"{name}=web2"), ("--remove", name)):
            done = tidy(case.tree, *arguments)
            said = done.returncode and ("is not the name of a service" in done.stderr or "is there" in done.stderr)
            if name in ("..", ".") and arguments[1].startswith("web="):
                # ebpf-.. is a name like another.
                tidy(case.tree, "--rename", f"{name}=web")
                said = True
            check.true(f"bad names: {arguments[0]} {name!r:.20} is refused", said)
    check.equal("bad names: what is there", sorted(state(case.tree)), [
        "h", "h/cpu-0", "h/cpu-0/cpu-idle.rrd", "h/ebpf-web", "h/ebpf-web/ps_rss.rrd"])
    for host in ("..", "../rrd/h", "", "h/"):
        case.expect(case.run("--host", host, "--older", "1", status=1, says=("no host",)))
    case.expect(case.run("--rename", "web", status=2, says=("is not OLD=NEW",)))
    check.equal("bad names: a tree that is not there", tidy(case.tree + "x").returncode, 1)


def renaming(check):
    case = Case(check, "renaming")
    for service in ("nsd:_main", "nsd:_server_1", "python3", "a", "b"):
        case.make("h", f"ebpf-{service}", "ps_rss")
    case.make("h", "ebpf-nginx", "ps_rss", 1)
    case.make("h", "ebpf-stale", "ps_rss", 9)
    case.expect(case.run("--rename", "nsd:_main=nsd", says=("rename ebpf-nsd:_main to ebpf-nsd, 1 file",)),
                ["h/ebpf-nsd:_main", "h/ebpf-nsd:_main/ps_rss.rrd"], ["h/ebpf-nsd", "h/ebpf-nsd/ps_rss.rrd"])
    # What is there already stays, and the others go on.
    os.mkdir(os.path.join(case.tree, "h", "ebpf-empty"))
    changes = case.run("--rename", "stale=nginx", "--rename", "nginx=stale", "--rename", "absent=c", "--rename",
                       "python3=empty", status=1,
                       says=("ebpf-nginx is there already, with newer values (1 d ago; those of ebpf-stale: 9 d ago)",
                             "ebpf-stale is there already, with older values", "no ebpf-absent is there"))
    case.expect(changes, ["h/ebpf-python3", "h/ebpf-python3/ps_rss.rrd"], ["h/ebpf-empty/ps_rss.rrd"])
    shutil.copy(os.path.join(case.tree, "h/ebpf-a/ps_rss.rrd"), os.path.join(case.tree, "h/ebpf-b/ps_rss.rrd"))
    names = os.path.join(case.top, "names")
    with open(names, "w", encoding="utf-8") as file:
        file.write("# old new\n\nnginx nginx\nb c\na b\n")
    case.expect(case.run("--rename-from", names), ["h/ebpf-a", "h/ebpf-a/ps_rss.rrd"],
                ["h/ebpf-c", "h/ebpf-c/ps_rss.rrd"])
    for arguments, text in ((("x=z", "y=z"), "ebpf-z is to be made of several"),
                            (("x=y", "x=z"), "ebpf-x is to become several"), (("x=x",), "is to become itself")):
        words = [word for one in arguments for word in ("--rename", one)]
        case.expect(case.run(*words, status=1, says=(text,)))
    for content, text in (("a b c\n", "line 1: needs two names"), ("# a b\n", "no line has an old and a new name")):
        with open(names, "w", encoding="utf-8") as file:
            file.write(content)
        case.expect(case.run("--rename-from", names, status=1, says=(text,)))
    case.expect(case.run("--rename-from", names + "x", status=1, says=("No such file",)))


def hosts(check):
    case = Case(check, "hosts")
    for host in ("h1", "h2"):
        case.make(host, "ebpf-web", "ps_rss", 20)
    case.make("h3", "cpu-0", "cpu-idle", 20)
    for arguments in (("--older", "7"), ("--remove", "web"), ("--rename", "web=x")):
        case.expect(case.run(*arguments, status=1, says=("there are several hosts", "h1 h2")))
    case.expect(case.run("--host", "h2", "--remove", "web"), ["h2/ebpf-web", "h2/ebpf-web/ps_rss.rrd"])
    # The only one that is left needs no name.
    case.expect(case.run("--rename", "web=x"), ["h1/ebpf-web", "h1/ebpf-web/ps_rss.rrd"],
                ["h1/ebpf-x", "h1/ebpf-x/ps_rss.rrd"])
    case.expect(case.run("--host", "h3", "--older", "1", status=1, says=("nothing of the ebpf plugin",)))


@contextlib.contextmanager
def rrdcached(directory, tree):
    """The address of one for this tree."""
    socket = os.path.join(directory, "socket")
    daemon = subprocess.Popen(["rrdcached", "-g", "-B", "-b", tree, "-p", os.path.join(directory, "pid"), "-l",
                               f"unix:{socket}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        receiver.wait_until("rrdcached", lambda: receiver.listens(socket))
        yield f"unix:{socket}"
    finally:
        daemon.terminate()
        daemon.wait()


def cached(check):
    """What rrdcached has not written yet counts, and goes along."""
    if not shutil.which("rrdcached"):
        raise Skip("rrdcached is not installed")
    case = Case(check, "rrdcached")
    paths = [case.make("h", f"ebpf-{name}", "ps_rss", 20) for name in ("gone", "back", "old")]
    with rrdcached(case.top, case.tree) as address:
        before = state(case.tree)
        for path in paths[1:]:
            rrdtool("update", path, "--daemon", address, f"{NOW}:2")
        check.equal("rrdcached: nothing is written yet", state(case.tree) == before, True)
        tidy(case.tree, "--rename", "old=new", RRDCACHED_ADDRESS=address)
        moved = os.path.join(case.tree, "h", "ebpf-new", "ps_rss.rrd")
        last = subprocess.run(["rrdtool", "last", moved], capture_output=True, text=True, check=True).stdout
        check.equal("rrdcached: last value of what was renamed", int(last), NOW)
        tidy(case.tree, "--older", "7", RRDCACHED_ADDRESS=address)
        check.equal("rrdcached: what is left", sorted(os.listdir(os.path.join(case.tree, "h"))), ["ebpf-back", "ebpf-new"])
    done = tidy(case.tree, "--rename", "new=newer", RRDCACHED_ADDRESS="unix:/nowhere")
    check.equal("rrdcached, away: exit status", done.returncode, 1)
    check.contains("rrdcached, away: says", done.stderr, "rrdcached does not flush")
    check.true("rrdcached, away: nothing is renamed", os.path.exists(moved))


def main():
    with Check() as check:
        if not shutil.which("rrdtool"):
            raise Skip("rrdtool is not installed")
        for part in (listing, older, hostile_names, links, bad_names, renaming, hosts, cached):
            part(check)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""contrib/ebpf-graph in a folder where it has been before: what it draws again, what it leaves as it is and what it removes. And
names of hosts and services that mean something in the folder, or in an address."""

import copy
import json
import math
import os
import shutil
import sys
import time
import types

from e2e import TOP, Check, Output, Skip, check_output, draw
from tree import Tree

sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.dont_write_bytecode = True
import about  # noqa: E402
import span as spans_of  # noqa: E402

END = int(time.time()) // 10 * 10 - 600     # later ends are not in the future
HOUR = 3600
NAMES = ("about", "about.js", "flames", "x.flames", "hour", "hour.js", "events", "index.html", "data(", "..x", "-x", "%41",
         "a%2Fb", "a b", "#x", "?x=1", "a&amp;b", "<script>alert(1)", "'\"`", "\\", "a\\:b", "a\nb", "\x1b[2J", "\u202e", "x" * 200,
         "caf\xe9", os.fsdecode(b"caf\xe9"), "constructor", "__proto__")
HOSTS = "about.js", "lib", "hour", "day.js", os.fsdecode(b"h\xe9 #?%")
STRANGE = (None, 1, -1, "", "hour", [], {}, [1], [None], [[]], [{}], {"name": "hour"}, True, math.inf, -math.inf, math.nan, 10 ** 18,
           10 ** 400)


def run(check, tree, output, *options):
    done = draw(tree, output, *options)
    check.equal(f"{' '.join(options)}: exit status and complaints", (done.returncode, done.stderr), (0, ""))


def drawn(output):
    """What tells each file of data from one that is drawn again."""
    return {name: os.stat(os.path.join(output, name)).st_ino for name in Output(output).files("data") if "events" not in name}


def date(directory, moment):
    """Sets the time of the last write of all files."""
    for path, _, names in os.walk(directory):
        for name in names:
            os.utime(os.path.join(path, name), (moment, moment))


def test_fresh(check, tree, output):
    """Steps of the hour are of 10 s, those of the day of 500 s."""
    date(tree, END - 100)
    seen = []
    for what, end, changed in (("at first", END, None), ("at once", END, set()), ("later, without a value", END + 10, set()),
                               ("with a value", END + 10, {"hour"}), ("earlier", END - 10, {"hour", "day"}),
                               ("much later", END + 590, {"hour", "day"})):
        if what == "with a value":
            date(os.path.join(tree, "db1", "ebpf-web"), time.time() + 5)
        run(check, tree, output, "--end", str(end), "--span", "hour", "--span", "day")
        seen.append(drawn(output))
        if changed is not None:
            names = {name for name, inode in seen[-1].items() if seen[-2].get(name) != inode}
            check.equal(f"{what}: drawn again", {name.split("/")[2].removesuffix(".js") for name in names}, changed)
            check.equal(f"{what}: files", set(seen[-1]), set(seen[0]))
    check_output(check, output)


def test_spans(check, tree, output):
    """Other spans of a level need other tables; levels that are no longer wanted go."""
    run(check, tree, output, "--end", str(END), "--span", "hour", "--span", "day")
    run(check, tree, output, "--end", str(END), "--span", "10min")
    pages = check_output(check, output)
    check.equal("levels", [level["name"] for level in pages.about["levels"]], ["hour"])
    check.equal("spans of the hour", list(pages.host("db1", "hour").members["spans"]), ["10min"])


def test_ended(check, tree, output):
    """A host without a value in the last hour has none of an hour that was drawn before."""
    for end in (END - 2 * HOUR, END):
        run(check, tree, output, "--end", str(end), "--span", "hour", "--span", "day")
        pages = check_output(check, output)
    check.equal("levels of a host that has ended", pages.services["db2", "mail"]["levels"], ["day"])


def test_removed(check, tree, output):
    stacks = os.path.join(check.dir, "stacks")
    os.mkdir(stacks)
    hour = time.strftime("%Y%m%d-%H", time.localtime(END))
    with open(os.path.join(stacks, f"web-cpu-{hour}.folded"), "w", encoding="ascii") as file:
        file.write("main;loop 5\n")
    run(check, tree, output, "--end", str(END), "--stacks", stacks)
    flames = check_output(check, output).service("db1", "web", "hour").members["flames"]
    check.equal("flame graphs", sorted(flames), ["10min", "hour"])
    mine = "services/db1/mine.html", "data/db1/mine.js", "data/db1/hour/mine.js", "data/db1/hour/web.txt", "data/gone/mine"
    os.mkdir(os.path.join(output, "data", "gone"))
    for name in mine:
        with open(os.path.join(output, name), "w", encoding="ascii") as file:
            file.write("mine\n")
    shutil.rmtree(os.path.join(tree, "db1", "ebpf-api"))
    shutil.rmtree(os.path.join(tree, "db2"))
    run(check, tree, output, "--end", str(END))
    check.equal("files of others that are gone", [name for name in mine if not os.path.exists(os.path.join(output, name))], [])
    for name in mine:
        os.unlink(os.path.join(output, name))
    pages = check_output(check, output)
    check.equal("services", set(pages.services), {("db1", "web")})
    check.equal("flame graphs without --stacks", pages.service("db1", "web", "hour").members["flames"], {})
    check.equal("pages of machines", pages.files("hosts"), {"hosts/db1.html"})


def test_spoiled(check, tree, output):
    """Whatever about.js is, what it says wrongly is drawn again."""
    path = os.path.join(output, "about.js")
    options = "--end", str(END)
    run(check, tree, output, *options)
    want, before = Output(output).about, drawn(output)
    for what, make in (("nothing", lambda: open(path, "wb").close()), ("a FIFO", lambda: os.mkfifo(path)),
                       ("a link", lambda: os.symlink("/dev/zero", path))):
        os.unlink(path)
        make()
        run(check, tree, output, *options)
        after = drawn(output)
        again = {name for name in before if before[name] != after[name]}
        check.equal(f"about.js is {what}: data that are drawn again", again, set(before))
        is_same = {**check_output(check, output).about, "drawn": 0, "levels": 0} == {**want, "drawn": 0, "levels": 0}
        check.true("and it is as it was", is_same)
        before = after
    for what, remove in (("data", shutil.rmtree), ("data/db1/hour.js", os.unlink)):
        remove(os.path.join(output, what))
        run(check, tree, output, *options)
        check_output(check, output)
        check.equal(f"{what} is missing: files", set(drawn(output)), set(before))


class OneFile:
    """In place of all folders and files: one text."""

    def __init__(self, text=""):
        self.text = text

    def folder(self, _):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def begin_of(self, _, length):
        return self.text.encode()[:length]

    def write(self, _, text):
        self.text = text


def changes(value):
    """What is left of a value of JSON if a part of it is another thing, or missing."""
    yield from STRANGE
    parts = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, part in parts:
        for other in changes(part):
            changed = copy.copy(value)
            changed[key] = other
            yield changed
        changed = copy.copy(value)
        del changed[key]
        yield changed


def test_hostile(check):
    spans = [spans_of.last(name, END) for name in ("10min", "hour", "day")]
    service = types.SimpleNamespace(host="db1", name="web", title="web", is_device=False, is_process=False, read_spans={
        level: (types.SimpleNamespace(step=10),) for level in spans_of.levels(spans)})
    found, folder = {"db1": [service]}, OneFile()
    first = about.About("key", spans_of.levels(spans), spans, found)
    for level in spans_of.levels(spans):
        first.add(level, END - 100, found, END)
    first.write(folder, "title", [], spans, found, found)
    members = json.loads(folder.text[6:-3])
    texts = [folder.text[:position] for position in range(0, len(folder.text), 7)]
    texts += ["", "about()", ")", "about(" + "[" * 100000 + ")", "about(" + '{"a":' * 100000 + ")"]
    texts += [f"about({json.dumps(one)});\n" for one in changes(members)]
    taken = set()
    for text in texts:
        known = about.About("key", spans_of.levels(spans), spans, found)
        known.read(OneFile(text), END - 1000)
        taken.add(len(known.levels))
        if known.levels:
            known.write(OneFile(), "title", [], spans, found, found)
            if known.present() != found or not known.levels.keys() <= first.levels.keys():
                check.true(f"what is taken over from {text[:2000]}", False, known.levels)
    check.equal("levels that are taken over from what is partly right", taken, {0, 1, 2})
    check.within("texts", len(texts), 500, math.inf)


def test_names(check):
    tree, output = os.path.join(check.dir, "names"), os.path.join(check.dir, "names-pages")
    files = Tree(tree, END, 600)
    path = files.file("db1", "web", "ps_rss", 2.0 ** 20)
    want = {("db1", "web"), *(("db1", name) for name in NAMES), *((host, "hour") for host in HOSTS)}
    for host, name in want - {("db1", "web")}:
        os.makedirs(os.path.join(tree, host, "ebpf-" + name))
        shutil.copy(path, os.path.join(tree, host, "ebpf-" + name))
    for _ in range(2):
        run(check, tree, output, "--end", str(END), "--span", "hour")
        pages = check_output(check, output)
        check.equal("services", set(pages.services), want)
    values = {key: pages.service(*key, "hour") for key in pages.services}
    check.equal("whose data are another's", [key for key, one in values.items()
                                             if (one.members["host"], one.members["service"]) != key], [])


with Check() as checks:
    if not shutil.which("rrdtool"):
        raise Skip("rrdtool is not installed")
    directory = os.path.join(checks.dir, "rrd")
    stored = Tree(directory, END, 3 * HOUR)
    for host, name, until in (("db1", "web", 0), ("db1", "api", 0), ("db2", "mail", 2 * HOUR)):
        stored.file(host, name, "ps_rss", 1000, until=until)
    test_fresh(checks, directory, os.path.join(checks.dir, "fresh"))
    test_spans(checks, directory, os.path.join(checks.dir, "spans"))
    test_ended(checks, directory, os.path.join(checks.dir, "ended"))
    test_spoiled(checks, directory, os.path.join(checks.dir, "spoiled"))
    test_removed(checks, directory, os.path.join(checks.dir, "gone"))
    test_hostile(checks)
    test_names(checks)

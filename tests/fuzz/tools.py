#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ebpf-graph and ebpf-top read from others, under fuzz: tests/fuzz/tools.py [--runs N] [--seed N] [TARGET]...

TARGET is packets (of collectd's network plugin), replies (of its unixsock plugin) or names (of hosts, services and
files, in pages and on a terminal); a run is one packet, conversation or set of names. The same seed gives the same
runs. However it comes, there is no exception but the documented one, no run takes long or much memory, nothing that is
shown on a terminal has a control character, pages and the HTML in their data have the elements of harmless ones and no others,
and links lead to pages of the folder.
"""

import argparse
import contextlib
import html.parser
import io
import json
import math
import os
import random
import re
import resource
import struct
import sys
import time
import unicodedata
import zlib

TOP = os.environ.get("abs_top_srcdir") or os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "contrib", "lib"))
sys.path.insert(1, os.path.join(TOP, "tests", "e2e"))
sys.dont_write_bytecode = True
import data  # noqa: E402
import flame  # noqa: E402
import live  # noqa: E402
import name  # noqa: E402
import network  # noqa: E402
import page  # noqa: E402
import rrd  # noqa: E402
import span  # noqa: E402
import stacks  # noqa: E402
import table  # noqa: E402
import unixsock  # noqa: E402
from about import About  # noqa: E402
from columns import UPSTREAM_COLUMNS  # noqa: E402
from e2e import Data  # noqa: E402
from service import Service  # noqa: E402
from text import printable  # noqa: E402

RUNS = {"packets": 10000, "replies": 1500, "names": 25}     # two seconds each
START = 10 ** 9     # of the span that is drawn
LINK = re.compile(r"(services|hosts)/[\w.~%/-]+\.html|meaning\.html#[\w-]+")
SLOW = 2            # seconds of CPU
MEMORY = 512 << 20  # bytes of all
CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")   # of Unicode's categories
SERVICES = 300      # a bound that is reached
CHECK_EVERY = 500          # packets, from one look at what they have left to the next
WANTED = sorted(live.WANTED)
TEXTS = ("", "web", "self", "web-7-100", "a" * 127, "a" * 128, "<b>x</b>", "<script>alert(1)</script>",
         "'\"><zz onload=x>", "&amp;&#0;", "%s%n", "a\nb\r", "\x1b[2J\x9b2J", "\0", "..", "\u202e\u2066", "é" * 40,
         "\udcff\udce9", "*", "[a]", "\\:", "]]>", "-->", "</title>", "OK u:0", "-1-1" * 30, "²", "٣")
NUMBERS = (0, 1, -1, 0x7fffffffffffffff, -0x8000000000000000, 1e308, -1e308, 5e-324, math.nan, 0.1, 1e6, 2 ** 53)


def check(fine, what):
    if not fine:
        raise AssertionError(what)


def check_letters(lines):
    for line in lines:
        strange = [letter for letter in line if unicodedata.category(letter) in CONTROLS]
        check(not strange, f"{strange} in {line[:1000]!r}")


def check_rows(source, chosen):
    """As ebpf-top shows them."""
    try:
        services = source.services()
    except live.Trouble as trouble:
        check_letters([printable(str(trouble))])
        return
    rows = live.sort(live.rows(services), chosen.choice([None, *table.COLUMNS]), chosen.random() < 0.5)
    width = chosen.choice([None, 20, 80])
    check_letters(table.lines(live.lines(rows), width=width))
    check_letters(table.lines(live.lines(live.upstreams(rows)), width=width, of=UPSTREAM_COLUMNS))
    check_letters([line for _, line in live.triage_lines(live.findings(rows), 5, width)])
    said = json.dumps(live.document(rows, str(source))), json.dumps(live.triage_document(rows, str(source)))
    check(all(map(str.isascii, said)), "JSON with other than ASCII")
    check(len(json.loads(said[0])["services"]) == len(rows), "not all services in JSON")
    check(len(json.loads(said[1])["hosts"]) == len({row.host for row in rows}), "not all hosts in JSON")


def some_text(chosen):
    text = chosen.choice(TEXTS)
    if chosen.random() < 0.5:
        text = "".join(chr(chosen.randrange(chosen.choice((128, 0x3000)))) for _ in range(chosen.randrange(20)))
    return text if chosen.random() < 0.7 else text + str(chosen.randrange(10 ** 6))


def wanted(chosen):
    """The name of a series; what it is labelled with is anybody's."""
    return chosen.choice(WANTED).replace("*", file_name(chosen))


def as_bytes(text):
    return text.encode("utf-8", "surrogatepass" if "\udcff" not in text else "surrogateescape")


def mutate(data, chosen):
    """Few bytes of it changed, cut out, doubled."""
    data = bytearray(data)
    for _ in range(chosen.choice((0, 0, 1, 1, 2, 8))):
        at = chosen.randrange(len(data) + 1)
        put = chosen.choice((b"", chosen.randbytes(1), b"\xff" * 4, data[at:at + 40]))
        data[at:at + chosen.choice((0, 1, 1, 4))] = put
    return bytes(data)


# --- packets ------------------------------------------------------------------------------------

def part(kind, body, chosen):
    length = len(body) + 4 if chosen.random() < 0.98 else chosen.choice((0, 3, 4, len(body), 0xffff))
    return struct.pack(">HH", kind & 0xffff, min(length, 0xffff)) + body[:60000]


def values(chosen):
    kinds = [chosen.randrange(4 if chosen.random() < 0.98 else 256) for _ in range(chosen.choice((0, 1, 1, 2, 3)))]
    body = b""
    for kind in kinds:
        number = chosen.choice((*NUMBERS, math.inf, -math.inf))
        body += struct.pack("<d", number) if kind == network.GAUGE else chosen.choice((chosen.randbytes(8), bytes(8)))
    return struct.pack(">H", len(kinds)) + bytes(kinds) + body


def packet(chosen):
    data = b""
    for _ in range(chosen.choice((1, 3, 8, 20))):
        kind = chosen.choice((*network.TEXTS, network.TIME_HR, network.INTERVAL_HR, network.VALUES, network.VALUES,
                              network.VALUES, chosen.randrange(0x300)))
        if kind == network.VALUES:
            kind_name, _, instance = wanted(chosen).partition("-")
            data += part(network.PLUGIN, b"ebpf\0", chosen) + part(network.TYPE, as_bytes(kind_name) + b"\0", chosen)
            data += part(network.TYPE_INSTANCE, as_bytes(instance) + b"\0", chosen) + part(kind, values(chosen), chosen)
        elif kind in network.NUMBERS:
            number = chosen.choice((chosen.randbytes(8), bytes(8), b"\xff" * 8, struct.pack(">Q", 10 << 30)))
            data += part(kind, number, chosen)
        else:
            data += part(kind, as_bytes(some_text(chosen)) + b"\0", chosen)
    return mutate(data, chosen)[:65536]


def fuzz_packets(chosen, runs):
    source = network.Network("127.0.0.1:0")
    network.SERVICES = SERVICES
    for number in range(runs):
        if number % (40 * CHECK_EVERY) == 0:
            source.cache = network.Cache()
        source.store(packet(chosen))
        if number % CHECK_EVERY == 0:
            stored = source.cache.stored
            check(len(stored) <= SERVICES, f"{len(stored)} services")
            check(max((len(text) for owner in stored for text in owner), default=0) <= network.NAME, "a long name")
            check_rows(source, chosen)
        yield
    check(source.strange and source.packets - source.strange > runs / 10, "packets of all kinds")
    source.close()


# --- replies ------------------------------------------------------------------------------------

class Talk:
    """A socket, and who answers there."""

    def __init__(self, data, endless, chosen):
        self.data, self.endless, self.chosen = data, endless, chosen

    def settimeout(self, seconds):
        check(0 < seconds <= unixsock.PATIENCE, "patience")

    def sendall(self, data):
        check(data.endswith(b"\n"), "a question is a line")

    def recv(self, size):
        some, self.data = self.data[:size], self.data[size:]
        return some or (self.chosen.choice(self.endless) if self.endless else b"")

    def close(self):
        pass


def identifier(chosen):
    return "/".join((some_text(chosen), "ebpf-" + some_text(chosen) if chosen.random() < 0.8 else some_text(chosen),
                     wanted(chosen)))[:chosen.choice((300, 300, 10))].replace("\n", " ")


def reply(lines, chosen):
    count = len(lines) if chosen.random() < 0.95 else chosen.choice((-1, 0, 10 ** 6, 10 ** 30, len(lines) + 1))
    return as_bytes(f"{count} Values found\n" + "".join(line + "\n" for line in lines))


def conversation(chosen):
    names = [identifier(chosen) for _ in range(chosen.randrange(30))]
    data = reply([f"{chosen.randrange(10 ** 9)}.0 {name}" for name in names], chosen)
    for one in names:
        if unixsock.split(one):
            sources = [chosen.choice(("value", "user", "rx", some_text(chosen))) for _ in range(chosen.randrange(1, 3))]
            data += reply([f"{source}={chosen.choice((*NUMBERS, 'x', '1e999', 'inf'))}".replace("\n", "")
                            for source in sources], chosen)
    if chosen.random() < 0.2:
        data = data[:chosen.randrange(len(data))]
    return mutate(data, chosen) if chosen.random() < 0.7 else data


class Requested(unixsock.Unixsock):
    def __init__(self, talk):
        super().__init__("/fuzz")
        self.socket, self.logged = talk, None

    def services(self):
        self.logged = super().services()
        return self.logged


def fuzz_replies(chosen, runs):
    seen = 0
    for _ in range(runs):
        endless = chosen.choice((None, None, None, (b"x" * 60000,), (b"0 x\n", b"1 x\nvalue=1\n")))
        source = Requested(Talk(conversation(chosen), endless, chosen))
        check_rows(source, chosen)
        seen += bool(source.logged)
        yield
    check(seen > runs / 10, "conversations that succeed")


# --- names --------------------------------------------------------------------------------------

class Elements(html.parser.HTMLParser):
    """The elements of a page with the names of their attributes; each that is begun ends."""
    ALONE = {"meta", "link", "input", "br", "wbr"}

    def __init__(self, text):
        super().__init__()
        self.found, self.open = set(), []
        self.feed(text)
        self.close()
        check(self.open in ([], ["p"]), f"elements without an end: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.found.add((tag, *(name for name, _ in attrs)))
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.add((tag, *(name for name, _ in attrs)))

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"the end of {tag}")

    def handle_comment(self, data):
        check(False, f"a comment: {data}")


class Stored:
    """In place of a directory: what is written there."""

    def __init__(self):
        self.texts = {}     # name, perhaps of several files -> texts

    def folder(self, name):
        check("/" not in name and name not in ("", ".", ".."), f"a directory called {name!r}")
        return self

    def write(self, name, text):
        check("/" not in name, f"a file called {name!r}")
        self.texts.setdefault(name, []).append(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def of_rrdtool(chosen):
    """What it says of any file."""
    def request(command, *arguments):
        if command == "last":
            return START + 599
        if command == "info":
            return {"ds[value].index": 0, f"ds[{some_text(chosen)}].index": 1}
        # Of some files there is no finite number.
        row = tuple(math.inf if zlib.crc32(as_bytes(one.partition("=")[2])) % 8 == 0 else chosen.choice((*NUMBERS, None))
                    for one in arguments if one.startswith("DEF"))
        if command == "graphv":
            return {f"print[{number}]": "-nan" if value is None else f"{value:.6e}" for number, value in enumerate(row)}
        return {"meta": {"start": START, "step": 30}, "data": [row] * 20}

    rrd.request = request


def flame_of(chosen):
    """A flame graph of functions that are called so."""
    root = stacks.Stack("all")
    for before in (False, False, True):
        for _ in range(8):
            frames = ";".join(some_text(chosen) for _ in range(chosen.choice((1, 3, 9))))
            stacks.add(root, f"{frames} {chosen.choice((0, 1, 10 ** 9))}", before)
    return flame.html(root, "title", "soft")


def pages(names, chosen):
    """Draws them. names: of hosts, each with those of services. Returns the texts of all files, by the ends of their names"""
    spans, found, hosts, output = [span.only(START, START + 600)], {}, {}, Stored()
    level, = span.levels(spans)
    for host_name, services in names.items():
        found[host_name] = [Service(host_name, one, name.parent(one, services), "/none") for one in services]
        for one in found[host_name]:
            one.files = [*dict.fromkeys(wanted(chosen) for _ in range(8)), "gauge-" + file_name(chosen), file_name(chosen)]
        shown, colors = data.read_level(found[host_name], level, spans, lambda *_: None)
        if shown:
            hosts[host_name] = shown
            data.write_level(output, shown, level, spans, colors, lambda _: lambda _: flame_of(chosen), True)
    page.write_shells(output, "title", hosts, list(hosts))
    known = About("key", [level], spans, found)
    known.add(level, START, hosts, START)
    if hosts:
        known.write(output, "title", ["note"], spans, hosts, hosts)
    check_letters(table.lines([(one.title, one.figures(spans[0])) for many in hosts.values() for one in many], width=80))
    return {end: [text for name, many in output.texts.items() if name.endswith(end) for text in many] for end in (".html", ".js")}


def no_number(text):
    check(False, f"{text} in JSON")


def markup(texts):
    """All HTML of pages and of their data."""
    found = texts[".html"]
    for text in texts[".js"]:
        function, _, call = text.partition("(")
        members = json.loads(call.removesuffix(");\n"), parse_constant=no_number)
        check(text.isascii(), "a script with other than ASCII")
        if function == "data":
            file = Data(members)
            check(all(map(LINK.fullmatch, file.links())), f"links of {members['service']!r}: {file.links()}")
            check_letters([one[word] for chart in file.all for many, word in (([chart], "title"), (chart["curves"], "label"),
                                                                              (chart["others"], "label")) for one in many])
            found.append(file.markup().source)
        else:
            check_letters([service["title"] for host in members["hosts"] for service in host["services"]])
    return found


def file_name(chosen):
    """As a directory can have it."""
    text = some_text(chosen).replace("/", "_").replace("\0", "_")
    return text if text not in ("", ".", "..") else "x"


def fuzz_names(chosen, runs):
    of_rrdtool(chosen)
    harmless = set()
    for seed in range(10):
        for text in markup(pages({"db1": ["my_web", "my_web-7-100", "self"], "db2": ["web", "mail"]}, random.Random(seed))):
            harmless |= Elements(text).found
    for _ in range(runs):
        names = {file_name(chosen): {file_name(chosen) for _ in range(chosen.choice((1, 3, 12)))}
                 for _ in range(chosen.choice((1, 1, 3)))}
        with contextlib.redirect_stderr(io.StringIO()) as complaints:
            texts = markup(pages(names, chosen))
        check_letters(complaints.getvalue().split("\n"))
        for text in texts:
            strange = Elements(text).found - harmless
            check(not strange, f"on a page: {strange}")
            check_letters(text.split("\n"))
        yield


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, help="of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("target", nargs="*", choices=[[], *RUNS], help="all")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for target in options.target or RUNS:
        runs = options.runs or RUNS[target]
        began, before = time.monotonic(), time.process_time()
        number = 0
        try:
            for number, _ in enumerate(globals()["fuzz_" + target](random.Random(options.seed), runs), 1):
                now = time.process_time()
                check(now - before < SLOW, f"{now - before:.1f} s")
                before = now
        except BaseException:
            print(f"{target}: run {number + 1} of seed {options.seed}")
            raise
        print(f"{target}: {number} runs in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()

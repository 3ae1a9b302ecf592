#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pages of contrib/ebpf-graph in a real browser, used by hand: point, drag, type, follow links, compare, print."""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.parse

from browser import Browser, Failed
from e2e import TOP, Check, Skip
from tree import Tree

SPAN, EARLIER = 1200, 600   # seconds with values, and those of them after which web waits for a lock
HOST = "a.host.with.a.name.that.is.long.example.com"
HOSTILE = "<img src=x onerror=document.title='owned'>" + "n" * 60
WIDTHS = (360, 1280)
DIFFERS = "document.querySelector('.differences li')"
DRAWN = "document.querySelector('figure canvas')"
# Short words for what is looked at most.
HELP = r"""
const all = selector => [...document.querySelectorAll(selector)];
const text = selector => document.querySelector(selector)?.textContent.replaceAll("\u00a0", " ") ?? null;
const figure = title => all("figure").find(one => one.querySelector("figcaption").textContent.startsWith(title));
const legend = title => Object.fromEntries([...figure(title).querySelectorAll(".legend tr")].map(row =>
  [row.cells[0].textContent, [...row.cells].slice(1).map(cell => cell.textContent.replaceAll("\u00a0", " "))]));
const differences = () => all(".differences li").map(one => one.textContent.replaceAll("\u00a0", " ").trim());
const axis = figure => [...figure.querySelectorAll(".dygraph-axis-label-y")].map(label => label.textContent).join();
const heads = () => [...new Set(all("figure:has(canvas) .legend").map(one => one.rows[0].cells[1].textContent))];
const at = (title, part) => {
  const cover = figure(title).querySelector(".cover");
  cover.scrollIntoView({block: "center"});
  const box = cover.getBoundingClientRect();
  return [box.left + part * box.width, box.top + box.height / 2];
};
const center = element => {
  element.scrollIntoView({block: "center"});
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
};
"""
TIMES = "all('input.time').map(field => field.value)"
WEB, REQUESTS = "Where a request's time goes", "Requests per second"


class Pages:
    """The pages in a browser, one of them open."""

    def __init__(self, browser, check, directory):
        self.browser, self.check, self.directory = browser, check, directory

    def open(self, name, words="", width=WIDTHS[-1], ready=DRAWN):
        self.browser.open(f"file://{self.directory}/{name}{words and '#' + words}", width)
        self.browser.run(HELP + "undefined")
        self.browser.until(ready)

    def see(self, expression):
        return self.browser.run(f"(() => {{ {HELP} return {expression}; }})()")

    def until(self, expression):
        return self.browser.until(f"(() => {{ {HELP} return {expression}; }})()")

    def at(self, title, part):
        return self.see(f"at({title!r}, {part})")

    def press(self, element):
        self.browser.click(self.see(f"center({element})"))


def make_tree(directory):
    end = int(time.time())
    tree = Tree(directory, end, SPAN)

    def lock(moment):
        return 88e-3 if moment > end - EARLIER + 20 else 2e-3

    for service, rate in (("web", 120), ("api", 80), (HOSTILE, 300)):
        tree.file(HOST, service, "total_requests", rate)
        tree.file(HOST, service, "ps_cputime", 1000 * rate, 10)
        tree.file(HOST, service, "ps_rss", 2.0 ** 31)
        tree.file(HOST, service, "total_events-processes_started", 0)
        tree.file(HOST, service, "total_connections-closed", rate)
        tree.file(HOST, service, "latency-response-percentile-50", 4e-3)
        tree.file(HOST, service, "latency-response-percentile-95", 900e-3)
        tree.file(HOST, service, "latency-in_cpu", 10e-3)
        tree.file(HOST, service, "latency-in_lock", lock if service == "web" else 2e-3)
    tree.file(HOST, "single", "gauge-requests_oldest", lambda moment: 7 if moment % 100 < 10 else float("nan"))
    for number in range(30):
        shutil.copytree(os.path.join(directory, HOST, "ebpf-api"), os.path.join(directory, HOST, f"ebpf-many{number}"))
    return tree


def errors(pages):
    """The browser fails for each kind of them."""
    for script in ("throw Error('seen')", "Promise.reject('seen')", "console.error('seen')", "console.assert(false, 'seen')",
                   "document.write('<img src=file:///seen>')"):
        try:
            pages.browser.open(f"data:text/html,<script>{script}</script>")
            said = pages.browser.run("'no error'")
        except Failed as failed:
            said = str(failed)
        pages.check.contains(script, said, "seen")


def shown_seconds(times):
    begin, end = (time.mktime(time.strptime(one, "%Y-%m-%dT%H:%M:%S")) for one in times)
    return end - begin


def point_and_drag(pages):
    check, browser = pages.check, pages.browser
    pages.open(f"services/{HOST}/web.html", "span=hour")
    when = pages.see("text('.when')")
    check.true("the first minutes, not an hour", re.match(r"First 2\d minutes", when), when)
    last = pages.see(f"legend({WEB!r})")
    check.equal("the lock, last and on average", last["lock"][:1], ["88 ms"])
    check.true("a line that leaves the axis, in words", "response p95 up to 900 ms" in pages.see("text('.leads strong')"))
    browser.mouse("Moved", pages.at(WEB, 0.2))
    pages.until("heads()[0] !== 'last'")
    check.true("the same time in all legends", len(pages.see("heads()")) == 1, pages.see("heads()"))
    check.equal("the lock then", pages.see(f"legend({WEB!r})")["lock"][0], "2 ms")
    browser.mouse("Moved", (5, 5))
    check.equal("the last values again", pages.see(f"legend({WEB!r})"), last)
    all_of_it = shown_seconds(pages.see(TIMES))
    browser.drag(pages.at(WEB, 0.25), pages.at(WEB, 0.75))
    address = pages.until("location.hash.startsWith('#from=') && location.href")
    times = pages.see(TIMES)
    check.close("seconds between them", shown_seconds(times), all_of_it / 2, rel=0.01)
    check.true("the averages are those of the part", pages.see(f"legend({WEB!r})")["lock"][1] != last["lock"][1])
    pages.open(*address.removeprefix(f"file://{pages.directory}/").split("#"))
    check.equal("the link shows the same time", pages.see(TIMES), times)
    browser.click(pages.at(WEB, 0.5), 2)
    check.equal("a double click shows all", pages.until("location.hash.startsWith('#span=') && location.hash"), "#span=hour")


def keys(pages):
    check, browser = pages.check, pages.browser
    pages.open(f"services/{HOST}/web.html", "span=hour")
    pages.see(f"figure({WEB!r}).querySelector('.plot').focus()")
    browser.key("ArrowLeft")
    check.true("the values are said", "lock 88 ms" in pages.see("text('output.unseen')"), pages.see("text('output.unseen')"))
    browser.key("+")
    pages.until("location.hash.startsWith('#from=')")
    browser.key("Escape")
    check.equal("Escape shows all", pages.until("location.hash.startsWith('#span=') && location.hash"), "#span=hour")
    label = pages.see(f"figure({WEB!r}).querySelector('.plot').ariaLabel.replaceAll('\\u00a0', ' ')")
    check.true("what those hear who do not see", "lock 88 ms" in label, label)
    check.within("rows of the table for them", pages.see(f"figure({WEB!r}).querySelector('.unseen table').rows.length"), 5, 14)
    browser.key("/")
    browser.type("api")
    pages.until("all('.matches li').length")
    browser.key("Enter")
    browser.until("location.pathname.endsWith('/api.html') && " + DRAWN)
    check.equal("the time goes along", pages.see("location.hash"), "#span=hour")


def legends(pages):
    check = pages.check
    pages.open(f"services/{HOST}/web.html", "span=hour")
    row = f"[...figure({WEB!r}).querySelectorAll('.legend tr')].find(row => row.textContent.startsWith('lock'))"
    share = pages.see(f"legend({WEB!r})")["lock"][2]
    pages.press(f"{row}.querySelector('.box')")
    check.equal("what is hidden says so", pages.see("text('.status')"), "Hidden: lock. Show all")
    check.equal("shares stay those of the whole", pages.see(f"legend({WEB!r})")["CPU"][2], f"{100 - int(share.split()[0])} %")
    pages.press("document.querySelector('.status button')")
    pages.press(f"{row}.querySelector('.name')")
    check.equal("only one", [name for name in pages.see(f"legend({WEB!r})") if name and not name.endswith("hidden")], ["lock"])
    check.true("others stay where it is not", "answered" in pages.see(f"legend({REQUESTS!r})"))
    pages.press(f"{row}.querySelector('.name')")
    check.true("all again", pages.see("document.querySelector('.status').hidden"))
    zero = pages.see("all('.zero').map(one => one.textContent).join()")
    is_shown = pages.see("Boolean(figure('Processes started'))")
    check.true("what is zero is folded", "1 graph is zero" in zero and not is_shown, zero)


def times(pages):
    check = pages.check
    pages.open(f"services/{HOST}/web.html", "from=2001-01-01T00:00:00&to=2001-01-01T01:00:00",
               ready="document.querySelector('.when')?.textContent")
    when = pages.see("text('.when')")
    check.true("a time without values", "No value in this time. There are values from" in when, when)
    pages.press("document.querySelector('.when button')")
    pages.until(DRAWN)
    pages.see("all('input.time')[0].value = 'yesterday', all('input.time')[0].onchange()")
    check.equal("what is no time", pages.see("all('input.time')[0].getAttribute('aria-invalid')"), "true")
    pages.see("all('input.time')[0].value = '00:00', all('input.time')[1].value = '23:59', all('input.time')[1].onchange()")
    check.true("a time of day, as typed", pages.until("location.hash.endsWith('T23:59:00')"))
    pages.press("all('.spans button')[0]")
    pressed = pages.until("location.hash.startsWith('#span=') && all('.spans [aria-pressed=true]').map(one => one.textContent)")
    check.equal("a span", pressed, ["10 minutes"])


def events(pages):
    """What happened, on the time axes and in words; a service's page has its own events and those of the machine."""
    check, now = pages.check, int(time.time())
    many = [{"time": now - 300, "service": "web", "kind": "oom_kill", "text": "killed: <img src=x>" + "w" * 300},
            {"time": now - 400, "service": "", "kind": "probe_off", "text": "probe request is off"},
            *({"time": now - 500 - number, "service": "api", "kind": "new", "text": "a new process"} for number in range(11))]
    with open(os.path.join(pages.directory, "data", HOST, "events.js"), "w", encoding="utf-8") as file:
        file.write(f"events({json.dumps({'host': HOST, 'events': many})});")
    pages.open(f"services/{HOST}/web.html", "span=hour")
    check.equal("marks on an axis", pages.see(f"figure({WEB!r}).querySelectorAll('.cover u').length"), 2)
    check.equal("in words", pages.see("all('.events li').map(one => one.textContent.slice(8, 30))"),
                [" web: killed: <img src", " probe request is off"])
    part = pages.see(f"parseFloat(figure({WEB!r}).querySelectorAll('.cover u')[0].style.left) / 100")
    pages.browser.mouse("Moved", pages.at(WEB, part))
    said = pages.until(f"!figure({WEB!r}).querySelector('.tip').hidden && figure({WEB!r}).querySelector('.tip').textContent")
    check.true("pointed at", "web: killed: <img src=x>" in said, said)
    pages.open("index.html", "span=hour", width=WIDTHS[0], ready="document.querySelector('.events')")
    check.equal("the latest eight, and how many more", pages.see("[all('.events > ul li').length, text('.events summary')]"),
                [8, "and 5 more"])
    check.equal("pixels that stick out", pages.see("document.documentElement.scrollWidth - innerWidth"), 0)
    check.equal("texts are text", pages.see("all('img').length"), 0)


def tables(pages):
    check = pages.check
    pages.open("index.html", "span=hour")
    shown = "all('table.services tbody tr').filter(row => row.getClientRects().length).length"
    check.equal("rows of the table", (pages.see(shown), pages.see("text('.count')")), (20, "20 of 34 services Show all 34"))
    check.equal("its order is in the heading", pages.see("all('[aria-sort]').length"), 1)
    pages.press("document.querySelector('.count button')")
    check.equal("all of them", pages.see(shown), 34)
    names = "all('table.services tbody a').map(link => link.textContent)"
    heads = "all('table.services thead button')"
    pages.press(f"{heads}[0]")
    check.equal("by name", pages.see(f"{names}[0]"), HOSTILE)
    pages.press(f"{heads}[1]")
    order = pages.see(names)
    check.equal("by requests, most first, unknown last", [*order[:2], order[-1]], [HOSTILE, "web", "single"])
    pages.see("document.querySelector('nav input[type=search]').focus()")
    pages.browser.type("example WEB")
    check.equal("the search filters the table", pages.see(shown), 1)
    pages.see("document.querySelector('nav input[type=search]').select()")
    pages.browser.type("web")
    found = pages.see("all('.legend tr:not(.hidden) .name').map(one => one.textContent)")
    check.true("and chooses in legends", found.count("web") >= 2, found)
    check.equal("names are text", (pages.see("all('img').length"), pages.see("document.title")), (0, "Services seen by eBPF"))
    pages.press("document.querySelector('table.services tbody tr:not(.rest) a')")
    words = pages.browser.until("location.pathname.endsWith('/web.html') && location.hash")
    check.equal("a link takes the time along", words, "#span=hour")


def compare(pages):
    check = pages.check
    pages.open("compare.html", f"a={HOST}/web&b={HOST}/web&before={EARLIER}&span=10min", ready=DIFFERS)
    said = pages.see("differences()")
    check.true("the largest difference between times", re.match(r"lock 2 ms to 8\d(\.\d)? ms", said[0]), said)
    pages.browser.mouse("Moved", pages.at(WEB, 0.5))
    found = pages.until("heads()[0] !== 'last' && heads()")
    check.equal("each side has its time", len(found), 2)
    axes = pages.see("[...all('.pair')[1].querySelectorAll('figure')].map(axis)")
    check.true("with one axis", len(axes) == 2 and axes[0] == axes[1] != "", axes)
    pages.open("compare.html", f"a={HOST}/web&b={HOST}/api&span=hour", ready=DIFFERS)
    said = pages.see("differences()")
    check.true("between services, parts of a request's time first", said[0].startswith("lock "), said)
    check.true("between services", any(re.match(r"answered 1[12]\d to (79\.\d|80) per second", one) for one in said), said)
    closed = any(re.fullmatch("Connections closed .* per second", one) for one in said)
    check.true("a graph with the name of its curve", closed, said)
    pages.open("compare.html", ready="document.querySelector('.when b')")
    check.equal("without a service", pages.see("text('.differences')"), CHOOSE)
    pages.see("document.querySelector('.sides input').focus()")
    first = pages.until("text('.matches li')")
    pages.browser.key("Enter")
    pages.until(DRAWN)
    chosen = pages.see("text('.heads h2')")
    check.true("the first of the list is chosen", chosen.startswith(f"{first} "), chosen)
    pages.see(f"location.hash = 'a={HOST}/web&b={HOST}/api'")
    check.true("another comparison by the address alone", pages.until(f"{DIFFERS} && differences()")[0].startswith("lock "))


def widths(pages):
    check, hostile = pages.check, urllib.parse.quote(HOSTILE)
    for width in WIDTHS:
        for name in ("index.html", f"services/{HOST}/web.html", f"services/{HOST}/{hostile}.html", f"hosts/{HOST}.html",
                     f"compare.html#a={HOST}/web&b={HOST}/{hostile}"):
            pages.open(*name.split("#"), width=width, ready="document.querySelector('main .plot, .finding')")
            what = f"{name.replace(HOST, 'HOST').replace(hostile, 'HOSTILE')}, {width} wide"
            check.equal(f"{what}: pixels that stick out",
                        pages.see("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
            check.equal(f"{what}: names are text", pages.see("[all('img').length, document.title === 'owned']"), [0, False])


def axes(pages):
    """Labels of axes: usual steps, two at least."""
    def labels(values, log=False, top=0, **unit):
        unit = {"name": "", "symbol": "", "base": 1000, "small": False, "exponent": False, "whole": False, **unit}
        chart = json.dumps({"unit": unit, "log": log, "top": top})
        tick = f"label => writeTick(label, {json.dumps(unit)}).replace('\\u00a0', ' ')"
        return pages.see(f"Axis.of({values}, {chart}).labels.map({tick})")

    check = pages.check
    pages.open(f"services/{HOST}/web.html", "span=hour")
    check.equal("1, 2, 5", labels([3, 17]), ["0", "5", "10", "15"])
    check.equal("whole numbers", labels([1], whole=True), ["0", "1"])
    check.equal("powers of two", labels([3e9], base=1024, symbol="B"), ["0 B", "1 GiB", "2 GiB"])
    check.equal("to its end", labels([98], top=100), ["0", "20", "40", "60", "80", "100"])
    seconds = {"log": True, "small": True, "symbol": "s"}
    check.equal("a short logarithmic one", labels([0.0102, 0.0104], **seconds), ["10 ms", "15 ms", "20 ms"])
    check.equal("a long one", labels([1e-6, 10], **seconds), ["1 µs", "100 µs", "10 ms", "1 s"])
    check.equal("a logarithmic one of bytes", labels([700, 44000], log=True, base=1024, symbol="B"),
                ["1 KiB", "4 KiB", "16 KiB"])
    day = 86400
    for what, seconds, wanted in (("minutes", 600, ["03:00", "03:05", "03:10"]), ("hours", day / 2, ["04:00", "08:00", "12:00"]),
                                  ("days", 3 * day, ["Fri", "Sat", "Sun", "Mon"]),
                                  ("a year", 364 * day, ["Jan 2027", "May", "Sept"]),
                                  ("a millennium", 365000 * day, ["Jan 2338", "Jan 2672", "Jan 3006"])):
        begin = f"Date.UTC(2026, 10, 27, {0 if what == 'days' else 3}) / 1000 - Clock.offset"
        found = pages.see(f"TimeAxis.labels({{from: {begin}, to: {begin} + {seconds}}}, 200).map(([, text]) => text)")
        check.equal(f"a time axis of {what}", found, wanted)


def contrast(pages):
    """Lines can be told from the card in both themes, and all charts are on paper."""
    for dark in (False, True):
        pages.browser.open(f"file://{pages.directory}/services/{HOST}/web.html", dark=dark)
        pages.browser.until(DRAWN)
        card = "[22, 27, 34]" if dark else "[255, 255, 255]"
        for color in ("#0072B2", "#E69F00", "#D9C900", "#7A0C3A", "#3F2E9C", "#8CCBF2"):
            found = pages.see(f"contrast(Theme.paint({color!r}).match(/\\d+/g).map(Number), {card})")
            pages.check.true(f"{color}, {'dark' if dark else 'light'}: contrast of a line", found >= 3, found)
    pages.see("dispatchEvent(new Event('beforeprint'))")
    pages.check.equal("charts on paper", pages.see("all('figure').filter(one => !one.querySelector('canvas')).length"), 0)
    pages.check.true("a PDF file", pages.browser.paper().startswith(b"%PDF"))


def without_library(pages):
    pages.open(f"services/{HOST}/web.html", "span=hour", ready="document.querySelector('.values table')")
    pages.check.true("what to install", "apt-get install libjs-dygraphs" in pages.see("text('.missing')"))
    pages.check.equal("legends are there", pages.see(f"legend({WEB!r})")["lock"][0], "88 ms")
    pages.check.true("and values in a table", re.search(r"\d\d:\d\d:\d\d", pages.see("text('.values table')")))


def own_span(pages):
    """Times of the command line have no name."""
    pages.open("index.html")
    check, seen = pages.check, pages.see("all('.spans button').map(button => button.textContent)")
    check.equal("the only span", seen, ["all"])
    when = pages.see("text('.when')")
    check.true("its times, without a name", re.match(r"\d", when), when)


# Of a page of all kinds: what its address may say of the time and of a part of the page.
FORMS = ("span=hour&at=requests", "span=none&at=none", "%&=&&%E9&none&from=x&to=2026-13-99T99:99:99", "from=0001-01-01&to=9999-12-31",
         "from=2001-01-01T00:00:00&to=2001-01-01T01:00:00", "from=2001-01-01T01:00:00&to=2001-01-01T00:00:00")
ODD_HOST, ODD_NAMES = "<b>h2", ("web", HOSTILE, "a:b'c\"d#e%f&<g>+h=")
# What that of compare.html may say, and what the page says then.
CHOOSE, OTHER = "Choose a service; then another one, or an earlier time.", "Choose another service, or an earlier time."
UNKNOWN = "These pages have no service {}: choose another one.".format
COMPARED = {"": CHOOSE, "a=": CHOOSE, "before=3600": CHOOSE, "b=h1/web": CHOOSE, "a=h1/web": OTHER, "a=h1/web&b=h1/web": OTHER,
            "a=h1/gone": UNKNOWN("h1/gone"), "a=web": UNKNOWN("web"), "a=/": UNKNOWN("/"), "a=h1/gone&before=60": UNKNOWN("h1/gone"),
            "a=h1/web&b=gone": UNKNOWN("gone"), **{f"a=h1/web&before={one}": OTHER for one in ("x", "-60", "1e300", "Infinity")},
            "a=h1/web&before=86400&from=2026-01-02&to=2026-01-03": "h1/web has no value from 1 Jan 00:00 to 2 Jan 00:00."}


def make_odd(directory):
    tree = Tree(directory, int(time.time()), SPAN)
    for host, names in (("h1", ODD_NAMES[:1]), (ODD_HOST, ODD_NAMES)):
        for name in names:
            tree.file(host, name, "total_requests", 10)
            tree.file(host, name, "latency-in_cpu", 10e-3)
            tree.file(host, name, "bucket-latency-response-0.001024_0.002048", 10)
    return tree


def every_page(pages):
    """None has an error, whatever names and its address say."""
    check, browser, top = pages.check, pages.browser, f"file://{pages.directory}/"

    def inspect(address):
        try:
            browser.open(address)
            browser.until("document.querySelector('.when b, h1 ~ h2')")
            pages.see("dispatchEvent(new Event('beforeprint'))")    # draws all charts
            seen = pages.see("[all('img, b b, g').length, document.title === 'owned']")
        except Failed as failed:
            seen = str(failed)
        check.equal(f"{address.removeprefix(top)}: no error, and names are text", seen, [0, False])

    names = [os.path.relpath(os.path.join(folder, name), pages.directory)
             for folder, _, found in os.walk(pages.directory) for name in found if name.endswith(".html")]
    check.equal("pages", len(names), 3 + 2 + 1 + len(ODD_NAMES))
    for name in sorted(names):
        inspect(top + urllib.parse.quote(os.fsencode(name)))
        for link in pages.see("all('.links a[href*=compare]').map(link => link.href)"):
            inspect(link)
            check.true("its service is found", not UNKNOWN("")[:20] in pages.see("text('.differences')"))
    for begin in ("index.html#", "hosts/h1.html#", "services/h1/web.html#", "compare.html#a=h1/web&"):
        for words in FORMS:
            inspect(f"{top}{begin}{words}")
    for words, wanted in COMPARED.items():
        inspect(f"{top}compare.html#{words}")
        check.equal(words, pages.see("text('.differences')"), wanted)
    for folder, _, found in os.walk(os.path.join(pages.directory, "data")):
        for name in found:
            os.truncate(os.path.join(folder, name), 0)
    for name in ("index.html", "hosts/h1.html", "services/h1/web.html", "compare.html#a=h1/web"):
        inspect(top + name)
        check.contains("without data", pages.see("text('.when')"), "No value in this time.")


# A command that runs another one.
WITHOUT_LIBRARY = "unshare", "-m", "sh", "-c", 'mount -t tmpfs none /usr/share/javascript/dygraphs && exec "$@"', "-"


def draw(tree, output, *words, before=()):
    subprocess.run([*before, os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", tree.directory, "--output", output,
                    "--end", str(tree.end), *words], check=True, stdout=subprocess.DEVNULL)


with Check() as check:
    if not shutil.which("chromium"):
        raise Skip("chromium is not installed")
    if not os.path.exists("/usr/share/javascript/dygraphs/dygraph.min.js"):
        raise Skip("libjs-dygraphs is not installed")
    tree = make_tree(os.path.join(check.dir, "rrd"))
    output = os.path.join(check.dir, "pages")
    draw(tree, output)
    with Browser(check.dir) as browser:
        for part in (errors, point_and_drag, keys, legends, times, events, tables, compare, axes, widths, contrast):
            part(Pages(browser, check, output))
        bare = os.path.join(check.dir, "bare")
        draw(tree, bare, before=WITHOUT_LIBRARY)
        without_library(Pages(browser, check, bare))
        odd = os.path.join(check.dir, "odd")
        draw(make_odd(os.path.join(check.dir, "odd_rrd")), odd)
        every_page(Pages(browser, check, odd))
        draw(tree, output, "--start", str(tree.end - EARLIER))
        own_span(Pages(browser, check, output))

# SPDX-License-Identifier: MIT
"""The way from ebpf-graph's first page to what is slow: the service that its line "Requests" names is pressed, and the first
chart of that service's page should name the cause."""

import os
import tempfile

import rows
from browser import Browser, Failed
from picture import draw_pages
from split import TITLE, parts

SHOWN = "document.body?.dataset.page === '%s' && document.querySelector('figure canvas') !== null"
LINE = "[...document.querySelectorAll('.triage dt')].find(term => term.textContent === 'Requests').nextElementSibling"
SAID = ("[JSON.parse(document.body.dataset.service), "
        "...['span', 'strong'].map(part => document.querySelector(`figcaption ${part}`).textContent)]")


def walk(browser, run, directory):
    """Returns (what the first page says, the service, what its page says of its requests' time)."""
    browser.open(draw_pages(run, directory) + "index.html")
    browser.until(SHOWN % "index")
    line = browser.run(LINE + ".textContent")
    browser.run(LINE + ".querySelector('a').click()")
    browser.until(SHOWN % "service")
    service, title, said = browser.run(SAID)
    return line, service, said if title.startswith(TITLE) else ""


def names_cause(run, service, said):
    """A chart says "mostly disk, 83 %"; of upstreams also the address."""
    return service in run.case.causes and said.startswith(f"mostly {parts()[run.case.causes[service]].label}")


def add(runs):
    """A row, and a line for each run."""
    named = {}
    with tempfile.TemporaryDirectory() as home, Browser(home) as browser:
        for run in runs:
            try:
                line, service, said = walk(browser, run, os.path.join(home, run.case.name))
            except Failed as failed:
                line, service, said = "", "", f"no page: {failed}"
            named[run.case.title] = names_cause(run, service, said)
            print(f"{run.case.title}: {line}; then {service}: {said}", flush=True)
    rows.add("faults named by the page of the service that ebpf-graph's first page names", rows.counted(named))

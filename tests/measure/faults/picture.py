# SPDX-License-Identifier: MIT
"""The picture of a service's requests as ebpf-graph's page shows it, and nothing else of the page, as a PNG file."""

import base64
import os
import subprocess
import tempfile

from browser import Browser
from split import HOST, TITLE

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
WIDTH = 892     # pixels, of the page
# Where the first chart is, if it is the one.
AREA = """\
(() => {
  const chart = document.querySelector("figure"), {x, y, width, height} = chart.getBoundingClientRect();
  return chart.textContent.startsWith("%s") ? {x, y, width, height, scale: 1} : null;
})()
"""


def draw_pages(run, directory, *options):
    """Returns the address of the directory."""
    begin, end = map(int, run.span)
    subprocess.run([os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", os.path.join(run.directory, "rrd"), "--output",
                    directory, "--start", str(begin), "--end", str(end), *options], check=True, stdout=subprocess.DEVNULL)
    return f"file://{directory}/"


def draw(run, service, path):
    """Returns whether there is such a picture."""
    with tempfile.TemporaryDirectory() as directory, Browser(directory) as browser:
        pages = draw_pages(run, os.path.join(directory, "pages"), "--service", service)
        browser.open(f"{pages}services/{HOST}/{service}.html", WIDTH)
        browser.until("document.querySelector('figure canvas') !== null")
        area = browser.run(AREA % TITLE)
        if area:
            with open(path, "wb") as file:
                file.write(base64.b64decode(browser.call("Page.captureScreenshot", clip=area)["data"]))
    return bool(area)

# SPDX-License-Identifier: MIT
"""The picture of a service's requests as ebpf-graph draws it, and nothing else of its page, as a PNG file."""

import glob
import os
import re
import subprocess
import tempfile

from split import HOST, TITLE

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
WIDTH, HEIGHT, ABOVE, ROW = 860, 305, 60, 22    # pixels: at least, above the legend beside the curves, of a row of that
PAGE = """\
<!DOCTYPE html><meta charset="utf-8">{style}<body style="margin: 0; padding: 0; background: white">
<div class="grid" style="margin: 0">{figure}</div>
"""


def figure(run, service, directory):
    """Of ebpf-graph's page, with its style."""
    begin, end = map(str, map(int, run.span))
    subprocess.run([os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", os.path.join(run.directory, "rrd"), "--output",
                    directory, "--service", service, "--start", begin, "--end", end], check=True,
                   stdout=subprocess.DEVNULL)
    page, = glob.glob(os.path.join(directory, "services", HOST, "*.html"))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    style = re.search(r"<style>.*?</style>", text, re.DOTALL).group()
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    title = TITLE.replace("'", "&#x27;")
    found = next((one for one in figures if f"<figcaption>{title}" in one), None)
    return style, found and found.replace("<small>", f"<small>of {service}, ", 1)


def draw(run, service, path):
    """Returns whether there is such a picture."""
    with tempfile.TemporaryDirectory() as directory:
        style, found = figure(run, service, os.path.join(directory, "pages"))
        if not found:
            return False
        page = os.path.join(directory, "one.html")
        with open(page, "w", encoding="utf-8") as file:
            file.write(PAGE.format(style=style, figure=found))
        height = max(HEIGHT, ABOVE + ROW * (found.count("<tr>") - 1))
        subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={directory}/browser", f"--window-size={WIDTH},{height}",
                        f"--screenshot={path}", f"file://{page}"], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={**os.environ, "HOME": directory})
    return True

# SPDX-License-Identifier: MIT
"""The first chart of a service's page as a browser shows it, as a PNG file."""

import os
import re
import subprocess
import tempfile
import time

from split import HOST, TITLE

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
LARGEST = 1200, 1000    # pixels: a window in which the chart fits
# When the chart is drawn, it alone is shown, at the top left, and the title of this document is its size.
FRAME = """\
<!DOCTYPE html><meta charset="utf-8"><body style="margin: 0; overflow: hidden">
<iframe src="{page}" style="position: absolute; border: 0; width: 892px; height: 1000px"></iframe><script>
const frame = document.querySelector("iframe"), show = () => {{
  const page = frame.contentDocument, chart = page.querySelector("figure"), title = chart?.querySelector("figcaption small");
  if (!chart?.querySelector("canvas"))
    return setTimeout(show, 100);
  if (!chart.textContent.startsWith("{title}"))
    return;
  for (let part = chart; part !== page.body; part = part.parentNode)
    [...part.parentNode.children].filter(other => other !== part).forEach(other => other.style.display = "none");
  title.textContent = `of ${{page.body.dataset.service}}, ${{title.textContent}}`;
  const {{left, top, width, height}} = chart.getBoundingClientRect();
  frame.style.left = `${{-left}}px`;
  frame.style.top = `${{-top}}px`;
  document.title = `${{Math.ceil(width)}},${{Math.ceil(height)}} pixels`;
}};
show();
</script>
"""


def draw_page(run, service, directory):
    """Returns the address of the service's page with the time of the run."""
    begin, end = map(int, run.span)
    subprocess.run([os.path.join(TOP, "contrib", "ebpf-graph"), "--rrd", os.path.join(run.directory, "rrd"), "--output",
                    directory, "--service", service, "--start", str(begin), "--end", str(end)], check=True,
                   stdout=subprocess.DEVNULL)
    begin, end = (time.strftime("%FT%T", time.localtime(moment)) for moment in (begin, end))
    return f"{directory}/services/{HOST}/{service}.html#from={begin}&amp;to={end}"


def browse(directory, size, *what):
    """What the browser says of the frame."""
    return subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                           "--allow-file-access-from-files", "--virtual-time-budget=10000", f"--user-data-dir={directory}/browser",
                           f"--window-size={size}", *what, f"file://{directory}/frame.html"], check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "HOME": directory}).stdout


def draw(run, service, path):
    """Returns whether there is such a picture."""
    with tempfile.TemporaryDirectory() as directory:
        page = draw_page(run, service, os.path.join(directory, "pages"))
        with open(os.path.join(directory, "frame.html"), "w", encoding="utf-8") as file:
            file.write(FRAME.format(page=page, title=TITLE))
        found = re.search(r"<title>(\d+,\d+) pixels</title>", browse(directory, "%d,%d" % LARGEST, "--dump-dom"))
        if found:
            browse(directory, found.group(1), f"--screenshot={path}")
    return bool(found)

# SPDX-License-Identifier: MIT
"""Pages in a real browser, without a window: one after another is looked at in a frame, as wide as is wanted."""

import html
import json
import os
import re
import subprocess

# What look(page) sees is left in the document.
DRIVER = """<!DOCTYPE html><body><iframe id="frame" style="height: 900px"></iframe><pre id="seen"></pre><script>
const todo = %s, seen = [];
%s
frame.onload = async () => {
  try {
    seen.push(await look(frame.contentDocument));
  } catch (error) {
    seen.push({failed: String(error.stack)});
  }
  next();
};
function next() {
  if (!todo.length)
    return document.getElementById("seen").textContent = "seen " + JSON.stringify(seen) + " end";
  const [address, width] = todo.shift();
  frame.style.width = width + "px";
  /* The same page with other words behind # would not be loaded again. */
  frame.src = "about:blank";
  frame.src = address;
}
next();
</script>
"""


def browse(directory, script, addresses, widths):
    """What the function look(page) of JavaScript, which may be async, returned for each address at each width."""
    driver = os.path.join(directory, "driver.html")
    with open(driver, "w", encoding="utf-8") as page:
        page.write(DRIVER % (json.dumps([(address, width) for address in addresses for width in widths]), script))
    done = subprocess.run(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           "--allow-file-access-from-files", f"--user-data-dir={directory}/browser", "--dump-dom",
                           "--virtual-time-budget=60000", f"file://{driver}"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=300,
                          env={**os.environ, "HOME": directory})
    seen = re.search(r"seen (\[.*\]) end", done.stdout)
    return json.loads(html.unescape(seen.group(1))) if seen else []

# SPDX-License-Identifier: MIT
"""Pages in a real browser without a window, driven as by hand: Chromium's DevTools protocol over a pair of pipes."""

import base64
import contextlib
import json
import os
import select
import signal
import subprocess
import time

OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
           "--allow-file-access-from-files", "--remote-debugging-pipe")
HEIGHT = 900        # of the window, in pixels
PATIENCE = 20       # seconds that anything may take
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}


class Failed(Exception):
    """The browser or a script in the page says no."""


def described(value):
    return str(value.get("description", value.get("value")))


def error(event):
    """What an event of the protocol says that a script, or the loading of a file, has failed with; else nothing."""
    method, said = event.get("method"), event.get("params", {})
    if method == "Runtime.exceptionThrown":
        details = said["exceptionDetails"]
        return f"{details['text']} {described(details.get('exception', {}))}"
    if method == "Runtime.consoleAPICalled" and said["type"] in ("error", "assert"):
        return "console: " + " ".join(map(described, said["args"]))
    if method == "Log.entryAdded" and said["entry"]["level"] == "error":
        return f"{said['entry']['text']} {said['entry'].get('url', '')}"
    return ""


class Browser:
    """A context manager. directory: for its files. Fails for each page whose scripts do: by an exception, by a promise that is
    rejected, by an error on the console, also the browser's own, such as of a file that is not there."""

    def __init__(self, directory):
        theirs_in, self.out = os.pipe()
        self.input, theirs_out = os.pipe()
        self.count, self.unread, self.session, self.events = 0, b"", None, []
        # The browser reads file descriptor 3 and writes 4. Ours may have these numbers, so that they are moved away first.
        moved = [os.dup2(end, 60 + number) for number, end in enumerate((theirs_in, theirs_out))]
        words = ["bash", "-c", f'exec "$@" 3<&{moved[0]} 4>&{moved[1]}', "bash", "chromium", *OPTIONS,
                 f"--user-data-dir={directory}/browser"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        pass_fds=moved, start_new_session=True, env={**os.environ, "HOME": directory})
        for end in (theirs_in, theirs_out, *moved):
            os.close(end)

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.run("undefined")   # after it, all is known that scripts have failed with
        finally:
            self._end()

    def _end(self):
        # It writes to its directory until it has ended.
        self.session = None
        with contextlib.suppress(Failed, OSError):
            self.call("Browser.close")
        os.close(self.out)
        os.close(self.input)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def call(self, method, **parameters):
        """The result of a method of the protocol."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        response = self._wait(lambda one: one.get("id") == self.count)
        if "error" in response:
            raise Failed(f"{method}: {response['error']['message']}")
        return response["result"]

    def _wait(self, is_wanted):
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" in self.unread:
                text, _, self.unread = self.unread.partition(b"\0")
                message = json.loads(text)
                if is_wanted(message):
                    return message
                self.events.append(message)
            if not select.select([self.input], [], [], max(0, end - time.monotonic()))[0]:
                raise Failed(f"no reply in {PATIENCE} seconds")
            more = os.read(self.input, 1 << 20)
            if not more:
                raise Failed("the browser has ended")
            self.unread += more

    # --- pages ---

    def open(self, address, width=1280, dark=False):
        """Loads a page, also if it is there already."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHT, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        # The same page with other words behind # would not be loaded again.
        self._load("about:blank")
        self._load(address)

    def _load(self, address):
        self._check()
        self.call("Page.navigate", url=address)
        if not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self._wait(lambda one: one.get("method") == "Page.loadEventFired")

    def _check(self):
        """Fails for what scripts have failed with, once."""
        events, self.events = self.events, []
        found = [text for event in events if (text := error(event))]
        if found:
            raise Failed("; ".join(found))

    def run(self, script):
        """The value of an expression of JavaScript, also of a promise."""
        response = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        self._check()
        if "exceptionDetails" in response:
            raise Failed(response["exceptionDetails"].get("exception", {}).get("description", str(response)))
        return response["result"].get("value")

    def until(self, condition):
        """Waits until an expression is true, and returns its value; an element is {}."""
        end = time.monotonic() + PATIENCE
        while (value := self.run(condition)) in (None, False, 0, ""):
            if time.monotonic() > end:
                raise Failed(f"not in {PATIENCE} seconds: {condition}")
            time.sleep(0.02)
        return value

    # --- hands ---

    def mouse(self, kind, point, count=0):
        """kind: Moved, Pressed or Released; point: (x, y)"""
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=point[0], y=point[1], clickCount=count,
                  button="left" if count else "none", buttons=int(kind == "Pressed" or count == 1 and kind == "Moved"))

    def click(self, point, count=1):
        for one in range(1, count + 1):
            self.mouse("Pressed", point, one)
            self.mouse("Released", point, one)

    def drag(self, begin, end):
        self.mouse("Pressed", begin, 1)
        self.mouse("Moved", end, 1)
        self.mouse("Released", end, 1)

    def key(self, name):
        text = {"text": name} if len(name) == 1 else {"text": "\r"} if name == "Enter" else {}
        code = {"windowsVirtualKeyCode": KEYS[name]} if name in KEYS else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, **code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    # --- pictures ---

    def picture(self, path):
        """The whole page as a PNG file."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]))

    def paper(self):
        """The page as a PDF file's bytes."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


def browse(directory, script, addresses, widths):
    """What the function look(page) of JavaScript, which may be async, returned for each address at each width."""
    seen = []
    with Browser(directory) as browser:
        for address in addresses:
            for width in widths:
                browser.open(address if ":" in address else f"file://{directory}/{address}", width)
                seen.append(browser.run(f"(async () => {{ {script}\nreturn look(document); }})()"))
    return seen

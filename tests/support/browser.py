"""Chromium without a window, controlled by the DevTools protocol over a pipe.

    with Browser() as browser:
        page = browser.open("file:///tmp/report/index.html")
        page.key("n")
        print(page.value("document.title"))
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SECONDS = 60  # for an answer, on a machine that is busy

# Keys without a character of their own, with their code for Windows.
NAMED_KEYS = {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Escape": 27}


def program():
    """Returns the path of the browser, or None."""
    return os.environ.get("TEXTON_TEST_BROWSER") or shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """A process of the browser, with a profile of its own. It reaches no other machine: no name is resolved."""

    def __init__(self, arguments=()):
        self.profile = tempfile.mkdtemp(prefix="texton-browser-")
        commands, self.to_browser = os.pipe()
        self.from_browser, answers = os.pipe()
        line = [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--hide-scrollbars",
                "--disable-features=LocalNetworkAccessChecks",  # tests reach their own servers without a permission
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--user-data-dir=" + self.profile, *arguments, "about:blank"]

        # The browser reads commands from descriptor 3 and writes answers to descriptor 4.
        def descriptors():
            low = os.dup(commands), os.dup(answers)
            os.dup2(low[0], 13)
            os.dup2(low[1], 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(line, preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.received = b""
        self.last = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
        except RuntimeError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, parameters=None, session=None):
        """Returns the result of a command. Events that arrive before it are kept in `events`."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        try:
            os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise RuntimeError("the browser does not run") from error
        while True:
            answer = self.receive()
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def receive(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.from_browser], [], [], max(0, end - time.monotonic()))
            part = os.read(self.from_browser, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser does not answer")
            self.received += part
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, width=1400, height=1000, dark=False):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(domain + ".enable")
        page.resize(width, height)
        page.scheme("dark" if dark else "light")
        page.go(url)
        return page


class Page:
    """A page of the browser. `events` has the events of the domains Page, Runtime, Network and Log."""

    def __init__(self, browser, session):
        self.browser = browser
        self.session = session

    def call(self, method, parameters=None):
        return self.browser.call(method, parameters, self.session)

    def go(self, url):
        answer = self.call("Page.navigate", {"url": url})
        if "errorText" in answer:
            raise RuntimeError(f"{url}: {answer['errorText']}")
        self.wait(f"location.href.split(':')[0] === '{url.split(':')[0]}' && document.readyState === 'complete'")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def value(self, expression):
        """Returns the value of an expression in JavaScript. A promise is waited for."""
        answer = self.call("Runtime.evaluate",
                           {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=SECONDS):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                if self.value(expression):
                    return
            except RuntimeError:  # the page is being replaced by another one
                if self.browser.process.poll() is not None:
                    raise
            if time.monotonic() > end:
                raise RuntimeError(f"not true after {seconds} s: {expression}")
            time.sleep(0.05)

    def key(self, key):
        event = {"key": key, "windowsVirtualKeyCode": NAMED_KEYS.get(key, ord(key.upper()[0]))}
        if key not in NAMED_KEYS:
            event["text"] = key
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def drag(self, start, end):
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", (start[0] + end[0]) / 2, (start[1] + end[1]) / 2, button="left", buttons=1)
        self.mouse("mouseMoved", *end, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)

    def screenshot(self, path=None, whole=False):
        """Returns the bytes of a PNG file, and writes them to a file if a path is given."""
        data = base64.b64decode(self.call("Page.captureScreenshot", {"captureBeyondViewport": whole})["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def events(self, method):
        """Returns the parameters of all events of a kind since the page was opened."""
        self.value("0")  # receives events that have been sent
        return [each["params"] for each in self.browser.events
                if each.get("sessionId") == self.session and each.get("method") == method]

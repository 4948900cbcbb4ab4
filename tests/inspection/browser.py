"""A browser without a window, driven by the WebDriver protocol: a few requests over HTTP."""

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def programs():
    """The driver and the browser, where both are installed; else None."""
    driver = shutil.which("chromedriver")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    return (driver, browser) if driver and browser else None


class Browser:
    """A session. `patience` is how many seconds a condition may take to come true."""

    def __init__(self, folder, dark=False, size=(1400, 900), patience=120):
        driver, browser = programs()
        self.patience = patience
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        # Its own places for settings and shared memory: a test machine may allow it little.
        environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self._process = subprocess.Popen(
            [driver, f"--port={port}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._session = f"http://127.0.0.1:{port}"
        options = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--hide-scrollbars", f"--window-size={size[0]},{size[1]}",
            f"--user-data-dir={folder}/profile",
        ]  # fmt: skip
        if dark:
            options += ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"]
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": options, "binary": browser},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        try:
            self.until(self._is_ready)
            made = self._ask("/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self._process.kill()
            raise
        self._session += f"/session/{made['sessionId']}"

    def _is_ready(self):
        try:
            return self._ask("/status")["ready"]
        except OSError:
            return False

    def _ask(self, path, body=None, method=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._session + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=self.patience) as reply:
            return json.load(reply)["value"]

    def open(self, path):
        self._ask("/url", {"url": path.as_uri()})

    def run(self, script):
        """What JavaScript returns."""
        return self._ask("/execute/sync", {"script": script, "args": []})

    def until(self, condition):
        """Wait for a condition: a function, or JavaScript that returns whether it holds."""
        end = time.monotonic() + self.patience
        while time.monotonic() < end:
            if self.run(condition) if isinstance(condition, str) else condition():
                return
            time.sleep(0.05)
        raise TimeoutError(f"It did not come true: {condition}")

    def keys(self, text):
        """Press keys, one after another, wherever the focus is."""
        actions = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self._ask("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def complaints(self):
        """What the page has written to the console since it was last asked."""
        return [each["message"] for each in self._ask("/se/log", {"type": "browser"})]

    def screenshot(self):
        return base64.b64decode(self._ask("/screenshot"))

    def close(self):
        try:
            self._ask("", method="DELETE")
        finally:
            self._process.terminate()
            self._process.wait()

"""Drive headless Chromium over its debugging pipe; one browser serves many tests.

No driver needs installing: Chromium reads commands of its DevTools protocol from file
descriptor 3 and answers on 4, JSON between zero bytes.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",  # root in a container has no other way; the pages are our own
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
START = """
import os, sys
os.dup2(int(sys.argv[1]), 3), os.dup2(int(sys.argv[2]), 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
PATIENCE = 60.0  # seconds; a machine under load is slow, a dead browser is noticed
DESK, PHONE = (1000, 800), (390, 844)


def find_browser() -> str | None:
    """Look where a browser may be; CHROME_BIN names one elsewhere."""
    return os.environ.get("CHROME_BIN") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )


class Browser:
    """A running Chromium."""

    def __init__(self, profile: Path) -> None:
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        # Out of the way of 3 and 4, where Chromium wants them.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]
        os.close(theirs_in), os.close(theirs_out)
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", START, *map(str, ends)),
                *(find_browser() or "", *FLAGS),
                f"--user-data-dir={profile}",
                "about:blank",
            ],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in ends:
            os.close(end)
        self._from, self._to = ours_in, ours_out
        self._heard = b""
        self._numbers = itertools.count(1)
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **params: Any) -> Any:
        """Send a command and wait for its answer."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if (answer := self._read(0.1)) is None:
                continue
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.events.append(answer)
        raise TimeoutError(f"Chromium does not answer {method}")

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Wait for an event, unless it has been heard already."""
        end = time.monotonic() + PATIENCE
        while not any(map(wanted, self.events)):
            if time.monotonic() > end:
                raise TimeoutError("Chromium does not say what was waited for")
            if (event := self._read(0.1)) is not None:
                self.events.append(event)

    def listen(self) -> None:
        """Hear what there is to hear now."""
        while (event := self._read(0)) is not None:
            self.events.append(event)

    def _read(self, patience: float) -> dict[str, Any] | None:
        while b"\0" not in self._heard:
            if not select.select([self._from], [], [], patience)[0]:
                return None
            more = os.read(self._from, 1 << 20)
            assert more, "Chromium is gone"
            self._heard += more
        message, _, self._heard = self._heard.partition(b"\0")
        return json.loads(message)

    def close(self) -> None:
        """End this browser."""
        with contextlib.suppress(Exception):
            self.call("Browser.close")
        os.close(self._to), os.close(self._from)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @contextlib.contextmanager
    def tab(self, size: tuple[int, int] = DESK, *, dark: bool = False) -> Iterator[Tab]:
        """Open a tab, gone at the end."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        found = self.call("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, found["sessionId"])
        try:
            for domain in ("Page", "Runtime", "Log", "Network"):
                tab.call(f"{domain}.enable")
            tab.look(size, dark=dark)
            yield tab
        finally:
            self.call("Target.closeTarget", targetId=target)
            self.events.clear()


class Tab:
    """One tab: open pages in it, look, press keys."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def call(self, method: str, **params: Any) -> Any:
        """Send a command to this tab."""
        return self._browser.call(method, self._session, **params)

    def look(
        self, size: tuple[int, int] = DESK, *, dark: bool = False, media: str = ""
    ) -> None:
        """Set the size of the window, light or dark, screen or print."""
        width, height = size
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        scheme = "dark" if dark else "light"
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, place: Path | str) -> None:
        """Open a page and wait until it is loaded."""
        url = place.as_uri() if isinstance(place, Path) else place
        self._browser.events.clear()
        answer = self.call("Page.navigate", url=url)
        assert "errorText" not in answer, answer
        self._browser.wait(
            lambda event: (
                event.get("method") == "Page.loadEventFired"
                and event.get("sessionId") == self._session
            )
        )

    def run(self, script: str, *, wait: bool = False) -> Any:
        """Run a script beside the page and give its value.

        DevTools' scripts are no part of the page, so its policy does not bind them.
        """
        answer = self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=wait,
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str, patience: float = 20.0) -> Any:
        """Wait until a script gives something true."""
        end = time.monotonic() + patience
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.05)
        return value

    def press(self, *keys: str) -> None:
        """Press keys, by their names: Tab, Enter, ArrowRight, a."""
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowRight": 39, "ArrowDown": 40}
        for key in keys:
            shown = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
            code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
            params = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            text = {"text": shown} if shown else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **params, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def point(self, script: str, *, click: bool = False) -> None:
        """Move the pointer over the middle of an element, and click it if asked."""
        box = self.run(
            f"(() => {{ const e = {script}; e.scrollIntoView({{block: 'center'}});"
            "const r = e.getBoundingClientRect();"
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        place = {"x": box[0], "y": box[1]}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **place)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call(
                    "Input.dispatchMouseEvent",
                    type=kind,
                    button="left",
                    clickCount=1,
                    **place,
                )

    def screenshot(self, path: Path) -> Path:
        """Save the whole page as a picture."""
        taken = self.call(
            "Page.captureScreenshot", captureBeyondViewport=True, format="png"
        )
        path.write_bytes(base64.b64decode(taken["data"]))
        return path

    def print(self) -> bytes:
        """Print the page as PDF, with backgrounds off as browsers have it."""
        data = self.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)
        return base64.b64decode(data["data"])

    @property
    def complaints(self) -> list[str]:
        """What the console and the browser's log said since the page was opened."""
        self._browser.listen()
        said = []
        for event in self._events():
            params = event["params"]
            if event["method"] == "Log.entryAdded":
                said.append(params["entry"]["text"])
            elif event["method"] == "Runtime.exceptionThrown":
                said.append(json.dumps(params["exceptionDetails"])[:500])
            elif event["method"] == "Runtime.consoleAPICalled":
                said.append(json.dumps(params["args"])[:500])
        return said

    @property
    def requests(self) -> list[str]:
        """What the page asked for beside itself; ``data:`` asks nobody."""
        self._browser.listen()
        asked = [
            event["params"]
            for event in self._events()
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [
            params["request"]["url"]
            for params in asked
            if params.get("type") != "Document"
            and not params["request"]["url"].startswith("data:")
        ]

    def _events(self) -> list[dict[str, Any]]:
        mine = [e for e in self._browser.events if e.get("sessionId") == self._session]
        return [event for event in mine if "method" in event]

"""Open a page in headless Chromium and say what it did."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

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
    "--enable-logging=stderr",
    "--virtual-time-budget=3000",
)
# What the browser asks on its own account; a page's requests name the page's origin.
BROWSER_ITSELF = "not an origin"


@dataclass(frozen=True)
class Visit:
    """What opening a page led to."""

    console: list[str]
    requests: list[str]
    dom: str


def find_browser() -> str | None:
    """Look where a browser may be; CHROME_BIN names one elsewhere."""
    return os.environ.get("CHROME_BIN") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )


needs_browser = pytest.mark.skipif(
    find_browser() is None, reason="no Chromium here; install it or set CHROME_BIN"
)


def visit(page: Path, scratch: Path) -> Visit:
    """Open a page from disk and collect console messages and network requests."""
    log = scratch / "net.json"
    done = subprocess.run(
        [
            find_browser() or "",
            *FLAGS,
            f"--user-data-dir={scratch / 'profile'}",
            f"--log-net-log={log}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        timeout=60,
        check=True,
    )
    return Visit(
        console=re.findall(r":CONSOLE[^\n]*", done.stderr.decode(errors="replace")),
        requests=_requests(log),
        dom=done.stdout.decode(errors="replace"),
    )


def _requests(log: Path) -> list[str]:
    text = log.read_text(errors="replace").rstrip()
    if not text.endswith("}"):  # the browser went before it had closed its log
        text = text.rstrip(",") + "]}"
    events = json.loads(text)["events"]
    started = (event.get("params", {}) for event in events)
    return [
        p["url"]
        for p in started
        if p.get("initiator", BROWSER_ITSELF) != BROWSER_ITSELF
    ]

"""``veridical study watch``: a local web page that shows a running study."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from veridical._core.errors import InputError
from veridical._core.progress import Pace

HOST = "127.0.0.1"

# Seconds between two updates; more where an update itself takes long: the pause is at
# least this many times as long as the update before.
_PAUSE = 2.0
_PAUSE_FACTOR = 5
# Number of recent failures that are shown.
_FAILURES = 20


class Watcher:
    """Reads a store repeatedly, and keeps the state to show.

    Parameters
    ----------
    path : Path
        The store; a run may write to it.

    Raises
    ------
    InputError
        If it is not a store, or does not name its study.
    """

    def __init__(self, path: Path) -> None:
        from veridical.papers import find_study

        self.path = path
        run = self._last_run()
        self.study = find_study(run["study"])
        self.spec = self.study.spec.checked(run["spec"], str(path))
        self._pace: Pace | None = None
        self._report: Any = None
        self._reported = -1
        self._since: dict[str, tuple[str, int]] = {}
        self.state: dict[str, Any] = {}
        self.update()

    def _last_run(self) -> dict[str, Any]:
        from veridical.experiments import Store

        with Store(self.path) as store:
            runs = [json.loads(text) for text in store.runs()]
        named = [run for run in runs if "study" in run and "spec" in run]
        if not named:
            raise InputError(
                f"{self.path} does not say which study it belongs to; it must be "
                "written by veridical study run."
            )
        return named[-1]

    def follow(self, stop: threading.Event) -> None:
        """Update until `stop` is set."""
        pause = _PAUSE
        while not stop.wait(pause):
            began = time.monotonic()
            try:
                self.update()
            except InputError as error:
                self.state = {**self.state, "trouble": str(error)}
            pause = max(_PAUSE, _PAUSE_FACTOR * (time.monotonic() - began))

    def update(self) -> None:
        """Read the progress of the study and its findings so far."""
        from veridical.cli import study_report
        from veridical.experiments import Plan, Store

        with Store(self.path) as store:
            rows = len(store)
            counts = Plan(self.study, self.spec, store.keys()).counts
            failures = [
                {"status": r.status, "cell": json.loads(r.cell), "detail": r.detail}
                for r in store.failures(_FAILURES)
            ]
        if rows != self._reported:
            self._report = study_report.find(self.study, self.spec, self.path)
            self._reported = rows
        if self._pace is None:
            self._pace = Pace(rows)
        self._pace.mark(rows)
        self.state = {
            "study": self.study.name,
            "store": str(self.path),
            "planned": counts.planned,
            "ok": counts.ok,
            "failed": counts.failed,
            "pending": counts.pending,
            "cells_per_second": self._pace.rate,
            "seconds_left": self._pace.left(counts.pending),
            "failures": failures,
            "looked": time.strftime("%H:%M:%S"),
            "trouble": None,
            "findings": self._findings(),
            "unchanged": self._unchanged(rows),
        }

    def _unchanged(self, rows: int) -> list[int]:
        """Return for each finding the number of rows since its outcome changed."""
        checks = self._report.checks if self._report is not None else ()
        for check in checks:
            was, _ = self._since.get(check.statement, (None, 0))
            if was != check.outcome:
                self._since[check.statement] = (check.outcome, rows)
        return [rows - self._since[check.statement][1] for check in checks]

    def _findings(self) -> dict[str, Any] | None:
        if self._report is None:
            return None
        return self._report.to_dict()

    def page(self, where: str) -> str | None:
        """Return the page at a path; None if there is none."""
        from veridical import report
        from veridical.report.render import html
        from veridical.report.views.study import watch

        if where == "/":
            return html.page(watch(self.state))
        if where == "/report" and self._report is not None:
            return report.page(self._report)
        return None


def make_server(watcher: Watcher, port: int) -> ThreadingHTTPServer:
    """Make a server on the loopback interface, for this machine only.

    Raises
    ------
    InputError
        If the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "veridical", ""

        def do_GET(self) -> None:
            # Refuse other host names, so that other sites cannot read this page.
            asked = urlsplit(f"//{self.headers.get('Host', '')}").hostname
            where = urlsplit(self.path).path
            if asked not in (HOST, "localhost"):
                self._answer(403, "text/plain", "This page is for this machine only.")
            elif where == "/state.json":
                content = json.dumps(watcher.state, indent=2, allow_nan=False)
                self._answer(200, "application/json", content)
            elif (page := watcher.page(where)) is not None:
                self._answer(200, "text/html", page)
            else:
                self._answer(404, "text/plain", "There is no such page; go to /.")

        def _answer(self, status: int, kind: str, content: str) -> None:
            body = content.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Log nothing."""

    try:
        return ThreadingHTTPServer((HOST, port), Handler)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"Port {port} cannot be used ({why}); give another with --port, or 0 for "
            "any."
        ) from error

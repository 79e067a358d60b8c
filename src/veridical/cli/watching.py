"""What a run shows while it works: a live panel, or a line now and then."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from veridical.cli import console
from veridical.cli.failures import in_one_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from veridical.experiments import Progress

_EVERY = 30.0


@contextmanager
def watching(name: str) -> Iterator[Callable[[Progress], object]]:
    """Show progress on stderr: live on a terminal, else a line every 30 seconds."""
    if console.is_quiet():
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        yield _Lines(name)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def update(progress: Progress) -> None:
            live.update(panel(name, progress), refresh=True)

        yield update


class _Lines:
    def __init__(self, name: str) -> None:
        self._name = name
        self._told = time.monotonic()

    def __call__(self, progress: Any) -> None:
        now = time.monotonic()
        if now - self._told >= _EVERY:
            self._told = now
            typer.echo(f"{self._name}: {progress}", err=True)


def panel(name: str, progress: Progress) -> RenderableType:
    """Draw where a run stands: bar, counts, rate, time left, last failures."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from veridical.experiments.progress import duration

    counts = progress.counts
    rate, eta = progress.rate, progress.eta
    pace = "measuring the pace"
    if rate is not None and eta is not None:
        pace = f"{rate:.3g} cells/s, about {duration(eta)} left"
    lines: list[RenderableType] = [
        Text(f"{name}: {counts}"),
        ProgressBar(total=counts.planned, completed=counts.planned - progress.left),
        Text(f"{duration(progress.seconds)} so far, {pace}; Ctrl-C saves and stops"),
    ]
    for outcome in progress.failures:
        cell = json.dumps(dict(outcome.cell.coordinates))
        words = f"{outcome.status}: {cell}: {outcome.detail or ''}"
        lines.append(Text(in_one_line(words), style="red", no_wrap=True))
    return Group(*lines)

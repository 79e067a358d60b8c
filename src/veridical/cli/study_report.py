"""What a study found, in words and as a page, where the study says how."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from veridical.cli import console
from veridical.cli.failures import in_one_line
from veridical.cli.options import with_origin

if TYPE_CHECKING:
    from veridical.experiments.findings import StudyReport


def tell_notices(study: Any, spec: Any) -> None:
    """Say on stderr what the user should know beforehand, such as missing data."""
    if hasattr(study, "notices") and not console.is_quiet():
        for sentence in study.notices(spec):
            typer.echo(in_one_line(sentence), err=True)


def absences(study: Any, path: Path) -> list[str]:
    """Say which cells of a store are not shown because their data cannot be read here.

    What a cell depends on includes the data themselves, so without them it cannot be
    told from a cell of another file.
    """
    if not hasattr(study, "absences") or not path.exists():
        return []
    from veridical.experiments import Store

    stored: Counter[str] = Counter()
    with Store(path) as opened:
        for row in opened.rows():
            if json.loads(row.recipe).get("study") == study.name:
                stored[json.loads(row.cell).get("data")] += 1
    return list(study.absences(stored))


def check_page(study: Any, out: Path | None) -> None:
    """Refuse a page that cannot be written, before the work that it will show."""
    if out is None:
        return
    from veridical._core.errors import InputError
    from veridical.report import check_writable

    if not hasattr(study, "findings"):
        raise InputError(
            f"{study.name} has no page of its own yet; leave out --out and use "
            "veridical study export."
        )
    check_writable(out)


def find(study: Any, spec: Any, path: Path) -> StudyReport | None:
    """Put together what a store says about the paper; None where it says nothing."""
    if not hasattr(study, "findings") or not path.exists():
        return None
    from veridical.experiments import Plan, Store

    with Store(path) as opened:
        plan = Plan(study, spec, opened.keys())
        if not plan.counts.ok:
            return None
        keys = plan.keys
        frame = opened.frame(only=keys)
    found: StudyReport = study.findings(frame)
    settings = {
        "cells": str(plan.counts),
        **{key: str(value) for key, value in spec.model_dump(mode="json").items()},
        **found.settings,
        # A cell's key is a hash of all that it depends on, the data included.
        "cells sha256": hashlib.sha256(keys.known.tobytes()).hexdigest(),
    }
    again = repeat(study, spec, path)
    return replace(found, settings=with_origin(settings, None, again))


def repeat(study: Any, spec: Any, path: Path) -> str:
    """Write the command that runs a study again, as far as a scale says what it is."""
    from veridical.experiments import SCALES

    scale = next((s for s in SCALES if study.plan(s, spec.seed) == spec), None)
    how = ["--spec", "SPEC.toml"]
    if scale is not None:
        how = ["--scale", scale, "--seed", str(spec.seed)]
    words = ["veridical", "study", "run", study.name, *how, "--store", str(path)]
    return shlex.join(words)


def tell(report: StudyReport | None, out: Path | None) -> None:
    """List the findings, and write the page where one is asked for."""
    if report is None:
        return
    typer.echo(report.conclusion.sentence)
    for check in report.checks:
        line = in_one_line(
            f"{check.statement}: {check.ours} [published: {check.published}]"
        )
        typer.echo(f"  {check.outcome:14}  {line}")
    for note in report.notes:
        typer.echo(in_one_line(note))
    if out is not None:
        typer.echo(f"The report is in {report.save(out)}")


def as_json(report: StudyReport | None, out: Path | None) -> dict[str, Any]:
    """Give the findings to a JSON reply; the page is written all the same."""
    if report is None:
        return {"findings": None, "page": None}
    page = None if out is None else str(report.save(out))
    return {"findings": report.to_dict(), "page": page}

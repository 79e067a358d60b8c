"""What a study found, in words and as a page, where the study says how."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from veridical.cli import console
from veridical.cli.failures import in_one_line
from veridical.cli.options import with_origin

if TYPE_CHECKING:
    from veridical.experiments import PaperStudy, StudyReport


def tell_notices(study: PaperStudy, spec: Any) -> None:
    """Say on stderr what the user should know beforehand, such as missing data."""
    if not console.is_quiet():
        for sentence in study.notices(spec):
            typer.echo(in_one_line(sentence), err=True)


def check_page(out: Path | None) -> None:
    """Refuse a page that cannot be written, before the work that it will show."""
    if out is not None:
        from veridical.report import check_writable

        check_writable(out)


def find(study: PaperStudy, spec: Any, path: Path) -> StudyReport | None:
    """Put together what a store says about the paper; None where it says nothing."""
    found = study.report(path, spec) if path.exists() else None
    if found is None:
        return None
    again = repeat(study, spec, path)
    return replace(found, settings=with_origin(found.settings, None, again))


def repeat(study: PaperStudy, spec: Any, path: Path) -> str:
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

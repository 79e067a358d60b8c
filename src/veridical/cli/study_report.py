"""The findings of a study: as text, as JSON and as a page."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from veridical.cli import console
from veridical.cli.failures import in_one_line
from veridical.cli.requests import with_origin

if TYPE_CHECKING:
    from veridical.experiments import PaperStudy, StudyReport


def print_notices(study: PaperStudy, spec: Any) -> None:
    """Print on stderr what the user should know beforehand, such as missing data."""
    if not console.is_quiet():
        for sentence in study.notices(spec):
            typer.echo(in_one_line(sentence), err=True)


def find(study: PaperStudy, spec: Any, path: Path) -> StudyReport | None:
    """Return the findings of a store; None where it has no finished cell."""
    found = study.report(path, spec) if path.exists() else None
    if found is None:
        return None
    command = _write_command(study, spec, path)
    return replace(found, settings=with_origin(found.settings, None, command))


def _write_command(study: PaperStudy, spec: Any, path: Path) -> str:
    """Write the command that repeats a study."""
    from veridical.experiments import SCALES

    scale = next((s for s in SCALES if study.plan(s, spec.seed) == spec), None)
    how = ["--spec", "SPEC.toml"]
    if scale is not None:
        how = ["--scale", scale, "--seed", str(spec.seed)]
    words = ["veridical", "study", "run", study.name, *how, "--store", str(path)]
    return shlex.join(words)


def print_findings(report: StudyReport | None, out: Path | None) -> None:
    """Print the findings, and write the page if a file is given."""
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
    """Return the findings for JSON, and write the page if a file is given."""
    if report is None:
        return {"findings": None, "page": None}
    page = None if out is None else str(report.save(out))
    return {"findings": report.to_dict(), "page": page}


def write_summary(
    reports: list[StudyReport], names: list[str], out: Path, *, as_text: bool
) -> None:
    """Write the report of several studies, and say what it says."""
    from veridical.experiments import StudyReports

    settings = with_origin({}, None, shlex.join(["veridical", *sys.argv[1:]]))
    found = {report.study for report in reports}
    missing = tuple(name for name in names if name not in found)
    record = StudyReports(tuple(reports), missing, settings)
    path = record.save(out)
    if as_text:
        typer.echo(
            f"{record.conclusion.sentence} The report of all studies is in {path}"
        )

"""``veridical compare``: which of two selectors is better, and may I believe it?"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli import console

if TYPE_CHECKING:
    from veridical._records import Comparison

DEFAULT_FEATURES = 20
DEFAULT_TEST = "corrected-t"
# The paper's own example, run where no data are given.
SOURCE, N_TRAIN, N_SETS, PAPERS_TEST = "linear", 125, 100, "paired-t"


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    selectors: tuple[str, str]
    classifiers: list[str]
    features: int | None
    folds: int
    test: str
    seed: int

    def settings(self) -> dict[str, Any]:
        """Arguments that `compare` and `truth` share, the number of features aside."""
        a, b = self.selectors
        return {
            "a": a,
            "b": b,
            "classifier": self.classifiers,
            "cv": self.folds,
            "test": self.test,
            "random_state": self.seed,
        }

    def command(self, n_features: int) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        words = ["veridical", "compare"]
        if self.data is not None:
            words.append(str(self.data))
        if self.target is not None:
            words += ["--target", self.target]
        words += ["--selectors", *self.selectors]
        for name in self.classifiers:
            words += ["--classifier", name]
        words += ["--features", str(n_features), "--folds", str(self.folds)]
        words += ["--test", self.test, "--seed", str(self.seed)]
        return shlex.join(words)


def compare(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="A table with one row per case: CSV or TSV, plain or packed, or npz. "
            "Without it: the paper's own example.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="The column that holds the class.", show_default=False),
    ] = None,
    selectors: Annotated[
        tuple[str, str],
        typer.Option(
            metavar="A B",
            help="Two selectors, such as relieff, fcbf or information-gain.",
        ),
    ] = ("relieff", "fcbf"),
    classifier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="What learns from them: svm, nb, 1nn or tree; may be given more than "
            r"once. \[default: svm]",
            show_default=False,
        ),
    ] = None,
    features: Annotated[
        int | None,
        typer.Option(
            help=rf"How many features each selects. \[default: {DEFAULT_FEATURES}, or "
            f"half of them where there are fewer than {2 * DEFAULT_FEATURES}]",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 10,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=rf"How folds are tested: {DEFAULT_TEST} or {PAPERS_TEST}. "
            rf"\[default: {DEFAULT_TEST}, but {PAPERS_TEST} in the paper's example]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write a report to this HTML file.", show_default=False),
    ] = None,
    jobs: Annotated[
        int, typer.Option(help="Processes at work; -1 for one per core.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Decides all that is left to chance.")] = 0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print JSON and nothing else; its keys are those of "
            "veridical.report.schema.Summary, and page.",
        ),
    ] = False,
) -> None:
    """Compare two feature selectors: which is better, and may I believe it?

    A classifier is cross-validated on what each selector chooses: with the
    selection repeated inside every fold (IN), and with it made once, on all
    cases (OUT).

    Without DATA this runs the example of Refaeilzadeh, Tang and Liu (2007)
    on a source that can be sampled for ever, and so shows the TRUTH beside
    IN and OUT.
    """
    from veridical import report
    from veridical._records import InputError

    if data is None and target is not None:
        raise InputError(
            f"--target {target} names a column, but there is no file; give it first: "
            "veridical compare DATA --target COLUMN"
        )
    question = Question(
        data=data,
        target=target,
        selectors=selectors,
        classifiers=classifier or ["svm"],
        features=features,
        folds=folds,
        test=test or (PAPERS_TEST if data is None else DEFAULT_TEST),
        seed=seed,
    )
    if out is not None:
        report.check_writable(out)
    if not as_json and data is None:
        typer.echo(
            f"No data given, so this is the paper's own example: the {SOURCE} source, "
            f"{N_TRAIN} cases.\nIts truth is known, from {N_SETS} data sets with "
            "independent test sets."
        )
    record = _on_source(question, jobs) if data is None else _on_file(question, jobs)
    page = None if out is None else report.save(record, out)
    console.show(report.to_json(record), page, as_json=as_json)


def _on_file(question: Question, jobs: int) -> Comparison:
    from veridical.comparison import compare as run
    from veridical.datasets import read

    assert question.data is not None
    X, y = read(question.data, question.target)
    n_features = question.features
    if n_features is None:
        # Selectors that keep every column cannot be told apart.
        n_features = min(DEFAULT_FEATURES, (X.shape[1] + 1) // 2)
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X,
            y=y,
            n_features=n_features,
            n_jobs=jobs,
            data_name=question.data.name,
            progress=progress,
            **question.settings(),
        )
    return _with_origin(record, question, {"data sha256": _digest(question.data)})


def _on_source(question: Question, jobs: int) -> Comparison:
    from veridical.comparison import compare as run
    from veridical.comparison import truth, with_truth
    from veridical.datasets import SOURCES

    X, y = SOURCES[SOURCE](N_TRAIN, random_state=question.seed)
    common = {
        **question.settings(),
        "n_jobs": jobs,
        "n_features": DEFAULT_FEATURES
        if question.features is None
        else question.features,
    }
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X, y=y, data_name=f"{SOURCE} source", progress=progress, **common
        )
    with console.progress_bar(f"TRUTH, {N_SETS} data sets") as progress:
        known = truth(
            source=SOURCE, n_train=N_TRAIN, n_sets=N_SETS, progress=progress, **common
        )
    return _with_origin(with_truth(record, known), question, {})


def _with_origin(
    record: Comparison, question: Question, origin: dict[str, str]
) -> Comparison:
    """Note what it takes to repeat the run: the command, the versions, the data."""
    import platform
    from importlib.metadata import version

    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "scikit-learn", "numba")
    )
    settings = {
        **record.settings,
        **origin,
        "versions": f"Python {platform.python_version()}, {packages}",
        "command": question.command(record.n_features),
    }
    return replace(record, settings=settings)


def _digest(path: Path) -> str:
    import hashlib

    with path.expanduser().open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

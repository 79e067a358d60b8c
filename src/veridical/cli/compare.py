"""``veridical compare``: which of two selectors is better, and may I believe it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli import console, options

if TYPE_CHECKING:
    from veridical._records import Comparison

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
        return options.command(
            "compare",
            self.data,
            self.target,
            "--selectors",
            *self.selectors,
            *(word for name in self.classifiers for word in ("--classifier", name)),
            *("--features", n_features, "--folds", self.folds),
            *("--test", self.test, "--seed", self.seed),
        )


def compare(
    data: Annotated[
        Path | None, options.data_argument("the paper's own example")
    ] = None,
    target: options.Target = None,
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
            help="What learns from them: svm, nb, 1nn, tree, c45 or logistic; may be "
            r"given more than once. \[default: svm]",
            show_default=False,
        ),
    ] = None,
    features: Annotated[int | None, options.features_option("each selects")] = None,
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
    out: options.Out = None,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    as_json: Annotated[bool, options.json_option("Summary")] = False,
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

    options.check_target("compare", data, target)
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
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X,
            y=y,
            n_features=options.how_many(question.features, X.shape[1]),
            n_jobs=jobs,
            data_name=question.data.name,
            progress=progress,
            **question.settings(),
        )
    return _with_origin(record, question)


def _on_source(question: Question, jobs: int) -> Comparison:
    from veridical.comparison import compare as run
    from veridical.comparison import truth, with_truth
    from veridical.datasets import SOURCES

    X, y = SOURCES[SOURCE](N_TRAIN, random_state=question.seed)
    common = {
        **question.settings(),
        "n_jobs": jobs,
        "n_features": options.how_many(question.features, X.shape[1]),
    }
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X, y=y, data_name=f"{SOURCE} source", progress=progress, **common
        )
    with console.progress_bar(f"TRUTH, {N_SETS} data sets") as progress:
        known = truth(
            source=SOURCE, n_train=N_TRAIN, n_sets=N_SETS, progress=progress, **common
        )
    return _with_origin(with_truth(record, known), question)


def _with_origin(record: Comparison, question: Question) -> Comparison:
    origin = options.origin(question.data, question.command(record.n_features))
    return replace(record, settings={**record.settings, **origin})

"""``veridical compare``: which selector is better, and may I believe it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options

if TYPE_CHECKING:
    from veridical.comparison.records import Comparison, ManyComparison

SELECTORS = ("relieff", "fcbf")
LEARNER = "svm"
DEFAULT_TEST = "corrected-t"
# The paper's own example, run where no data are given.
SOURCE, N_TRAIN, N_SETS, PAPERS_TEST = "linear", 125, 100, "paired-t"


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    selectors: tuple[str, ...]
    classifiers: list[str]
    features: int | None
    folds: int
    repeats: int
    test: str
    calibrated: bool
    seed: int

    @property
    def many(self) -> bool:
        """Whether more than two selectors are compared."""
        return len(self.selectors) > 2

    def pair(self) -> dict[str, Any]:
        """Arguments that `compare` and `truth` share, the number of features aside."""
        a, b = self.selectors
        return {"a": a, "b": b, **self.settings()}

    def settings(self) -> dict[str, Any]:
        """Arguments for any number of selectors."""
        repeated = self.repeats > 1
        return {
            "classifier": self.classifiers,
            "cv": f"{self.repeats}x{self.folds}" if repeated else self.folds,
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
            *("--features", n_features, "--learner", *self.classifiers),
            *("--folds", self.folds),
            *(("--repeats", self.repeats) if self.repeats > 1 else ()),
            *("--test", self.test, "--seed", self.seed),
            *(("--calibrated",) if self.calibrated else ()),
        )


def compare(
    data: Annotated[
        Path | None, options.data_argument("the paper's own example")
    ] = None,
    target: options.Target = None,
    selectors: Annotated[
        list[str] | None,
        options.unset(
            "A B...",
            f"Two or more of {', '.join(names.SELECTORS)}, with spaces or commas "
            rf"between them. \[default: {' '.join(SELECTORS)}]",
            autocompletion=names.completing(names.SELECTORS),
        ),
    ] = None,
    features: Annotated[int | None, options.features_option("each selects")] = None,
    learner: Annotated[
        list[str] | None,
        options.unset(
            "NAME...",
            f"What learns from them, one or several: {names.one_of(names.ESTIMATORS)}. "
            rf"\[default: {LEARNER}]",
            autocompletion=names.completing(names.ESTIMATORS),
        ),
    ] = None,
    folds: options.Folds = 10,
    repeats: Annotated[
        int, options.asked("N", help="How often the cross-validation is repeated.")
    ] = 1,
    test: Annotated[
        str | None,
        options.unset(
            "NAME",
            f"How folds are tested: {names.one_of(names.TESTS)}. "
            rf"\[default: {DEFAULT_TEST}, but {PAPERS_TEST} in the paper's example]",
            autocompletion=names.completing(names.TESTS),
        ),
    ] = None,
    calibrated: Annotated[
        bool,
        options.flag(
            "--calibrated",
            "Take p-values from a null measured on data like these; costs as much as "
            "200 comparisons.",
        ),
    ] = False,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("compare")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare feature selectors: which is better, and may I believe it?

    A classifier is cross-validated on what each selector chooses: with the
    selection repeated inside every fold (IN), and with it made once, on all
    cases (OUT).

    Without DATA this runs the example of Refaeilzadeh, Tang and Liu (2007)
    on a source that can be sampled for ever, and so shows the TRUTH beside
    IN and OUT. Three selectors or more are compared pair by pair, with
    p-values that allow for the number of pairs, and by their mean ranks.
    """
    from veridical import report

    console.be(quiet=quiet)
    chosen = _names(selectors)
    options.check_target("compare", data, target)
    options.check_numbers(seed, jobs)
    question = Question(
        data=data,
        target=target,
        selectors=chosen,
        classifiers=_split(learner or [LEARNER]),
        features=features,
        folds=folds,
        repeats=repeats,
        test=test or DEFAULT_TEST,
        calibrated=calibrated,
        seed=seed,
    )
    if test is None and data is None and not question.many:
        question = replace(question, test=PAPERS_TEST)
    _check_words(question)
    if out is not None:
        report.check_writable(out)
    if data is None:
        console.tell(_without_data(question), aside=as_json)
    record: Comparison | ManyComparison
    if question.many:
        record = _many(question, jobs)
    else:
        record = (_on_source if data is None else _on_file)(question, jobs)
    page = None if out is None else report.save(record, out)
    console.show(report.to_json(record), page, as_json=as_json)


def _without_data(question: Question) -> str:
    if question.many:
        return f"No data given, so this is the {SOURCE} source, {N_TRAIN} cases."
    return (
        f"No data given, so this is the paper's own example: the {SOURCE} source, "
        f"{N_TRAIN} cases.\nIts truth is known, from {N_SETS} data sets with "
        "independent test sets."
    )


def _check_words(question: Question) -> None:
    """Refuse what makes no sense, before anything is read."""
    from veridical._core.errors import InputError
    from veridical.comparison.testing import TESTS, find_test

    if question.repeats < 1:
        raise InputError(f"--repeats {question.repeats} runs nothing; give 1 or more.")
    options.check_names(question.selectors, question.classifiers)
    entry = TESTS[find_test(question.test)]
    if not entry.fits(question.repeats, question.folds):
        repeats, folds = entry.wanted.split("x")
        raise InputError(
            f"--test {question.test} is not made for {question.repeats} x "
            f"{question.folds} folds; add --repeats {repeats} --folds {folds}, or take "
            f"--test {DEFAULT_TEST}, which is for any."
        )


def _split(given: Iterable[str]) -> list[str]:
    """Take names with spaces or commas between them."""
    words = [word.strip() for text in given for word in text.split(",")]
    return [word for word in words if word]


def _names(selectors: list[str] | None) -> tuple[str, ...]:
    """Take the selectors; at least two, all different."""
    from veridical._core.errors import InputError

    names = tuple(_split(selectors or SELECTORS))
    files = [name for name in names if Path(name).is_file()]
    if files:
        raise InputError(
            f"--selectors takes all words up to the next option, so {files[0]} is read "
            "as a selector; put the file first: veridical compare DATA --selectors A B"
        )
    if len(names) < 2:
        raise InputError(
            f"--selectors names {len(names)} selector(s); a comparison takes two or "
            "more: --selectors relieff fcbf"
        )
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice and len(names) > 2:
        raise InputError(f"--selectors names {twice[0]} twice; name each once.")
    return names


def _many(question: Question, jobs: int) -> ManyComparison:
    from veridical.comparison import compare_many
    from veridical.datasets import SOURCES

    if question.data is None:
        X, y = SOURCES[SOURCE](N_TRAIN, random_state=question.seed)
        name = f"{SOURCE} source"
    else:
        X, y, name = options.take(question.data, question.target)
    with console.progress_bar("IN and OUT") as progress:
        record = compare_many(
            question.selectors,
            X,
            y,
            n_features=options.how_many(question.features, X.shape[1]),
            n_jobs=jobs,
            data_name=name,
            calibrated=question.calibrated,
            progress=progress,
            **question.settings(),
        )
    repeat = question.command(record.n_features)
    settings = options.with_origin(record.settings, question.data, repeat)
    return replace(record, settings=settings)


def _on_file(question: Question, jobs: int) -> Comparison:
    from veridical.comparison import compare as run

    assert question.data is not None
    X, y, name = options.take(question.data, question.target)
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X,
            y=y,
            n_features=options.how_many(question.features, X.shape[1]),
            n_jobs=jobs,
            data_name=name,
            calibrated=question.calibrated,
            progress=progress,
            **question.pair(),
        )
    return _with_origin(record, question)


def _on_source(question: Question, jobs: int) -> Comparison:
    from veridical.comparison import compare as run
    from veridical.comparison import truth, with_truth
    from veridical.datasets import SOURCES

    X, y = SOURCES[SOURCE](N_TRAIN, random_state=question.seed)
    common = {
        **question.pair(),
        "n_jobs": jobs,
        "n_features": options.how_many(question.features, X.shape[1]),
    }
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X,
            y=y,
            data_name=f"{SOURCE} source",
            calibrated=question.calibrated,
            progress=progress,
            **common,
        )
    with console.progress_bar(f"TRUTH, {N_SETS} data sets") as progress:
        known = truth(
            source=SOURCE, n_train=N_TRAIN, n_sets=N_SETS, progress=progress, **common
        )
    return _with_origin(with_truth(record, known), question)


def _with_origin(record: Comparison, question: Question) -> Comparison:
    repeat = question.command(record.n_features)
    settings = options.with_origin(record.settings, question.data, repeat)
    return replace(record, settings=settings)

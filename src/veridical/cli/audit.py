"""``veridical audit``: is the accuracy that I am about to publish an artefact?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli import console, names, options

if TYPE_CHECKING:
    from veridical._core.table import Table
    from veridical.auditing.records import Audit

ESTIMATOR = "svm"
CV = "10"
# Where no data are given: labels that have nothing to do with the columns.
SOURCE, N_CASES, N_COLUMNS, SELECTOR = "random-labels", 50, 5000, "anova"


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    drop: tuple[str, ...]
    estimator: str
    selected: Path | None
    selector: str | None
    features: int | float | None
    first: bool
    cv: str
    permutations: int | None
    ignore: tuple[str, ...]
    seed: int

    def command(self) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        more: list[object] = []
        if self.selector is not None:
            more += ["--selector", self.selector]
        if self.features is not None:
            more += ["--features", self.features]
        more += ["--first"] * self.first
        if self.selected is not None:
            more += ["--selected", self.selected]
        more += ["--estimator", self.estimator, "--cv", self.cv]
        if self.permutations is not None:
            more += ["--permutations", self.permutations]
        if self.ignore:
            more += ["--ignore", ",".join(self.ignore)]
        more += ["--seed", self.seed]
        return options.command("audit", self.data, self.target, *more, drop=self.drop)


def audit(
    data: Annotated[
        Path | None,
        options.data_argument("random labels, with columns selected first"),
    ] = None,
    target: options.Target = None,
    drop: options.Drop = None,
    selector: Annotated[
        str | None,
        options.selector_option(
            "Select features, anew on every training set: "
            f"{names.one_of(names.SELECTORS)}. With --selected: what selected those "
            "columns."
        ),
    ] = None,
    features: options.Features = None,
    first: Annotated[
        bool,
        options.flag(
            "--first",
            "Select once, on all cases, before cross-validation: the mistake that this "
            "audit is for.",
        ),
    ] = False,
    selected: Annotated[
        Path | None,
        options.unset(
            "FILE",
            "The columns that were selected beforehand, on all cases: a name, or a "
            "number counted from 0, per line.",
        ),
    ] = None,
    estimator: Annotated[str, options.estimator_option()] = ESTIMATOR,
    cv: Annotated[str, options.cv_option("How accuracy is measured")] = CV,
    permutations: Annotated[
        int | None,
        options.unset("N", r"Random orders of the labels. \[default: 100]"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        options.unset(
            "CODE,...",
            "Findings that you know of, VD008 say.",
            autocompletion=names.completing(names.CODES),
        ),
    ] = None,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("audit")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Audit an accuracy: may it be believed, or is it an artefact?

    Everything that looks at labels is repeated inside each training fold, and
    the whole procedure is run on labels in random order, which shows what it
    reports where there is nothing to find. Coded findings say what is wrong.

    The exit status is 1 where a finding is an error or a warning.
    """
    from veridical import report

    console.be(quiet=quiet)
    options.check_target("audit", data, target, drop)
    options.check_numbers(seed, jobs)
    question = Question(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        estimator=estimator,
        selected=selected,
        selector=selector,
        features=options.read_features(features),
        first=first,
        cv=cv,
        permutations=permutations,
        ignore=tuple(options.split(ignore)),
        seed=seed,
    )
    if data is None:
        question = _demonstration(question)
    _check_words(question)
    if out is not None:
        report.check_writable(out)
    if data is None:
        console.tell(_without_data(question), aside=as_json)
    record = _audit(question, jobs)
    page = None if out is None else report.save(record, out)
    console.show(record, page, as_json=as_json)
    if not record.clean:
        raise typer.Exit(1)


def _without_data(question: Question) -> str:
    when = "first, on all cases" if question.first else "in every training fold"
    return (
        f"No data given, so these are {N_CASES} cases with labels at random and "
        f"{N_COLUMNS} columns of noise.\nThe best {question.features} by "
        f"{question.selector} were selected {when}."
    )


def _demonstration(question: Question) -> Question:
    """Fill in what shows the mistake, unless something else is asked for."""
    from veridical._core.errors import InputError

    if question.selected is not None:
        raise InputError(
            f"--selected {question.selected} names columns, but there is no file; give "
            "it first: veridical audit DATA --target COLUMN --selected FILE"
        )
    features = options.how_many(question.features, N_COLUMNS)
    if question.selector is not None:
        return replace(question, features=features)
    return replace(question, selector=SELECTOR, features=features, first=True)


def _check_words(question: Question) -> None:
    """Refuse what makes no sense, before anything is read."""
    from veridical._core.errors import InputError
    from veridical.auditing.codes import check_codes
    from veridical.auditing.reading import FEWEST_ORDERS

    options.check_names(
        [] if question.selector is None else [question.selector], [question.estimator]
    )
    options.method(question.cv)
    check_codes(question.ignore)
    if question.permutations is not None and question.permutations < FEWEST_ORDERS:
        raise InputError(
            f"--permutations {question.permutations} are too few to tell 5 % by; give "
            f"{FEWEST_ORDERS} or more."
        )
    if question.selected is not None:
        for option, given in (
            ("--features", question.features is not None),
            ("--first", question.first),
        ):
            if given:
                raise InputError(
                    f"{option} and --selected do not go together: the file says which "
                    "columns were selected. Leave one of them out."
                )
    elif question.selector is None:
        for option, given in (
            (f"--features {question.features}", question.features is not None),
            ("--first", question.first),
        ):
            if given:
                raise InputError(
                    f"{option} is for a selector, but there is none; add --selector "
                    "anova, say."
                )


def _audit(question: Question, jobs: int) -> Audit:
    from veridical._core.advice import for_the_command_line
    from veridical._core.reading import read_table
    from veridical.auditing import audit as run
    from veridical.learning import make_estimator

    X, y, name = _data(question)
    data: Any = read_table(X, y)
    estimator, chosen, question = _estimator(question, X, data)
    with for_the_command_line(), console.progress_bar("Auditing") as progress:
        record = run(
            estimator,
            data,
            data.labels,
            **chosen,
            cv=options.method(question.cv),
            n_permutations=question.permutations,
            ignore=question.ignore,
            random_state=question.seed,
            n_jobs=jobs,
            name=name,
            progress=progress,
        )
    shown = question.estimator
    if question.selector is not None and "selected" not in chosen:
        shown = f"{shown} on the best {question.features} by {question.selector}"
    made = " ".join(repr(make_estimator(question.estimator)).split())
    settings = {**record.settings, "estimator": f"{shown}: {made}"}
    settings = options.with_origin(settings, question.data, question.command())
    return replace(record, estimator=shown, settings=settings)


def _data(question: Question) -> tuple[Any, Any, str]:
    from veridical.datasets import make_random_labels

    if question.data is None:
        X, y = make_random_labels(N_CASES, N_COLUMNS, random_state=question.seed)
        return X, y, f"{SOURCE} source"
    return options.take(question.data, question.target, question.drop)


def _estimator(
    question: Question, X: Any, data: Table
) -> tuple[Any, dict[str, Any], Question]:
    """Make what is audited; the question comes back with nothing left open."""
    from sklearn.pipeline import make_pipeline

    from veridical.evaluation.reading import make_selector

    if question.selected is not None:
        chosen: dict[str, Any] = {"selected": _read_columns(question.selected, X)}
        if question.selector is not None:
            chosen["selector"] = question.selector
        return question.estimator, chosen, question
    alone = _for_table(question.estimator, X)
    if question.selector is None:
        return alone, {}, question
    wanted = options.how_many(question.features, X.shape[1])
    selector = make_selector(question.selector, n_features_to_select=wanted)
    question = replace(question, features=wanted)
    if question.first:
        best = selector.fit_table(data).get_support(indices=True)
        chosen = {"selected": best, "selector": question.selector}
        return question.estimator, chosen, question
    if hasattr(X, "columns"):  # names and nominal columns reach the estimator
        selector.set_output(transform="pandas")
    return make_pipeline(selector, *_steps(alone)), {}, question


def _for_table(name: str, X: Any) -> Any:
    """Make an estimator; sparse data are unpacked before it, since it wants tables."""
    from scipy.sparse import issparse
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    from veridical.learning import make_estimator

    made = make_estimator(name)
    if not issparse(X):
        return made
    unpack = FunctionTransformer(methodcaller("toarray"), accept_sparse=True)
    return make_pipeline(unpack, made)


def _steps(estimator: Any) -> list[Any]:
    return [step for _, step in getattr(estimator, "steps", [("", estimator)])]


def _read_columns(path: Path, X: Any) -> list[str | int]:
    """Read names or numbers of columns, one per line."""
    from veridical._core.errors import InputError

    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise InputError(
            f"cannot read the columns in {path}: {reason}; give a text file with the "
            "name of a column per line."
        ) from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path} names no column; give one per line.")
    names = {str(name) for name in getattr(X, "columns", ())}
    return [
        line if line in names or not line.isdecimal() else int(line) for line in lines
    ]

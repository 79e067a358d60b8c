"""``veridical estimate``: how accurate is an estimator, and can I believe it?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options

if TYPE_CHECKING:
    from veridical._core.table import Table
    from veridical.evaluation import Method
    from veridical.evaluation.records import Estimate, Estimates

ESTIMATOR = "c45"
METHODS = ("10", "boot632", "holdout")
# Leaving each case out takes as many fits as there are cases.
LEAVES_ONE_OUT, MOST_LEFT_OUT = "loo", 1000
# Where no data are given: so many cases to learn from, and to know the truth by.
SOURCE, N_TRAIN, N_FRESH = "linear", 125, 20_000


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    drop: tuple[str, ...]
    estimator: str
    selector: str | None
    features: int | float | None
    cv: tuple[str, ...]
    nested: bool
    seed: int

    def command(self) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        selection: list[object] = []
        if self.selector is not None:
            selection = ["--selector", self.selector, "--features", self.features]
        return options.command(
            "estimate",
            self.data,
            self.target,
            *(*selection, "--estimator", self.estimator),
            *("--cv", ",".join(self.cv), *(["--nested"] * self.nested)),
            *("--seed", self.seed),
            drop=self.drop,
        )

    def complete(self, n_cases: int, n_columns: int) -> Question:
        """Fill in what was left open, now that the data is known."""
        features = None
        if self.selector is not None:
            features = options.how_many(self.features, n_columns)
        cv = self.cv
        if not cv:
            few = n_cases <= MOST_LEFT_OUT
            cv = (*METHODS, *([LEAVES_ONE_OUT] if few else []))
        return replace(self, features=features, cv=cv)


def estimate(
    data: Annotated[
        Path | None, options.data_argument("a source whose truth is known")
    ] = None,
    target: options.Target = None,
    drop: options.Drop = None,
    selector: Annotated[
        str | None,
        options.selector_option(
            "Select features first, anew on every training set: "
            f"{names.one_of(names.SELECTORS)}."
        ),
    ] = None,
    features: options.Features = None,
    estimator: Annotated[str, options.estimator_option()] = ESTIMATOR,
    cv: Annotated[
        list[str] | None,
        options.cv_option(
            "How to estimate, one or several with commas between them",
            rf" \[default: {','.join(METHODS)}, and {LEAVES_ONE_OUT} up to "
            f"{MOST_LEFT_OUT} cases]",
        ),
    ] = None,
    nested: Annotated[
        bool,
        options.flag(
            "--nested",
            "Also the interval by nested cross-validation, which assumes least; for "
            "ten folds it takes 2750 fits.",
        ),
    ] = False,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("estimate")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Estimate the accuracy of an estimator: how good is it on new cases?

    Several methods answer side by side, each with an interval where one is
    valid, what that assumes, and a note where the method is known to fail.

    Without DATA a source that can be sampled for ever stands in, so that the
    true accuracy can be shown beside the estimates.
    """
    from veridical import report
    from veridical._core.advice import for_the_command_line
    from veridical._core.errors import InputError

    console.be(quiet=quiet)
    options.check_target("estimate", data, target, drop)
    options.check_numbers(seed, jobs)
    options.check_names([] if selector is None else [selector], [estimator])
    wanted = options.read_features(features)
    if wanted is not None and selector is None:
        raise InputError(
            f"--features {features} is for a selector, but there is none; add "
            "--selector relieff, say."
        )
    methods = tuple(options.split(cv))
    for name in methods:
        options.method(name)
    question = Question(
        data,
        target,
        tuple(drop or ()),
        estimator,
        selector,
        wanted,
        methods,
        nested,
        seed,
    )
    if out is not None:
        report.check_writable(out)
    if data is None:
        console.tell(
            f"No data given, so this is the {SOURCE} source, {N_TRAIN} cases.\n"
            f"Its truth is known, from {N_FRESH} fresh cases.",
            aside=as_json,
        )
    with for_the_command_line():
        run = _on_source if data is None else _on_file
        record = run(question, jobs)
    page = None if out is None else report.save(record, out)
    console.show(record, page, as_json=as_json)


def _on_file(question: Question, jobs: int) -> Estimates:
    from veridical._core.reading import read_table

    assert question.data is not None
    X, y, name = options.take(question.data, question.target, question.drop)
    data = read_table(X, y)
    question = question.complete(*X.shape)
    estimator = _estimator(question, X)
    found = _estimates(question, estimator, data, jobs)
    return _record(question, data, name, found, None)


def _on_source(question: Question, jobs: int) -> Estimates:
    import numpy as np

    from veridical._core.reading import read_table
    from veridical._core.seeds import mixed_generator
    from veridical.datasets import SOURCES
    from veridical.evaluation import estimate as run

    source = SOURCES[SOURCE]
    X, y = source(N_TRAIN, random_state=question.seed)
    fresh = source.test(N_FRESH, random_state=mixed_generator(question.seed, 1))
    question = question.complete(*X.shape)
    estimator, data = _estimator(question, X), read_table(X, y)
    found = _estimates(question, estimator, data, jobs)
    rows = np.arange(N_TRAIN + N_FRESH)
    truth = run(
        estimator,
        np.vstack([X, fresh[0]]),
        np.concatenate([y, fresh[1]]),
        cv=[(rows[:N_TRAIN], rows[N_TRAIN:])],
        random_state=question.seed,
    )
    truth = replace(truth, method="fresh cases")
    return _record(question, data, f"{SOURCE} source", found, truth)


def _estimator(question: Question, X: Any) -> Any:
    """Make what learns: alone, or behind a selector that every fit repeats."""
    from scipy.sparse import issparse
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    from veridical.evaluation.reading import make_selector
    from veridical.learning import make_estimator

    steps = [make_estimator(question.estimator)]
    if issparse(X):  # estimators want tables; what was selected is small
        unpack = methodcaller("toarray")
        steps.insert(0, FunctionTransformer(unpack, accept_sparse=True))
    if question.selector is not None:
        wanted = question.features
        selector = make_selector(question.selector, n_features_to_select=wanted)
        if hasattr(X, "columns"):  # names and nominal columns reach the estimator
            selector.set_output(transform="pandas")
        steps.insert(0, selector)
    return make_pipeline(*steps) if len(steps) > 1 else steps[0]


def _estimates(
    question: Question, estimator: Any, data: Table, jobs: int
) -> tuple[Estimate, ...]:
    methods = dict.fromkeys(map(options.method, question.cv))
    return tuple(_by(method, estimator, data, question, jobs) for method in methods)


def _by(
    method: Method, estimator: Any, data: Any, question: Question, jobs: int
) -> Estimate:
    """Estimate by one method; of its warnings only those that are no notes are told."""
    from veridical.evaluation import estimate as run

    with (
        warnings.catch_warnings(record=True) as caught,
        console.progress_bar(f"Estimating, {method.describe()}") as progress,
    ):
        found = run(
            estimator,
            data,
            data.labels,
            cv=method,
            random_state=question.seed,
            n_jobs=jobs,
            progress=progress,
        )
        if question.nested and "nested" in found.assumes:
            found.nested.result(progress)
    others = {(w.category, str(w.message)) for w in caught}
    for category, text in sorted(others, key=lambda other: other[1]):
        if text not in found.notes:
            warnings.warn(text, category, stacklevel=2)
    return found


def _record(
    question: Question,
    data: Table,
    table_name: str,
    found: tuple[Estimate, ...],
    truth: Estimate | None,
) -> Estimates:
    from veridical._core.numbers import count
    from veridical.evaluation.records import Estimates

    name, selection = question.estimator, {}
    if question.selector is not None:
        kept = count(int(question.features or 0), "feature")
        name = f"{question.estimator} on {kept} by {question.selector}"
        selection = {
            "selection": f"{question.selector} keeps {question.features} of "
            f"{data.n_features} features, chosen anew on every training set"
        }
    settings = {
        **selection,
        "estimator": found[0].estimator,
        "random_state": str(question.seed),
        "table sha256": data.sha256(),
    }
    settings = options.with_origin(settings, question.data, question.command())
    return Estimates(data.summary(table_name), name, found, truth, settings)

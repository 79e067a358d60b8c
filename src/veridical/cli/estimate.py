"""``veridical estimate``: estimate the accuracy of an estimator."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options
from veridical.cli.requests import PreparedRequest, tested_data

if TYPE_CHECKING:
    from veridical._core.table import Table
    from veridical._core.targets import Kind
    from veridical.evaluation import Method
    from veridical.evaluation.records import Estimate, Estimates

ESTIMATOR = "c45"
DEFAULT_METHODS = ("10", "boot632", "holdout")
#: Folds; where a class would need fewer, it is noted that some folds lack it.
_FEWEST_FOLDS = 3
# Leave-one-out is a default method up to this number of samples.
LEAVES_ONE_OUT, MOST_LEFT_OUT = "loo", 1000
# The source without DATA, and its numbers of training samples and of new samples.
SOURCE, N_TRAIN, N_FRESH = "linear", 125, 20_000


@dataclass(frozen=True, kw_only=True)
class EstimateRequest(PreparedRequest):
    """A request to ``veridical estimate``."""

    estimator: str | None
    selector: str | None
    features: int | float | None
    cv: tuple[str, ...]
    validate: Path | None
    scoring: str | None
    nested: bool

    def command(self) -> str:
        """Write the command that repeats the request."""
        selection: list[object] = []
        if self.selector is not None:
            selection = ["--selector", self.selector, "--features", self.features]
        return self.write_command(
            "estimate",
            *(*selection, "--estimator", self.estimator),
            *options.scoring_words(self.scoring),
            *(
                ("--cv", ",".join(self.cv))
                if self.validate is None
                else ("--validate", self.validate)
            ),
            *(["--nested"] * self.nested),
        )

    def complete(
        self, n_samples: int, n_features: int, *, kind: Kind, n_folds: int = 10
    ) -> EstimateRequest:
        """Fill in the defaults that depend on the data, such as the number of folds."""
        by_default = ESTIMATOR if kind == "classes" else options.default_estimator(kind)
        features = None
        if self.selector is not None:
            features = options.count_wanted(self.features, n_features)
        cv = self.cv
        if not cv:
            few = n_samples <= MOST_LEFT_OUT
            cv = (*DEFAULT_METHODS, *([LEAVES_ONE_OUT] if few else []))
            if self.scoring is not None or kind != "classes":  # these are for accuracy
                cv = tuple(m for m in DEFAULT_METHODS if not m.endswith("+"))
            cv = (str(n_folds), *cv[1:])
        estimator = self.estimator or by_default
        return replace(self, features=features, cv=cv, estimator=estimator)


def estimate(
    data: Annotated[
        Path | None, options.data_argument("a source whose truth is known")
    ] = None,
    target: options.TargetOption = None,
    drop: options.DropOption = None,
    groups: options.GroupsOption = None,
    weights: options.WeightsOption = None,
    header: options.HeaderOption = None,
    classes: options.ClassesOption = False,
    numbers: options.NumbersOption = False,
    time: options.TimeOption = None,
    event: options.EventOption = None,
    impute: options.ImputeOption = None,
    scale: options.RescaleOption = None,
    encode: options.EncodeOption = None,
    batch: options.BatchOption = None,
    unknown_batch: options.UnknownBatchOption = None,
    covariates: options.CovariatesOption = None,
    selector: Annotated[
        str | None,
        options.selector_option(
            "Select features first, on every training set: "
            f"{names.join_or(names.SELECTORS)}."
        ),
    ] = None,
    features: options.FeaturesOption = None,
    estimator: Annotated[str | None, options.estimator_option(ESTIMATOR)] = None,
    cv: Annotated[
        list[str] | None,
        options.cv_option(
            "How to estimate, one or several with commas between them",
            rf" \[default: {','.join(DEFAULT_METHODS)}, and {LEAVES_ONE_OUT} up to "
            f"{MOST_LEFT_OUT} samples; fewer folds where a class has fewer samples or "
            r"groups]",
        ),
    ] = None,
    validate: options.ValidateOption = None,
    nested: Annotated[
        bool,
        options.flag(
            "--nested",
            "Also compute the interval by nested cross-validation, which has the "
            "weakest assumptions; with ten folds it takes 2750 fits.",
        ),
    ] = False,
    scoring: options.ScoringOption = None,
    jobs: options.JobsOption = 1,
    seed: options.SeedOption = 0,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("estimate")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Estimate the accuracy, R² or concordance of an estimator on new samples.

    Several methods are compared, each with an interval where one is valid, its
    assumptions, and a note where the method is known to fail.

    Without DATA a source is used from which any number of samples can be drawn,
    so that the true accuracy can be shown beside the estimates.
    """
    from veridical._core.errors import InputError

    common = options.check_shared(
        "estimate", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups, weights=weights, numbers=numbers, time=time, event=event,
    )  # fmt: skip
    options.check_validation("estimate", data, validate, cv)
    options.check_names(
        [] if selector is None else [selector], options.given(estimator)
    )
    wanted = options.read_feature_count(features)
    if wanted is not None and selector is None:
        raise InputError(
            f"--features {features} needs a selector; add --selector, for example "
            "--selector relieff."
        )
    options.split_scoring(scoring)
    methods = tuple(options.split_commas(cv))
    for name in methods:
        options.read_method(name)
    request = EstimateRequest(
        **common,
        **options.read_preparation(
            impute, scale, encode, batch, unknown_batch, covariates
        ),
        estimator=estimator,
        selector=selector,
        features=wanted,
        cv=methods,
        validate=validate,
        scoring=scoring,
        nested=nested,
    )
    notice = (
        f"Without DATA, this uses the {SOURCE} source, {N_TRAIN} samples.\n"
        f"Its true accuracy is known from {N_FRESH} new samples."
    )
    run = _on_source if data is None else _on_file
    console.print_answer(
        lambda: run(request, jobs),
        out,
        as_json=as_json,
        notice=notice if data is None else None,
    )


def _on_file(request: EstimateRequest, jobs: int) -> Estimates:
    from veridical._core.reading import read_table

    X, y, name = request.read_file()
    kind = request.kind_of(y)
    how: Any = None
    if request.validate is not None:
        n_train = len(y)
        X, y, how = request.read_validation(request.validate, X, y, name)
    X, given = request.correct_for("estimate", X, y)
    data = read_table(given, y, kind=kind, **request.structure)
    n_samples = len(data) if how is None else n_train
    request = request.complete(
        n_samples, X.shape[1], kind=kind, n_folds=_default_folds(data)
    )
    estimator = _procedure(request, X)
    if how is None:
        found = _estimates(request, estimator, data, jobs)
        return _record(request, data, name, found, None)
    found = (_estimate_by(how, estimator, data, request, jobs),)
    record = _record(request, data, name, found, None)
    return replace(record, data=tested_data(how, X, y))


def _default_folds(data: Table) -> int:
    """Return 10 folds, or fewer, so that every fold can have samples of all classes.

    Groups are counted in place of samples where there are any, and events where the
    target is survival times.
    """
    from veridical.evaluation.notes import count_units_of_classes

    if data.kind == "classes":
        fewest = int(count_units_of_classes(data).min())
    elif data.kind == "survival":
        fewest = int(data.as_survival.event.sum())
    else:
        fewest = data.n_units
    most = int(DEFAULT_METHODS[0])
    return min(fewest, most) if fewest >= _FEWEST_FOLDS else most


def _on_source(request: EstimateRequest, jobs: int) -> Estimates:
    import numpy as np

    from veridical._core.reading import read_table
    from veridical._core.seeds import mixed_generator
    from veridical.datasets import SOURCES
    from veridical.evaluation import estimate as run

    source = SOURCES[SOURCE]
    X, y = source(N_TRAIN, random_state=request.seed)
    request.correct_for("estimate", X, y)  # raises: a source has no such columns
    fresh = source.test(N_FRESH, random_state=mixed_generator(request.seed, 1))
    request = request.complete(*X.shape, kind="classes")
    estimator, data = _procedure(request, X), read_table(X, y, kind="classes")
    found = _estimates(request, estimator, data, jobs)
    rows = np.arange(N_TRAIN + N_FRESH)
    truth = run(
        estimator,
        np.vstack([X, fresh[0]]),
        np.concatenate([y, fresh[1]]),
        cv=[(rows[:N_TRAIN], rows[N_TRAIN:])],
        scoring=options.split_scoring(request.scoring),
        random_state=request.seed,
    )
    truth = replace(truth, method="new samples")
    return _record(request, data, f"{SOURCE} source", found, truth)


def _procedure(request: EstimateRequest, X: Any) -> Any:
    prepared = request.preparation(X)
    assert request.estimator is not None  # filled in by `complete`
    return prepared.procedure(request.estimator, X, request.selector, request.features)


def _estimates(
    request: EstimateRequest, estimator: Any, data: Table, jobs: int
) -> tuple[Estimate, ...]:
    from veridical.evaluation.naming import read_cv

    methods = dict.fromkeys(read_cv(name, None, data.kind) for name in request.cv)
    return tuple(
        _estimate_by(method, estimator, data, request, jobs) for method in methods
    )


def _estimate_by(
    method: Method, estimator: Any, data: Any, request: EstimateRequest, jobs: int
) -> Estimate:
    """Estimate by one method; show only warnings that are not among its notes."""
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
            scoring=options.split_scoring(request.scoring),
            random_state=request.seed,
            n_jobs=jobs,
            progress=progress,
        )
        if request.nested and "nested" in found.assumes:
            found = found.with_nested(progress)
    others = {(w.category, str(w.message)) for w in caught}
    for category, text in sorted(others, key=lambda other: other[1]):
        if text not in found.notes:
            warnings.warn(text, category, stacklevel=2)
    return found


def _record(
    request: EstimateRequest,
    data: Table,
    table_name: str,
    found: tuple[Estimate, ...],
    truth: Estimate | None,
) -> Estimates:
    from veridical._core.numbers import count
    from veridical.evaluation.arguments import name_of
    from veridical.evaluation.records import Estimates
    from veridical.preparation.blocks import describe_blocks

    name, selection = request.estimator or ESTIMATOR, {}
    if request.selector is not None:
        kept = count(int(request.features or 0), "feature")
        by = name_of(request.selector)
        name = f"{name_of(request.estimator)} on {kept} by {by}"
        selection = {
            "selection": f"{by} keeps {request.features} of "
            f"{data.n_features} features, selected on every training set"
        }
    settings = {
        **selection,
        "estimator": found[0].settings["estimator"],
        **describe_blocks(data),
        "random_state": request.seed,
        "table sha256": data.sha256(),
    }
    settings = request.describe(settings, request.preparation(data.source))
    return Estimates(data.summary(table_name), name, found, truth, settings)

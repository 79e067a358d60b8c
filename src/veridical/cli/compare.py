"""``veridical compare``: compare feature selectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options
from veridical.cli.requests import PreparedRequest, tested_data

if TYPE_CHECKING:
    from veridical.cli.preparing import Preparation
    from veridical.comparison.records import Comparison

DEFAULT_SELECTORS = ("relieff", "fcbf")
#: FCBF does not read survival times.
SURVIVAL_SELECTORS = ("relieff", "cox-score")
CV = "10"
DEFAULT_TEST = "corrected-t"
# The example of the paper, which runs without DATA.
SOURCE, N_TRAIN, N_SETS = "linear", 125, 100
PAPERS_TEST, PAPERS_FEATURES = "paired-t", 20


@dataclass(frozen=True, kw_only=True)
class CompareRequest(PreparedRequest):
    """A request to ``veridical compare``."""

    selectors: tuple[str, ...]
    estimators: list[str]
    features: int | float | None
    cv: str
    validate: Path | None
    scoring: str | None = None
    test: str | None
    calibrated: bool

    def settings(self, n_features: int, prepared: Preparation) -> dict[str, Any]:
        """Return the arguments that `compare` and `truth` share."""
        from veridical.evaluation.arguments import make_selector, name_of
        from veridical.learning import make_estimator

        selectors: Any = self.selectors
        estimators: Any = self.estimators
        if prepared.words:
            made = [prepared.select_by(make_selector(name)) for name in selectors]
            labels = [name_of(name) for name in selectors]
            if labels[0] == labels[1]:  # compared with itself
                labels[1] = f"{labels[1]} (2)"
            selectors = dict(zip(labels, made, strict=True))
            estimators = [prepared.learn_by(make_estimator(e)) for e in estimators]
        return {
            "selectors": selectors,
            "estimator": estimators,
            "n_features_to_select": options.count_wanted(self.features, n_features),
            "cv": self.cv,
            "test": self.test,
            "random_state": self.seed,
        }

    def command(self) -> str:
        """Write the command that repeats the request."""
        return self.write_command(
            "compare",
            *("--selectors", ",".join(self.selectors)),
            *("--features", self.features, "--estimator", ",".join(self.estimators)),
            *options.scoring_words(self.scoring),
            *(
                ("--cv", self.cv)
                if self.validate is None
                else ("--validate", self.validate)
            ),
            *("--test", self.test),
            *(("--calibrated",) if self.calibrated else ()),
        )


def compare(
    data: Annotated[
        Path | None, options.data_argument("the paper's own example")
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
    selectors: Annotated[
        list[str] | None,
        options.optional(
            "A,B,...",
            f"Two or more of {', '.join(names.SELECTORS)}, with commas between them. "
            rf"\[default: {','.join(DEFAULT_SELECTORS)}; "
            f"{','.join(SURVIVAL_SELECTORS)} for survival times]",
            autocompletion=names.completer(names.SELECTORS),
        ),
    ] = None,
    features: options.FeaturesOption = None,
    estimator: Annotated[
        list[str] | None,
        options.optional(
            "NAME,...",
            f"The estimators, one or several: {names.join_or(names.ESTIMATORS)}. "
            r"\[default: svm; ridge for numbers, cox for survival times]",
            autocompletion=names.completer(names.ESTIMATORS),
        ),
    ] = None,
    cv: Annotated[
        str | None, options.cv_option("How to split", rf" \[default: {CV}]")
    ] = None,
    validate: options.ValidateOption = None,
    test: Annotated[
        str | None,
        options.optional(
            "NAME",
            f"Significance test: {names.join_or((*names.TESTS, *names.FURTHER_TESTS))}."
            " The last three are for one test set, as of --validate. "
            rf"\[default: {DEFAULT_TEST}, but {PAPERS_TEST} in the paper's example; on "
            "one test set the first of the last three that fits]",
            autocompletion=names.completer((*names.TESTS, *names.FURTHER_TESTS)),
        ),
    ] = None,
    calibrated: Annotated[
        bool,
        options.flag(
            "--calibrated",
            "Take p-values from a null distribution simulated for data like these; "
            "takes as long as 200 comparisons.",
        ),
    ] = False,
    scoring: options.ScoringOption = None,
    jobs: options.JobsOption = 1,
    seed: options.SeedOption = 0,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("compare")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Compare feature selectors: which is better, and is the result reliable?

    An estimator is cross-validated on the features of each selector: with the
    selection repeated inside every fold (IN), and with it done once, on all
    samples (OUT).

    Without DATA this runs the example of Refaeilzadeh, Tang and Liu (2007) on a
    source from which any number of samples can be drawn, and so shows the TRUTH
    beside IN and OUT. Three selectors or more are compared pair by pair, with
    p-values adjusted for the number of pairs, and by their mean ranks.
    """
    default = DEFAULT_SELECTORS if time is None else SURVIVAL_SELECTORS
    chosen = _names(selectors or default)
    common = options.check_shared(
        "compare", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups, weights=weights, numbers=numbers, time=time, event=event,
    )  # fmt: skip
    request = CompareRequest(
        **common,
        **options.read_preparation(
            impute, scale, encode, batch, unknown_batch, covariates
        ),
        selectors=chosen,
        estimators=options.split_commas(estimator or []),
        features=options.read_feature_count(features),
        cv=CV if cv is None else cv,
        validate=validate,
        test=test or (DEFAULT_TEST if validate is None else None),
        calibrated=calibrated,
        scoring=scoring,
    )
    options.check_validation("compare", data, validate, cv)
    options.split_scoring(scoring)
    pair = len(request.selectors) == 2
    if data is None and pair:
        request = replace(
            request,
            test=test or PAPERS_TEST,
            features=request.features or PAPERS_FEATURES,
        )
    _check(request)
    console.print_answer(
        lambda: _run(request, jobs),
        out,
        as_json=as_json,
        notice=_without_data(pair) if data is None else None,
    )


def _without_data(pair: bool) -> str:
    if not pair:
        return f"Without DATA, this uses the {SOURCE} source, {N_TRAIN} samples."
    return (
        f"Without DATA, this runs the example of the paper: the {SOURCE} source, "
        f"{N_TRAIN} samples.\nIts truth is known from {N_SETS} data sets with "
        "independent test sets."
    )


def _check(request: CompareRequest) -> None:
    """Raise if values are invalid, before data are read."""
    from veridical._core.errors import InputError
    from veridical._core.text import listing
    from veridical.comparison.splits import repeats_and_folds
    from veridical.comparison.testing import ON_ONE_TEST_SET, TESTS, find_test

    options.check_names(request.selectors, request.estimators)
    options.read_method(request.cv)
    if len(request.selectors) > 2 and request.validate is not None:
        raise InputError(
            f"--selectors names {len(request.selectors)} selectors, but --validate "
            "compares two on one test set; name two."
        )
    name = find_test(request.test or DEFAULT_TEST, further=True)
    if request.validate is not None and request.test and name not in ON_ONE_TEST_SET:
        raise InputError(
            f"--test {request.test} needs several splits; with --validate leave --test "
            f"out, or use {listing(ON_ONE_TEST_SET, 'or')}."
        )
    entry = TESTS.get(name)
    if entry is None or request.validate is not None:
        return
    repeats, folds = repeats_and_folds(request.cv) or (None, None)
    if repeats and folds and not entry.fits(repeats, folds):
        raise InputError(
            f"--test {request.test} does not fit {repeats} x {folds} folds; add "
            f"--cv {entry.wanted}, or use --test {DEFAULT_TEST}, which fits any."
        )


def _names(selectors: Sequence[str]) -> tuple[str, ...]:
    """Return the selectors: at least two, all different where there are more."""
    from veridical._core.errors import InputError

    names = tuple(options.split_commas(selectors))
    if len(names) < 2:
        raise InputError(
            f"--selectors names {len(names)} selector(s); a comparison takes two or "
            "more: --selectors relieff,fcbf"
        )
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice and len(names) > 2:
        raise InputError(f"--selectors names {twice[0]} twice; name each once.")
    return names


def _run(request: CompareRequest, jobs: int) -> Comparison:
    """Compare on data, or on the source, where two are also compared with the truth."""
    from veridical.comparison import compare as run
    from veridical.comparison import truth, with_truth
    from veridical.datasets import SOURCES

    X, y, name = request.read_data(
        SOURCE, lambda: SOURCES[SOURCE](N_TRAIN, random_state=request.seed)
    )
    if not request.estimators:
        default = options.default_estimator(request.kind_of(y))
        request = replace(request, estimators=[default])
    how: Any = request.cv
    if request.validate is not None:
        X, y, how = request.read_validation(request.validate, X, y, name)
    X, given = request.correct_for("compare", X, y)
    if request.validate is not None and request.test is None:
        request = replace(request, test=_usual_test(request, given, y))
    prepared = request.preparation(X)
    common = {**request.settings(X.shape[1], prepared), "n_jobs": jobs}
    if request.validate is not None:
        common |= {"cv": how, "methods": ("in",)}
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=given,
            y=y,
            **request.structure,
            name=name,
            calibrated=request.calibrated,
            scoring=options.split_scoring(request.scoring),
            progress=progress,
            **common,
        )
    known_truth = request.data is None and request.scoring is None  # of accuracy only
    if known_truth and len(request.selectors) == 2:
        with console.progress_bar(f"TRUTH, {N_SETS} data sets") as progress:
            known = truth(
                source=SOURCE,
                n_train=N_TRAIN,
                n_sets=N_SETS,
                progress=progress,
                **common,
            )
        record = with_truth(record, known)
    request = replace(request, features=record.n_features_to_select)
    return replace(
        record,
        data=tested_data(how, X, y) or record.data,
        settings=request.describe(record.settings, prepared),
    )


def _usual_test(request: CompareRequest, X: Any, y: Any) -> str:
    """Return the test of one test set that fits the score, groups and weights."""
    from veridical._core.reading import read_table
    from veridical._core.scoring import read_scoring
    from veridical.comparison.paired import choose_test

    table = read_table(X, y, kind=request.kind_of(y), **request.structure)
    score = read_scoring(options.split_scoring(request.scoring), table.target)[0]
    return choose_test(score, table, len(request.estimators))

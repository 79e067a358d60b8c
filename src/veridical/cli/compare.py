"""``veridical compare``: which selector is better, and may I believe it?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options

if TYPE_CHECKING:
    from veridical.comparison.records import Comparison

SELECTORS = ("relieff", "fcbf")
ESTIMATOR = "svm"
CV = "10"
DEFAULT_TEST = "corrected-t"
# The paper's own example, run where no data are given.
SOURCE, N_TRAIN, N_SETS, PAPERS_TEST = "linear", 125, 100, "paired-t"


@dataclass(frozen=True)
class Request:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    drop: tuple[str, ...]
    selectors: tuple[str, ...]
    estimators: list[str]
    features: int | float | None
    cv: str
    test: str
    calibrated: bool
    seed: int

    def settings(self, n_columns: int) -> dict[str, Any]:
        """Arguments that `compare` and `truth` share."""
        return {
            "selectors": self.selectors,
            "estimator": self.estimators,
            "n_features_to_select": options.how_many(self.features, n_columns),
            "cv": self.cv,
            "test": self.test,
            "random_state": self.seed,
        }

    def command(self, n_features: int) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        return options.command(
            "compare",
            self.data,
            self.target,
            *("--selectors", ",".join(self.selectors)),
            *("--features", n_features, "--estimator", ",".join(self.estimators)),
            *("--cv", self.cv, "--test", self.test, "--seed", self.seed),
            *(("--calibrated",) if self.calibrated else ()),
            drop=self.drop,
        )


def compare(
    data: Annotated[
        Path | None, options.data_argument("the paper's own example")
    ] = None,
    target: options.Target = None,
    drop: options.Drop = None,
    selectors: Annotated[
        list[str] | None,
        options.unset(
            "A,B,...",
            f"Two or more of {', '.join(names.SELECTORS)}, with commas between them. "
            rf"\[default: {','.join(SELECTORS)}]",
            autocompletion=names.completing(names.SELECTORS),
        ),
    ] = None,
    features: options.Features = None,
    estimator: Annotated[
        list[str] | None,
        options.unset(
            "NAME,...",
            f"What learns from the features, one or several: "
            rf"{names.one_of(names.ESTIMATORS)}. \[default: {ESTIMATOR}]",
            autocompletion=names.completing(names.ESTIMATORS),
        ),
    ] = None,
    cv: Annotated[str, options.cv_option("How to split, in two splits or more")] = CV,
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
    from veridical._core.advice import for_the_command_line

    console.be(quiet=quiet)
    chosen = _names(selectors)
    options.check_target("compare", data, target, drop)
    options.check_numbers(seed, jobs)
    request = Request(
        data=data,
        target=target,
        drop=tuple(drop or ()),
        selectors=chosen,
        estimators=options.split(estimator or [ESTIMATOR]),
        features=options.read_features(features),
        cv=cv,
        test=test or DEFAULT_TEST,
        calibrated=calibrated,
        seed=seed,
    )
    pair = len(request.selectors) == 2
    if test is None and data is None and pair:
        request = replace(request, test=PAPERS_TEST)
    _check_words(request)
    if out is not None:
        report.check_writable(out)
    if data is None:
        console.tell(_without_data(pair), aside=as_json)
    with for_the_command_line():
        record = _run(request, jobs)
    repeat = request.command(record.n_features_to_select)
    settings = options.with_origin(record.settings, data, repeat)
    record = replace(record, settings=settings)
    page = None if out is None else report.save(record, out)
    console.show(record, page, as_json=as_json)


def _without_data(pair: bool) -> str:
    if not pair:
        return f"No data given, so this is the {SOURCE} source, {N_TRAIN} cases."
    return (
        f"No data given, so this is the paper's own example: the {SOURCE} source, "
        f"{N_TRAIN} cases.\nIts truth is known, from {N_SETS} data sets with "
        "independent test sets."
    )


def _check_words(request: Request) -> None:
    """Refuse what makes no sense, before anything is read."""
    from veridical._core.errors import InputError
    from veridical.comparison.splits import repeats_and_folds
    from veridical.comparison.testing import TESTS, find_test

    options.check_names(request.selectors, request.estimators)
    options.method(request.cv)
    entry = TESTS[find_test(request.test)]
    repeats, folds = repeats_and_folds(request.cv) or (None, None)
    if repeats and folds and not entry.fits(repeats, folds):
        raise InputError(
            f"--test {request.test} is not made for {repeats} x {folds} folds; add "
            f"--cv {entry.wanted}, or take --test {DEFAULT_TEST}, which is for any."
        )


def _names(selectors: list[str] | None) -> tuple[str, ...]:
    """Take the selectors; at least two, all different where there are more."""
    from veridical._core.errors import InputError

    names = tuple(options.split(selectors or SELECTORS))
    if len(names) < 2:
        raise InputError(
            f"--selectors names {len(names)} selector(s); a comparison takes two or "
            "more: --selectors relieff,fcbf"
        )
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice and len(names) > 2:
        raise InputError(f"--selectors names {twice[0]} twice; name each once.")
    return names


def _run(request: Request, jobs: int) -> Comparison:
    """Compare on a file, or on the paper's source, where two can be held to the truth.

    The truth is that of two selectors.
    """
    from veridical.comparison import compare as run
    from veridical.comparison import truth, with_truth
    from veridical.datasets import SOURCES

    if request.data is None:
        X, y = SOURCES[SOURCE](N_TRAIN, random_state=request.seed)
        name = f"{SOURCE} source"
    else:
        X, y, name = options.take(request.data, request.target, request.drop)
    common = {**request.settings(X.shape[1]), "n_jobs": jobs}
    with console.progress_bar("IN and OUT") as progress:
        record = run(
            X=X,
            y=y,
            name=name,
            calibrated=request.calibrated,
            progress=progress,
            **common,
        )
    if request.data is not None or len(request.selectors) > 2:
        return record
    with console.progress_bar(f"TRUTH, {N_SETS} data sets") as progress:
        known = truth(
            source=SOURCE, n_train=N_TRAIN, n_sets=N_SETS, progress=progress, **common
        )
    return with_truth(record, known)

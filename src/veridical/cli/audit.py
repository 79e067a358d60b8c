"""``veridical audit``: check whether an accuracy may be believed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from veridical.cli import console, names, options
from veridical.cli.requests import PreparedRequest

if TYPE_CHECKING:
    from veridical._core.table import Table
    from veridical.auditing.records import Audit

CV = "10"
# The source without DATA, whose labels are random, its size, and the selector.
SOURCE, N_SAMPLES, N_FEATURES, SELECTOR = "random-labels", 50, 5000, "anova"


@dataclass(frozen=True, kw_only=True)
class AuditRequest(PreparedRequest):
    """A request to ``veridical audit``."""

    estimator: str | None
    selected: Path | None
    selector: str | None
    features: int | float | None
    first: bool
    cv: str
    scoring: str | None = None
    permutations: int | None
    ignore: tuple[str, ...]
    checks: tuple[str, ...] = ()
    tried: int | None = None
    removed: int | None = None

    def command(self) -> str:
        """Write the command that repeats the request."""
        more: list[object] = []
        if self.selector is not None:
            more += ["--selector", self.selector]
        if self.features is not None:
            more += ["--features", self.features]
        more += ["--first"] * self.first
        if self.selected is not None:
            more += ["--selected", self.selected]
        more += ["--estimator", self.estimator, "--cv", self.cv]
        more += options.scoring_words(self.scoring)
        if self.permutations is not None:
            more += ["--permutations", self.permutations]
        if self.ignore:
            more += ["--ignore", ",".join(self.ignore)]
        if self.checks:
            more += ["--checks", ",".join(self.checks)]
        if self.tried is not None:
            more += ["--tried", self.tried]
        if self.removed is not None:
            more += ["--removed", self.removed]
        return self.write_command("audit", *more)


def audit(
    data: Annotated[
        Path | None,
        options.data_argument("random labels, with features selected first"),
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
            "Select features on every training set: "
            f"{names.join_or(names.SELECTORS)}. With --selected: what selected those "
            "features."
        ),
    ] = None,
    features: options.FeaturesOption = None,
    first: Annotated[
        bool,
        options.flag(
            "--first",
            "Select once, on all samples, before cross-validation: the mistake that "
            "this audit detects.",
        ),
    ] = False,
    selected: Annotated[
        Path | None,
        options.optional(
            "FILE",
            "The features that were selected beforehand, on all samples: a name, or an "
            "index from 0, per line.",
        ),
    ] = None,
    estimator: Annotated[str | None, options.estimator_option()] = None,
    cv: Annotated[str, options.cv_option("How accuracy is measured")] = CV,
    permutations: Annotated[
        int | None,
        options.optional("N", r"Number of permutations of the labels. \[default: 100]"),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        options.optional(
            "CODE,...",
            "Findings to ignore, such as VD008.",
            autocompletion=names.completer(names.CODES),
        ),
    ] = None,
    checks: Annotated[
        list[str] | None,
        options.optional(
            "CODE,...",
            "Checks to run, such as VD001,VD003; by default all.",
            autocompletion=names.completer(names.CODES),
        ),
    ] = None,
    tried: Annotated[
        int | None,
        options.optional(
            "N",
            "How many settings, seeds or subsets were tried, the reported one "
            "included.",
        ),
    ] = None,
    removed: Annotated[
        int | None,
        options.optional(
            "N", "How many samples were removed after their predictions were seen."
        ),
    ] = None,
    verbose: Annotated[
        bool, options.flag("--verbose", "Print the time of every check on stderr.")
    ] = False,
    scoring: options.ScoringOption = None,
    validate: options.NoValidateOption = None,
    jobs: options.JobsOption = 1,
    seed: options.SeedOption = 0,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("audit")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Audit an accuracy: may it be believed, or is it an artefact?

    Every step that uses labels is repeated inside each training fold, and the
    whole procedure is run on permuted labels, which shows what it reports where
    there is nothing to find. Coded findings say what is wrong.

    The exit status is 1 where a finding is an error or a warning.
    """
    options.refuse_validation("audit", validate)
    common = options.check_shared(
        "audit", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups, weights=weights, numbers=numbers, time=time, event=event,
    )  # fmt: skip
    request = AuditRequest(
        **common,
        **options.read_preparation(
            impute, scale, encode, batch, unknown_batch, covariates
        ),
        estimator=estimator,
        selected=selected,
        selector=selector,
        features=options.read_feature_count(features),
        first=first,
        cv=cv,
        scoring=scoring,
        permutations=permutations,
        ignore=tuple(options.split_commas(ignore)),
        checks=tuple(options.split_commas(checks)),
        tried=tried,
        removed=removed,
    )
    options.split_scoring(scoring)
    if data is None:
        request = _demonstration(request)
    _check(request)
    record = console.print_answer(
        lambda: _audit(request, jobs),
        out,
        as_json=as_json,
        notice=_without_data(request) if data is None else None,
    )
    if verbose:
        _print_seconds(record)
    if not record.clean:
        raise typer.Exit(1)


def _print_seconds(record: Audit) -> None:
    """Print the time of every check, the longest first."""
    for code, seconds in sorted(record.seconds.items(), key=lambda one: -one[1]):
        typer.echo(f"{code} {seconds:.3f} s", err=True)


def _without_data(request: AuditRequest) -> str:
    when = "first, on all samples" if request.first else "in every training fold"
    return (
        f"Without DATA, this uses {N_SAMPLES} samples with random labels and "
        f"{N_FEATURES} features of noise.\nThe best {request.features} by "
        f"{request.selector} were selected {when}."
    )


def _demonstration(request: AuditRequest) -> AuditRequest:
    """Fill in options that show the mistake, unless others are given."""
    from veridical._core.errors import InputError

    if request.selected is not None:
        raise InputError(
            f"--selected {request.selected} names features, but there is no file; give "
            "it first: veridical audit DATA --target COLUMN --selected FILE"
        )
    features = options.count_wanted(request.features, N_FEATURES)
    if request.selector is not None:
        return replace(request, features=features)
    return replace(request, selector=SELECTOR, features=features, first=True)


def _check(request: AuditRequest) -> None:
    """Raise if options are invalid or contradict, before data are read."""
    from veridical._core.errors import InputError
    from veridical.auditing.codes import check_codes
    from veridical.auditing.preselection import FEWEST_PERMUTATIONS

    options.check_names(
        options.given(request.selector), options.given(request.estimator)
    )
    options.read_method(request.cv)
    check_codes(request.ignore)
    check_codes(request.checks)
    if request.permutations is not None and request.permutations < FEWEST_PERMUTATIONS:
        raise InputError(
            f"--permutations {request.permutations} are too few for a level of 5 %; "
            f"give {FEWEST_PERMUTATIONS} or more."
        )
    selecting = {
        "--features": request.features is not None,
        "--first": request.first,
    }
    for option, is_given in selecting.items():
        if is_given and request.selected is not None:
            raise InputError(
                f"{option} and --selected exclude each other: the file says which "
                "features were selected. Leave one of them out."
            )
        if is_given and request.selector is None:
            value = f" {request.features}" if option == "--features" else ""
            raise InputError(
                f"{option}{value} needs a selector; add --selector, for example "
                "--selector anova."
            )


def _audit(request: AuditRequest, jobs: int) -> Audit:
    from veridical._core.reading import read_table
    from veridical._core.text import one_line
    from veridical.auditing import audit as run
    from veridical.datasets import make_random_labels
    from veridical.evaluation.arguments import name_of
    from veridical.evaluation.naming import read_cv
    from veridical.learning import make_estimator

    X, y, name = request.read_data(
        SOURCE,
        lambda: make_random_labels(N_SAMPLES, N_FEATURES, random_state=request.seed),
    )
    kind = request.kind_of(y)
    learner = request.estimator or options.default_estimator(kind)
    request = replace(request, estimator=learner)
    X, given = request.correct_for("audit", X, y)
    data: Any = read_table(given, y, kind=kind, **request.structure)
    estimator, chosen, request = _procedure(request, X, data)
    with console.progress_bar("Auditing") as progress:
        record = run(
            estimator,
            data,
            data.labels,
            **chosen,
            scoring=options.split_scoring(request.scoring),
            cv=read_cv(request.cv, None, kind),
            n_permutations=request.permutations,
            ignore=request.ignore,
            checks=request.checks or None,
            n_tried=request.tried,
            n_removed=request.removed,
            random_state=request.seed,
            n_jobs=jobs,
            name=name,
            progress=progress,
        )
    shown = learner
    if request.selector is not None and "selected" not in chosen:
        best = f"the best {request.features} by {name_of(request.selector)}"
        shown = f"{name_of(shown)} on {best}"
    made = one_line(make_estimator(learner))
    settings = {**record.settings, "estimator": f"{name_of(shown)}: {made}"}
    settings = request.describe(settings, request.preparation(X))
    return replace(record, estimator=shown, settings=settings)


def _procedure(
    request: AuditRequest, X: Any, data: Table
) -> tuple[Any, dict[str, Any], AuditRequest]:
    """Return the estimator, the arguments on its features, and the full request."""
    import numpy as np

    from veridical.evaluation.arguments import make_selector
    from veridical.evaluation.engine import fit_selector
    from veridical.learning import make_estimator

    prepared, named = request.preparation(X), request.selector
    asked = request.estimator or ""  # filled in with the kind of target
    learner: Any = asked
    if prepared.words:
        learner = prepared.learn_by(make_estimator(learner))
    if request.selected is not None:
        chosen: dict[str, Any] = {"selected": _read_features(request.selected, X)}
        if named is not None:
            made = make_selector(named)
            chosen["selector"] = prepared.select_by(made) if prepared.words else named
        return learner, chosen, request
    if named is None:
        return prepared.procedure(asked, X), {}, request
    wanted = options.count_wanted(request.features, X.shape[1])
    request = replace(request, features=wanted)
    if request.first:
        made = prepared.select_by(make_selector(named))
        _, ranked = fit_selector(made, data, np.arange(len(data)), wanted)
        selector = made if prepared.words else named
        return learner, {"selected": ranked.order, "selector": selector}, request
    made = prepared.procedure(asked, X, named, wanted)
    return made, {}, request


def _read_features(path: Path, X: Any) -> list[str | int]:
    """Read names or indices of features, one per line."""
    from veridical._core.errors import InputError

    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text in UTF-8"
        raise InputError(
            f"cannot read the features in {path}: {reason}; give a text file with one "
            "feature per line."
        ) from error
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path} names no feature; give one per line.")
    names = {str(name) for name in getattr(X, "columns", ())}
    return [
        line if line in names or not line.isdecimal() else int(line) for line in lines
    ]

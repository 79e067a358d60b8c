"""``veridical select``: select features, and estimate how good that is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options
from veridical.cli.requests import PreparedRequest, tested_data

if TYPE_CHECKING:
    from veridical.evaluation.records import Selection

SELECTOR = "mrmr"

CV = "10"
# The source without DATA, and its number of samples.
SOURCE, N_SAMPLES = "linear", 125


@dataclass(frozen=True, kw_only=True)
class SelectRequest(PreparedRequest):
    """A request to ``veridical select``."""

    selector: str
    alpha: str | None
    relevance: str | None
    features: int | float | None
    estimator: str | None
    cv: str
    validate: Path | None
    scoring: str | None

    def command(self) -> str:
        """Write the command that repeats the request."""
        more: list[object] = ["--selector", self.selector]
        if self.alpha is not None:
            more += ["--alpha", self.alpha]
        if self.relevance is not None:
            more += ["--relevance", self.relevance]
        more += ["--features", self.features, "--estimator", self.estimator]
        more += options.scoring_words(self.scoring)
        if self.validate is not None:
            return self.write_command("select", *more, "--validate", self.validate)
        return self.write_command("select", *more, "--cv", self.cv)


def select(
    data: Annotated[
        Path | None, options.data_argument("a source whose features are known")
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
    memory_limit: options.MemoryLimitOption = None,
    layer: options.LayerOption = None,
    impute: options.ImputeOption = None,
    scale: options.RescaleOption = None,
    encode: options.EncodeOption = None,
    batch: options.BatchOption = None,
    unknown_batch: options.UnknownBatchOption = None,
    covariates: options.CovariatesOption = None,
    selector: Annotated[
        str,
        options.selector_option(f"How to select: {names.join_or(names.SELECTORS)}."),
    ] = SELECTOR,
    alpha: Annotated[
        str | None,
        options.optional(
            "NUMBER|auto",
            "For ddp: weight of relevance against antiredundancy, in (0, 1]; auto "
            r"chooses it inside every training set. \[default: 0.5]",
            autocompletion=names.completer(["auto"]),
        ),
    ] = None,
    relevance: Annotated[
        str | None,
        options.optional(
            "KIND",
            rf"For ddp: {names.join_or(names.RELEVANCES)}. \[default: all-classes]",
            autocompletion=names.completer(names.RELEVANCES),
        ),
    ] = None,
    features: options.FeaturesOption = None,
    estimator: Annotated[str | None, options.estimator_option()] = None,
    cv: Annotated[
        str | None, options.cv_option("How to split", rf" \[default: {CV}]")
    ] = None,
    validate: options.ValidateOption = None,
    scoring: options.ScoringOption = None,
    jobs: options.JobsOption = 1,
    seed: options.SeedOption = 0,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("select")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Select features, and estimate how good selecting them this way is.

    The accuracy is that of the whole procedure: in every fold of
    cross-validation features are selected, and alpha is chosen, on the training
    samples only. It is shown by class, and for every number of features.
    """
    common = options.check_shared(
        "select", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups, weights=weights, numbers=numbers, time=time, event=event,
        memory_limit=memory_limit, layer=layer,
    )  # fmt: skip
    options.check_validation("select", data, validate, cv)
    cv = CV if cv is None else cv
    options.read_method(cv)
    request = SelectRequest(
        **common,
        **options.read_preparation(
            impute, scale, encode, batch, unknown_batch, covariates
        ),
        selector=selector,
        alpha=alpha,
        relevance=relevance,
        features=options.read_feature_count(features),
        estimator=estimator,
        cv=cv,
        validate=validate,
        scoring=scoring,
    )
    options.split_scoring(scoring)
    made = _selector(request)
    options.check_names(estimators=options.given(estimator))
    notice = f"Without DATA, this uses the {SOURCE} source, {N_SAMPLES} samples."
    console.print_answer(
        lambda: _run(request, made, jobs),
        out,
        as_json=as_json,
        notice=notice if data is None else None,
    )


def _selector(request: SelectRequest) -> Any:
    """Make the selector; raise for a parameter that it does not have."""
    from veridical._core.errors import InputError
    from veridical.evaluation.arguments import make_selector

    parameters: dict[str, Any] = {}
    if request.alpha is not None:
        parameters["alpha"] = _read_alpha(request.alpha)
    if request.relevance is not None:
        parameters["relevance"] = options.check_choice(
            "--relevance", request.relevance, names.RELEVANCES
        )
    made = make_selector(request.selector)
    for name in parameters:
        if name not in made.get_params():
            raise InputError(
                f"--{name} is for ddp, but the selector is {request.selector}; leave "
                "it out, or use --selector ddp."
            )
    return made.set_params(**parameters)


def _read_alpha(text: str) -> float | str:
    from veridical._core.errors import InputError

    if text == "auto":
        return text
    try:
        alpha = float(text)
    except ValueError:
        alpha = 0.0
    if not 0 < alpha <= 1:
        raise InputError(f"--alpha {text} must be a number in (0, 1], or auto.")
    return alpha


def _run(request: SelectRequest, made: Any, jobs: int) -> Selection:
    from veridical.datasets import SOURCES
    from veridical.evaluation.selecting import select as run
    from veridical.learning import make_estimator

    X, y, name = request.read_data(
        SOURCE, lambda: SOURCES[SOURCE](N_SAMPLES, random_state=request.seed)
    )
    learner = request.estimator or options.default_estimator(request.kind_of(y))
    request = replace(request, estimator=learner)
    how: Any = request.cv
    if request.validate is not None:
        X, y, how = request.read_validation(request.validate, X, y, name)
    X, given = request.correct_for("select", X, y)
    most = options.count_wanted(request.features, X.shape[1])
    request = replace(request, features=most)
    prepared = request.preparation(X)
    with console.progress_bar("Selecting") as progress:
        found = run(
            prepared.select_by(made),
            given,
            y,
            n_features_to_select=most,
            estimator=prepared.learn_by(make_estimator(learner)),
            **request.structure,
            scoring=options.split_scoring(request.scoring),
            cv=how,
            name=name,
            random_state=request.seed,
            n_jobs=jobs,
            progress=progress,
        )
    return replace(
        found,
        data=tested_data(how, X, y) or found.data,
        selector=request.selector,
        estimator=learner,
        settings=request.describe(found.settings, prepared),
    )

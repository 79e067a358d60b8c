"""``veridical probabilities``: correct the probabilities of naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from veridical.cli import console, names, options
from veridical.cli.requests import Request

if TYPE_CHECKING:
    from veridical.evaluation.records import Correction

CV = "10"
# The source without DATA, which follows the model, and its size.
SOURCE, N_SAMPLES, N_FEATURES = "beta-bernoulli", 200, 2000


@dataclass(frozen=True, kw_only=True)
class ProbabilitiesRequest(Request):
    """A request to ``veridical probabilities``."""

    features: int | float | None
    cv: str

    def command(self) -> str:
        """Write the command that repeats the request."""
        return self.write_command(
            "probabilities", "--features", self.features, "--cv", self.cv
        )


def probabilities(
    data: Annotated[
        Path | None, options.data_argument("a source of many weak features")
    ] = None,
    target: options.TargetOption = None,
    drop: options.DropOption = None,
    groups: options.GroupsOption = None,
    header: options.HeaderOption = None,
    classes: options.ClassesOption = False,
    features: options.FeaturesOption = None,
    cv: Annotated[
        str,
        options.method_option(
            "CV",
            help="How to split: a number of folds, stratified by class, or loo.",
            autocompletion=names.completer([CV, "loo"]),
        ),
    ] = CV,
    validate: options.NoValidateOption = None,
    jobs: options.JobsOption = 1,
    seed: options.SeedOption = 0,
    out: options.OutOption = None,
    as_json: Annotated[bool, options.json_option("probabilities")] = False,
    quiet: options.QuietOption = False,
) -> None:
    """Correct the probabilities of naive Bayes for feature selection.

    The features that correlate most with the class are selected, and naive
    Bayes is cross-validated three times: as usual, corrected for the features
    that the selection discarded, and corrected by a model that allows for
    features without effect. Tables show the scores of all three, the predicted
    probabilities, and how often the class was observed.
    """
    options.refuse_validation("probabilities", validate)
    common = options.check_shared(
        "probabilities", data, target, drop, header, classes, seed, jobs, quiet=quiet,
        groups=groups,
    )  # fmt: skip
    _check_cv(cv)
    wanted = options.read_feature_count(features)
    request = ProbabilitiesRequest(**common, features=wanted, cv=cv)
    notice = (
        f"Without DATA, this uses the {SOURCE} source: {N_SAMPLES} samples, "
        f"{N_FEATURES} weak features."
    )
    console.print_answer(
        lambda: _record(request, jobs),
        out,
        as_json=as_json,
        notice=notice if data is None else None,
    )


def _check_cv(given: str) -> None:
    """Raise if a method does not test every sample once."""
    from veridical._core.errors import InputError
    from veridical._core.splits import CrossValidation, LeaveOut

    method = options.read_method(given)
    once = isinstance(method, CrossValidation) and method.n_repeats == 1
    if not (once or isinstance(method, LeaveOut)):
        raise InputError(
            f"--cv {given} does not test every sample once, which the calibration of "
            "probabilities needs; use a number of folds, or loo."
        )


def _record(request: ProbabilitiesRequest, jobs: int) -> Correction:
    from veridical.datasets import make_beta_bernoulli
    from veridical.evaluation import correction

    X, y, name = request.read_data(
        SOURCE,
        lambda: make_beta_bernoulli(N_SAMPLES, N_FEATURES, random_state=request.seed),
    )
    features = options.count_wanted(request.features, X.shape[1])
    request = replace(request, features=features)
    with console.progress_bar("Testing probabilities") as progress:
        found = correction(
            X,
            y,
            n_features_to_select=features,
            groups=request.structure.get("groups"),
            cv=request.cv,
            random_state=request.seed,
            n_jobs=jobs,
            name=name,
            progress=progress,
        )
    return replace(found, settings=request.with_origin(found.settings))

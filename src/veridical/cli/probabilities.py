"""``veridical probabilities``: may the probabilities of naive Bayes be believed?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from veridical.cli import console, names, options

if TYPE_CHECKING:
    from veridical.evaluation.records import Correction

CV = "10"
# Where no data are given: the model's own source.
SOURCE, N_CASES, N_COLUMNS = "beta-bernoulli", 200, 2000


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    drop: tuple[str, ...]
    features: int | float | None
    cv: str
    seed: int

    def command(self) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        more = ["--features", self.features, "--cv", self.cv, "--seed", self.seed]
        return options.command(
            "probabilities", self.data, self.target, *more, drop=self.drop
        )


def probabilities(
    data: Annotated[
        Path | None, options.data_argument("a source of many weak features")
    ] = None,
    target: options.Target = None,
    drop: options.Drop = None,
    features: options.Features = None,
    cv: Annotated[
        str,
        options.asked(
            "CV",
            help="How to split: a number of folds, stratified by class, or loo.",
            autocompletion=names.completing([CV, "loo"]),
        ),
    ] = CV,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("probabilities")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Correct the probabilities of naive Bayes for feature selection.

    The features that correlate most with the class are selected, and naive
    Bayes is tried twice by cross-validation: as usual, and told of the features
    that selection discarded. A table shows the probabilities that each
    predicted, and how often the class was observed.
    """
    from veridical import report
    from veridical._core.advice import for_the_command_line

    console.be(quiet=quiet)
    options.check_target("probabilities", data, target, drop)
    options.check_numbers(seed, jobs)
    _check_cv(cv)
    wanted = options.read_features(features)
    if out is not None:
        report.check_writable(out)
    if data is None:
        console.tell(
            f"No data given, so this is the {SOURCE} source: {N_CASES} cases, "
            f"{N_COLUMNS} weak features.",
            aside=as_json,
        )
    question = Question(data, target, tuple(drop or ()), wanted, cv, seed)
    with for_the_command_line():
        record = _record(question, jobs)
    page = None if out is None else report.save(record, out)
    console.show(record, page, as_json=as_json)


def _check_cv(given: str) -> None:
    """Refuse a method that does not test every case once, before anything is read."""
    from veridical._core.errors import InputError
    from veridical._core.splits import CrossValidation, LeaveOut

    method = options.method(given)
    once = isinstance(method, CrossValidation) and method.n_repeats == 1
    if not (once or isinstance(method, LeaveOut)):
        raise InputError(
            f"--cv {given} does not test every case once, which the calibration of "
            "probabilities needs; use a number of folds, or loo."
        )


def _record(question: Question, jobs: int) -> Correction:
    from veridical.datasets import make_beta_bernoulli
    from veridical.evaluation import correction

    if question.data is None:
        X, y = make_beta_bernoulli(N_CASES, N_COLUMNS, random_state=question.seed)
        name = f"{SOURCE} source"
    else:
        X, y, name = options.take(question.data, question.target, question.drop)
    features = options.how_many(question.features, X.shape[1])
    question = replace(question, features=features)
    with console.progress_bar("Testing probabilities") as progress:
        found = correction(
            X,
            y,
            n_features_to_select=features,
            cv=question.cv,
            random_state=question.seed,
            n_jobs=jobs,
            name=name,
            progress=progress,
        )
    repeat = question.command()
    settings = options.with_origin(found.settings, question.data, repeat)
    return replace(found, settings=settings)

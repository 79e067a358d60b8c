"""``veridical select``: which features, and how good is selecting them this way?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from veridical.cli import console, names, options

if TYPE_CHECKING:
    from veridical.evaluation.records import Selection

SELECTOR = "mrmr"
ESTIMATOR = "svm"
CV = "10"
# Where no data are given.
SOURCE, N_CASES = "linear", 125


@dataclass(frozen=True)
class Question:
    """What is asked, apart from where the answer goes and how many work on it."""

    data: Path | None
    target: str | None
    drop: tuple[str, ...]
    selector: str
    alpha: str | None
    relevance: str | None
    features: int | float | None
    estimator: str
    cv: str
    seed: int

    def command(self) -> str:
        """Write the command that asks it again, with nothing left to defaults."""
        more: list[object] = ["--selector", self.selector]
        if self.alpha is not None:
            more += ["--alpha", self.alpha]
        if self.relevance is not None:
            more += ["--relevance", self.relevance]
        more += ["--features", self.features, "--estimator", self.estimator]
        more += ["--cv", self.cv, "--seed", self.seed]
        return options.command("select", self.data, self.target, *more, drop=self.drop)


def select(
    data: Annotated[
        Path | None, options.data_argument("a source whose features are known")
    ] = None,
    target: options.Target = None,
    drop: options.Drop = None,
    selector: Annotated[
        str,
        options.selector_option(f"How to select: {names.one_of(names.SELECTORS)}."),
    ] = SELECTOR,
    alpha: Annotated[
        str | None,
        options.unset(
            "NUMBER|auto",
            "For ddp: weight of relevance against antiredundancy, in (0, 1]; auto "
            r"chooses it inside every training set. \[default: 0.5]",
            autocompletion=names.completing(["auto"]),
        ),
    ] = None,
    relevance: Annotated[
        str | None,
        options.unset(
            "KIND",
            rf"For ddp: {names.one_of(names.RELEVANCES)}. \[default: all-classes]",
            autocompletion=names.completing(names.RELEVANCES),
        ),
    ] = None,
    features: options.Features = None,
    estimator: Annotated[str, options.estimator_option()] = ESTIMATOR,
    cv: Annotated[str, options.cv_option("How to split")] = CV,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    out: options.Out = None,
    as_json: Annotated[bool, options.json_option("select")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Select features, and tell how good selecting them this way is.

    The accuracy is that of the whole procedure: in every fold of
    cross-validation features are selected, and alpha chosen, from the training
    cases alone. Class by class, and for every number of features.
    """
    from veridical import report
    from veridical._core.advice import for_the_command_line

    console.be(quiet=quiet)
    options.check_target("select", data, target, drop)
    options.check_numbers(seed, jobs)
    options.method(cv)
    question = Question(
        data,
        target,
        tuple(drop or ()),
        selector,
        alpha,
        relevance,
        options.read_features(features),
        estimator,
        cv,
        seed,
    )
    made = _selector(question)
    options.check_names(estimators=[estimator])
    if out is not None:
        report.check_writable(out)
    if data is None:
        console.tell(
            f"No data given, so this is the {SOURCE} source, {N_CASES} cases.",
            aside=as_json,
        )
    with for_the_command_line():
        record = _run(question, made, jobs)
    page = None if out is None else report.save(record, out)
    console.show(record, page, as_json=as_json)


def _selector(question: Question) -> Any:
    """Make the selector; what only one of them understands is refused for others."""
    from veridical._core.errors import InputError
    from veridical.evaluation.reading import make_selector

    parameters: dict[str, Any] = {}
    if question.alpha is not None:
        parameters["alpha"] = _read_alpha(question.alpha)
    if question.relevance is not None:
        parameters["relevance"] = options.one_of(
            "--relevance", question.relevance, names.RELEVANCES
        )
    made = make_selector(question.selector)
    for name in parameters:
        if name not in made.get_params():
            raise InputError(
                f"--{name} is for ddp, but the selector is {question.selector}; leave "
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


def _run(question: Question, made: Any, jobs: int) -> Selection:
    from veridical.datasets import SOURCES
    from veridical.evaluation.selecting import select as run

    if question.data is None:
        X, y = SOURCES[SOURCE](N_CASES, random_state=question.seed)
        name = f"{SOURCE} source"
    else:
        X, y, name = options.take(question.data, question.target, question.drop)
    most = options.how_many(question.features, X.shape[1])
    question = replace(question, features=most)
    with console.progress_bar("Selecting") as progress:
        found = run(
            made,
            X,
            y,
            n_features_to_select=most,
            estimator=question.estimator,
            cv=question.cv,
            name=name,
            random_state=question.seed,
            n_jobs=jobs,
            progress=progress,
        )
    repeat = question.command()
    settings = options.with_origin(found.settings, question.data, repeat)
    return replace(found, selector=question.selector, settings=settings)
